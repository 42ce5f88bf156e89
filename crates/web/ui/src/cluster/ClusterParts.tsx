import { createSignal, For, type JSX, Show } from 'solid-js';
import { getCluster, listParkedRecords, replayParkedRecords } from '../api/generated/operations';
import type { BatonExporter } from '../api/generated/types';
import { call } from '../api/http';
import { refresh, useRead } from '../query';
import { number } from '../ui/numbers';
import { Action, Dialog, Failure, State, wordOf } from '../ui/parts';
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
      <Show when={found.data} fallback={<Show when={!found.error}><p class="empty">Loading …</p></Show>}>
        {(told) => (
          <>
            <p>
              Cluster <strong>{told().clusterId}</strong>, version {told().version}
            </p>
            <div class="grid">
              <section class="panel" aria-label="Exporters">
                <h2>Exporters</h2>
                <table aria-label="Exporters">
                  <Heads of={['Exporter', 'State', 'Backlog', 'Set aside']} />
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
                            <Show when={one.parkedRecords > 0} fallback="none">
                              <button onClick={() => setParked(one)}>{number(one.parkedRecords)} records …</button>
                            </Show>
                          </td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </section>
              <section class="panel" aria-label="Disk">
                <h2>Disk</h2>
                <Show when={told().disk} fallback={<p class="muted">The server does not know how much room there is.</p>}>
                  {(disk) => (
                    <>
                      <p classList={{ failure: disk().freeBytes <= disk().reservedBytes }}>{diskWords(disk())}</p>
                      <meter aria-label="Disk space in use" min="0" max={disk().totalBytes} high={disk().totalBytes - disk().reservedBytes} value={disk().totalBytes - disk().freeBytes} />
                    </>
                  )}
                </Show>
              </section>
              <section class="panel" aria-label="Flow control">
                <h2>Flow control</h2>
                <For each={Object.entries(told().flowControl)} fallback={<p class="muted">Nothing is held back.</p>}>
                  {([partition, of]) => (
                    <p>
                      <strong>Partition {partition}:</strong> {flowWords(of).join(' ')}
                    </p>
                  )}
                </For>
              </section>
              <section class="panel" aria-label="Health">
                <h2>Health</h2>
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
              <section class="panel" aria-label="Partitions of this broker">
                <h2>Partitions of this broker</h2>
                <div class="scroll" tabindex="0" role="region" aria-label="Partitions of this broker">
                  <table aria-label="Partitions of this broker">
                    <Heads of={['Partition', 'Role', 'Health', 'Processing', 'Exporting', 'Processed', 'Exported', 'Clock']} />
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
              <section class="panel" aria-label="Brokers">
                <h2>Brokers</h2>
                <table aria-label="Brokers">
                  <Heads of={['Broker', 'State', 'Reached', 'Partitions']} />
                  <tbody>
                    <For each={told().brokers}>
                      {(one) => (
                        <tr>
                          <td>{one.id}</td>
                          <td>
                            <State of={one.state} />
                          </td>
                          <td>{one.isReachable ? 'yes' : 'no'}</td>
                          <td>{one.partitions.map(({ id, role }) => `${id}${role ? ` (${wordOf(role).toLowerCase()})` : ''}`).join(', ') || '–'}</td>
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
    if (refused > 0) say(`${number(replayed)} records were taken, ${number(refused)} are refused again${reason ? `: ${reason}` : ''}`, true);
    else {
      say(`${number(replayed)} records were taken.`);
      props.onClose();
    }
  };
  return (
    <Dialog title={`Records that ${props.exporter.exporterId} could not take`} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
        <Show when={found.data}>
          {(told) => (
            <>
              <p>Each was refused by the exporter's target and set aside, so that the others go on. They can be sent once more when the reason is gone.</p>
              <div class="scroll" tabindex="0" role="region" aria-label="Records set aside">
                <table aria-label="Records set aside">
                  <Heads of={['Position', 'Reason', 'Since', 'Record']} />
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
                              <summary>Show</summary>
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
                <p class="muted">
                  The first {RECORDS_MAX} of {number(told().items.length)}.
                </p>
              </Show>
              <div class="actions">
                <Action class="primary" do={replay} disabled={told().items.length === 0}>
                  Send them once more
                </Action>
              </div>
            </>
          )}
        </Show>
      </div>
    </Dialog>
  );
}
