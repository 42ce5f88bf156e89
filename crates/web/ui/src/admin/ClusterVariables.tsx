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
import { t } from '../language';
import { useRead } from '../query';
import { need } from '../rights';
import { jsonProblem, pretty } from '../ui/json';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit } from './Create';
import { findTenants } from './finders';

/** The value as it was written: numbers keep every digit. */
function valueOf(text: Answers): string {
  const problem = jsonProblem(text('value'));
  if (problem) throw new Error(t('admin.variables.noJson', { problem }));
  return text('value');
}
const hint = () => t('admin.variables.hint', { object: '{"limit": 5}' });

const path = ({ name, tenantId }: { name: string; tenantId: string | null }) => ({ path: { name, tenantId: tenantId ?? '' } });
const read = (row: ClusterVariableSearchResult) => call(row.tenantId === null ? getGlobalClusterVariable : getTenantClusterVariable, path(row));

const columns = (): Column<ClusterVariableSearchResult>[] => [
  { head: t('admin.name'), cell: (row) => row.name, sort: 'name' },
  { head: t('admin.tenant'), cell: (row) => row.tenantId ?? t('admin.variables.all'), sort: 'tenantId' },
  {
    head: t('admin.value'),
    cell: (row) => (
      <>
        <code>{row.value}</code> {row.isTruncated ? t('admin.variables.cut') : ''}
      </>
    ),
    class: 'clip',
  },
  {
    head: t('admin.actions'),
    cell: (row) => (
      <>
        <Edit
          needs={need('CLUSTER_VARIABLE', 'UPDATE', row.name)}
          what={row.name}
          inputs={async () => [{ name: 'value', label: t('admin.value'), type: 'json', required: true, hint: hint(), value: pretty((await read(row)).value) }]}
          save={(text) => call(row.tenantId === null ? updateGlobalClusterVariable : updateTenantClusterVariable, { ...path(row), text: `{"value":${valueOf(text)}}` })}
        />
        <Delete needs={need('CLUSTER_VARIABLE', 'DELETE', row.name)} what={row.name} effect={t('admin.effect.clusterVariable')} do={() => call(row.tenantId === null ? deleteGlobalClusterVariable : deleteTenantClusterVariable, path(row))} />
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
        <h1>{t('page.Cluster variables')}</h1>
        <span class="spacer" />
        <Create
          needs={[[{ resourceType: 'CLUSTER_VARIABLE', permissionType: 'CREATE', orAny: true }]]}
          label={t('admin.new.clusterVariable')}
          inputs={[
            { name: 'name', label: t('admin.name'), required: true },
            { name: 'value', label: t('admin.value'), type: 'json', required: true, hint: hint() },
            { name: 'tenantId', label: t('admin.tenant'), find: findTenants, hint: t('admin.variables.tenant.hint') },
          ]}
          create={async (text) => create(text)}
        />
      </div>
      <Table label={t('page.Cluster variables')} query={found} columns={columns()} usual="name:asc" empty={t('admin.none.clusterVariables')} />
    </main>
  );
}
