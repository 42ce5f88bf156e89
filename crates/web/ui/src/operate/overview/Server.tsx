import { For, type JSX, Show } from 'solid-js';
import { getCluster } from '../../api/generated/operations';
import { at } from '../../base';
import { backlogWords, diskWords, flowWords } from '../../cluster/words';
import { t } from '../../language';
import { useRead } from '../../query';
import { need } from '../../rights';
import { useHas } from '../../ui/May';

/** How it is about the server: disk, how far exporters are behind, and the requests that wait. */
export default function Server(): JSX.Element {
  const isSeen = useHas(need('SYSTEM', 'READ'));
  const found = useRead(getCluster, () => ({ live: true, enabled: isSeen() }));
  return (
    <Show when={found.data}>
      {(told) => (
        <section class="panel" aria-label={t('lists.overview.server')}>
          <h2>
            <a href={at('/admin/cluster')}>{t('lists.overview.server')}</a>
          </h2>
          <dl class="facts">
            <Show when={told().disk}>
              {(disk) => (
                <>
                  <dt>{t('admin.disk')}</dt>
                  <dd>
                    {diskWords(disk())}
                    <span class="share" classList={{ time: disk().freeBytes > disk().reservedBytes }} aria-hidden="true" style={{ '--share': `${100 - (100 * disk().freeBytes) / disk().totalBytes}%` }} />
                  </dd>
                </>
              )}
            </Show>
            <For each={told().exporters}>
              {(one) => (
                <>
                  <dt>{t('lists.overview.exporter', { name: one.exporterId })}</dt>
                  <dd classList={{ late: one.failure !== null }}>{one.failure ?? backlogWords(one.backlogRecords, one.backlogSeconds)}</dd>
                </>
              )}
            </For>
            <For each={Object.entries(told().flowControl)}>
              {([partition, of]) => (
                <>
                  <dt>{t('lists.overview.backlog', { partition })}</dt>
                  <dd>{flowWords(of).join(' ')}</dd>
                </>
              )}
            </For>
          </dl>
        </section>
      )}
    </Show>
  );
}
