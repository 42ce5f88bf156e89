import { useSearchParams } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import { getUsageMetrics } from '../api/generated/operations';
import { t } from '../language';
import { useRead } from '../query';
import { Filters } from '../ui/Filters';
import { number } from '../ui/numbers';
import { Failure } from '../ui/parts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
const isDay = (text: string | undefined): text is string => /^\d{4}-\d\d-\d\d$/.test(text ?? '') && !Number.isNaN(Date.parse(text!));

/** Process instances, decision instances and assignees of some days (UTC), in all and by tenant. */
export default function Usage(): JSX.Element {
  const [query] = useSearchParams<{ from: string; to: string }>();
  const from = () => (isDay(query.from) ? query.from : day(Date.now() - DAYS * DAY_MS));
  const to = () => (isDay(query.to) ? query.to : day(Date.now()));
  const usage = useRead(getUsageMetrics, () => ({
    query: { startTime: `${from()}T00:00:00Z`, endTime: new Date(Date.parse(to()) + DAY_MS).toISOString(), withTenants: true },
    live: true,
  }));
  return (
    <main class="page">
      <h1>{t('page.Usage')}</h1>
      <Filters
        of={[
          { name: 'from', label: t('admin.from'), type: 'date' },
          { name: 'to', label: t('admin.to'), type: 'date' },
        ]}
      />
      <p>{t('admin.usage.days', { from: from(), to: to() })}</p>
      <Show when={usage.error}>{(error) => <Failure of={error()} again={() => void usage.refetch()} />}</Show>
      <Show when={usage.data}>
        {(told) => (
          <table aria-label={t('page.Usage')}>
            <thead>
              <tr>
                <th scope="col">{t('admin.tenant')}</th>
                <th scope="col" class="number">
                  {t('admin.usage.processInstances')}
                </th>
                <th scope="col" class="number">
                  {t('admin.usage.decisionInstances')}
                </th>
                <th scope="col" class="number">
                  {t('admin.usage.assignees')}
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={[[t('admin.usage.all', { count: number(told().activeTenants) }), told()] as const, ...Object.entries(told().tenants)]}>
                {([tenant, row]) => (
                  <tr>
                    <th scope="row">{tenant}</th>
                    <td class="number">{number(row.processInstances)}</td>
                    <td class="number">{number(row.decisionInstances)}</td>
                    <td class="number">{number(row.assignees)}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        )}
      </Show>
    </main>
  );
}
