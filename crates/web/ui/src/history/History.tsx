import { A, useParams, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, type JSX, onCleanup, Show } from 'solid-js';
import { getProcessInstance } from '../api/generated/operations';
import type { BatonStep, ProcessInstanceResult } from '../api/generated/types';
import { Problem } from '../api/http';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import type { Diagram } from '../diagram/bpmn';
import { t } from '../language';
import { Text } from '../language/Text';
import { useRead } from '../query';
import { number } from '../ui/numbers';
import { Copy, Failure, State, wordOf } from '../ui/parts';
import { exactText } from '../ui/times';
import { countsOf, countUntil, type ElementThen, fold, type Then } from './fold';
import { Spending } from './Spending';
import { STEPS_MAX, useSteps } from './steps';
import { standsOut, wordsOf } from './words';

const PLAY_MS = 700;
const ROWS_MAX = 300;
const VARIABLE_HEADS = ['name', 'value', 'scope', 'later'] as const;
/** Steps that are listed before the chosen one, and after it. */
const [BEFORE, AFTER] = [12, 8];

/** An instance as it was at any of its steps. */
export default function History(): JSX.Element {
  const params = useParams<{ key: string }>();
  const isKey = () => /^\d{1,19}$/.test(params.key);
  const instance = useRead(getProcessInstance, () => ({ path: { processInstanceKey: params.key }, enabled: isKey(), live: true, keep: false }));
  const isMissing = () => !isKey() || (instance.error instanceof Problem && (instance.error.status === 404 || instance.error.status === 400));
  return (
    <main class="page">
      <Show
        when={!isMissing()}
        fallback={
          <>
            <h1>{t('instance.missing')}</h1>
            <p>
              <Text of="history.missing.text" at={{ key: <code>{params.key.slice(0, 100)}</code> }} />
            </p>
          </>
        }
      >
        <Show when={instance.data ? undefined : instance.error}>{(error) => <Failure of={error()} again={() => void instance.refetch()} />}</Show>
        <Show when={instance.data?.processInstanceKey} keyed>
          <Loaded instance={instance.data!} />
        </Show>
      </Show>
    </main>
  );
}

function Loaded(props: { instance: ProcessInstanceResult }): JSX.Element {
  const [query, setQuery] = useSearchParams<{ at: string; element: string }>();
  const key = () => props.instance.processInstanceKey;
  const isRunning = () => props.instance.state === 'ACTIVE' || props.instance.state === 'SUSPENDED';
  const { steps, told, failure, again } = useSteps(key, isRunning);
  const position = () => (/^\d{1,19}$/.test(query.at ?? '') ? Number(query.at) : undefined);
  /** How many steps have happened; at least the first. */
  const count = createMemo(() => Math.max(Math.min(1, steps().length), countUntil(steps(), position())));
  const isNow = () => count() === steps().length;
  const step = (): BatonStep | undefined => steps()[count() - 1];
  const then = createMemo(() => fold(steps(), count()));
  const now = createMemo(() => fold(steps(), steps().length));
  const goTo = (next: number) => {
    const wanted = Math.min(Math.max(next, 1), steps().length);
    // The end stays the end while the instance goes on.
    setQuery({ at: wanted === steps().length ? null : String(steps()[wanted - 1]!.position) }, { replace: true });
  };
  const [diagram, setDiagram] = createSignal<Diagram>();
  const nameOf = (elementId: string) => diagram()?.nameOf(elementId) ?? elementId;
  const counts = createMemo(() => countsOf(then()));
  const marks = createMemo(() => ({
    running: [...counts()].filter(([, of]) => of.active).map(([id]) => id),
    incident: [...counts()].filter(([, of]) => of.incidents).map(([id]) => id),
    here: step()?.elementId ? [step()!.elementId!] : [],
  }));
  const isMigratedLater = () => steps().slice(count()).some(({ kind }) => kind === 'MIGRATED');
  const choose = (element: string | undefined) => setQuery({ element: element ?? null }, { replace: true });
  return (
    <>
      <div class="row">
        <h1>{t('history.of', { name: props.instance.processDefinitionName || props.instance.processDefinitionId })}</h1>
        <span class="key">
          <A href={`/operate/processes/${key()}`}>{key()}</A>
          <Copy text={key()} />
        </span>
        <State of={props.instance.state} incident={props.instance.hasIncident} />
        <span class="muted">{t('history.isNow')}</span>
      </div>
      <Show when={failure()}>{(error) => <Failure of={error()} again={again} />}</Show>
      <Show when={told()} fallback={<Show when={!failure()}><p class="empty">{t('part.loading')}</p></Show>}>
        {(about) => (
          <>
            <Show when={!about().isRecorded}>
              <p class="notice">
                <Text of="history.notRecorded" at={{ setting: <code>secondary_storage.steps</code> }} />
              </p>
            </Show>
            <Show when={about().isCut}>
              <p class="notice">{t('history.cut', { count: number(STEPS_MAX) })}</p>
            </Show>
            <Show when={isMigratedLater()}>
              <p class="notice">{t('history.migratedLater')}</p>
            </Show>
            <Show when={step()} fallback={<p class="empty">{t('history.nothing')}</p>}>
              {(current) => (
                <>
                  <Scrubber steps={steps()} count={count()} onGo={goTo} words={wordsOf(current(), nameOf)} />
                  <div class="halves">
                    <BpmnDiagram definitionKey={props.instance.processDefinitionKey} counts={counts()} marks={marks()} selected={query.element} onSelect={choose} onDrawn={setDiagram} />
                    <Elements then={then()} nameOf={nameOf} selected={query.element} onSelect={choose} />
                  </div>
                  <Show when={then().isSuspended}>
                    <p>
                      <Text of="history.suspended" at={{ state: <State of="SUSPENDED" /> }} />
                    </p>
                  </Show>
                  <Incidents then={then()} nameOf={nameOf} />
                  <div class="grid">
                    <Variables then={then()} now={now()} isNow={isNow()} isKnown={about().isRecorded} instanceKey={key()} nameOf={nameOf} />
                    <Steps steps={steps()} count={count()} nameOf={nameOf} onGo={goTo} />
                  </div>
                  <Spending steps={steps()} isRunning={isRunning()} nameOf={nameOf} />
                </>
              )}
            </Show>
          </>
        )}
      </Show>
    </>
  );
}

/** Drawn here: not every system has characters for them. */
const ICONS = { first: 'M1 1h2v10H1zM11 1v10L4 6z', previous: 'M10 1v10L3 6z', next: 'M2 1v10l7-5z', last: 'M1 1v10l7-5zM9 1h2v10H9z' };
const Icon = (props: { path: string }): JSX.Element => (
  <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" fill="currentColor">
    <path d={props.path} />
  </svg>
);

/** The slider over the steps, with buttons beside it. */
function Scrubber(props: { steps: readonly BatonStep[]; count: number; onGo: (count: number) => void; words: string }): JSX.Element {
  const [playing, setPlaying] = createSignal(false);
  const last = () => props.steps.length;
  const time = () => exactText(props.steps[props.count - 1]!.time);
  const nextThat = () => props.steps.findIndex((step, at) => at >= props.count && standsOut(step)) + 1;
  createEffect(() => {
    if (!playing()) return;
    const timer = setInterval(() => (props.count < last() ? props.onGo(props.count + 1) : setPlaying(false)), PLAY_MS);
    onCleanup(() => clearInterval(timer));
  });
  const play = () => {
    if (!playing() && props.count === last()) props.onGo(1);
    setPlaying(!playing());
  };
  return (
    <section class="panel stack" aria-label={t('history.moment')}>
      <div class="row">
        <button aria-label={t('history.moment.first')} disabled={props.count === 1} onClick={() => props.onGo(1)}>
          <Icon path={ICONS.first} />
        </button>
        <button aria-label={t('history.moment.previous')} disabled={props.count === 1} onClick={() => props.onGo(props.count - 1)}>
          <Icon path={ICONS.previous} />
        </button>
        <button aria-pressed={playing()} onClick={play}>
          {t(playing() ? 'history.moment.stop' : 'history.moment.play')}
        </button>
        <button aria-label={t('history.moment.next')} disabled={props.count === last()} onClick={() => props.onGo(props.count + 1)}>
          <Icon path={ICONS.next} />
        </button>
        <button aria-label={t('history.moment.last')} disabled={props.count === last()} onClick={() => props.onGo(last())}>
          <Icon path={ICONS.last} />
        </button>
        <button disabled={nextThat() === 0} title={t('history.moment.events')} onClick={() => props.onGo(nextThat())}>
          {t('history.moment.nextEvent')}
        </button>
        <input
          class="wide"
          type="range"
          aria-label={t('history.moment.step')}
          aria-valuetext={t('history.moment.stepIs', { step: props.count, steps: last(), words: props.words })}
          min="1"
          max={last()}
          value={props.count}
          onInput={(event) => props.onGo(Number(event.currentTarget.value))}
        />
      </div>
      <p role="status" class="clear">
        <Text
          of="history.moment.text"
          at={{
            step: <strong>{t('history.moment.stepOf', { step: number(props.count), steps: number(last()) })}</strong>,
            time: <time dateTime={props.steps[props.count - 1]!.time}>{time()}</time>,
            words: <>{props.words}</>,
          }}
        />
      </p>
    </section>
  );
}

/** Element instances that there were at the moment, in the order in which they began. */
function Elements(props: { then: Then; nameOf: (elementId: string) => string; selected: string | undefined; onSelect: (elementId: string | undefined) => void }): JSX.Element {
  const all = createMemo(() => [...props.then.elements.values()]);
  const shown = () => all().slice(-ROWS_MAX);
  return (
    <div class="scroll tree-then" tabindex="0" role="region" aria-label={t('history.elements')}>
      <Show when={all().length > ROWS_MAX}>
        <p class="muted">{t('history.latest', { shown: ROWS_MAX, all: number(all().length) })}</p>
      </Show>
      <table aria-label={t('history.elements')}>
        <tbody>
          <For each={shown()}>
            {(one: ElementThen) => (
              <tr classList={{ chosen: one.elementId === props.selected }}>
                <td>
                  <State of={one.state} incident={one.hasIncident && one.state === 'ACTIVE'} />
                </td>
                <td>
                  <button class="plain" onClick={() => props.onSelect(one.elementId === props.selected ? undefined : one.elementId)}>
                    {props.nameOf(one.elementId).slice(0, 200)}
                  </button>
                </td>
                <td class="muted">{wordOf(one.type)}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

function Incidents(props: { then: Then; nameOf: (elementId: string) => string }): JSX.Element {
  return (
    <Show when={props.then.incidents.size > 0}>
      <section aria-label={t('history.incidents')}>
        <h2>{t('history.incidents')}</h2>
        <ul class="plain-list">
          <For each={[...props.then.incidents.values()]}>
            {(one) => (
              <li class="clear">
                <State of="ACTIVE" incident />{' '}
                {t('history.incident', { element: one.elementId ? props.nameOf(one.elementId) : '', type: wordOf(one.type), message: one.message.slice(0, 300) })}
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  );
}

function Variables(props: { then: Then; now: Then; isNow: boolean; isKnown: boolean; instanceKey: string; nameOf: (elementId: string) => string }): JSX.Element {
  const all = createMemo(() => [...props.then.variables].sort(([, a], [, b]) => a.name.localeCompare(b.name)));
  const scope = (key: string) => {
    const element = props.then.elements.get(key);
    return key === props.instanceKey ? t('history.variables.ofInstance') : element ? props.nameOf(element.elementId) : key;
  };
  const later = (id: string, value: string) => {
    const next = props.now.variables.get(id)?.value;
    return props.isNow || next === value ? '' : (next ?? '');
  };
  return (
    <section class="panel" aria-label={t('history.variables')}>
      <h2>{t('history.variables')}</h2>
      <Show when={all().length > 0} fallback={<p class="empty">{t(props.isKnown ? 'history.variables.none' : 'history.variables.unknown')}</p>}>
        <Show when={all().length > ROWS_MAX}>
          <p class="muted">{t('history.first', { shown: ROWS_MAX, all: number(all().length) })}</p>
        </Show>
        <div class="scroll" tabindex="0" role="region" aria-label={t('history.variables')}>
          <table aria-label={t('history.variables')}>
            <thead>
              <tr>
                <For each={VARIABLE_HEADS}>{(head) => <th scope="col">{t(`history.head.${head}`)}</th>}</For>
              </tr>
            </thead>
            <tbody>
              <For each={all().slice(0, ROWS_MAX)}>
                {([id, one]) => (
                  <tr>
                    <td>{one.name.slice(0, 200)}</td>
                    <td>
                      <code>{one.value.slice(0, 300)}</code>
                      <Show when={one.value.length > 300}>
                        {' '}
                        … <Copy text={one.value} label={t('history.variables.theValue')} />
                      </Show>
                    </td>
                    <td>{scope(one.scopeKey)}</td>
                    <td class="muted">
                      <code>{later(id, one.value).slice(0, 300)}</code>
                    </td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </section>
  );
}

/** The steps around the chosen one. */
function Steps(props: { steps: readonly BatonStep[]; count: number; nameOf: (elementId: string) => string; onGo: (count: number) => void }): JSX.Element {
  const first = () => Math.max(0, Math.min(props.count - 1 - BEFORE, props.steps.length - BEFORE - AFTER - 1));
  const shown = () => props.steps.slice(first(), first() + BEFORE + AFTER + 1);
  return (
    <section class="panel" aria-label={t('history.steps')}>
      <h2>{t('history.steps.around')}</h2>
      <ol class="plain-list steps">
        <For each={shown()}>
          {(step, at) => {
            const count = () => first() + at() + 1;
            return (
              <li aria-current={count() === props.count ? 'step' : undefined}>
                <button class="plain" onClick={() => props.onGo(count())}>
                  <span class="number muted">{number(count())}</span> <time dateTime={step.time}>{step.time.slice(11, 23)}</time> {wordsOf(step, props.nameOf)}
                </button>
              </li>
            );
          }}
        </For>
      </ol>
    </section>
  );
}
