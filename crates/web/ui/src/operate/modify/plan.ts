// Changes that a modification makes, before they are sent: as words, as tokens, and as the request.
import { jsonObject } from '../../ui/json';
import { t } from '../../language';

export interface ScopeVariables {
  /** ID of the scope, or nothing for the process instance. */
  scope: string;
  /** Names, and values as JSON text. */
  values: [string, string][];
}

/** Where a token goes: the engine finds out, or the instance of a scope with this key. */
export type Place = { kind: 'found' } | { kind: 'below'; key: string };

export type Change =
  | { kind: 'add'; element: string; place: Place; variables: ScopeVariables[] }
  | { kind: 'cancel'; element: string; key: string | undefined; tokens: number }
  | { kind: 'move'; element: string; key: string | undefined; tokens: number; to: string; place: Place | { kind: 'beside' }; variables: ScopeVariables[] };

type Names = (id: string) => string;

const tokens = (count: number, key: string | undefined): string => (key ? t('change.plan.tokenKey', { key }) : count === 1 ? t('change.plan.token') : t('change.plan.allTokens', { count }));

/** A change in words. */
export function sentence(change: Change, nameOf: Names): string {
  switch (change.kind) {
    case 'add':
      return t('change.plan.add', { element: nameOf(change.element), place: placeText(change.place), variables: variablesText(change.variables, nameOf) });
    case 'cancel':
      return t('change.plan.cancel', { tokens: tokens(change.tokens, change.key), element: nameOf(change.element) });
    case 'move':
      return t('change.plan.move', {
        tokens: tokens(change.tokens, change.key),
        element: nameOf(change.element),
        target: nameOf(change.to),
        place: placeText(change.place),
        variables: variablesText(change.variables, nameOf),
      });
  }
}

const placeText = (place: Place | { kind: 'beside' }): string =>
  place.kind === 'below' ? t('change.plan.below', { key: place.key }) : place.kind === 'beside' ? t('change.plan.beside') : '';

function variablesText(variables: ScopeVariables[], nameOf: Names): string {
  const parts = variables.flatMap(({ scope, values }) => values.map(([name]) => (scope ? t('change.plan.inScope', { name, scope: nameOf(scope) }) : t('change.plan.inInstance', { name }))));
  return parts.length > 0 ? t('change.plan.set', { variables: parts.join(', ') }) : '';
}

/** How many tokens each element has more, or fewer, after the changes. */
export function differences(changes: readonly Change[]): Map<string, number> {
  const found = new Map<string, number>();
  const add = (id: string, by: number) => found.set(id, (found.get(id) ?? 0) + by);
  for (const change of changes) {
    if (change.kind !== 'add') add(change.element, -change.tokens);
    if (change.kind === 'add') add(change.element, 1);
    if (change.kind === 'move') add(change.to, change.tokens);
  }
  return found;
}

/** Keys and elements whose tokens are spoken for: nothing can be done with them twice. */
export function isTaken(changes: readonly Change[], element: string, key: string | undefined): boolean {
  return changes.some((one) => one.kind !== 'add' && one.element === element && (one.key === undefined || key === undefined || one.key === key));
}

const variableInstructions = (variables: ScopeVariables[]): string[] =>
  variables
    .filter(({ values }) => values.length > 0)
    .map(({ scope, values }) => jsonObject([['variables', jsonObject(values)], ...(scope ? [['scopeId', JSON.stringify(scope)] as const] : [])]));

const withVariables = (variables: ScopeVariables[]): [string, string][] => {
  const sets = variableInstructions(variables);
  return sets.length > 0 ? [['variableInstructions', `[${sets.join()}]`]] : [];
};

const text = JSON.stringify;

/** The request as JSON text; values of variables keep every digit. */
export function request(changes: readonly Change[]): string {
  const activate: string[] = [];
  const move: string[] = [];
  const terminate: string[] = [];
  for (const change of changes) {
    if (change.kind === 'cancel') {
      terminate.push(change.key ? text({ elementInstanceKey: change.key }) : text({ elementId: change.element }));
    } else if (change.kind === 'add') {
      const place: [string, string][] = change.place.kind === 'below' ? [['ancestorElementInstanceKey', text(change.place.key)]] : [];
      activate.push(jsonObject([['elementId', text(change.element)], ...place, ...withVariables(change.variables)]));
    } else {
      const source = change.key ? { sourceType: 'byKey', sourceElementInstanceKey: change.key } : { sourceType: 'byId', sourceElementId: change.element };
      const ancestor =
        change.place.kind === 'below'
          ? { ancestorScopeType: 'direct', ancestorElementInstanceKey: change.place.key }
          : { ancestorScopeType: change.place.kind === 'beside' ? 'sourceParent' : 'inferred' };
      move.push(jsonObject([['sourceElementInstruction', text(source)], ['targetElementId', text(change.to)], ['ancestorScopeInstruction', text(ancestor)], ...withVariables(change.variables)]));
    }
  }
  const parts: [string, string[]][] = [['activateInstructions', activate], ['moveInstructions', move], ['terminateInstructions', terminate]];
  return jsonObject(parts.filter(([, all]) => all.length > 0).map(([name, all]) => [name, `[${all.join()}]`] as const));
}
