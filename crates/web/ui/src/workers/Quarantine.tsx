import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { cancelBannedInstance, listBannedInstances, releaseBannedInstance } from '../api/generated/operations';
import type { BatonBannedInstance } from '../api/generated/types';
import { call } from '../api/http';
import { refresh, useRead } from '../query';
import { number } from '../ui/numbers';
import { Action, Copy, Dialog, Failure } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';

const PAGE = 100;
type Way = 'release' | 'cancel';
const WAYS = {
  release: {
    title: 'Release this instance?',
    button: 'Release',
    effect: 'It goes on where it stood. If the engine fails on it again, it comes back here.',
    operation: releaseBannedInstance,
    done: 'Released',
  },
  cancel: {
    title: 'Cancel this instance?',
    button: 'Cancel instance',
    effect: 'The whole of it ends, with the instances that it has called and the one that has called it. None of its elements does anything more. This cannot be undone.',
    operation: cancelBannedInstance,
    done: 'Canceled',
  },
};

/** Instances that the engine failed on and has set aside: why, and what to do about it. */
export default function Quarantine(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ after: string }>();
  const after = () => (/^\d{1,19}$/.test(query.after ?? '') ? query.after : undefined);
  const found = useRead(listBannedInstances, () => ({ query: { limit: PAGE, ...(after() ? { after: after()! } : {}) }, live: true }));
  const [asked, setAsked] = createSignal<{ way: Way; one: BatonBannedInstance }>();
  return (
    <main class="page">
      <div class="row">
        <h1>Quarantine</h1>
        <span class="muted" role="status">
          {found.data ? `${found.data.items.length === PAGE || after() ? 'at least ' : ''}${number(found.data.items.length)} instances` : ''}
        </span>
      </div>
      <p class="muted">The engine failed on these instances and has set them aside, so that all others go on. Nothing happens in them until they are released or canceled.</p>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data} fallback={<Show when={!found.error}><p class="empty">Loading …</p></Show>}>
        <Show when={found.data!.items.length > 0} fallback={<p class="empty">No instance is in quarantine.</p>}>
          <div class="scroll" tabindex="0" role="region" aria-label="Instances in quarantine">
            <table aria-label="Instances in quarantine">
              <thead>
                <tr>
                  <For each={['Instance', 'Process', 'Reason', 'Since']}>{(head) => <th scope="col">{head}</th>}</For>
                  <th scope="col">
                    <span class="hidden-label">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                <For each={found.data?.items}>
                  {(one) => (
                    <tr>
                      <td class="key">
                        <A href={`/operate/processes/${one.processInstanceKey}`}>{one.processInstanceKey}</A>
                        <Copy text={one.processInstanceKey} />
                        <Show when={one.rootProcessInstanceKey !== one.processInstanceKey}>
                          <div class="muted">
                            called by <A href={`/operate/processes/${one.rootProcessInstanceKey}`}>{one.rootProcessInstanceKey}</A>
                          </div>
                        </Show>
                      </td>
                      <td>
                        {one.processDefinitionId}, version {one.processDefinitionVersion}
                        {one.tenantId === '<default>' ? '' : `, tenant ${one.tenantId}`}
                      </td>
                      <td>
                        <details open={one.reason.length < 300}>
                          <summary>{one.reason.slice(0, 120)}</summary>
                          <pre>{one.reason.length > 120 ? one.reason : ''}</pre>
                        </details>
                      </td>
                      <td>
                        <Time of={one.bannedAt} />
                      </td>
                      <td>
                        <div class="row">
                          <button onClick={() => setAsked({ way: 'release', one })}>Release</button>
                          <button class="danger" onClick={() => setAsked({ way: 'cancel', one })}>
                            Cancel
                          </button>
                        </div>
                      </td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        </Show>
        <Show when={after() || found.data!.items.length === PAGE}>
          <div class="row">
            <button disabled={!after()} onClick={() => setQuery({ after: null })}>
              First
            </button>
            <button disabled={found.data!.items.length < PAGE} onClick={() => setQuery({ after: found.data!.items.at(-1)!.processInstanceKey })}>
              Next
            </button>
          </div>
        </Show>
      </Show>
      <Show when={asked()} keyed>
        {({ way, one }) => (
          <Dialog title={WAYS[way].title} onClose={() => setAsked(undefined)}>
            <p>
              {one.processDefinitionId} <span class="key">{one.processInstanceKey}</span>. {WAYS[way].effect}
            </p>
            <div class="actions">
              <button onClick={() => setAsked(undefined)}>Leave it</button>
              <Action
                class={way === 'cancel' ? 'danger' : 'primary'}
                do={async () => {
                  await call(WAYS[way].operation, { path: { processInstanceKey: one.processInstanceKey } });
                  await refresh();
                  setAsked(undefined);
                  say(WAYS[way].done);
                }}
              >
                {WAYS[way].button}
              </Action>
            </div>
          </Dialog>
        )}
      </Show>
    </main>
  );
}
