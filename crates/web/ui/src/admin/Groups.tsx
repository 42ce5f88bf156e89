import type { JSX } from 'solid-js';
import { createGroup, deleteGroup, searchGroups, updateGroup } from '../api/generated/operations';
import { call } from '../api/http';
import { t } from '../language';
import { useRead } from '../query';
import { usePlace } from '../ui/Table';
import { NamedPage } from './people';

/** The groups, each with its members behind its ID. */
export default function Groups(): JSX.Element {
  const { sort, page } = usePlace(['groupId', 'name'] as const, { field: 'groupId', order: 'ASC' });
  const found = useRead(searchGroups, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <NamedPage
      resource="GROUP"
      title={t('page.Groups')}
      button={t('admin.new.group')}
      empty={t('admin.none.groups')}
      path="/admin/groups"
      id="groupId"
      query={found}
      of={(row) => ({ id: row.groupId, name: row.name, description: row.description ?? '' })}
      create={({ id, ...body }) => call(createGroup, { body: { groupId: id, ...body } })}
      update={(groupId, body) => call(updateGroup, { path: { groupId }, body })}
      remove={(groupId) => call(deleteGroup, { path: { groupId } })}
      effect={t('admin.effect.group')}
    />
  );
}
