import { createSignal, For, type JSX, Show } from 'solid-js';
import { getCluster, listParkedRecords, replayParkedRecords } from '../api/generated/operations';
import type { BatonExporter } from '../api/generated/types';
import { call } from '../api/http';
import { count, t } from '../language';
import { refresh, useRead } from '../query';
import { need } from '../rights';
import { number } from '../ui/numbers';
import { Action, Dialog, Failure, innerWordOf, State, wordOf } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';
import { backlogWords, diskWords, flowWords } from './words';

const RECORDS_MAX = 100;
const stateOf = (health: string) => (health.toUpperCase() === 'HEALTHY' || health === 'ENABLED' ? 'ACTIVE' : 'FAILED');

/** A state of the server's own words. */
function Health(props: { of: string }): JSX.Element {
  return (
    <span class={`state ${stateOf(props.of) === 'ACTIVE' ? 'active' : 'incident'}`}>
      {stateOf(props.of) === 'ACTIVE' ? '●' : '▲'} {wordOf(props.of)}
    </span>
  );
}

function Heads(props: { of: readonly string[] }): JSX.Element {
  return (
    <thead>
      <tr>
        <For each={props.of}>{(head) => <th scope="col">{head}</th>}</For>
      </tr>
    </thead>
  );
}

/** The inside of the cluster: brokers, partitions, exporters with what they could not take, disk, flow control, health. */
export function ClusterParts(): JSX.Element {
  const found = useRead(getCluster, () => ({ live: true }));
  const [parked, setParked] = createSignal<BatonExporter>();
  return (
    <>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data} fallback={<Show when={!found.error}><p class="empty">{t('part.loading')}</p></Show>}>
        {(told) => (
          <>
            <p>
              {t('admin.cluster.named')} <strong>{told().clusterId}</strong>
              {t('admin.cluster.namedVersion', { version: told().version })}
            </p>
            <div class="grid">
              <section class="panel" aria-label={t('admin.exporters')}>
                <h2>{t('admin.exporters')}</h2>
                <table aria-label={t('admin.exporters')}>
                  <Heads of={[t('admin.exporters.exporter'), t('admin.cluster.state'), t('admin.exporters.backlog'), t('admin.exporters.parked')]} />
                  <tbody>
                    <For each={told().exporters}>
                      {(one) => (
                        <tr>
                          <td>{one.exporterId}</td>
                          <td>
                            <Health of={one.failure ? 'FAILED' : one.status} />
                            <Show when={one.failure}>{(failure) => <div>{failure().slice(0, 500)}</div>}</Show>
                          </td>
                          <td>{backlogWords(one.backlogRecords, one.backlogSeconds)}</td>
                          <td>
                            <Show when={one.parkedRecords > 0} fallback={t('admin.exporters.none')}>
                              <button onClick={() => setParked(one)}>{count(one.parkedRecords, 'admin.exporters.records.one', 'admin.exporters.records.other')}</button>
                            </Show>
                          </td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </section>
              <section class="panel" aria-label={t('admin.disk')}>
                <h2>{t('admin.disk')}</h2>
                <Show when={told().disk} fallback={<p class="muted">{t('admin.disk.unknown')}</p>}>
                  {(disk) => (
                    <>
                      <p classList={{ failure: disk().freeBytes <= disk().reservedBytes }}>{diskWords(disk())}</p>
                      <meter aria-label={t('admin.disk.meter')} min="0" max={disk().totalBytes} high={disk().totalBytes - disk().reservedBytes} value={disk().totalBytes - disk().freeBytes} />
                    </>
                  )}
                </Show>
              </section>
              <section class="panel" aria-label={t('admin.flow')}>
                <h2>{t('admin.flow')}</h2>
                <For each={Object.entries(told().flowControl)} fallback={<p class="muted">{t('admin.flow.none')}</p>}>
                  {([partition, of]) => (
                    <p>
                      <strong>{t('admin.flow.partition', { partition })}</strong> {flowWords(of).join(' ')}
                    </p>
                  )}
                </For>
              </section>
              <section class="panel" aria-label={t('admin.cluster.health')}>
                <h2>{t('admin.cluster.health')}</h2>
                <ul class="plain-list">
                  <For each={told().health}>
                    {(one) => (
                      <li>
                        <Health of={one.state} /> {one.name}
                        {one.detail ? `: ${one.detail}` : ''}
                      </li>
                    )}
                  </For>
                </ul>
              </section>
              <section class="panel" aria-label={t('admin.cluster.ownPartitions')}>
                <h2>{t('admin.cluster.ownPartitions')}</h2>
                <div class="scroll" tabindex="0" role="region" aria-label={t('admin.cluster.ownPartitions')}>
                  <table aria-label={t('admin.cluster.ownPartitions')}>
                    <Heads of={[t('admin.cluster.partition'), t('admin.cluster.role'), t('admin.cluster.health'), t('admin.cluster.processing'), t('admin.cluster.exporting'), t('admin.cluster.processed'), t('admin.cluster.exported'), t('admin.cluster.clock')]} />
                    <tbody>
                      <For each={told().partitions}>
                        {(one) => (
                          <tr>
                            <td>{one.id}</td>
                            <td>{wordOf(one.role)}</td>
                            <td>
                              <Health of={one.health} />
                            </td>
                            <td>{wordOf(one.processing)}</td>
                            <td>{wordOf(one.exporting)}</td>
                            <td class="number">{number(one.processedPosition)}</td>
                            <td class="number">{number(one.exportedPosition)}</td>
                            <td>
                              <Time of={one.clock} />
                            </td>
                          </tr>
                        )}
                      </For>
                    </tbody>
                  </table>
                </div>
              </section>
              <section class="panel" aria-label={t('admin.cluster.brokers')}>
                <h2>{t('admin.cluster.brokers')}</h2>
                <table aria-label={t('admin.cluster.brokers')}>
                  <Heads of={[t('admin.cluster.broker'), t('admin.cluster.state'), t('admin.cluster.reached'), t('admin.cluster.partitions')]} />
                  <tbody>
                    <For each={told().brokers}>
                      {(one) => (
                        <tr>
                          <td>{one.id}</td>
                          <td>
                            <State of={one.state} />
                          </td>
                          <td>{one.isReachable ? t('admin.cluster.yes') : t('admin.cluster.no')}</td>
                          <td>{one.partitions.map(({ id, role }) => `${id}${role ? ` (${innerWordOf(role)})` : ''}`).join(', ') || '–'}</td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </section>
            </div>
          </>
        )}
      </Show>
      <Show when={parked()} keyed>
        {(one) => <Parked exporter={one} onClose={() => setParked(undefined)} />}
      </Show>
    </>
  );
}

/** Records that an exporter could not take, with the reasons, and another try. */
function Parked(props: { exporter: BatonExporter; onClose: () => void }): JSX.Element {
  const found = useRead(listParkedRecords, () => ({ path: { exporterId: props.exporter.exporterId } }));
  const replay = async () => {
    const { replayed, refused, reason } = await call(replayParkedRecords, { path: { exporterId: props.exporter.exporterId } });
    await refresh();
    const counts = { replayed: number(replayed), refused: number(refused) };
    if (refused > 0) say(reason ? t('admin.parked.refusedWhy', { ...counts, reason }) : t('admin.parked.refused', counts), true);
    else {
      say(count(replayed, 'admin.parked.taken.one', 'admin.parked.taken.other'));
      props.onClose();
    }
  };
  return (
    <Dialog title={t('admin.parked.title', { exporter: props.exporter.exporterId })} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
        <Show when={found.data}>
          {(told) => (
            <>
              <p>{t('admin.parked.why')}</p>
              <div class="scroll" tabindex="0" role="region" aria-label={t('admin.parked')}>
                <table aria-label={t('admin.parked')}>
                  <Heads of={[t('admin.parked.position'), t('admin.parked.reason'), t('admin.parked.since'), t('admin.parked.record')]} />
                  <tbody>
                    <For each={told().items.slice(0, RECORDS_MAX)}>
                      {(record) => (
                        <tr>
                          <td class="number">{record.position ?? '–'}</td>
                          <td>{record.reason.slice(0, 500)}</td>
                          <td>
                            <Time of={record.parkedAt} />
                          </td>
                          <td>
                            <details>
                              <summary>{t('ui.show')}</summary>
                              <pre>{JSON.stringify(record.record, null, 2)}</pre>
                            </details>
                          </td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </div>
              <Show when={told().items.length > RECORDS_MAX}>
                <p class="muted">{t('admin.parked.cut', { count: number(RECORDS_MAX), all: number(told().items.length) })}</p>
              </Show>
              <div class="actions">
                <Action class="primary" needs={need('SYSTEM', 'UPDATE')} do={replay} disabled={told().items.length === 0}>
                  {t('admin.parked.send')}
                </Action>
              </div>
            </>
          )}
        </Show>
      </div>
    </Dialog>
  );
}
