/** The tenant of everything where tenants are not used. */
const DEFAULT_TENANT = '<default>';

/** A tenant that is worth a word: not the one of everything where tenants are not used. */
export const otherTenant = (tenantId: string | undefined): string | undefined => (tenantId === '' || tenantId === DEFAULT_TENANT ? undefined : tenantId);

/** The tenant as a parameter of an address, behind `?` or `&`; nothing where it is not worth a word. */
export function tenantParameter(mark: '?' | '&', tenantId: string | undefined): string {
  const tenant = otherTenant(tenantId);
  return tenant ? `${mark}tenant=${encodeURIComponent(tenant)}` : '';
}
