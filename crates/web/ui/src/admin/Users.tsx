import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { createUser, deleteUser, searchUsers, updateUser } from '../api/generated/operations';
import type { UserRequest } from '../api/generated/types';
import { call } from '../api/http';
import { t } from '../language';
import { useRead } from '../query';
import { need } from '../rights';
import { boot, passwordRule, user } from '../session';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit } from './Create';

interface User {
  username: string;
  name: string | null;
  email: string | null;
}

/** The fields that are not empty. */
const told = (text: Answers, ...names: string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, text(name)]).filter(([, value]) => value));

const columns = (): Column<User>[] => [
  { head: t('admin.users.name'), cell: (row) => <A href={`/admin/users/${encodeURIComponent(row.username)}`}>{row.username}</A>, sort: 'username' },
  { head: t('admin.name'), cell: (row) => row.name || '–', sort: 'name' },
  { head: t('admin.users.email'), cell: (row) => row.email || '–', sort: 'email' },
  {
    head: t('admin.actions'),
    cell: (row) => (
      <>
        <Edit
          needs={need('USER', 'UPDATE', row.username)}
          what={row.username}
          inputs={() => [
            { name: 'name', label: t('admin.name'), value: row.name ?? '' },
            { name: 'email', label: t('admin.users.email'), type: 'email', value: row.email ?? '' },
            { name: 'password', label: t('admin.users.newPassword'), type: 'password', hint: `${t('admin.users.newPassword.hint')} ${passwordRule()}`, min: boot()?.passwordLengthMin ?? 1 },
          ]}
          save={(text) => call(updateUser, { path: { username: row.username }, body: { name: text('name'), ...told(text, 'email', 'password') } })}
        />
        <Delete needs={need('USER', 'DELETE', row.username)} what={row.username} effect={t(row.username === user()?.username ? 'admin.effect.oneself' : 'admin.effect.user')} do={() => call(deleteUser, { path: { username: row.username } })} />
      </>
    ),
  },
];

/** The users; behind each name are its groups and roles. */
export default function Users(): JSX.Element {
  const { sort, page } = usePlace(['username', 'name', 'email'] as const, { field: 'username', order: 'ASC' });
  const found = useRead(searchUsers, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>{t('page.Users')}</h1>
        <span class="spacer" />
        <Create
          needs={need('USER', 'CREATE')}
          label={t('admin.new.user')}
          inputs={[
            { name: 'username', label: t('admin.users.name'), required: true },
            { name: 'name', label: t('admin.name') },
            { name: 'email', label: t('admin.users.email'), type: 'email' },
            { name: 'password', label: t('admin.users.password'), type: 'password', required: true, hint: passwordRule(), min: boot()?.passwordLengthMin ?? 1 },
          ]}
          create={(text) => call(createUser, { body: { username: text('username').trim(), ...told(text, 'name', 'email', 'password') } as UserRequest })}
        />
      </div>
      <Table label={t('page.Users')} query={found} columns={columns()} usual="username:asc" empty={t('admin.none.users')} />
    </main>
  );
}
