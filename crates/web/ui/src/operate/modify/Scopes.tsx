import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchElementInstances } from '../../api/generated/operations';
import type { ElementInstanceResult } from '../../api/generated/types';
import type { Model } from '../../diagram/model';
import { useRead } from '../../query';
import { jsonProblem } from '../../ui/json';
import { number } from '../../ui/numbers';
import { Failure, Field } from '../../ui/parts';
import { exactText } from '../../ui/times';
import type { Change, Place, ScopeVariables } from './plan';
import { t } from '../../language';

const CHOICES = 100;

interface Line {
  scope: string;
  name: string;
  value: string;
}

/** The rest of a change that puts a token somewhere: in which scope, and with which variables. */
export function PlaceForm(props: {
  model: Model;
  instanceKey: string;
  target: string;
  /** Element that a token is moved from; absent when one is added. */
  from: string | undefined;
  onReady: (place: Place | { kind: 'beside' }, variables: ScopeVariables[]) => void;
  onClose: () => void;
}): JSX.Element {
  const scopes = () => props.model.scopesOf(props.target);
  const found = useRead(searchElementInstances, () => ({
    body: {
      filter: { processInstanceKey: props.instanceKey, elementId: { $in: scopes() }, state: 'ACTIVE' as const },
      sort: [{ field: 'elementInstanceKey' as const, order: 'ASC' as const }],
      page: { limit: CHOICES },
    },
    enabled: scopes().length > 0,
    keep: false,
  }));
  const instances = () => (found.data?.items ?? []).filter((one) => one.type !== 'MULTI_INSTANCE_BODY');
  const countOf = (scope: string) => instances().filter((one) => one.elementId === scope).length;
  const isReady = () => scopes().length === 0 || found.data !== undefined;
  const isAmbiguous = () => scopes().some((scope) => countOf(scope) > 1 || props.model.elements.get(scope)?.loop !== undefined);
  const isBeside = () => props.from !== undefined && props.model.elements.get(props.from)?.scope === props.model.elements.get(props.target)?.scope;
  const made = () => scopes().filter((scope) => countOf(scope) === 0);
  const usual = () => (isBeside() ? 'beside' : !isAmbiguous() || props.from !== undefined ? 'found' : '');
  const [chosen, setChosen] = createSignal<string>();
  const place = () => chosen() ?? usual();
  const [lines, setLines] = createSignal<Line[]>([]);
  const change = (at: number, part: Partial<Line>) => setLines(lines().map((one, other) => (other === at ? { ...one, ...part } : one)));
  const problem = (line: Line) => (line.name.trim() === '' ? t('change.noName') : line.value.trim() === '' ? t('change.scope.noValue') : jsonProblem(line.value));
  const variables = (): ScopeVariables[] => {
    const byScope = new Map<string, [string, string][]>();
    for (const one of lines()) byScope.set(one.scope, [...(byScope.get(one.scope) ?? []), [one.name.trim(), one.value]]);
    return [...byScope].map(([scope, values]) => ({ scope, values }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (place() === '' || lines().some((line) => problem(line) !== undefined)) return;
    const at: Place | { kind: 'beside' } = place() === 'beside' ? { kind: 'beside' } : place() === 'found' ? { kind: 'found' } : { kind: 'below', key: place() };
    props.onReady(at, variables());
  };
  const label = (one: ElementInstanceResult) => t('change.scope.label', { element: props.model.nameOf(one.elementId), key: one.elementInstanceKey, moment: exactText(one.startDate) });
  return (
    <form class="stack" onSubmit={submit} aria-label={t('change.scope.tokenOn', { element: props.model.nameOf(props.target) })}>
      <Show when={found.error}>{(error) => <Failure of={error()} />}</Show>
      <Show when={scopes().length > 0 && isReady()}>
        <Field label={t('change.scope.which')}>
          <select value={place()} onChange={(event) => setChosen(event.currentTarget.value)} required>
            <Show when={isAmbiguous() && props.from === undefined}>
              <option value="">{t('change.scope.chooseOf', { count: number(instances().length) })}</option>
            </Show>
            <Show when={isBeside()}>
              <option value="beside">{t('change.scope.beside')}</option>
            </Show>
            <Show when={!isAmbiguous() || props.from !== undefined}>
              <option value="found">{props.from === undefined ? t('change.scope.found') : t('change.scope.nearest')}</option>
            </Show>
            <For each={[...scopes()].reverse()}>
              {(scope) => <For each={instances().filter((one) => one.elementId === scope)}>{(one) => <option value={one.elementInstanceKey}>{label(one)}</option>}</For>}
            </For>
            <Show when={isAmbiguous()}>
              <option value={props.instanceKey}>{t('change.scope.instance')}</option>
            </Show>
          </select>
        </Field>
        <Show when={(found.data?.page.totalItems ?? 0) > CHOICES}>
          <p class="muted">
            {t('change.scope.first', { count: CHOICES, total: number(found.data!.page.totalItems) })}
          </p>
        </Show>
        <Show when={made().length > 0}>
          <p class="muted">{t('change.scope.made', { scopes: made().map(props.model.nameOf).join(', ') })}</p>
        </Show>
      </Show>
      <For each={lines().map((_, at) => at)}>
        {(at) => (
          <div class="row">
            <select aria-label={t('change.scope.scopeOf')} value={lines()[at]!.scope} onChange={(event) => change(at, { scope: event.currentTarget.value })}>
              <option value="">{t('change.scope.processInstance')}</option>
              <For each={[...scopes(), props.target]}>{(scope) => <option value={scope}>{props.model.nameOf(scope)}</option>}</For>
            </select>
            <input aria-label={t('change.scope.nameOf')} placeholder={t('change.scope.name')} value={lines()[at]!.name} onInput={(event) => change(at, { name: event.currentTarget.value })} />
            <input aria-label={t('change.scope.value')} placeholder={t('change.scope.value.hint')} value={lines()[at]!.value} onInput={(event) => change(at, { value: event.currentTarget.value })} />
            <button type="button" class="plain" aria-label={t('change.scope.remove')} onClick={() => setLines(lines().filter((_, other) => other !== at))}>
              ✕
            </button>
            <span class="muted" role="status">
              {problem(lines()[at]!) ?? ''}
            </span>
          </div>
        )}
      </For>
      <div class="row">
        <button type="button" onClick={() => setLines([...lines(), { scope: made()[0] ?? '', name: '', value: '' }])}>
          {t('change.scope.addVariable')}
        </button>
        <span class="spacer" />
        <button type="button" onClick={() => props.onClose()}>
          {t('change.back')}
        </button>
        <button class="primary" type="submit" disabled={!isReady() || place() === '' || lines().some((line) => problem(line) !== undefined)}>
          {t('change.scope.addToPlan')}
        </button>
      </div>
    </form>
  );
}

/** Scopes that changes make, for the review. */
export function madeScopes(model: Model, changes: readonly Change[], active: (id: string) => number): string[] {
  const targets = changes.flatMap((one) => (one.kind === 'add' ? [one.element] : one.kind === 'move' ? [one.to] : []));
  return [...new Set(targets.flatMap((target) => model.scopesOf(target)))].filter((scope) => active(scope) === 0);
}
