// The one place that knows bpmn-js. It loads with the first diagram.
import BpmnViewer from 'bpmn-js/lib/NavigatedViewer';
import 'bpmn-js/dist/assets/diagram-js.css';
import 'bpmn-js/dist/assets/bpmn-js.css';
import { leaveWheelToPage } from './wheel';

export interface Counts {
  active?: number;
  incidents?: number;
  completed?: number;
  canceled?: number;
}

interface Canvas {
  getContainer(): HTMLElement;
  zoom(to: 'fit-viewport' | number, center?: 'auto'): void;
  zoom(): number;
  viewbox(): { outer: { width: number; height: number } };
  viewbox(box: Box): void;
  addMarker(id: string, marker: string): void;
  removeMarker(id: string, marker: string): void;
}
interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
interface Shape extends Box {
  id: string;
  children?: unknown[];
  businessObject?: { name?: string; $type: string };
  labelTarget?: Shape;
  waypoints?: unknown;
}
interface Registry {
  get(id: string): Shape | undefined;
  getAll(): Shape[];
}
interface Overlays {
  add(id: string, type: string, what: { position: Record<string, number>; scale: { min: number }; html: HTMLElement }): string;
  remove(overlay: string): void;
}
interface Events {
  on(name: string, then: (event: { element: Shape }) => void): void;
}

const COUNTS = 'counts';
const KINDS = ['active', 'incidents', 'completed', 'canceled'] as const;
const SIGNS = { active: '●', incidents: '▲', completed: '✓', canceled: '✕' } as const;
const MOST_OVERLAYS = 500;
/** Drawn models that are kept for the next page. */
const LEFT_MAX = 3;

/** Zoom below which an element that is to be looked at is brought nearer. */
const NEAR = 0.7;
/** The size of badges on the screen, about, and places for them around an element: above and below, at its left and its right edge. */
const BADGE_PX = { height: 18, sign: 24, digit: 7 };
const SPOTS = ['above', 'below', 'above-right', 'below-right'] as const;
type Spot = (typeof SPOTS)[number];

type Select = (id: string, isRoot: boolean) => void;

/** Models by definition that are drawn, and that no page shows now; the last one left stands last. */
const left = new Map<string, Diagram>();

/** Shows a definition's model: a drawing that a page has left, or a new one. */
export async function openDiagram(place: HTMLElement, definitionKey: string, xml: string, onSelect: Select): Promise<Diagram> {
  const known = left.get(definitionKey);
  left.delete(definitionKey);
  if (known) {
    known.enter(place, onSelect);
    return known;
  }
  const diagram = new Diagram(definitionKey);
  diagram.enter(place, onSelect);
  try {
    await diagram.draw(xml);
  } catch (error) {
    diagram.destroy();
    throw error;
  }
  return diagram;
}

/** A drawn model. */
export class Diagram {
  private readonly viewer: InstanceType<typeof BpmnViewer>;
  private readonly marked = new Map<string, Set<string>>();
  private readonly counted = new Map<string, { overlay: string; html: HTMLElement; of: Counts }>();
  private onSelect: Select | undefined;
  /** The size of the place that it was fitted to. */
  private fitted: string | undefined;
  /** Elements of the model that the diagram does not show. */
  notDrawn: string[] = [];
  /** Whether the model came without a diagram. */
  isLaidOut = false;

  constructor(private readonly definitionKey: string) {
    const colours = { defaultFillColor: 'var(--surface)', defaultStrokeColor: 'var(--text)', defaultLabelColor: 'var(--text)' };
    this.viewer = new BpmnViewer({ bpmnRenderer: colours, textRenderer: { defaultStyle: { fontFamily: 'system-ui, sans-serif' } } });
    leaveWheelToPage(this.get<Canvas>('canvas').getContainer().parentElement!);
    this.get<Events>('eventBus').on('element.click', ({ element }) => {
      const target = element.labelTarget ?? element;
      const type = target.businessObject?.$type ?? '';
      this.onSelect?.(target.id, type === 'bpmn:Process' || type === 'bpmn:Collaboration' || target.waypoints !== undefined);
    });
  }

  private get<T>(name: string): T {
    return this.viewer.get(name) as T;
  }

  /** Goes to a place of a page. */
  enter(place: HTMLElement, onSelect: Select): void {
    this.onSelect = onSelect;
    this.viewer.attachTo(place);
    // Fitting measures everything, which takes long; in a place of the same size it stands as it stood.
    if (this.fitted !== undefined && this.fitted !== sizeOf(place)) this.fit();
  }

  /** Leaves the page for the next one, which says what counts it shows: they are often the same. */
  leave(): void {
    this.onSelect = undefined;
    this.viewer.detach();
    for (const marker of this.marked.keys()) this.mark(marker, []);
    left.get(this.definitionKey)?.destroy();
    left.delete(this.definitionKey);
    left.set(this.definitionKey, this);
    const [oldest] = left;
    if (left.size <= LEFT_MAX || !oldest) return;
    left.delete(oldest[0]);
    oldest[1].destroy();
  }

  async draw(xml: string): Promise<void> {
    this.isLaidOut = !/BPMNShape/.test(xml);
    let drawn = xml;
    if (this.isLaidOut) {
      const { layoutProcess } = await import('bpmn-auto-layout');
      drawn = await layoutProcess(xml);
    }
    await this.viewer.importXML(drawn);
    const known = new Set(this.get<Registry>('elementRegistry').getAll().map(({ id }) => id));
    const elements = new DOMParser().parseFromString(xml, 'text/xml').getElementsByTagNameNS('http://www.omg.org/spec/BPMN/20100524/MODEL', '*');
    this.notDrawn = [...elements]
      .filter((one) => /(Task|task|Event|Gateway|callActivity|subProcess|SubProcess)$/.test(one.localName) && one.hasAttribute('id'))
      .map((one) => one.getAttribute('id')!)
      .filter((id) => !known.has(id));
    this.fit();
  }

  /** The model as the library has read it. */
  get definitions(): unknown {
    return this.viewer.getDefinitions();
  }

  fit(): void {
    const canvas = this.get<Canvas>('canvas');
    canvas.zoom('fit-viewport', 'auto');
    this.fitted = sizeOf(canvas.getContainer());
  }

  zoom(factor: number): void {
    const canvas = this.get<Canvas>('canvas');
    canvas.zoom(canvas.zoom() * factor, 'auto');
  }

  /** The name of an element, or its ID. */
  nameOf(id: string): string {
    return this.get<Registry>('elementRegistry').get(id)?.businessObject?.name || id;
  }

  /** Shows how many instances are in each element. Counts that are the same stay as they are. */
  showCounts(counts: ReadonlyMap<string, Counts>): void {
    const overlays = this.get<Overlays>('overlays');
    const registry = this.get<Registry>('elementRegistry');
    const wanted = new Map([...counts].filter(([id]) => registry.get(id)).slice(0, MOST_OVERLAYS));
    for (const [id, { overlay }] of this.counted) {
      if (wanted.has(id)) continue;
      overlays.remove(overlay);
      this.counted.delete(id);
    }
    for (const [id, of] of wanted) {
      const known = this.counted.get(id);
      if (known && KINDS.every((kind) => (known.of[kind] ?? 0) === (of[kind] ?? 0))) continue;
      const html = known?.html ?? document.createElement('div');
      showBadges(html, of);
      if (!known) {
        html.className = 'counts';
        html.dataset['element'] = id;
      }
      this.counted.set(id, { overlay: known?.overlay ?? this.addBadges(overlays, registry.get(id)!, html, of), html, of });
    }
  }

  /** Badges are as large on the screen however small the diagram is drawn, and stand where they cover no text. */
  private addBadges(overlays: Overlays, shape: Shape, html: HTMLElement, of: Counts): string {
    const zoom = Math.min(this.get<Canvas>('canvas').zoom(), 1);
    const badges = KINDS.filter((kind) => of[kind]);
    const width = badges.reduce((sum, kind) => sum + BADGE_PX.sign + BADGE_PX.digit * String(of[kind]).length, 0) / zoom;
    const height = BADGE_PX.height / zoom;
    const boxOf = (spot: Spot): Box => ({
      x: spot.endsWith('right') ? shape.x + shape.width - width : shape.x,
      y: spot.startsWith('above') ? shape.y - height : shape.y + shape.height,
      width,
      height,
    });
    const others = this.get<Registry>('elementRegistry').getAll().filter((one) => one !== shape && one.width > 0 && !one.waypoints && (one.labelTarget || !one.children?.length));
    const spot = SPOTS.find((spot) => !others.some((other) => overlap(boxOf(spot), other))) ?? 'above';
    html.dataset['spot'] = spot;
    const position = { [spot.startsWith('above') ? 'top' : 'bottom']: 0, [spot.endsWith('right') ? 'right' : 'left']: 0 };
    return overlays.add(shape.id, COUNTS, { position, scale: { min: 1 }, html });
  }

  /** Brings an element nearer that is too small to be read. */
  lookAt(id: string): void {
    const canvas = this.get<Canvas>('canvas');
    const shape = this.get<Registry>('elementRegistry').get(id);
    if (!shape || canvas.zoom() >= NEAR) return;
    const { outer } = canvas.viewbox();
    const [width, height] = [outer.width / NEAR, outer.height / NEAR];
    canvas.viewbox({ x: shape.x + shape.width / 2 - width / 2, y: shape.y + shape.height / 2 - height / 2, width, height });
  }

  /** Marks these elements alone with a class. */
  mark(marker: string, ids: Iterable<string>): void {
    const canvas = this.get<Canvas>('canvas');
    const registry = this.get<Registry>('elementRegistry');
    const wanted = new Set([...ids].filter((id) => registry.get(id)));
    for (const id of this.marked.get(marker) ?? []) if (!wanted.has(id) && registry.get(id)) canvas.removeMarker(id, marker);
    for (const id of wanted) canvas.addMarker(id, marker);
    this.marked.set(marker, wanted);
  }

  destroy(): void {
    this.viewer.destroy();
  }
}

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const sizeOf = ({ clientWidth, clientHeight }: HTMLElement): string => `${clientWidth} ${clientHeight}`;

/** Badges of what there is, with those that are there already. */
function showBadges(html: HTMLElement, of: Counts): void {
  const before = [...html.children] as HTMLElement[];
  const wanted = KINDS.filter((kind) => of[kind]);
  const isSame = before.length === wanted.length && wanted.every((kind, at) => before[at]!.className === kind);
  const badges = isSame ? before : wanted.map(() => document.createElement('span'));
  wanted.forEach((kind, at) => {
    const badge = badges[at]!;
    badge.className = kind;
    badge.title = `${of[kind]} ${kind}`;
    badge.textContent = `${SIGNS[kind]} ${of[kind]}`;
  });
  if (!isSame) html.replaceChildren(...badges);
}
