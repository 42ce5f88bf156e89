import { A, useSearchParams } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { searchProcessDefinitions } from '../api/generated/operations';
import type { ProcessDefinitionResult } from '../api/generated/types';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { Deploy } from './Deploy';

const SORTS = ['name', 'processDefinitionId', 'version', 'resourceName', 'processDefinitionKey'] as const;
const COLUMNS: Column<ProcessDefinitionResult>[] = [
  {
    head: 'Process',
    cell: (row) => <A href={`/operate/definitions/${encodeURIComponent(row.processDefinitionId)}`}>{row.name || row.processDefinitionId}</A>,
    sort: 'name',
  },
  { head: 'ID', cell: (row) => row.processDefinitionId, sort: 'processDefinitionId' },
  { head: 'Latest version', cell: (row) => row.version, sort: 'version', class: 'number' },
  { head: 'Tag', cell: (row) => row.versionTag || '–' },
  { head: 'File', cell: (row) => row.resourceName, sort: 'resourceName' },
  { head: 'Tenant', cell: (row) => row.tenantId },
];

/** The latest version of each process, and a place to drop files for more. */
export default function Definitions(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ name: string }>();
  const { sort, page } = usePlace(SORTS, { field: 'name', order: 'ASC' });
  const found = useRead(searchProcessDefinitions, () => ({
    body: {
      filter: { isLatestVersion: true, ...(query.name ? { name: { $like: `*${query.name.replace(/[\\*?]/g, '\\$&')}*` } } : {}) },
      sort: sort(),
      page: page(),
    },
    live: true,
  }));
  return (
    <main class="page">
      <h1>Definitions</h1>
      <Deploy />
      <div class="row">
        <input
          type="search"
          aria-label="Find a process by name"
          placeholder="Name"
          value={query.name ?? ''}
          onChange={(event) => setQuery({ name: event.currentTarget.value || null, after: null, before: null } as never)}
        />
      </div>
      <Table label="Definitions" query={found} columns={COLUMNS} usual="name:asc" empty="No process is deployed, or none that you may see." />
    </main>
  );
}
