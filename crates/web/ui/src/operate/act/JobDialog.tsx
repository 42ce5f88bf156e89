import { createSignal, createUniqueId, For, type JSX, Match, Show, Switch } from 'solid-js';
import { completeJob, failJob, searchJobs, throwJobError, updateJob } from '../../api/generated/operations';
import { plan, type Planned } from '../../api/http';
import { useRead } from '../../query';
import { jsonObject, jsonProblem } from '../../ui/json';
import { Action, Dialog, Failure, Field, State } from '../../ui/parts';
import { Time } from '../../ui/time';
import { say } from '../../ui/toast';
import { CopyCommands } from '../../views/CopyAs';
import { durationOf, objectProblem } from './words';
import { t } from '../../language';

const KINDS = ['complete', 'fail', 'throw', 'retries', 'timeout', 'priority'] as const;
type Kind = (typeof KINDS)[number];

/** Does what a worker would do with a job, or changes how it is offered to workers. */
export default function JobDialog(props: { jobKey: string; onClose: () => void; onDone: () => Promise<void> }): JSX.Element {
  const id = createUniqueId();
  const [kind, setKind] = createSignal<Kind>('complete');
  const [variables, setVariables] = createSignal('');
  const [number, setNumber] = createSignal('');
  const [code, setCode] = createSignal('');
  const [message, setMessage] = createSignal('');
  const [duration, setDuration] = createSignal('');
  const [failure, setFailure] = createSignal<unknown>();
  const found = useRead(searchJobs, () => ({ body: { filter: { jobKey: props.jobKey } }, live: true }));
  const job = () => found.data?.items[0];
  const isWhole = () => /^-?\d{1,9}$/.test(number().trim());
  /** Only what a worker has can fail or time out. */
  const isOffered = () => job() !== undefined && !job()!.worker && !job()!.deadline;
  const problem = () => {
    if (isOffered() && (kind() === 'fail' || kind() === 'timeout')) return t('change.job.notActivated');
    switch (kind()) {
      case 'complete':
        return objectProblem(variables());
      case 'fail':
        if (duration().trim() !== '' && durationOf(duration()) === undefined) return t('change.job.pause');
        return isWhole() && Number(number()) >= 0 ? objectProblem(variables()) : t('change.job.retriesNumber');
      case 'throw':
        return code().trim() === '' ? t('change.job.noCode') : objectProblem(variables());
      case 'retries':
        return isWhole() && Number(number()) > 0 ? undefined : t('change.job.retriesAboveZero');
      case 'timeout':
        return durationOf(duration()) === undefined ? t('change.time') : undefined;
      case 'priority':
        return isWhole() ? undefined : t('change.job.priorityNumber');
    }
  };
  const withVariables = (...members: [string, string][]): string =>
    jsonObject([...members, ...(variables().trim() === '' ? [] : [['variables', variables()] as const])]);
  const path = () => ({ jobKey: props.jobKey });
  const planned = (): Planned<unknown> => {
    const text = JSON.stringify;
    switch (kind()) {
      case 'complete':
        return plan(completeJob, { path: path(), text: withVariables() });
      case 'fail': {
        const pause = durationOf(duration());
        return plan(failJob, { path: path(), text: withVariables(['retries', number().trim()], ['errorMessage', text(message())], ...(pause ? [['retryBackOff', String(pause)] as [string, string]] : [])) });
      }
      case 'throw':
        return plan(throwJobError, { path: path(), text: withVariables(['errorCode', text(code().trim())], ['errorMessage', text(message())]) });
      case 'retries':
        return plan(updateJob, { path: path(), body: { changeset: { retries: Number(number()) } } });
      case 'timeout':
        return plan(updateJob, { path: path(), body: { changeset: { timeout: durationOf(duration())! } } });
      case 'priority':
        return plan(updateJob, { path: path(), body: { changeset: { priority: Number(number()) } } });
    }
  };
  const run = async () => {
    setFailure(undefined);
    try {
      await planned().send();
    } catch (error) {
      setFailure(error);
      return;
    }
    await props.onDone();
    props.onClose();
    say(t('change.job.done', { action: t(`change.job.${kind()}`) }));
  };
  const variablesField = () => (
    <Field label={t('change.variables')} hint={t('change.variables.hint', { example: '{"paid": true}' })}>
      <textarea rows={5} spellcheck={false} aria-invalid={jsonProblem(variables() || '{}') !== undefined} onInput={(event) => setVariables(event.currentTarget.value)} />
    </Field>
  );
  const numberField = (label: string) => (
    <Field label={label}>
      <input inputmode="numeric" onInput={(event) => setNumber(event.currentTarget.value)} />
    </Field>
  );
  const messageField = () => (
    <Field label={t('change.job.message')}>
      <input onInput={(event) => setMessage(event.currentTarget.value)} />
    </Field>
  );
  const durationField = (label: string) => (
    <Field label={label} hint={t('change.duration')}>
      <input onInput={(event) => setDuration(event.currentTarget.value)} />
    </Field>
  );
  return (
    <Dialog title={t('change.job.title')} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={found.error}>{(error) => <Failure of={error()} />}</Show>
        <Show when={job()}>
          {(job) => (
            <p>
              <State of={job().state} /> {t('change.job.ofType')} <strong>{job().type}</strong> <span class="key">{job().jobKey}</span>
              {t('change.job.retriesLeft', { retries: job().retries })}
              <Show when={job().worker}>
                {t('change.job.withWorker', { worker: job().worker })} <Time of={job().deadline} mayBeAhead />
              </Show>
            </p>
          )}
        </Show>
        <fieldset class="row">
          <legend>{t('change.job.what')}</legend>
          <For each={KINDS}>
            {(one) => (
              <label class="row">
                <input type="radio" name={id} checked={kind() === one} onChange={() => setKind(one)} /> {t(`change.job.${one}`)}
              </label>
            )}
          </For>
        </fieldset>
        <p class="muted">{t(`change.job.${kind()}.effect`)}</p>
        <Switch>
          <Match when={kind() === 'complete'}>{variablesField()}</Match>
          <Match when={kind() === 'fail'}>
            {numberField(t('change.job.field.retriesLeft'))}
            {messageField()}
            {durationField(t('change.job.field.pause'))}
            {variablesField()}
          </Match>
          <Match when={kind() === 'throw'}>
            <Field label={t('change.job.field.code')}>
              <input onInput={(event) => setCode(event.currentTarget.value)} />
            </Field>
            {messageField()}
            {variablesField()}
          </Match>
          <Match when={kind() === 'retries'}>{numberField(t('change.job.field.retries'))}</Match>
          <Match when={kind() === 'timeout'}>{durationField(t('change.job.field.time'))}</Match>
          <Match when={kind() === 'priority'}>{numberField(t('change.job.field.priority'))}</Match>
        </Switch>
        <p class="muted" role="status">
          {problem() ?? ''}
        </p>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <Show when={problem() === undefined}>
            <CopyCommands of={() => [planned().asked]} />
          </Show>
          <button onClick={() => props.onClose()}>{t('change.close')}</button>
          <Action class="primary" do={run} disabled={problem() !== undefined}>
            {t(`change.job.${kind()}`)}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
