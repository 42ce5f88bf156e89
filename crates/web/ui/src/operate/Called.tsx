import { A } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchDecisionInstances, searchProcessInstances } from '../api/generated/operations';
import type { ProcessInstanceResult } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { State } from '../ui/parts';
import { type Column, PAGE_SIZE, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const SORTS = ['processInstanceKey', 'processDefinitionName', 'startDate', 'endDate', 'state'] as const;
const columns = (): Column<ProcessInstanceResult>[] => [
  { head: t('instance.head.state'), cell: (row) => <State of={row.state} incident={row.hasIncident} />, sort: 'state' },
  { head: t('instance.head.process'), cell: (row) => row.processDefinitionName || row.processDefinitionId, sort: 'processDefinitionName' },
  {
    head: t('instance.head.key'),
    cell: (row) => (
      <A class="key" href={`/operate/processes/${row.processInstanceKey}`}>
        {row.processInstanceKey}
      </A>
    ),
    sort: 'processInstanceKey',
  },
  { head: t('instance.head.started'), cell: (row) => <Time of={row.startDate} />, sort: 'startDate' },
  { head: t('instance.head.ended'), cell: (row) => <Time of={row.endDate} />, sort: 'endDate' },
];

const DECISION_HEADS = ['state', 'decision', 'key', 'version', 'evaluated', 'result'] as const;

/** The instances that an instance has called, and the decisions that it has evaluated. */
export function Called(props: { instanceKey: string }): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'startDate', order: 'DESC' });
  const found = useRead(searchProcessInstances, () => ({ body: { filter: { parentProcessInstanceKey: props.instanceKey }, sort: sort(), page: page() }, live: true }));
  return (
    <div class="stack">
      <Table label={t('instance.called')} query={found} columns={columns()} usual="startDate:desc" empty={t('instance.called.none')} />
      <Decisions instanceKey={props.instanceKey} />
    </div>
  );
}

function Decisions(props: { instanceKey: string }): JSX.Element {
  const [limit, setLimit] = createSignal(PAGE_SIZE);
  const found = useRead(searchDecisionInstances, () => ({
    body: { filter: { processInstanceKey: props.instanceKey }, sort: [{ field: 'evaluationDate' as const, order: 'DESC' as const }], page: { limit: limit() } },
    live: true,
  }));
  return (
    <Show when={found.data?.items.length}>
      <h2>{t('instance.decisions')}</h2>
      <table aria-label={t('instance.decisions')}>
        <thead>
          <tr>
            <For each={DECISION_HEADS}>{(head) => <th scope="col">{t(`instance.head.${head}`)}</th>}</For>
          </tr>
        </thead>
        <tbody>
          <For each={found.data?.items}>
            {(one) => (
              <tr>
                <td>
                  <State of={one.state} />
                </td>
                <td>{one.decisionDefinitionName || one.decisionDefinitionId}</td>
                <td>
                  <A class="key" href={`/operate/decisions/${one.decisionEvaluationInstanceKey}`}>
                    {one.decisionEvaluationInstanceKey}
                  </A>
                </td>
                <td>{one.decisionDefinitionVersion}</td>
                <td>
                  <Time of={one.evaluationDate} />
                </td>
                <td class="clip">
                  <code>{(one.evaluationFailure ?? one.result).slice(0, 300)}</code>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
      <Show when={found.data?.items.length === limit()}>
        <div>
          <button onClick={() => setLimit(limit() + PAGE_SIZE)}>{t('instance.decisions.more')}</button>
        </div>
      </Show>
    </Show>
  );
}
