import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { createRole, deleteRole, searchRoles } from '../api/generated/operations';
import type { RoleResult } from '../api/generated/types';
import { call } from '../api/http';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { Create, Delete } from './Create';

const COLUMNS: Column<RoleResult>[] = [
  { head: 'ID', cell: (row) => <A href={`/admin/roles/${encodeURIComponent(row.roleId)}`}>{row.roleId}</A>, sort: 'roleId' },
  { head: 'Name', cell: (row) => row.name, sort: 'name' },
  { head: 'Description', cell: (row) => row.description || '–' },
  {
    head: '',
    cell: (row) => <Delete what={row.roleId} effect="Its members lose what it grants." do={() => call(deleteRole, { path: { roleId: row.roleId } })} />,
  },
];

/** The roles, each with its members behind its ID. */
export default function Roles(): JSX.Element {
  const { sort, page } = usePlace(['roleId', 'name'] as const, { field: 'roleId', order: 'ASC' });
  const found = useRead(searchRoles, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>Roles</h1>
        <span class="spacer" />
        <Create
          what="role"
          inputs={[
            { name: 'id', label: 'ID', required: true },
            { name: 'name', label: 'Name', required: true },
            { name: 'description', label: 'Description' },
          ]}
          create={(text) => call(createRole, { body: { roleId: text('id').trim(), name: text('name'), description: text('description') } })}
        />
      </div>
      <Table label="Roles" query={found} columns={COLUMNS} usual="roleId:asc" empty="There are no roles, or none that you may see." />
    </main>
  );
}
