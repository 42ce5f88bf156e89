import { useSearchParams } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import { getUsageMetrics } from '../api/generated/operations';
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
      <h1>Usage</h1>
      <Filters
        of={[
          { name: 'from', label: 'From', type: 'date' },
          { name: 'to', label: 'To', type: 'date' },
        ]}
      />
      <p>
        From {from()} to {to()}, days of UTC.
      </p>
      <Show when={usage.error}>{(error) => <Failure of={error()} again={() => void usage.refetch()} />}</Show>
      <Show when={usage.data}>
        {(told) => (
          <table aria-label="Usage">
            <thead>
              <tr>
                <th scope="col">Tenant</th>
                <th scope="col" class="number">
                  Process instances
                </th>
                <th scope="col" class="number">
                  Decision instances
                </th>
                <th scope="col" class="number">
                  Assignees
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={[[`All (${number(told().activeTenants)} active)`, told()] as const, ...Object.entries(told().tenants)]}>
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
