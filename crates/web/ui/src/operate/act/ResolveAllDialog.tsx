import { createSignal, For, type JSX, onCleanup, Show } from 'solid-js';
import { searchIncidents } from '../../api/generated/operations';
import type { IncidentFilter, IncidentResult } from '../../api/generated/types';
import { call } from '../../api/http';
import { t } from '../../language';
import { useRead } from '../../query';
import { number, totalOf } from '../../ui/numbers';
import { Action, Dialog, Failure, Field } from '../../ui/parts';
import { textOf } from '../../ui/toast';
import { isRetries, type Outcome, repairAll } from './resolve';
import { objectProblem } from './words';

const PAGE = 100;
const REFUSALS_SHOWN = 20;

/** All incidents that match, a page at a time: those that are resolved meanwhile do not move the place of the next page. */
async function* incidentsOf(filter: IncidentFilter): AsyncGenerator<IncidentResult> {
  let after: string | undefined;
  do {
    const found = await call(searchIncidents, { body: { filter, sort: [{ field: 'creationTime', order: 'ASC' }], page: { limit: PAGE, ...(after ? { after } : {}) } } });
    yield* found.items;
    after = found.items.length === PAGE ? (found.page.endCursor ?? undefined) : undefined;
  } while (after);
}

/** Resolves all incidents with the same error, with retries and variables for each. */
export default function ResolveAllDialog(props: { message: string; onClose: () => void; onDone: () => Promise<void> }): JSX.Element {
  const filter = (): IncidentFilter => ({ state: 'ACTIVE', errorMessage: { $eq: props.message } });
  const found = useRead(searchIncidents, () => ({ body: { filter: filter(), page: { limit: 1 } } }));
  const [retries, setRetries] = createSignal('1');
  const [variables, setVariables] = createSignal('');
  const [outcome, setOutcome] = createSignal<Outcome>();
  const [failure, setFailure] = createSignal<unknown>();
  const [running, setRunning] = createSignal<AbortController>();
  onCleanup(() => running()?.abort());
  const problem = () => (isRetries(retries()) ? objectProblem(variables()) : t('change.job.retriesAboveZero'));
  const run = async () => {
    const stop = new AbortController();
    setRunning(stop);
    setFailure(undefined);
    setOutcome({ done: 0, refused: [] });
    try {
      await repairAll(incidentsOf(filter()), { retries: Number(retries()), variables: variables() }, stop.signal, setOutcome);
    } catch (error) {
      setFailure(error);
    } finally {
      setRunning(undefined);
      await props.onDone();
    }
  };
  return (
    <Dialog title={t('change.resolve.all')} onClose={props.onClose} wide>
      <div class="stack">
        <p>{totalOf(found.data?.page, 'change.resolve.all.effect.one', 'change.resolve.all.effect.other')}</p>
        <pre class="copied" tabindex="0">
          {props.message}
        </pre>
        <Field label={t('change.job.field.retries')} hint={t('change.resolve.retries.hint')}>
          <input inputmode="numeric" value="1" ref={(one) => (one.defaultValue = '1')} onInput={(event) => setRetries(event.currentTarget.value)} />
        </Field>
        <Field label={t('change.variables')} hint={t('change.variables.hint', { example: '{"paid": true}' })}>
          <textarea rows={4} spellcheck={false} aria-invalid={objectProblem(variables()) !== undefined} onInput={(event) => setVariables(event.currentTarget.value)} />
        </Field>
        <p class="muted" role="status">
          {problem() ?? ''}
        </p>
        <Show when={outcome()}>
          {(now) => (
            <div role="status">
              <p>{t('change.resolve.all.progress', { done: number(now().done), refused: number(now().refused.length) })}</p>
              <ul>
                <For each={now().refused.slice(0, REFUSALS_SHOWN)}>
                  {({ key, reason }) => (
                    <li class="failure">
                      <span class="key">{key}</span> {textOf(reason)}
                    </li>
                  )}
                </For>
              </ul>
            </div>
          )}
        </Show>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <Show when={running()} fallback={<button onClick={() => props.onClose()}>{t('change.close')}</button>}>
            {(stop) => <button onClick={() => stop().abort()}>{t('change.resolve.stop')}</button>}
          </Show>
          <Action class="primary" do={run} disabled={problem() !== undefined}>
            {t('change.resolve.all')}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
