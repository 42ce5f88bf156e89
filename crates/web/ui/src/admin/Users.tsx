import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { createUser, deleteUser, searchUsers, updateUser } from '../api/generated/operations';
import type { UserRequest } from '../api/generated/types';
import { call } from '../api/http';
import { useRead } from '../query';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit } from './Create';

interface User {
  username: string;
  name: string | null;
  email: string | null;
}

/** The fields that are not empty. */
const told = (text: Answers, ...names: string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, text(name)]).filter(([, value]) => value));

const COLUMNS: Column<User>[] = [
  { head: 'User name', cell: (row) => <A href={`/admin/access?kind=USER&id=${encodeURIComponent(row.username)}`}>{row.username}</A>, sort: 'username' },
  { head: 'Name', cell: (row) => row.name || '–', sort: 'name' },
  { head: 'E-mail', cell: (row) => row.email || '–', sort: 'email' },
  {
    head: 'Actions',
    cell: (row) => (
      <>
        <Edit
          what={row.username}
          inputs={() => [
            { name: 'name', label: 'Name', value: row.name ?? '' },
            { name: 'email', label: 'E-mail', type: 'email', value: row.email ?? '' },
            { name: 'password', label: 'New password', type: 'password', hint: 'Left empty, the password stays.' },
          ]}
          save={(text) => call(updateUser, { path: { username: row.username }, body: { name: text('name'), ...told(text, 'email', 'password') } })}
        />
        <Delete what={row.username} effect="The user can sign in no more, and loses all sessions and memberships." do={() => call(deleteUser, { path: { username: row.username } })} />
      </>
    ),
  },
];

/** The users; behind each name is what the user may do. */
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
          create={(text) => call(createUser, { body: { username: text('username').trim(), ...told(text, 'name', 'email', 'password') } as UserRequest })}
        />
      </div>
      <Table label="Users" query={found} columns={COLUMNS} usual="username:asc" empty="There are no users, or none that you may see." />
    </main>
  );
}
