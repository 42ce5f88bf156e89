import type { JSX } from 'solid-js';
import {
  createGlobalClusterVariable,
  createTenantClusterVariable,
  deleteGlobalClusterVariable,
  deleteTenantClusterVariable,
  getGlobalClusterVariable,
  getTenantClusterVariable,
  searchClusterVariables,
  updateGlobalClusterVariable,
  updateTenantClusterVariable,
} from '../api/generated/operations';
import type { ClusterVariableSearchResult } from '../api/generated/types';
import { call } from '../api/http';
import { useRead } from '../query';
import { jsonProblem, pretty } from '../ui/json';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit } from './Create';
import { findTenants } from './finders';

/** The value as it was written: numbers keep every digit. */
function valueOf(text: Answers): string {
  const problem = jsonProblem(text('value'));
  if (problem) throw new Error(`The value is no JSON: ${problem}`);
  return text('value');
}
const HINT = 'JSON, such as "text" or {"limit": 5}';

const path = ({ name, tenantId }: { name: string; tenantId: string | null }) => ({ path: { name, tenantId: tenantId ?? '' } });
const read = (row: ClusterVariableSearchResult) => call(row.tenantId === null ? getGlobalClusterVariable : getTenantClusterVariable, path(row));

const COLUMNS: Column<ClusterVariableSearchResult>[] = [
  { head: 'Name', cell: (row) => row.name, sort: 'name' },
  { head: 'Tenant', cell: (row) => row.tenantId ?? 'all', sort: 'tenantId' },
  {
    head: 'Value',
    cell: (row) => (
      <>
        <code>{row.value}</code> {row.isTruncated ? '… (cut; whole in Edit)' : ''}
      </>
    ),
    class: 'clip',
  },
  {
    head: 'Actions',
    cell: (row) => (
      <>
        <Edit
          what={row.name}
          inputs={async () => [{ name: 'value', label: 'Value', type: 'json', required: true, hint: HINT, value: pretty((await read(row)).value) }]}
          save={(text) => call(row.tenantId === null ? updateGlobalClusterVariable : updateTenantClusterVariable, { ...path(row), text: `{"value":${valueOf(text)}}` })}
        />
        <Delete what={row.name} effect="Expressions that name it find nothing any more." do={() => call(row.tenantId === null ? deleteGlobalClusterVariable : deleteTenantClusterVariable, path(row))} />
      </>
    ),
  },
];

/** Variables of the cluster: for all tenants, or for one. */
export default function ClusterVariables(): JSX.Element {
  const { sort, page } = usePlace(['name', 'tenantId', 'scope'] as const, { field: 'name', order: 'ASC' });
  const found = useRead(searchClusterVariables, () => ({ body: { sort: sort(), page: page() }, live: true }));
  const create = (text: Answers) => {
    const tenantId = text('tenantId').trim();
    const body = `{"name":${JSON.stringify(text('name').trim())},"value":${valueOf(text)}}`;
    return tenantId ? call(createTenantClusterVariable, { path: { tenantId }, text: body }) : call(createGlobalClusterVariable, { text: body });
  };
  return (
    <main class="page">
      <div class="row">
        <h1>Cluster variables</h1>
        <span class="spacer" />
        <Create
          what="cluster variable"
          inputs={[
            { name: 'name', label: 'Name', required: true },
            { name: 'value', label: 'Value', type: 'json', required: true, hint: HINT },
            { name: 'tenantId', label: 'Tenant', find: findTenants, hint: 'Left empty: for all tenants.' },
          ]}
          create={async (text) => create(text)}
        />
      </div>
      <Table label="Cluster variables" query={found} columns={COLUMNS} usual="name:asc" empty="There are no cluster variables, or none that you may see." />
    </main>
  );
}
