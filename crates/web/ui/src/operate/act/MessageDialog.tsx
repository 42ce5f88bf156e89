import { createSignal, createUniqueId, For, type JSX, Show } from 'solid-js';
import { broadcastSignal, correlateMessage, publishMessage } from '../../api/generated/operations';
import { call } from '../../api/http';
import { jsonObject } from '../../ui/json';
import { Action, Dialog, Failure, Field } from '../../ui/parts';
import { say } from '../../ui/toast';
import { durationOf, objectProblem } from './words';

const KINDS = {
  correlate: { word: 'Correlate', effect: 'One that waits for the message now gets it; if nobody waits, the server says so.' },
  publish: { word: 'Publish', effect: 'All processes that wait for the message get it, each once. It is kept for those that will wait, for as long as is given.' },
  broadcast: { word: 'Broadcast', effect: 'Everybody who waits for the signal now gets it, in every instance of every process of the tenant.' },
} as const;
export type MessageKind = keyof typeof KINDS;

/** Sends a message or a signal to what waits for it. */
export default function MessageDialog(props: {
  kinds: readonly MessageKind[];
  name?: string;
  correlationKey?: string | undefined;
  tenantId?: string | undefined;
  onClose: () => void;
  onDone: () => Promise<void>;
}): JSX.Element {
  const id = createUniqueId();
  const [kind, setKind] = createSignal(props.kinds[0]!);
  const [name, setName] = createSignal(props.name ?? '');
  const [key, setKey] = createSignal(props.correlationKey ?? '');
  const [tenant, setTenant] = createSignal(props.tenantId && props.tenantId !== '<default>' ? props.tenantId : '');
  const [variables, setVariables] = createSignal('');
  const [life, setLife] = createSignal('');
  const [messageId, setMessageId] = createSignal('');
  const [failure, setFailure] = createSignal<unknown>();
  const problem = () => {
    if (name().trim() === '') return 'The name is missing.';
    if (kind() === 'publish' && life().trim() !== '' && durationOf(life()) === undefined) return 'The time is such as 30 s, 5 min or 2 h.';
    return objectProblem(variables());
  };
  const run = async () => {
    setFailure(undefined);
    const quoted = JSON.stringify;
    const members: [string, string][] = [[kind() === 'broadcast' ? 'signalName' : 'name', quoted(name())]];
    if (kind() !== 'broadcast' && key() !== '') members.push(['correlationKey', quoted(key())]);
    if (tenant() !== '') members.push(['tenantId', quoted(tenant())]);
    if (variables().trim() !== '') members.push(['variables', variables()]);
    if (kind() === 'publish') {
      members.push(['timeToLive', String(durationOf(life()) ?? 0)]);
      if (messageId() !== '') members.push(['messageId', quoted(messageId())]);
    }
    const text = jsonObject(members);
    try {
      if (kind() === 'correlate') {
        const { processInstanceKey } = await call(correlateMessage, { text });
        say(`Correlated with the process instance ${processInstanceKey}`);
      } else if (kind() === 'publish') {
        const { messageKey } = await call(publishMessage, { text });
        say(`Published as the message ${messageKey}`);
      } else {
        const { signalKey } = await call(broadcastSignal, { text });
        say(`Broadcast as the signal ${signalKey}`);
      }
    } catch (error) {
      setFailure(error);
      return;
    }
    await props.onDone();
    props.onClose();
  };
  return (
    <Dialog title={props.kinds.length === 1 ? `${KINDS[kind()].word} ${kind() === 'broadcast' ? 'a signal' : 'a message'}` : 'Send a message'} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={props.kinds.length > 1}>
          <fieldset class="row">
            <legend>How</legend>
            <For each={props.kinds}>
              {(one) => (
                <label class="row">
                  <input type="radio" name={id} checked={kind() === one} onChange={() => setKind(one)} /> {KINDS[one].word}
                </label>
              )}
            </For>
          </fieldset>
        </Show>
        <p class="muted">{KINDS[kind()].effect}</p>
        <Field label={kind() === 'broadcast' ? 'Name of the signal' : 'Name of the message'}>
          <input value={props.name ?? ''} ref={(one) => (one.defaultValue = props.name ?? '')} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Show when={kind() !== 'broadcast'}>
          <Field label="Correlation key" hint="Empty for messages that start a process">
            <input value={props.correlationKey ?? ''} ref={(one) => (one.defaultValue = props.correlationKey ?? '')} onInput={(event) => setKey(event.currentTarget.value)} />
          </Field>
        </Show>
        <Show when={kind() === 'publish'}>
          <Field label="Kept for" hint="such as 30 s, 5 min or 2 h; empty: not at all">
            <input onInput={(event) => setLife(event.currentTarget.value)} />
          </Field>
          <Field label="ID of the message" hint="While a message with the same ID is kept, another one is refused">
            <input onInput={(event) => setMessageId(event.currentTarget.value)} />
          </Field>
        </Show>
        <Field label="Tenant" hint="Empty for the default one">
          <input value={tenant()} ref={(one) => (one.defaultValue = tenant())} onInput={(event) => setTenant(event.currentTarget.value)} />
        </Field>
        <Field label="Variables as JSON" hint={'An object, such as {"paid": true}; empty for none'}>
          <textarea rows={5} spellcheck={false} onInput={(event) => setVariables(event.currentTarget.value)} />
        </Field>
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
