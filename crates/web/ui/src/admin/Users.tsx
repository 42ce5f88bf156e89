import type { JSX } from 'solid-js';
import { createUser, deleteUser, searchUsers } from '../api/generated/operations';
import { call } from '../api/http';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { Create, Delete } from './Create';

interface User {
  username: string;
  name: string | null;
  email: string | null;
}

const COLUMNS: Column<User>[] = [
  { head: 'User name', cell: (row) => row.username, sort: 'username' },
  { head: 'Name', cell: (row) => row.name || '–', sort: 'name' },
  { head: 'E-mail', cell: (row) => row.email || '–', sort: 'email' },
  {
    head: '',
    cell: (row) => (
      <Delete what={row.username} effect="The user can sign in no more, and loses all sessions and memberships." do={() => call(deleteUser, { path: { username: row.username } })} />
    ),
  },
];

/** The users that the server keeps. */
export default function Users(): JSX.Element {
  const { sort, page } = usePlace(['username', 'name', 'email'] as const, { field: 'username', order: 'ASC' });
  const found = useRead(searchUsers, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>Users</h1>
        <span class="spacer" />
        <Create
          what="user"
          inputs={[
            { name: 'username', label: 'User name', required: true },
            { name: 'name', label: 'Name' },
            { name: 'email', label: 'E-mail', type: 'email' },
            { name: 'password', label: 'Password', type: 'password', required: true },
          ]}
          create={(text) =>
            call(createUser, {
              body: { username: text('username').trim(), password: text('password'), ...(text('name') ? { name: text('name') } : {}), ...(text('email') ? { email: text('email') } : {}) },
            })
          }
        />
      </div>
      <Table label="Users" query={found} columns={COLUMNS} usual="username:asc" empty="There are no users, or none that you may see." />
    </main>
  );
}
