import { createSignal, createUniqueId, For, type JSX, Show } from 'solid-js';
import { broadcastSignal, correlateMessage, publishMessage } from '../../api/generated/operations';
import { plan } from '../../api/http';
import { otherTenant } from '../../tenant';
import { jsonObject } from '../../ui/json';
import { Action, Dialog, Failure, Field } from '../../ui/parts';
import { say } from '../../ui/toast';
import { CopyCommands } from '../../views/CopyAs';
import { durationOf, objectProblem } from './words';
import { t } from '../../language';

export type MessageKind = 'correlate' | 'publish' | 'broadcast';

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
  const [tenant, setTenant] = createSignal(otherTenant(props.tenantId) ?? '');
  const [variables, setVariables] = createSignal('');
  const [life, setLife] = createSignal('');
  const [messageId, setMessageId] = createSignal('');
  const [failure, setFailure] = createSignal<unknown>();
  const problem = () => {
    if (name().trim() === '') return t('change.noName');
    if (kind() === 'publish' && life().trim() !== '' && durationOf(life()) === undefined) return t('change.time');
    return objectProblem(variables());
  };
  const text = () => {
    const quoted = JSON.stringify;
    const members: [string, string][] = [[kind() === 'broadcast' ? 'signalName' : 'name', quoted(name())]];
    if (kind() !== 'broadcast' && key() !== '') members.push(['correlationKey', quoted(key())]);
    if (tenant() !== '') members.push(['tenantId', quoted(tenant())]);
    if (variables().trim() !== '') members.push(['variables', variables()]);
    if (kind() === 'publish') {
      members.push(['timeToLive', String(durationOf(life()) ?? 0)]);
      if (messageId() !== '') members.push(['messageId', quoted(messageId())]);
    }
    return jsonObject(members);
  };
  const correlate = () => plan(correlateMessage, { text: text() });
  const publish = () => plan(publishMessage, { text: text() });
  const broadcast = () => plan(broadcastSignal, { text: text() });
  const planned = () => ({ correlate, publish, broadcast })[kind()]();
  const run = async () => {
    setFailure(undefined);
    try {
      if (kind() === 'correlate') {
        const { processInstanceKey } = await correlate().send();
        say(t('change.message.correlated', { key: processInstanceKey }));
      } else if (kind() === 'publish') {
        const { messageKey } = await publish().send();
        say(t('change.message.published', { key: messageKey }));
      } else {
        const { signalKey } = await broadcast().send();
        say(t('change.message.sent', { key: signalKey }));
      }
    } catch (error) {
      setFailure(error);
      return;
    }
    await props.onDone();
    props.onClose();
  };
  return (
    <Dialog title={props.kinds.length === 1 ? t(`change.message.${kind()}.title`) : t('change.message.send')} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={props.kinds.length > 1}>
          <fieldset class="row">
            <legend>{t('change.message.how')}</legend>
            <For each={props.kinds}>
              {(one) => (
                <label class="row">
                  <input type="radio" name={id} checked={kind() === one} onChange={() => setKind(one)} /> {t(`change.message.${one}`)}
                </label>
              )}
            </For>
          </fieldset>
        </Show>
        <p class="muted">{t(`change.message.${kind()}.effect`)}</p>
        <Field label={kind() === 'broadcast' ? t('change.message.signalName') : t('change.message.name')}>
          <input value={props.name ?? ''} ref={(one) => (one.defaultValue = props.name ?? '')} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Show when={kind() !== 'broadcast'}>
          <Field label={t('change.message.key')} hint={t('change.message.key.hint')}>
            <input value={props.correlationKey ?? ''} ref={(one) => (one.defaultValue = props.correlationKey ?? '')} onInput={(event) => setKey(event.currentTarget.value)} />
          </Field>
        </Show>
        <Show when={kind() === 'publish'}>
          <Field label={t('change.message.life')} hint={t('change.message.life.hint')}>
            <input onInput={(event) => setLife(event.currentTarget.value)} />
          </Field>
          <Field label={t('change.message.id')} hint={t('change.message.id.hint')}>
            <input onInput={(event) => setMessageId(event.currentTarget.value)} />
          </Field>
        </Show>
        <Field label={t('change.message.tenant')} hint={t('change.message.tenant.hint')}>
          <input value={tenant()} ref={(one) => (one.defaultValue = tenant())} onInput={(event) => setTenant(event.currentTarget.value)} />
        </Field>
        <Field label={t('change.variables')} hint={t('change.variables.hint', { example: '{"paid": true}' })}>
          <textarea rows={5} spellcheck={false} onInput={(event) => setVariables(event.currentTarget.value)} />
        </Field>
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
            {t(`change.message.${kind()}`)}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
