import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { searchProcessInstances } from '../api/generated/operations';
import type { ProcessInstanceResult } from '../api/generated/types';
import { useRead } from '../query';
import { State } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const SORTS = ['processInstanceKey', 'processDefinitionName', 'startDate', 'endDate', 'state'] as const;
const COLUMNS: Column<ProcessInstanceResult>[] = [
  { head: 'State', cell: (row) => <State of={row.state} incident={row.hasIncident} />, sort: 'state' },
  { head: 'Process', cell: (row) => row.processDefinitionName || row.processDefinitionId, sort: 'processDefinitionName' },
  {
    head: 'Key',
    cell: (row) => (
      <A class="key" href={`/operate/processes/${row.processInstanceKey}`}>
        {row.processInstanceKey}
      </A>
    ),
    sort: 'processInstanceKey',
  },
  { head: 'Started', cell: (row) => <Time of={row.startDate} />, sort: 'startDate' },
  { head: 'Ended', cell: (row) => <Time of={row.endDate} />, sort: 'endDate' },
];

/** The instances that an instance has called. */
export function Called(props: { instanceKey: string }): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'startDate', order: 'DESC' });
  const found = useRead(searchProcessInstances, () => ({ body: { filter: { parentProcessInstanceKey: props.instanceKey }, sort: sort(), page: page() }, live: true }));
  return <Table label="Called instances" query={found} columns={COLUMNS} usual="startDate:desc" empty="This instance has called no other." />;
}
