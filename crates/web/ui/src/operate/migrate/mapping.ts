// Mapping of the elements of one model to those of another: suggestions, and every reason why a mapping would be refused.
import type { Model, ModelElement } from '../../diagram/model';
import { t } from '../../language';

/** How a target came about: suggested by ID or by name, or chosen. */
export type Origin = 'ID' | 'name' | 'chosen';

export interface Row {
  source: ModelElement;
  target: string | undefined;
  origin: Origin | undefined;
  problems: string[];
}

/** Tokens never stand on these for longer than a moment. */
const PASSED = new Set(['startEvent', 'endEvent', 'intermediateThrowEvent']);
const canHold = (one: ModelElement) => !PASSED.has(one.type);

/** Choices as the URL has them: `source:target` each, without a target for none. */
export const parseChoices = (all: readonly string[]): Map<string, string> =>
  new Map(all.flatMap((one) => (one.includes(':') ? [[one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1)] as const] : [])));
export const writeChoices = (choices: ReadonlyMap<string, string>): string[] => [...choices].map(([source, target]) => `${source}:${target}`);

const words = (type: string): string => type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const kindOf = (one: ModelElement): string => `${one.event ? `${one.event} ` : ''}${words(one.type)}${one.isEventSubProcess ? t('change.migrate.problem.forEvents') : ''}${one.loop ? t('change.migrate.problem.multi', { order: one.loop }) : ''}`;

/** Whether the elements are of the same kind, so that one may stand for the other. */
function kindProblem(source: ModelElement, target: ModelElement): string | undefined {
  if (kindOf(source) !== kindOf(target)) return t('change.migrate.problem.kind', { source: kindOf(source), target: kindOf(target) });
  // Work may go from a worker to people, but not back.
  if (source.isOfWorker !== target.isOfWorker && !(source.type === 'userTask' && source.isOfWorker)) return t('change.migrate.problem.worker');
  return undefined;
}

/** The rows of a plan: suggestions, unless something else was chosen. */
export function rowsOf(source: Model, target: Model, choices: ReadonlyMap<string, string>): Row[] {
  const rows = [...source.elements.values()].filter(canHold).map((one): Row => {
    const chosen = choices.get(one.id);
    if (chosen !== undefined) return { source: one, target: chosen || undefined, origin: 'chosen', problems: [] };
    const found = suggestion(one, target);
    return { source: one, target: found?.id, origin: found?.origin, problems: [] };
  });
  const mapped = new Map(rows.map((row) => [row.source.id, row.target]));
  for (const row of rows) row.problems = problemsOf(row, source, target, mapped, rows);
  return rows;
}

function suggestion(one: ModelElement, target: Model): { id: string; origin: Origin } | undefined {
  const same = target.elements.get(one.id);
  if (same && kindProblem(one, same) === undefined) return { id: same.id, origin: 'ID' };
  if (!one.name) return undefined;
  const named = [...target.elements.values()].filter((other) => other.name === one.name && kindProblem(one, other) === undefined);
  return named.length === 1 ? { id: named[0]!.id, origin: 'name' } : undefined;
}

function problemsOf({ source: one, target: id }: Row, source: Model, target: Model, mapped: ReadonlyMap<string, string | undefined>, rows: readonly Row[]): string[] {
  if (id === undefined) return [];
  const other = target.elements.get(id);
  if (!other) return [t('change.migrate.problem.noElement', { id })];
  const found: string[] = [];
  const kind = kindProblem(one, other);
  if (kind) found.push(kind);
  const scope = one.scope === source.id ? target.id : mapped.get(one.scope);
  if (scope === undefined) found.push(t('change.migrate.problem.scopeNotMapped', { scope: source.nameOf(one.scope) }));
  else if (scope !== other.scope) found.push(t('change.migrate.problem.scope', { wanted: target.nameOf(scope), scope: target.nameOf(other.scope) }));
  if (one.attachedTo !== undefined) {
    const host = mapped.get(one.attachedTo);
    if (host === undefined) found.push(t('change.migrate.problem.hostNotMapped', { host: source.nameOf(one.attachedTo) }));
    else if (host !== other.attachedTo) found.push(t('change.migrate.problem.host', { host: target.nameOf(host) }));
    if (rows.some((row) => row.source !== one && row.target === id && row.source.attachedTo !== undefined)) found.push(t('change.migrate.problem.twice'));
  }
  return found;
}

/** Targets for an element, those of its kind first. */
export const targetsFor = (one: ModelElement, target: Model): ModelElement[] =>
  [...target.elements.values()].filter(canHold).sort((a, b) => Number(kindProblem(one, a) !== undefined) - Number(kindProblem(one, b) !== undefined) || (a.name || a.id).localeCompare(b.name || b.id));

/** Elements of the target that nothing is mapped to. */
export const newIn = (target: Model, rows: readonly Row[]): ModelElement[] => {
  const used = new Set(rows.map((row) => row.target));
  return [...target.elements.values()].filter((one) => canHold(one) && !used.has(one.id));
};

export const kindText = kindOf;
