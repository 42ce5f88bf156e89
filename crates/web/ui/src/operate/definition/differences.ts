// The differences between two models: those of the drawing by the library, those of what elements do by our own reading.
import { diff } from 'bpmn-js-differ';
import type { Diagram } from '../../diagram/bpmn';
import type { Model, ModelElement } from '../../diagram/model';
import { t } from '../../language';
import { doingText } from '../doings';

export type Kind = 'added' | 'removed' | 'changed' | 'moved';

export interface Difference {
  id: string;
  name: string;
  kind: Kind;
  /** What is different, in words, with the old and the new value. */
  details: [string, string, string][];
}

const IGNORED = /^bpmn(di)?:(Definitions|Process|Collaboration|BPMN)/;
const text = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? String((value as { body?: string; id?: string }).body ?? (value as { id?: string }).id ?? (value as { $type?: string }).$type ?? '')
      : String(value);

/** The old and the new value of a property. The library tells them the other way round where both are there, and of one
 * that is gone the value as the new one and 0 as the old one; of entries of lists it tells them as they are. */
function valuesOf(name: string, told: { oldValue?: unknown; newValue?: unknown }): [unknown, unknown] {
  if (name.includes('[') || told.oldValue === undefined) return [told.oldValue, told.newValue];
  return [told.newValue, told.oldValue === 0 ? undefined : told.oldValue];
}

/** What an element does, by word. */
function doings(one: ModelElement): Map<string, string> {
  const found = new Map(one.does.map(([word, value]) => [doingText(word), value] as const));
  for (const mapping of one.inputs) found.set(t('lists.difference.input', { name: mapping.target }), mapping.source);
  for (const mapping of one.outputs) found.set(t('lists.difference.output', { name: mapping.target }), mapping.source);
  one.listeners.forEach(({ kind, event, type, retries }, at) => found.set(t('lists.difference.listener', { number: at + 1 }), t('lists.difference.listenerText', { kind, event, type, retries })));
  if (one.loop) found.set(t('lists.difference.repeated'), t(`lists.difference.loop.${one.loop}`));
  return found;
}

export function differencesOf(before: { diagram: Diagram; model: Model }, after: { diagram: Diagram; model: Model }): Difference[] {
  const drawn = diff(before.diagram.definitions, after.diagram.definitions);
  const all = new Map<string, Difference>();
  const add = (id: string, name: string | undefined, kind: Kind): Difference => {
    const known = all.get(id);
    if (known) return known;
    const made: Difference = { id, name: name ?? '', kind, details: [] };
    all.set(id, made);
    return made;
  };
  for (const [id, one] of Object.entries(drawn._added)) if (!IGNORED.test(one.$type)) add(id, one.name, 'added');
  for (const [id, one] of Object.entries(drawn._removed)) if (!IGNORED.test(one.$type)) add(id, one.name, 'removed');
  for (const [id, { model, attrs }] of Object.entries(drawn._changed)) {
    if (IGNORED.test(model.$type)) continue;
    const lines = Object.entries(attrs).map(([name, told]): [string, string, string] => {
      const [old, now] = valuesOf(name, told);
      return [name, text(old), text(now)];
    });
    const seen = lines.filter(([, old, now]) => old !== now);
    if (seen.length > 0) add(id, model.name, 'changed').details.push(...seen);
  }
  for (const [id, one] of after.model.elements) {
    const other = before.model.elements.get(id);
    if (!other) continue;
    const [old, now] = [doings(other), doings(one)];
    for (const word of new Set([...old.keys(), ...now.keys()])) {
      if (old.get(word) !== now.get(word)) add(id, one.name, 'changed').details.push([word, old.get(word) ?? '', now.get(word) ?? '']);
    }
  }
  for (const [id, one] of Object.entries(drawn._layoutChanged)) if (!IGNORED.test(one.$type)) add(id, one.name, 'moved');
  const order: Kind[] = ['added', 'removed', 'changed', 'moved'];
  return [...all.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}
