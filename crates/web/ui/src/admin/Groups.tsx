import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { createGroup, deleteGroup, searchGroups } from '../api/generated/operations';
import type { GroupResult } from '../api/generated/types';
import { call } from '../api/http';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { Create, Delete } from './Create';

const COLUMNS: Column<GroupResult>[] = [
  { head: 'ID', cell: (row) => <A href={`/admin/groups/${encodeURIComponent(row.groupId)}`}>{row.groupId}</A>, sort: 'groupId' },
  { head: 'Name', cell: (row) => row.name, sort: 'name' },
  { head: 'Description', cell: (row) => row.description || '–' },
  {
    head: '',
    cell: (row) => <Delete what={row.groupId} effect="Its members lose what it grants." do={() => call(deleteGroup, { path: { groupId: row.groupId } })} />,
  },
];

/** The groups, each with its members behind its ID. */
export default function Groups(): JSX.Element {
  const { sort, page } = usePlace(['groupId', 'name'] as const, { field: 'groupId', order: 'ASC' });
  const found = useRead(searchGroups, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>Groups</h1>
        <span class="spacer" />
        <Create
          what="group"
          inputs={[
            { name: 'id', label: 'ID', required: true },
            { name: 'name', label: 'Name', required: true },
            { name: 'description', label: 'Description' },
          ]}
          create={(text) => call(createGroup, { body: { groupId: text('id').trim(), name: text('name'), description: text('description') } })}
        />
      </div>
      <Table label="Groups" query={found} columns={COLUMNS} usual="groupId:asc" empty="There are no groups, or none that you may see." />
    </main>
  );
}
