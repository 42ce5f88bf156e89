/** The tenant of everything where tenants are not used. */
const DEFAULT_TENANT = '<default>';

/** A tenant that is worth a word: not the one of everything where tenants are not used. */
export const otherTenant = (tenantId: string | undefined): string | undefined => (tenantId === '' || tenantId === DEFAULT_TENANT ? undefined : tenantId);
