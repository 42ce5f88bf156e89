import { createSignal, createUniqueId, For, type JSX, Match, Show, Switch } from 'solid-js';
import { completeJob, failJob, searchJobs, throwJobError, updateJob } from '../../api/generated/operations';
import { call } from '../../api/http';
import { useRead } from '../../query';
import { jsonObject, jsonProblem } from '../../ui/json';
import { Action, Dialog, Failure, Field, State } from '../../ui/parts';
import { Time } from '../../ui/time';
import { say } from '../../ui/toast';
import { durationOf, objectProblem } from './words';

const KINDS = {
  complete: { word: 'Complete', effect: 'The job is done: its element goes on with these variables.' },
  fail: { word: 'Fail', effect: 'The job goes back with so many retries. Without any, there is an incident.' },
  throw: { word: 'Throw an error', effect: 'The nearest event that catches this error is triggered. If there is none, there is an incident.' },
  retries: { word: 'Change retries', effect: 'So many attempts are left. An incident of the job stays until it is resolved.' },
  timeout: { word: 'Change the time-out', effect: 'A worker has the job for so long from now on.' },
  priority: { word: 'Change the priority', effect: 'Workers get jobs with a higher priority first.' },
} as const;
type Kind = keyof typeof KINDS;

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
    if (isOffered() && (kind() === 'fail' || kind() === 'timeout')) return 'No worker has this job yet: it can be completed, or an error thrown.';
    switch (kind()) {
      case 'complete':
        return objectProblem(variables());
      case 'fail':
        if (duration().trim() !== '' && durationOf(duration()) === undefined) return 'The pause is such as 30 s, 5 min or 2 h.';
        return isWhole() && Number(number()) >= 0 ? objectProblem(variables()) : 'The retries are a number.';
      case 'throw':
        return code().trim() === '' ? 'The code of the error is missing.' : objectProblem(variables());
      case 'retries':
        return isWhole() && Number(number()) > 0 ? undefined : 'The retries are a number above zero.';
      case 'timeout':
        return durationOf(duration()) === undefined ? 'The time is such as 30 s, 5 min or 2 h.' : undefined;
      case 'priority':
        return isWhole() ? undefined : 'The priority is a number.';
    }
  };
  const withVariables = (...members: [string, string][]): string =>
    jsonObject([...members, ...(variables().trim() === '' ? [] : [['variables', variables()] as const])]);
  const path = () => ({ jobKey: props.jobKey });
  const send = () => {
    const text = JSON.stringify;
    switch (kind()) {
      case 'complete':
        return call(completeJob, { path: path(), text: withVariables() });
      case 'fail': {
        const pause = durationOf(duration());
        return call(failJob, { path: path(), text: withVariables(['retries', number().trim()], ['errorMessage', text(message())], ...(pause ? [['retryBackOff', String(pause)] as [string, string]] : [])) });
      }
      case 'throw':
        return call(throwJobError, { path: path(), text: withVariables(['errorCode', text(code().trim())], ['errorMessage', text(message())]) });
      case 'retries':
        return call(updateJob, { path: path(), body: { changeset: { retries: Number(number()) } } });
      case 'timeout':
        return call(updateJob, { path: path(), body: { changeset: { timeout: durationOf(duration())! } } });
      case 'priority':
        return call(updateJob, { path: path(), body: { changeset: { priority: Number(number()) } } });
    }
  };
  const run = async () => {
    setFailure(undefined);
    try {
      await send();
    } catch (error) {
      setFailure(error);
      return;
    }
    await props.onDone();
    props.onClose();
    say(`${KINDS[kind()].word}: done`);
  };
  const variablesField = () => (
    <Field label="Variables as JSON" hint={'An object, such as {"paid": true}; empty for none'}>
      <textarea rows={5} spellcheck={false} aria-invalid={jsonProblem(variables() || '{}') !== undefined} onInput={(event) => setVariables(event.currentTarget.value)} />
    </Field>
  );
  const numberField = (label: string) => (
    <Field label={label}>
      <input inputmode="numeric" onInput={(event) => setNumber(event.currentTarget.value)} />
    </Field>
  );
  const messageField = () => (
    <Field label="Message">
      <input onInput={(event) => setMessage(event.currentTarget.value)} />
    </Field>
  );
  const durationField = (label: string) => (
    <Field label={label} hint="such as 30 s, 5 min or 2 h">
      <input onInput={(event) => setDuration(event.currentTarget.value)} />
    </Field>
  );
  return (
    <Dialog title="Act as the worker" onClose={props.onClose} wide>
      <div class="stack">
        <Show when={found.error}>{(error) => <Failure of={error()} />}</Show>
        <Show when={job()}>
          {(job) => (
            <p>
              <State of={job().state} /> job of the type <strong>{job().type}</strong> <span class="key">{job().jobKey}</span>, retries {job().retries}
              <Show when={job().worker}>
                , with the worker {job().worker} until <Time of={job().deadline} />
              </Show>
            </p>
          )}
        </Show>
        <fieldset class="row">
          <legend>What to do</legend>
          <For each={Object.keys(KINDS) as Kind[]}>
            {(one) => (
              <label class="row">
                <input type="radio" name={id} checked={kind() === one} onChange={() => setKind(one)} /> {KINDS[one].word}
              </label>
            )}
          </For>
        </fieldset>
        <p class="muted">{KINDS[kind()].effect}</p>
        <Switch>
          <Match when={kind() === 'complete'}>{variablesField()}</Match>
          <Match when={kind() === 'fail'}>
            {numberField('Retries left')}
            {messageField()}
            {durationField('Pause before the next attempt')}
            {variablesField()}
          </Match>
          <Match when={kind() === 'throw'}>
            <Field label="Code of the error">
              <input onInput={(event) => setCode(event.currentTarget.value)} />
            </Field>
            {messageField()}
            {variablesField()}
          </Match>
          <Match when={kind() === 'retries'}>{numberField('Retries')}</Match>
          <Match when={kind() === 'timeout'}>{durationField('Time from now')}</Match>
          <Match when={kind() === 'priority'}>{numberField('Priority')}</Match>
        </Switch>
        <p class="muted" role="status">
          {problem() ?? ''}
        </p>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <button onClick={() => props.onClose()}>Close</button>
          <Action class="primary" do={run} disabled={problem() !== undefined}>
            {KINDS[kind()].word}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
