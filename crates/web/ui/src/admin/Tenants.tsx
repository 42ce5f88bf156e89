import type { JSX } from 'solid-js';
import { createTenant, deleteTenant, searchTenants, updateTenant } from '../api/generated/operations';
import { call } from '../api/http';
import { t } from '../language';
import { useRead } from '../query';
import { usePlace } from '../ui/Table';
import { NamedPage } from './people';

/** The tenants, each with its members behind its ID. */
export default function Tenants(): JSX.Element {
  const { sort, page } = usePlace(['tenantId', 'name'] as const, { field: 'tenantId', order: 'ASC' });
  const found = useRead(searchTenants, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <NamedPage
      resource="TENANT"
      title={t('page.Tenants')}
      button={t('admin.new.tenant')}
      empty={t('admin.none.tenants')}
      path="/admin/tenants"
      id="tenantId"
      query={found}
      of={(row) => ({ id: row.tenantId, name: row.name, description: row.description ?? '' })}
      create={({ id, ...body }) => call(createTenant, { body: { tenantId: id, ...body } })}
      update={(tenantId, body) => call(updateTenant, { path: { tenantId }, body })}
      remove={(tenantId) => call(deleteTenant, { path: { tenantId } })}
      effect={t('admin.effect.tenant')}
    />
  );
}
