// People of a server that asks for names and passwords, and for permissions: an administrator, one who does tasks, one who
// may open Admin and nothing else, and one who may nothing.
import { withPage } from './page.mjs';
import { until } from './server.mjs';

export const PEOPLE = { admin: 'admin-password', ann: 'ann-password', olga: 'olga-password', nobody: 'nobody-password' };
const INITIALIZATION = `
users:
  - { username: admin, password: admin-password, name: Admin, email: admin@example.com }
  - { username: ann, password: ann-password, name: Ann, email: ann@example.com }
  - { username: olga, password: olga-password, name: Olga, email: olga@example.com }
  - { username: nobody, password: nobody-password, name: Nobody, email: nobody@example.com }
roles:
  - { id: admin, users: [admin] }
authorizations:
  - { owner_type: USER, owner_id: olga, resource_type: COMPONENT, resource_id: admin, permissions: [ACCESS] }
  - { owner_type: USER, owner_id: ann, resource_type: COMPONENT, resource_id: tasklist, permissions: [ACCESS] }
  - { owner_type: USER, owner_id: ann, resource_type: PROCESS_DEFINITION, resource_id: "*", permissions: [READ_PROCESS_DEFINITION, READ_USER_TASK, UPDATE_USER_TASK, CREATE_PROCESS_INSTANCE, READ_PROCESS_INSTANCE] }
`;
export const SETTINGS = ['security.authentication.method=basic', 'security.authorizations=true', 'security.initialization=@FOLDER@/identities.yaml'];
export const FILES = { 'identities.yaml': INITIALIZATION };
export const as = (user) => ({ authorization: `Basic ${Buffer.from(`${user}:${PEOPLE[user]}`).toString('base64')}` });
export const rowsOf = (page, label) => page.getByRole('table', { name: label, exact: true }).locator('tbody tr');
export const count = (locator, expected) => until(async () => (await locator.count()) === expected, async () => `${await locator.count()} instead of ${expected}`);

/** Ways in for the people of a server. */
export function crewOf(server) {
  const signIn = async (page, user, path = '/login') => {
    await page.goto(server().url + path);
    await page.getByLabel('User name').fill(user);
    await page.getByLabel('Password').fill(PEOPLE[user]);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  /** A page of somebody who is signed in. Before that, the API says 401 once. */
  const withUser = (user, path, work, options = {}) =>
    withPage(
      server(),
      async (page, context) => {
        await signIn(page, user, `/login?next=${encodeURIComponent(path)}`);
        await page.waitForURL((url) => url.pathname !== '/login');
        await work(page, context);
      },
      { ...options, statuses: [401, ...(options.statuses ?? [])] },
    );
  return { signIn, withUser };
}
