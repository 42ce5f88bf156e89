// The one place that knows bpmn-js. It loads with the first diagram.
import BpmnViewer from 'bpmn-js/lib/NavigatedViewer';
import 'bpmn-js/dist/assets/diagram-js.css';
import 'bpmn-js/dist/assets/bpmn-js.css';

export interface Counts {
  active?: number;
  incidents?: number;
  completed?: number;
  canceled?: number;
}

interface Canvas {
  zoom(to: 'fit-viewport' | number, center?: 'auto'): void;
  zoom(): number;
  addMarker(id: string, marker: string): void;
  removeMarker(id: string, marker: string): void;
}
interface Shape {
  id: string;
  businessObject?: { name?: string; $type: string };
  labelTarget?: Shape;
  waypoints?: unknown;
}
interface Registry {
  get(id: string): Shape | undefined;
  getAll(): Shape[];
}
interface Overlays {
  add(id: string, type: string, what: { position: Record<string, number>; html: HTMLElement }): void;
  remove(what: { type: string }): void;
}
interface Events {
  on(name: string, then: (event: { element: Shape }) => void): void;
}

const COUNTS = 'counts';
const KINDS = ['active', 'incidents', 'completed', 'canceled'] as const;
const MOST_OVERLAYS = 500;

/** A drawn model. */
export class Diagram {
  private readonly viewer: InstanceType<typeof BpmnViewer>;
  private readonly marked = new Map<string, Set<string>>();
  /** Elements of the model that the diagram does not show. */
  notDrawn: string[] = [];
  /** Whether the model came without a diagram. */
  isLaidOut = false;

  constructor(container: HTMLElement, onSelect: (id: string, isRoot: boolean) => void) {
    const colours = { defaultFillColor: 'var(--surface)', defaultStrokeColor: 'var(--text)', defaultLabelColor: 'var(--text)' };
    this.viewer = new BpmnViewer({ container, bpmnRenderer: colours, textRenderer: { defaultStyle: { fontFamily: 'system-ui, sans-serif' } } });
    this.get<Events>('eventBus').on('element.click', ({ element }) => {
      const target = element.labelTarget ?? element;
      const type = target.businessObject?.$type ?? '';
      onSelect(target.id, type === 'bpmn:Process' || type === 'bpmn:Collaboration' || target.waypoints !== undefined);
    });
  }

  private get<T>(name: string): T {
    return this.viewer.get(name) as T;
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
    this.get<Canvas>('canvas').zoom('fit-viewport', 'auto');
  }

  zoom(factor: number): void {
    const canvas = this.get<Canvas>('canvas');
    canvas.zoom(canvas.zoom() * factor, 'auto');
  }

  /** The name of an element, or its ID. */
  nameOf(id: string): string {
    return this.get<Registry>('elementRegistry').get(id)?.businessObject?.name || id;
  }

  /** Shows how many instances are in each element. */
  showCounts(counts: ReadonlyMap<string, Counts>): void {
    const overlays = this.get<Overlays>('overlays');
    const registry = this.get<Registry>('elementRegistry');
    overlays.remove({ type: COUNTS });
    let added = 0;
    for (const [id, of] of counts) {
      if (!registry.get(id) || added === MOST_OVERLAYS) continue;
      added += 1;
      const html = document.createElement('div');
      html.className = 'counts';
      html.dataset['element'] = id;
      for (const kind of KINDS) {
        const count = of[kind];
        if (!count) continue;
        const badge = document.createElement('span');
        badge.className = kind;
        badge.title = `${count} ${kind}`;
        badge.textContent = `${{ active: '●', incidents: '▲', completed: '✓', canceled: '✕' }[kind]} ${count}`;
        html.append(badge);
      }
      overlays.add(id, COUNTS, { position: { bottom: 0, left: 0 }, html });
    }
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
