import { createSignal, type JSX, Show } from 'solid-js';
import { searchVariables } from '../../api/generated/operations';
import type { IncidentResult } from '../../api/generated/types';
import type { Submit } from '../../diagram/FormView';
import { t } from '../../language';
import { useRead } from '../../query';
import { Action, Dialog, Failure, Field, wordOf } from '../../ui/parts';
import { say } from '../../ui/toast';
import { VariablesForm } from '../../ui/VariablesForm';
import { CopyCommands } from '../../views/CopyAs';
import { isRetries, repairOne, resolvedKey, type StepName, stepsOf } from './resolve';

const SHOWN = 100;

/** Resolves an incident with the retries of its job and with variables, in one step. */
export default function ResolveDialog(props: { incident: IncidentResult; onClose: () => void; onDone: () => Promise<void> }): JSX.Element {
  const [retries, setRetries] = createSignal('1');
  const [done, setDone] = createSignal<readonly StepName[]>([]);
  const [failure, setFailure] = createSignal<unknown>();
  let submit: Submit | undefined;
  const scopes = () => [...new Set([props.incident.processInstanceKey, props.incident.elementInstanceKey])];
  const found = useRead(searchVariables, () => ({
    query: { truncateValues: false },
    body: {
      filter: { processInstanceKey: props.incident.processInstanceKey, scopeKey: { $in: scopes() } },
      sort: [{ field: 'name' as const, order: 'ASC' as const }],
      page: { limit: SHOWN },
    },
    keep: false,
  }));
  // A variable of the element hides that of the instance with the same name.
  const values = () => {
    const items = [...(found.data?.items ?? [])].sort((a, b) => Number(a.scopeKey !== props.incident.processInstanceKey) - Number(b.scopeKey !== props.incident.processInstanceKey));
    return new Map(items.map((one) => [one.name, one.value]));
  };
  const problem = () => (props.incident.jobKey && !isRetries(retries()) ? t('change.job.retriesAboveZero') : undefined);
  const repair = (variables: string) => ({ retries: Number(retries()), variables });
  const planned = () => {
    const typed = submit?.();
    return stepsOf(props.incident, repair(typeof typed === 'string' ? typed : '')).map(([, step]) => step.asked);
  };
  const run = async () => {
    setFailure(undefined);
    setDone([]);
    try {
      const variables = (await submit?.()) ?? '';
      await repairOne(props.incident, repair(variables), (step) => setDone((all) => [...all, step]));
    } catch (error) {
      setFailure(error);
      return;
    }
    await props.onDone();
    props.onClose();
    say(t(resolvedKey(props.incident)));
  };
  return (
    <Dialog title={t('change.resolve.title')} onClose={props.onClose} wide>
      <div class="stack">
        <p>
          <strong>{wordOf(props.incident.errorType)}</strong> {props.incident.elementId}
        </p>
        <pre class="copied" tabindex="0">
          {props.incident.errorMessage}
        </pre>
        <Show when={props.incident.jobKey}>
          <Field label={t('change.job.field.retries')} hint={t('change.resolve.retries.hint')}>
            <input inputmode="numeric" value="1" ref={(one) => (one.defaultValue = '1')} aria-invalid={problem() !== undefined} onInput={(event) => setRetries(event.currentTarget.value)} />
          </Field>
        </Show>
        <section aria-label={t('change.resolve.variables')}>
          <h3>{t('change.resolve.variables')}</h3>
          <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
          <Show when={found.data}>
            <VariablesForm values={values()} readOnly={false} onReady={(ready) => (submit = ready)} />
          </Show>
          <Show when={(found.data?.page.totalItems ?? 0) > SHOWN}>
            <p class="muted">{t('change.resolve.first', { count: SHOWN })}</p>
          </Show>
        </section>
        <p class="muted" role="status">
          {problem() ?? ''}
        </p>
        <Show when={failure()}>
          {(error) => (
            <>
              <Failure of={error()} />
              <Show when={done().length > 0}>
                <p class="notice">{t('change.resolve.done', { steps: done().map((step) => t(`change.resolve.step.${step}`)).join(', ') })}</p>
              </Show>
            </>
          )}
        </Show>
        <div class="actions">
          <Show when={problem() === undefined}>
            <CopyCommands of={planned} />
          </Show>
          <button onClick={() => props.onClose()}>{t('change.close')}</button>
          <Action class="primary" do={run} disabled={problem() !== undefined || (!found.data && !found.error)}>
            {t('change.resolve.button')}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
