import { useSearchParams } from '@solidjs/router';
import { createSignal, type JSX, lazy, Show } from 'solid-js';
import { t } from '../language';
import { refresh } from '../query';
import { need, ofSignal } from '../rights';
import { Action, Field } from '../ui/parts';
import type { MessageKind } from './act/MessageDialog';
import { Views } from '../views/Views';
import { MessageTables } from './MessageTables';

const MessageDialog = lazy(() => import('./act/MessageDialog'));
const like = (text: string | undefined) => (text ? { $like: `*${text.replace(/[\\*?]/g, '\\$&')}*` } : undefined);

/** Who waits for messages, what was correlated, and a way to send messages and signals. */
export default function Messages(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ name: string; correlationKey: string; process: string; state: string }>();
  const [sending, setSending] = createSignal<readonly MessageKind[]>();
  const set = (name: string, value: string) => setQuery({ [name]: value || null, after: null, before: null });
  const common = () => ({
    ...(query.name ? { messageName: like(query.name)! } : {}),
    ...(query.correlationKey ? { correlationKey: query.correlationKey } : {}),
    ...(query.process ? { processDefinitionId: query.process } : {}),
  });
  return (
    <main class="page">
      <div class="row">
        <h1>{t('page.Messages')}</h1>
        <span class="spacer" />
        <Views page="operate/messages" />
        <Action needs={need('MESSAGE', 'CREATE')} do={() => setSending(['publish', 'correlate'])}>{t('lists.messages.send')}</Action>
        <Action needs={ofSignal} do={() => setSending(['broadcast'])}>{t('lists.messages.broadcast')}</Action>
      </div>
      <div class="row" role="search" aria-label={t('lists.filter')}>
        <Field label={t('lists.messages.nameHas')}>
          <input type="search" value={query.name ?? ''} onChange={(event) => set('name', event.currentTarget.value)} />
        </Field>
        <Field label={t('lists.correlationKey')}>
          <input type="search" value={query.correlationKey ?? ''} onChange={(event) => set('correlationKey', event.currentTarget.value)} />
        </Field>
        <Field label={t('lists.processId')}>
          <input type="search" value={query.process ?? ''} onChange={(event) => set('process', event.currentTarget.value)} />
        </Field>
        <label class="row">
          <input type="checkbox" checked={query.state === 'all'} onChange={(event) => set('state', event.currentTarget.checked ? 'all' : '')} /> {t('lists.messages.withOver')}
        </label>
      </div>
      <MessageTables open={{ ...common(), ...(query.state === 'all' ? {} : { messageSubscriptionState: 'CREATED' as const }) }} correlated={common()} />
      <Show when={sending()}>{(kinds) => <MessageDialog kinds={kinds()} onClose={() => setSending(undefined)} onDone={refresh} />}</Show>
    </main>
  );
}
