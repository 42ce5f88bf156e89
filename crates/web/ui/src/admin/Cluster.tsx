import { For, type JSX, Show } from 'solid-js';
import { getSystemConfiguration, getTopology } from '../api/generated/operations';
import { ClusterParts } from '../cluster/ClusterParts';
import { useRead } from '../query';
import { bytes, number } from '../ui/numbers';
import { Failure, State, wordOf } from '../ui/parts';

const healthOf = (health: string) => (health.toLowerCase() === 'healthy' ? 'ACTIVE' : 'FAILED');

/** Brokers and partitions, and what is inside of the server where it tells. */
export default function Cluster(): JSX.Element {
  const topology = useRead(getTopology, () => ({ live: true }));
  const settings = useRead(getSystemConfiguration, () => ({}));
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
      <ClusterParts />
    </main>
  );
}
