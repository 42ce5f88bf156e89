// The versions of a process in one tenant.
import { searchProcessDefinitions } from '../../api/generated/operations';
import { useRead } from '../../query';

/** The most versions, of all tenants, that are listed. */
export const VERSIONS_MAX = 1000;

/** Versions of a process, the latest first; several tenants may have a process of the same ID. */
export function useVersions(id: () => string, query: { version?: string; tenant?: string }) {
  const found = useRead(searchProcessDefinitions, () => ({
    body: { filter: { processDefinitionId: id() }, sort: [{ field: 'version' as const, order: 'DESC' as const }], page: { limit: VERSIONS_MAX } },
    live: true,
  }));
  const all = () => found.data?.items ?? [];
  const tenants = () => [...new Set(all().map((one) => one.tenantId))].sort();
  const tenant = () => (tenants().includes(query.tenant ?? '') ? query.tenant : query.tenant === undefined ? all()[0]?.tenantId : undefined);
  const versions = () => all().filter((one) => one.tenantId === tenant());
  const chosen = () => versions().find((one) => String(one.version) === query.version) ?? versions()[0];
  const isCut = () => found.data?.page.hasMoreTotalItems === true || (found.data?.page.totalItems ?? 0) > VERSIONS_MAX;
  return { found, tenants, tenant, versions, chosen, isCut, isMissing: () => found.data !== undefined && versions().length === 0 };
}
