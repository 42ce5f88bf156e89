import { useParams } from '@solidjs/router';
import type { JSX } from 'solid-js';
import {
  assignRoleToUser,
  assignUserToGroup,
  searchUsersForGroup,
  searchUsersForRole,
  unassignRoleFromUser,
  unassignUserFromGroup,
} from '../api/generated/operations';
import { call } from '../api/http';
import type { Operation } from '../api/operation';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { Create, Delete } from './Create';

type Path = Record<string, string>;
type Change = Operation<Path, object, void, unknown>;
type Search = Operation<Path, object, object, { items: { username: string }[]; page: never }>;
const OPERATIONS = {
  group: { id: 'groupId', search: searchUsersForGroup, add: assignUserToGroup, remove: unassignUserFromGroup, title: 'Group' },
  role: { id: 'roleId', search: searchUsersForRole, add: assignRoleToUser, remove: unassignRoleFromUser, title: 'Role' },
};

/** The users of a group or a role. */
export default function Members(props: { of: 'group' | 'role' }): JSX.Element {
  const params = useParams<{ id: string }>();
  const id = () => decodeURIComponent(params.id);
  const { id: parameter, search, add, remove, title } = OPERATIONS[props.of];
  const { sort, page } = usePlace(['username'] as const, { field: 'username', order: 'ASC' });
  const found = useRead(search as unknown as Search, () => ({ path: { [parameter]: id() }, body: { sort: sort(), page: page() }, live: true }));
  const path = (username: string) => ({ path: { [parameter]: id(), username } });
  const columns: Column<{ username: string }>[] = [
    { head: 'User name', cell: (row) => row.username, sort: 'username' },
    {
      head: '',
      cell: (row) => (
        <Delete what={`${row.username} from ${id()}`} effect={`The user loses what this ${props.of} grants. The user itself stays.`} do={() => call(remove as unknown as Change, path(row.username))} />
      ),
    },
  ];
  return (
    <main class="page">
      <div class="row">
        <h1>
          {title} {id()}
        </h1>
        <span class="spacer" />
        <Create what="member" inputs={[{ name: 'username', label: 'User name', required: true }]} create={(text) => call(add as unknown as Change, path(text('username').trim()))} />
      </div>
      <Table label="Members" query={found} columns={columns} usual="username:asc" empty="No user is a member." />
    </main>
  );
}
