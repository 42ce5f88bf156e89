import { A, useSearchParams } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { searchProcessDefinitions } from '../api/generated/operations';
import type { ProcessDefinitionResult } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { Views } from '../views/Views';
import { definitionAddress } from './definition/address';
import { Deploy } from './Deploy';

const SORTS = ['name', 'processDefinitionId', 'version', 'resourceName', 'processDefinitionKey'] as const;
const columns = (): Column<ProcessDefinitionResult>[] => [
  {
    head: t('lists.process'),
    cell: (row) => <A href={definitionAddress({ processDefinitionId: row.processDefinitionId, tenantId: row.tenantId })}>{row.name || row.processDefinitionId}</A>,
    sort: 'name',
  },
  { head: t('lists.id'), cell: (row) => row.processDefinitionId, sort: 'processDefinitionId' },
  { head: t('lists.definitions.latest'), cell: (row) => row.version, sort: 'version', class: 'number' },
  { head: t('lists.definitions.tag'), cell: (row) => row.versionTag || '–' },
  { head: t('lists.definitions.file'), cell: (row) => row.resourceName, sort: 'resourceName' },
  { head: t('lists.tenant'), cell: (row) => row.tenantId },
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
      <div class="row">
        <h1>{t('page.Definitions')}</h1>
        <span class="spacer" />
        <Views page="operate/definitions" />
      </div>
      <Deploy />
      <div class="row">
        <input
          type="search"
          aria-label={t('start.find')}
          placeholder={t('start.name')}
          value={query.name ?? ''}
          onChange={(event) => setQuery({ name: event.currentTarget.value || null, after: null, before: null } as never)}
        />
      </div>
      <Table label={t('page.Definitions')} query={found} columns={columns()} usual="name:asc" empty={t('lists.definitions.none')} />
    </main>
  );
}
