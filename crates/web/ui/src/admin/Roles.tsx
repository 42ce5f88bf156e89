import type { JSX } from 'solid-js';
import { createRole, deleteRole, searchRoles, updateRole } from '../api/generated/operations';
import { call } from '../api/http';
import { t } from '../language';
import { useRead } from '../query';
import { usePlace } from '../ui/Table';
import { NamedPage } from './people';

/** The roles, each with its members behind its ID. */
export default function Roles(): JSX.Element {
  const { sort, page } = usePlace(['roleId', 'name'] as const, { field: 'roleId', order: 'ASC' });
  const found = useRead(searchRoles, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <NamedPage
      resource="ROLE"
      title={t('page.Roles')}
      button={t('admin.new.role')}
      empty={t('admin.none.roles')}
      path="/admin/roles"
      id="roleId"
      query={found}
      of={(row) => ({ id: row.roleId, name: row.name, description: row.description ?? '' })}
      create={({ id, ...body }) => call(createRole, { body: { roleId: id, ...body } })}
      update={(roleId, body) => call(updateRole, { path: { roleId }, body })}
      remove={(roleId) => call(deleteRole, { path: { roleId } })}
      effect={t('admin.effect.role')}
    />
  );
}
