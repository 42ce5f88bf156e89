import { useQuery } from '@tanstack/solid-query';
import { For, type JSX, Show } from 'solid-js';
import { getSystemConfiguration, getTopology } from '../api/generated/operations';
import { Problem, send } from '../api/http';
import { useRead } from '../query';
import { bytes, number } from '../ui/numbers';
import { Failure, State, wordOf } from '../ui/parts';

/** As much of `GET /baton/v1/cluster` as is shown. */
interface Inside {
  partitions: { id: number; role: string; processedPosition: number; exportedPosition: number; processing: string; exporting: string; health: string }[];
  exporters: { exporterId: string; status: string; backlogRecords: number; backlogSeconds: number | null; parkedRecords: number; failure: string | null }[];
  health: { name: string; state: string; detail: string }[];
  disk: { freeBytes: number; totalBytes: number; reservedBytes: number } | null;
  flowControl: unknown;
}

const ABSENT = 404;
async function inside(signal: AbortSignal): Promise<Inside | null> {
  try {
    return (await (await send({ method: 'GET', path: '/baton/v1/cluster', signal })).json()) as Inside;
  } catch (error) {
    // A server that has no such operation tells as much as the API does.
    if (error instanceof Problem && error.status === ABSENT) return null;
    throw error;
  }
}
const LIVE_MS = 5000;
const healthOf = (health: string) => (health.toLowerCase() === 'healthy' ? 'ACTIVE' : 'FAILED');

/** Brokers and partitions, and what is inside of the server where it tells. */
export default function Cluster(): JSX.Element {
  const topology = useRead(getTopology, () => ({ live: true }));
  const settings = useRead(getSystemConfiguration, () => ({}));
  const more = useQuery(() => ({ queryKey: ['/baton/v1/cluster'], queryFn: ({ signal }) => inside(signal), refetchInterval: LIVE_MS }));
  return (
    <main class="page">
      <h1>Cluster</h1>
      <Show when={topology.error}>{(error) => <Failure of={error()} again={() => void topology.refetch()} />}</Show>
      <Show when={topology.data}>
        {(told) => (
          <>
            <p>
              {`${number(told().brokers.length)} of ${number(told().clusterSize)} brokers are there, ${number(told().partitionsCount)} partitions, each on ${number(told().replicationFactor)} of them. Version ${told().gatewayVersion}.`}
              <Show when={told().clusterId}>{(id) => ` Cluster ${id()}.`}</Show>
            </p>
            <div class="scroll" tabindex="0" role="region" aria-label="Partitions of brokers">
              <table aria-label="Partitions of brokers">
                <thead>
                  <tr>
                    <th scope="col">Broker</th>
                    <th scope="col">Address</th>
                    <th scope="col">Version</th>
                    <th scope="col">Partition</th>
                    <th scope="col">Role</th>
                    <th scope="col">Health</th>
                  </tr>
                </thead>
                <tbody>
                  <For each={told().brokers.flatMap((broker) => broker.partitions.map((partition) => ({ broker, partition })))}>
                    {({ broker, partition }) => (
                      <tr>
                        <td>{broker.brokerId}</td>
                        <td>{`${broker.host}:${broker.port}`}</td>
                        <td>{broker.version}</td>
                        <td>{partition.partitionId}</td>
                        <td>{wordOf(partition.role)}</td>
                        <td>
                          <State of={healthOf(partition.health)} word={wordOf(partition.health)} />
                        </td>
                      </tr>
                    )}
                  </For>
                </tbody>
              </table>
            </div>
          </>
        )}
      </Show>
      <Show when={settings.data}>
        {(told) => (
          <p class="muted">{`Tenants are ${told().deployment.isMultiTenancyEnabled ? 'told apart' : 'not told apart'}. A deployment may have ${bytes(told().deployment.maxRequestSize)}.`}</p>
        )}
      </Show>
      <Show when={more.error}>{(error) => <Failure of={error()} again={() => void more.refetch()} />}</Show>
      <Show when={more.data}>{(told) => <Insides of={told()} />}</Show>
    </main>
  );
}

function Insides(props: { of: Inside }): JSX.Element {
  return (
    <>
      <section>
        <h2>Partitions of this broker</h2>
        <For each={props.of.partitions}>
          {(one) => (
            <p>
              <State of={healthOf(one.health)} word={`Partition ${one.id}`} />{' '}
              {`${wordOf(one.role).toLowerCase()}, processing: ${wordOf(one.processing).toLowerCase()}, exporting: ${wordOf(one.exporting).toLowerCase()}, ${number(one.processedPosition - one.exportedPosition)} records are not exported yet.`}
            </p>
          )}
        </For>
      </section>
      <section>
        <h2>Exporters</h2>
        <For each={props.of.exporters} fallback={<p class="muted">There are none.</p>}>
          {(one) => (
            <p>
              <strong>{one.exporterId}</strong>
              {` ${wordOf(one.status).toLowerCase()}: ${number(one.backlogRecords)} records behind${one.backlogSeconds === null ? '' : `, ${number(one.backlogSeconds)} s`}, ${number(one.parkedRecords)} parked.`}
              <Show when={one.failure}>{(failure) => <Failure of={new Error(failure())} />}</Show>
            </p>
          )}
        </For>
      </section>
      <section>
        <h2>Health</h2>
        <For each={props.of.health}>
          {(one) => (
            <p>
              <State of={healthOf(one.state)} word={one.name} /> {one.detail}
            </p>
          )}
        </For>
        <Show when={props.of.disk}>{(disk) => <p>{`Disk: ${bytes(disk().freeBytes)} of ${bytes(disk().totalBytes)} are free; below ${bytes(disk().reservedBytes)} nothing is accepted.`}</p>}</Show>
      </section>
      <section>
        <h2>Flow control</h2>
        <pre>{JSON.stringify(props.of.flowControl, null, 2)}</pre>
      </section>
    </>
  );
}
