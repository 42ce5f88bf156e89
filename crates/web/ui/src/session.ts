// The user: the answers of boot and of the API, and the login over the page when a session has ended.
import { createSignal } from 'solid-js';
import { at, BASE } from './base';
import { createAdminUser, getAuthentication, getBoot } from './api/generated/operations';
import type { CamundaUserResult } from './api/generated/types';
import { codeOf, leave, Problem, send } from './api/http';
import { count, t } from './language';

/** The answer of `/baton/v1/boot`. */
export interface Boot {
  title: string;
  version: string;
  authentication: 'none' | 'basic' | 'oidc';
  /** How a browser gets a session. A server that does not tell takes passwords or tokens. */
  signIn?: 'NONE' | 'PASSWORD' | 'REDIRECT' | 'TOKEN';
  /** Whether the first administrator can be created without credentials. */
  setUp?: boolean;
  /** Characters that a new password has at least. */
  passwordLengthMin?: number;
}

export const [boot, setBoot] = createSignal<Boot>();
export const [user, setUser] = createSignal<CamundaUserResult>();
/** Set while a login is shown over the page. */
export const [relogin, setRelogin] = createSignal<{ done: () => void }>();

/** Learns how people sign in here, and whether somebody has. */
export async function start(): Promise<void> {
  const answer = await send({ ...getBoot, once: true });
  setBoot((await answer.json()) as Boot);
  await whoAmI();
}

export async function whoAmI(): Promise<void> {
  if (boot()?.authentication === 'none') return;
  try {
    const answer = await send({ ...getAuthentication, once: true });
    setUser((await answer.json()) as CamundaUserResult);
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
    setUser(undefined);
  }
}

/** Whether a session has begun meanwhile, in another tab. If not, the page stays as it is: it belongs to who was here. */
export async function hasSessionAgain(): Promise<boolean> {
  try {
    const answer = await send({ ...getAuthentication, once: true });
    setUser((await answer.json()) as CamundaUserResult);
    return true;
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
    return false;
  }
}

export const isSignedIn = (): boolean => boot()?.authentication === 'none' || user() !== undefined;

/** Areas as authorizations of components name them; `*` is all. */
export function mayUse(area: 'operate' | 'tasklist' | 'admin'): boolean {
  const components = user()?.authorizedComponents;
  if (!components) return true;
  return components.some((one) => one === '*' || one === area || (area === 'admin' && one === 'identity'));
}

export interface Credentials {
  username?: string;
  password?: string;
  newPassword?: string;
  token?: string;
}

/** The rule for new passwords, where they are typed. */
export const passwordRule = (): string => count(boot()?.passwordLengthMin ?? 1, 'password.rule.one', 'password.rule.other');

/** Gives who is signed in another password, by the present one; all other sessions end. */
export const changePassword = (password: string, newPassword: string): Promise<void> => signIn({ username: user()!.username, password, newPassword });

/** Begins a session, with another password from then on if there is one. A refusal is a {@link Problem}. */
export async function signIn({ username, password, newPassword, token }: Credentials): Promise<void> {
  const form = new URLSearchParams();
  const headers = new Headers();
  if (token) headers.set('authorization', `Bearer ${token}`);
  else {
    form.set('username', username ?? '');
    form.set('password', password ?? '');
    if (newPassword !== undefined) form.set('newPassword', newPassword);
  }
  const body = token ? undefined : form;
  const answer = await fetch(at('/login'), { method: 'POST', headers, body: body ?? null, credentials: 'same-origin' });
  if (!answer.ok) {
    const text = await answer.text();
    const detail = text.startsWith('{') ? (JSON.parse(text) as { detail?: string }).detail : undefined;
    throw new Problem(answer.status, answer.status === 401 ? t('login.refused') : t('login.failed'), detail ?? '', '/login', codeOf(answer));
  }
  await whoAmI();
}

/** The place where the issuer asks who one is; it comes back to `next`. */
export const issuerPath = (next: string): string => `${BASE}/oauth2/login?next=${encodeURIComponent(next)}`;

export async function signOut(): Promise<void> {
  leave(true);
  const answer = await send({ method: 'POST', path: '/logout', kind: 'change', once: true }).catch((error: unknown) => {
    leave(false);
    throw error;
  });
  // The issuer may have a place to sign out, too.
  location.assign(answer.headers.get('baton-logout-location') ?? at('/login'));
}

/** Creates the first administrator of a server that has none, and signs in. */
export async function setUp(user: { username: string; password: string; name: string; email: string }): Promise<void> {
  const body = Object.fromEntries(Object.entries(user).filter(([, value]) => value !== ''));
  await send({ ...createAdminUser, body: JSON.stringify(body), once: true });
  await signIn(user);
}

/** Paths of ours alone: anything else could lead to another site. */
export function safeNext(next: string | null | undefined): string {
  if (!next?.startsWith('/') || next.startsWith('//') || /[\\\u0000-\u001f]/.test(next)) return '/';
  const target = new URL(next, location.origin);
  if (target.origin !== location.origin || target.pathname.startsWith('/login')) return '/';
  return target.pathname + target.search + target.hash;
}

