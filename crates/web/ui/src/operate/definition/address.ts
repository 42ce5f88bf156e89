// Addresses of pages of a process: IDs are unique in a tenant only.

/** The tenant of everything where tenants are not used. */
export const DEFAULT_TENANT = '<default>';

interface Of {
  processDefinitionId: string;
  version?: number | string;
  tenantId?: string;
}

/** The page of a process, or one below it; without a version that of the latest. */
export function definitionAddress({ processDefinitionId, version, tenantId }: Of, below = ''): string {
  const query = new URLSearchParams();
  if (version !== undefined) query.set('version', String(version));
  if (tenantId !== undefined && tenantId !== DEFAULT_TENANT) query.set('tenant', tenantId);
  return `/operate/definitions/${encodeURIComponent(processDefinitionId)}${below}${query.size > 0 ? `?${query}` : ''}`;
}
