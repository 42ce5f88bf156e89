import { useSearchParams } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { searchAuditLogs } from '../api/generated/operations';
import type { AuditLogCategoryEnum, AuditLogEntityTypeEnum, AuditLogFilter } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { AuditLog } from '../ui/AuditLog';
import { between, OPERATIONS, RESULTS } from '../ui/logFilter';
import { Filters } from '../ui/Filters';
import { wordOf } from '../ui/parts';
import { usePlace } from '../ui/Table';

const ENTITIES: readonly AuditLogEntityTypeEnum[] = ['AUTHORIZATION', 'BATCH', 'CLIENT', 'DECISION', 'GROUP', 'INCIDENT', 'JOB', 'MAPPING_RULE', 'PROCESS_INSTANCE', 'RESOURCE', 'ROLE', 'TENANT', 'USER', 'USER_TASK', 'VARIABLE'];
const CATEGORIES: readonly AuditLogCategoryEnum[] = ['ADMIN', 'DEPLOYED_RESOURCES', 'USER_TASKS'];
const words = (values: readonly string[]) => values.map((one) => [one, wordOf(one)] as const);
const SORTS = ['timestamp', 'operationType', 'entityType', 'entityKey', 'actorId', 'result'] as const;

type Query = { operation: string; entity: string; category: string; result: string; actor: string; key: string; from: string; to: string };

function toApi(query: Partial<Query>): AuditLogFilter {
  const api: AuditLogFilter = between(query.from, query.to);
  const operation = OPERATIONS.find((one) => one === query.operation);
  const entity = ENTITIES.find((one) => one === query.entity);
  const category = CATEGORIES.find((one) => one === query.category);
  const result = RESULTS.find((one) => one === query.result);
  if (operation) api.operationType = operation;
  if (entity) api.entityType = entity;
  if (category) api.category = category;
  if (result) api.result = result;
  if (query.actor) api.actorId = query.actor;
  if (query.key) api.entityKey = query.key;
  return api;
}

/** Everything that was done by commands: what, by whom, to what, and whether it worked. */
export default function OperationsLog(): JSX.Element {
  const [query] = useSearchParams<Query>();
  const { sort, page } = usePlace(SORTS, { field: 'timestamp', order: 'DESC' });
  const found = useRead(searchAuditLogs, () => ({ body: { filter: toApi(query), sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <h1>{t('page.Operations log')}</h1>
      <Filters
        of={[
          { name: 'operation', label: t('ui.log.operation'), options: words(OPERATIONS) },
          { name: 'entity', label: t('ui.log.of'), options: words(ENTITIES) },
          { name: 'category', label: t('admin.log.category'), options: words(CATEGORIES) },
          { name: 'result', label: t('ui.log.result'), options: [['SUCCESS', t('ui.log.done')], ['FAIL', t('ui.log.refused')]] },
          { name: 'actor', label: t('ui.log.by') },
          { name: 'key', label: t('ui.log.key') },
          { name: 'from', label: t('admin.from'), type: 'datetime-local' },
          { name: 'to', label: t('admin.to'), type: 'datetime-local' },
        ]}
      />
      <AuditLog query={found} usual="timestamp:desc" />
    </main>
  );
}
