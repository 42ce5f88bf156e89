import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { cancelBannedInstance, listBannedInstances, releaseBannedInstance } from '../api/generated/operations';
import type { BatonBannedInstance } from '../api/generated/types';
import { call } from '../api/http';
import { count, t } from '../language';
import { Text } from '../language/Text';
import { refresh, useRead } from '../query';
import { otherTenant } from '../tenant';
import { need } from '../rights';
import { number } from '../ui/numbers';
import { Action, Copy, Dialog, Failure } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';
import { CopyList } from '../views/CopyAs';

const PAGE = 100;
const HEADS = ['instance', 'process', 'reason', 'since'] as const;
const WAYS = { release: releaseBannedInstance, cancel: cancelBannedInstance };
type Way = keyof typeof WAYS;

function processText(one: BatonBannedInstance): string {
  const values = { id: one.processDefinitionId, version: one.processDefinitionVersion };
  const tenant = otherTenant(one.tenantId);
  return tenant ? t('workers.quarantine.processOfTenant', { ...values, tenant }) : t('workers.quarantine.process', values);
}

/** Instances that the engine failed on and has set aside: why, and what to do about it. */
export default function Quarantine(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ after: string }>();
  const after = () => (/^\d{1,19}$/.test(query.after ?? '') ? query.after : undefined);
  const found = useRead(listBannedInstances, () => ({ query: { limit: PAGE, ...(after() ? { after: after()! } : {}) }, live: true }));
  const counted = () => {
    const shown = found.data?.items.length ?? 0;
    const isAll = shown < PAGE && !after();
    return count(shown, 'workers.quarantine.count.one', 'workers.quarantine.count.other', isAll ? {} : { count: t('part.atLeast', { count: number(shown) }) });
  };
  const [asked, setAsked] = createSignal<{ way: Way; one: BatonBannedInstance }>();
  return (
    <main class="page">
      <div class="row">
        <h1>{t('workers.quarantine')}</h1>
        <span class="muted" role="status">
          {found.data ? counted() : ''}
        </span>
        <span class="spacer" />
        <CopyList of={found} />
      </div>
      <p class="muted">{t('workers.quarantine.text')}</p>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data} fallback={<Show when={!found.error}><p class="empty">{t('part.loading')}</p></Show>}>
        <Show when={found.data!.items.length > 0} fallback={<p class="empty">{t('workers.quarantine.none')}</p>}>
          <div class="scroll" tabindex="0" role="region" aria-label={t('workers.quarantine.table')}>
            <table aria-label={t('workers.quarantine.table')}>
              <thead>
                <tr>
                  <For each={HEADS}>{(head) => <th scope="col">{t(`workers.quarantine.head.${head}`)}</th>}</For>
                  <th scope="col">
                    <span class="hidden-label">{t('workers.quarantine.head.actions')}</span>
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
                            <Text of="workers.quarantine.calledBy" at={{ key: <A href={`/operate/processes/${one.rootProcessInstanceKey}`}>{one.rootProcessInstanceKey}</A> }} />
                          </div>
                        </Show>
                      </td>
                      <td>{processText(one)}</td>
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
                          <Action needs={need('SYSTEM', 'UPDATE')} do={() => setAsked({ way: 'release', one })}>{t('workers.quarantine.release')}</Action>
                          <Action class="danger" needs={need('SYSTEM', 'UPDATE')} do={() => setAsked({ way: 'cancel', one })}>
                            {t('workers.quarantine.cancel')}
                          </Action>
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
              {t('workers.first')}
            </button>
            <button disabled={found.data!.items.length < PAGE} onClick={() => setQuery({ after: found.data!.items.at(-1)!.processInstanceKey })}>
              {t('workers.next')}
            </button>
          </div>
        </Show>
      </Show>
      <Show when={asked()} keyed>
        {({ way, one }) => (
          <Dialog title={t(`workers.quarantine.${way}.title`)} onClose={() => setAsked(undefined)}>
            <p>
              <Text of={`workers.quarantine.${way}.text`} at={{ process: one.processDefinitionId, key: <span class="key">{one.processInstanceKey}</span> }} />
            </p>
            <div class="actions">
              <button onClick={() => setAsked(undefined)}>{t('workers.quarantine.leave')}</button>
              <Action
                class={way === 'cancel' ? 'danger' : 'primary'}
                do={async () => {
                  await call(WAYS[way], { path: { processInstanceKey: one.processInstanceKey } });
                  await refresh();
                  setAsked(undefined);
                  say(t(`workers.quarantine.${way}.done`));
                }}
              >
                {t(`workers.quarantine.${way}.button`)}
              </Action>
            </div>
          </Dialog>
        )}
      </Show>
    </main>
  );
}
