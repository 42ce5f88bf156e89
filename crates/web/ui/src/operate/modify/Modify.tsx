import { useBeforeLeave } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, type JSX, on, Show } from 'solid-js';
import { modifyProcessInstance, searchElementInstances } from '../../api/generated/operations';
import type { ElementInstanceResult, ProcessElementStatisticsResult, ProcessInstanceResult } from '../../api/generated/types';
import { type Asked, plan } from '../../api/http';
import type { Model } from '../../diagram/model';
import { useRead } from '../../query';
import { ofProcess } from '../../rights';
import { number } from '../../ui/numbers';
import { Action, Dialog, Failure, State } from '../../ui/parts';
import { exactText } from '../../ui/times';
import { say } from '../../ui/toast';
import { CopyCommands } from '../../views/CopyAs';
import { type Change, differences, isTaken, request, sentence } from './plan';
import { madeScopes, PlaceForm } from './Scopes';
import { count as counted, t } from '../../language';

const TOKENS = 100;

/** Modification mode: changes of where an instance stands are collected, told in words, and sent as one command. */
export default function Modify(props: {
  instance: ProcessInstanceResult;
  model: Model;
  statistics: readonly ProcessElementStatisticsResult[];
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  /** Changes that are planned, kept while the page lives. */
  changes: readonly Change[];
  setChanges: (changes: readonly Change[]) => void;
  /** Whether the instance has another definition than the one that the changes were planned for. */
  isMigrated: boolean;
  onDone: (isApplied: boolean) => Promise<void>;
}): JSX.Element {
  const [step, setStep] = createSignal<{ kind: 'add' } | { kind: 'move'; from: string; key: string | undefined; tokens: number; to: string | undefined }>();
  const [reviewing, setReviewing] = createSignal(false);
  const [failure, setFailure] = createSignal<unknown>();
  const elements = createMemo(() => [...props.model.elements.values()].sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id)));
  const changed = (next: readonly Change[]) => {
    setStep(undefined);
    setFailure(undefined);
    props.setChanges(next);
  };
  // While a token is being moved, a choice is the place where it goes.
  createEffect(
    on(
      () => props.selected,
      (id) => {
        const current = step();
        if (current?.kind === 'move' && id) setStep({ ...current, to: id });
        else setStep(undefined);
      },
      { defer: true },
    ),
  );
  useBeforeLeave((event) => {
    const isHere = typeof event.to === 'string' && event.to.startsWith(event.from.pathname.replace(/(\/\d+)\/.*$/, '$1'));
    if (!isHere && props.changes.length > 0 && !event.defaultPrevented) {
      event.preventDefault();
      if (confirm(t('change.modify.discard'))) event.retry(true);
    }
  });
  const planned = () => plan(modifyProcessInstance, { path: { processInstanceKey: props.instance.processInstanceKey }, text: request(props.changes) });
  const apply = async () => {
    try {
      await planned().send();
    } catch (error) {
      setReviewing(false);
      setFailure(error);
      return;
    }
    setReviewing(false);
    props.setChanges([]);
    await props.onDone(true);
    say(t('change.modify.done'));
  };
  const target = () => {
    const current = step();
    return current?.kind === 'move' ? current.to : props.selected;
  };
  /** Why the plan is not what it was: others have done something with the instance. */
  const meanwhile = () => {
    const { state, processDefinitionName, processDefinitionId, processDefinitionVersion } = props.instance;
    if (state === 'SUSPENDED') return t('change.modify.suspended');
    if (state !== 'ACTIVE') return t('change.modify.ended');
    return props.isMigrated ? t('change.modify.migrated', { process: processDefinitionName || processDefinitionId, version: processDefinitionVersion }) : undefined;
  };
  return (
    <section class="panel stack" aria-label={t('change.modify.region')}>
      <div class="row">
        <label class="row">
          {step()?.kind === 'move' ? t('change.modify.moveTo') : t('change.modify.element')}
          <select value={target() ?? ''} onChange={(event) => props.onSelect(event.currentTarget.value || undefined)}>
            <option value="">{t('change.modify.choose')}</option>
            <For each={elements()}>{(one) => <option value={one.id}>{one.name ? `${one.name} (${one.id})` : one.id}</option>}</For>
          </select>
        </label>
        <span class="spacer" />
        <button disabled={props.changes.length === 0} onClick={() => changed(props.changes.slice(0, -1))}>
          {t('change.modify.undo')}
        </button>
        <button
          onClick={() => {
            if (props.changes.length > 0 && !confirm(t('change.modify.discard'))) return;
            changed([]);
            void props.onDone(false);
          }}
        >
          {t('change.modify.leave')}
        </button>
        <Action class="primary" disabled={props.changes.length === 0 || props.instance.state !== 'ACTIVE'} needs={ofProcess('MODIFY_PROCESS_INSTANCE', props.instance.processDefinitionId)} do={() => setReviewing(true)}>
          {t('change.modify.review')}
        </Action>
      </div>
      <Show when={meanwhile()}>
        <p class="failure" role="alert">
          {meanwhile()}
        </p>
      </Show>
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <Show when={target()} keyed>
        {(id) => (
          <Show when={step()} fallback={<Choices instance={props.instance} model={props.model} element={id} changes={props.changes} onChange={changed} onStep={setStep} />}>
            {(current) => {
              const from = () => {
                const now = current();
                return now.kind === 'move' ? now.from : undefined;
              };
              const why = () => (from() === id ? t('change.modify.there') : props.model.whyNotActivated(id));
              return (
                <Show when={why() === undefined} fallback={<p class="failure">{why()}</p>}>
                  <PlaceForm
                    model={props.model}
                    instanceKey={props.instance.processInstanceKey}
                    target={id}
                    from={from()}
                    onClose={() => setStep(undefined)}
                    onReady={(place, variables) => {
                      const now = current();
                      if (now.kind === 'add') {
                        if (place.kind !== 'beside') changed([...props.changes, { kind: 'add', element: id, place, variables }]);
                      } else changed([...props.changes, { kind: 'move', element: now.from, key: now.key, tokens: now.tokens, to: id, place, variables }]);
                    }}
                  />
                </Show>
              );
            }}
          </Show>
        )}
      </Show>
      <Show when={props.changes.length > 0}>
        <ol aria-label={t('change.modify.planned')}>
          <For each={props.changes}>
            {(change) => (
              <li>
                {sentence(change, props.model.nameOf)}{' '}
                <button class="plain" aria-label={t('change.modify.removeOf', { change: sentence(change, props.model.nameOf) })} onClick={() => changed(props.changes.filter((one) => one !== change))}>
                  ✕
                </button>
              </li>
            )}
          </For>
        </ol>
      </Show>
      <Show when={reviewing()}>
        <Review model={props.model} changes={props.changes} statistics={props.statistics} isChild={props.instance.parentProcessInstanceKey !== null} onClose={() => setReviewing(false)} asked={() => [planned().asked]} apply={apply} />
      </Show>
    </section>
  );
}

/** What can be done with an element and the tokens on it. */
function Choices(props: {
  instance: ProcessInstanceResult;
  model: Model;
  element: string;
  changes: readonly Change[];
  onChange: (changes: readonly Change[]) => void;
  onStep: (step: { kind: 'add' } | { kind: 'move'; from: string; key: string | undefined; tokens: number; to: undefined }) => void;
}): JSX.Element {
  const [key, setKey] = createSignal<string>();
  const found = useRead(searchElementInstances, () => ({
    body: {
      filter: { processInstanceKey: props.instance.processInstanceKey, elementId: props.element, state: 'ACTIVE' as const },
      sort: [{ field: 'elementInstanceKey' as const, order: 'ASC' as const }],
      page: { limit: TOKENS },
    },
    keep: false,
  }));
  // A body of a multi-instance activity goes with its last instance.
  const hidden = () => ((found.data?.items ?? []).some((one) => one.type === 'MULTI_INSTANCE_BODY') ? 1 : 0);
  const count = () => (found.data?.page.totalItems ?? 0) - hidden();
  const items = () => found.data?.items.filter((one) => one.type !== 'MULTI_INSTANCE_BODY') ?? [];
  const why = () => props.model.whyNotActivated(props.element);
  const isTakenHere = () => isTaken(props.changes, props.element, key());
  const chosen = () => ({ key: key(), tokens: key() ? 1 : count() });
  const label = (one: ElementInstanceResult) => t(one.hasIncident ? 'change.modify.tokenIncident' : 'change.modify.tokenSince', { key: one.elementInstanceKey, moment: exactText(one.startDate) });
  return (
    <div class="stack">
      <Show when={found.error}>{(error) => <Failure of={error()} />}</Show>
      <div class="row">
        <strong>{props.model.nameOf(props.element)}</strong>
        <Show when={found.data}>
          <span role="status">{counted(count(), 'change.modify.tokens.one', 'change.modify.tokens.other')}</span>
        </Show>
        <Show when={count() > 0}>
          <Show when={count() > 1} fallback={<State of="ACTIVE" incident={items()[0]?.hasIncident} />}>
            <select aria-label={t('change.modify.which')} onChange={(event) => setKey(event.currentTarget.value || undefined)}>
              <option value="">{t('change.modify.all', { count: number(count()) })}</option>
              <For each={items()}>{(one) => <option value={one.elementInstanceKey}>{label(one)}</option>}</For>
            </select>
          </Show>
          <button disabled={isTakenHere()} onClick={() => props.onChange([...props.changes, { kind: 'cancel', element: props.element, ...chosen() }])}>
            {count() === 1 || key() ? t('change.modify.cancelOne') : t('change.modify.cancelMany')}
          </button>
          <button disabled={isTakenHere()} onClick={() => props.onStep({ kind: 'move', from: props.element, ...chosen(), to: undefined })}>
            {t('change.modify.move')}
          </button>
        </Show>
        <button disabled={why() !== undefined} title={why()} onClick={() => props.onStep({ kind: 'add' })}>
          {t('change.modify.add')}
        </button>
      </div>
      <Show when={isTakenHere() && count() > 0}>
        <p class="muted">{t('change.modify.taken')}</p>
      </Show>
      <Show when={why()}>
        <p class="muted">{why()}</p>
      </Show>
      <Show when={(found.data?.page.totalItems ?? 0) > TOKENS}>
        <p class="muted">{t('change.modify.first', { count: TOKENS })}</p>
      </Show>
    </div>
  );
}

/** The effect of all changes together, in words, before they are sent. */
function Review(props: {
  model: Model;
  changes: readonly Change[];
  statistics: readonly ProcessElementStatisticsResult[];
  isChild: boolean;
  onClose: () => void;
  asked: () => readonly Asked[];
  apply: () => Promise<void>;
}): JSX.Element {
  const now = createMemo(() => new Map(props.statistics.map((one) => [one.elementId, one.active + one.incidents])));
  const changed = createMemo(() => differences(props.changes));
  const after = (id: string) => Math.max(0, (now().get(id) ?? 0) + (changed().get(id) ?? 0));
  const isGone = (id: string) => props.model.scopesOf(id).some((scope) => (now().get(scope) ?? 0) > 0 && after(scope) === 0);
  const left = () => [...new Set([...now().keys(), ...changed().keys()])].some((id) => props.model.elements.has(id) && after(id) > 0 && !isGone(id) && !hasInner(id));
  const hasInner = (id: string) => [...props.model.elements.values()].some((one) => one.scope === id);
  const made = () => madeScopes(props.model, props.changes, (id) => now().get(id) ?? 0);
  return (
    <Dialog title={t('change.modify.apply')} onClose={props.onClose} wide>
      <ol>
        <For each={props.changes}>{(change) => <li>{sentence(change, props.model.nameOf)}</li>}</For>
      </ol>
      <table aria-label={t('change.modify.table')}>
        <thead>
          <tr>
            <th scope="col">{t('change.modify.element')}</th>
            <th scope="col" class="number">
              {t('change.modify.now')}
            </th>
            <th scope="col" class="number">
              {t('change.modify.after')}
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={[...changed().keys()]}>
            {(id) => (
              <tr>
                <td>{props.model.nameOf(id)}</td>
                <td class="number">{now().get(id) ?? 0}</td>
                <td class="number">{after(id)}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
      <Show when={made().length > 0}>
        <p>{t('change.modify.newScopes', { scopes: made().map(props.model.nameOf).join(', ') })}</p>
      </Show>
      <Show when={!left()}>
        <p class="failure">
          {props.isChild
            ? t('change.modify.childEmpty')
            : t('change.modify.empty')}
        </p>
      </Show>
      <p class="muted">{t('change.modify.order')}</p>
      <div class="actions">
        <CopyCommands of={props.asked} />
        <button onClick={() => props.onClose()}>{t('change.back')}</button>
        <Action class="primary" do={props.apply}>
          {props.changes.length === 1 ? t('change.modify.applyOne') : t('change.modify.applyMany', { count: props.changes.length })}
        </Action>
      </div>
    </Dialog>
  );
}
