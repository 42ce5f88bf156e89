import { For, type JSX, Show } from 'solid-js';
import { getSystemConfiguration, getTopology } from '../api/generated/operations';
import { ClusterParts } from '../cluster/ClusterParts';
import { t } from '../language';
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
      <h1>{t('page.Cluster')}</h1>
      <Show when={topology.error}>{(error) => <Failure of={error()} again={() => void topology.refetch()} />}</Show>
      <Show when={topology.data}>
        {(told) => (
          <>
            <p>
              {t('admin.cluster.topology', {
                brokers: number(told().brokers.length),
                size: number(told().clusterSize),
                partitions: number(told().partitionsCount),
                replicas: number(told().replicationFactor),
                version: told().gatewayVersion,
              })}
              <Show when={told().clusterId}>{(id) => ` ${t('admin.cluster.id', { id: id() })}`}</Show>
            </p>
            <div class="scroll" tabindex="0" role="region" aria-label={t('admin.cluster.ofBrokers')}>
              <table aria-label={t('admin.cluster.ofBrokers')}>
                <thead>
                  <tr>
                    <th scope="col">{t('admin.cluster.broker')}</th>
                    <th scope="col">{t('admin.cluster.address')}</th>
                    <th scope="col">{t('admin.cluster.version')}</th>
                    <th scope="col">{t('admin.cluster.partition')}</th>
                    <th scope="col">{t('admin.cluster.role')}</th>
                    <th scope="col">{t('admin.cluster.health')}</th>
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
          <p class="muted">
            {t(told().deployment.isMultiTenancyEnabled ? 'admin.cluster.tenantsApart' : 'admin.cluster.tenantsTogether', { bytes: bytes(told().deployment.maxRequestSize) })}
          </p>
        )}
      </Show>
      <ClusterParts />
    </main>
  );
}
