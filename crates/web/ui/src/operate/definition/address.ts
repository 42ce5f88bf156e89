// Addresses of pages of a process: IDs are unique in a tenant only.
import { otherTenant, tenantParameter } from '../../tenant';

interface Of {
  processDefinitionId: string;
  version?: number | string;
  tenantId?: string;
}

/** The page of a process, or one below it; without a version that of the latest. */
export function definitionAddress({ processDefinitionId, version, tenantId }: Of, below = ''): string {
  const query = new URLSearchParams();
  if (version !== undefined) query.set('version', String(version));
  const tenant = otherTenant(tenantId);
  if (tenant) query.set('tenant', tenant);
  return `/operate/definitions/${encodeURIComponent(processDefinitionId)}${below}${query.size > 0 ? `?${query}` : ''}`;
}

/** Instances of a version, or their migration; `more` are other parameters, as they stand in the address. */
export function instancesAddress(page: '/operate/processes' | '/operate/migrate', { processDefinitionId, version, tenantId }: Of, more: string): string {
  return `${page}?process=${encodeURIComponent(processDefinitionId)}&version=${version}${tenantParameter('&', tenantId)}&${more}`;
}
