// Requests to the API: positions that make a read follow what was written, the token against forged requests, problems
// as the server tells them, and what happens when the session has ended.
import { at, own } from '../base';
import { loadParts, t } from '../language';
import { followed, hindrance, note } from '../live/state';
import type { ProblemCode } from './generated/problems';
import type { Kind, Operation, Read } from './operation';
import { keepSent } from './sent';

/** How long reads wait for what this browser has changed. */
const AWAIT_MS = 10_000;
const FORBIDDEN = 403;
const PROBLEM_CODE = 'baton-problem';
const CSRF_COOKIE = 'X-CSRF-TOKEN';
const CHANNEL = 'baton-positions';

/** An answer that is none, as the server explains it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly instance: string,
    /** For comparisons: texts are for people. Nothing if somebody before the server answered. */
    readonly code?: ProblemCode,
  ) {
    super(detail || title);
    this.name = 'Problem';
  }

  /** Worth asking again: something is busy, behind or away. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503 || this.status === 504;
  }
}

/** The highest position of each partition that an answer has told, and until when reads name it. */
const positions = new Map<string, { position: number; until: number }>();
/** A page that opens within that time has them from here. */
const STORED = own('baton.positions');
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(own(CHANNEL)) : undefined;

function reach(told: string): void {
  for (const one of told.split(',')) {
    const [partition, position] = one.split(':');
    if (!partition || !position) continue;
    const known = positions.get(partition);
    const highest = Math.max(known?.position ?? 0, Number(position));
    positions.set(partition, { position: highest, until: Date.now() + AWAIT_MS });
  }
}

channel?.addEventListener('message', (event: MessageEvent<string>) => reach(event.data));
const [storedUntil, stored = ''] = (globalThis.localStorage?.getItem(STORED) ?? '').split(' ');
if (Number(storedUntil) > Date.now()) reach(stored);

function awaited(): string {
  const now = Date.now();
  return [...positions]
    .filter(([, { until }]) => until > now)
    .map(([partition, { position }]) => `${partition}:${position}`)
    .join(',');
}

function cookie(name: string): string | undefined {
  const start = `${name}=`;
  return document.cookie
    .split('; ')
    .find((one) => one.startsWith(start))
    ?.slice(start.length);
}

/** Shows the login over the page and resolves once somebody has signed in. Set by the frame. */
let signInAgain: (() => Promise<void>) | undefined;
export const onSessionEnd = (ask: () => Promise<void>): void => {
  signInAgain = ask;
};

/** Tells that a command was refused for want of a right. */
let tellForbidden: (() => void) | undefined;
export const onForbidden = (tell: () => void): void => {
  tellForbidden = tell;
};

/** Set while somebody signs out: what ends with the session then is no surprise. */
let isLeaving = false;
export const leave = (is: boolean): void => void (isLeaving = is);

/** The question of a request, without the session. */
export interface Asked {
  method: string;
  path: string;
  body?: string | FormData;
  /** Names of files that a form has, with their fields, where the form itself is not kept. */
  files?: readonly FileField[];
}
export type FileField = readonly [field: string, name: string];

export interface Request extends Asked {
  kind: Kind;
  accept?: string;
  signal?: AbortSignal;
  /** Whether a session that has ended is told, not repaired. */
  once?: boolean;
}

/** Sends a request and gives the answer if it is a success. */
export async function send(request: Request): Promise<Response> {
  const isSearch = request.kind === 'search';
  const isRead = request.kind !== 'change';
  const headers = new Headers({ accept: request.accept ?? 'application/json' });
  if (typeof request.body === 'string') headers.set('content-type', 'application/json');
  const token = cookie(CSRF_COOKIE);
  if (token && request.method !== 'GET') headers.set('x-csrf-token', token);
  const wait = awaited();
  // Sessions and how they begin do not depend on the store.
  if (isRead && wait && !request.once) headers.set('baton-await-position', wait);
  // While something hinders, reads find out whether it is over.
  const hint = isRead && hindrance() === undefined ? followed() : undefined;
  if (hint !== undefined) headers.set('baton-after-change', hint);
  // A read behind a hint is not told how far the store is behind.
  const question = { askedAt: performance.now(), isSearch: isSearch && hint === undefined, isCommand: !isRead };
  let answer: Response;
  try {
    answer = await fetch(at(request.path), { ...request, headers, redirect: 'error', credentials: 'same-origin' });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    note({ ...question, status: 0, code: undefined, lag: null });
    throw new Problem(0, t('ui.noConnection'), t('ui.noConnection.text'), request.path);
  }
  const told = answer.headers.get('baton-position');
  if (told && !isRead) {
    reach(told);
    channel?.postMessage(told);
    globalThis.localStorage?.setItem(STORED, `${Date.now() + AWAIT_MS} ${awaited()}`);
  }
  const tell = () => note({ ...question, status: answer.status, code: codeOf(answer), lag: answer.headers.get('baton-lag') });
  if (answer.ok) {
    tell();
    if (!isRead) keepSent(request);
    return answer;
  }
  // The page goes with the session.
  if (answer.status === 401 && isLeaving && !request.once) return new Promise(() => undefined);
  if (answer.status === 401 && !request.once && signInAgain) {
    await signInAgain();
    return send(request);
  }
  const refused = await problem(answer, request.path);
  tell();
  // The browser has lost the token of a session that goes on: another login brings a new one.
  if (refused.code === 'CSRF_TOKEN' && !token && !request.once && signInAgain) {
    await signInAgain();
    return send(request);
  }
  if (refused.status === FORBIDDEN && !isRead) tellForbidden?.();
  throw refused;
}

/** The code of a problem. One that is newer than this page is none that it knows of. */
export const codeOf = (answer: Response): ProblemCode | undefined => (answer.headers.get(PROBLEM_CODE) as ProblemCode | null) ?? undefined;

async function problem(answer: Response, path: string): Promise<Problem> {
  // Without its words, a problem is told by its title.
  const [text] = await Promise.all([answer.text(), loadParts('problems').catch(() => undefined)]);
  try {
    const { title, detail, instance } = JSON.parse(text) as Record<string, string | undefined>;
    return new Problem(answer.status, title ?? answer.statusText, detail ?? '', instance ?? path, codeOf(answer));
  } catch {
    return new Problem(answer.status, answer.statusText || `HTTP ${answer.status}`, text.slice(0, 500), path, codeOf(answer));
  }
}

type Parameters = Record<string, string | number | boolean | undefined>;
type Input<Path, Query, Body> = {
  path?: Path;
  query?: Query;
  body?: Body;
  /** The body as JSON text, where values must keep every digit. */
  text?: string;
  signal?: AbortSignal;
};

/** A request of an operation that has not been sent yet. */
export interface Planned<Result> {
  asked: Asked;
  /** An answer without a body is `undefined`. */
  send: (signal?: AbortSignal) => Promise<Result>;
}

/** Fills in an operation of the API. */
export function plan<Path, Query, Body, Result>({ method, path, kind }: Operation<Path, Query, Body, Result>, input: Input<Path, Query, Body> = {}): Planned<Result> {
  const values = (input.path ?? {}) as Parameters;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((input.query ?? {}) as Parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const search = query.size > 0 ? `?${query}` : '';
  const body = input.body instanceof FormData ? input.body : (input.text ?? (input.body === undefined ? undefined : JSON.stringify(input.body)));
  const asked: Asked = { method, path: filled + search, ...(body === undefined ? {} : { body }) };
  return {
    asked,
    send: async (signal) => {
      const answer = await send({ ...asked, kind, signal });
      try {
        const text = answer.status === 204 ? '' : await answer.text();
        return (text === '' ? undefined : JSON.parse(text)) as Result;
      } catch (error) {
        if (signal?.aborted) throw error;
        throw new Problem(0, t('ui.noConnection'), t('ui.noConnection.cut'), asked.path);
      }
    },
  };
}

/** Calls an operation of the API. An answer without a body is `undefined`. */
export const call = <Path, Query, Body, Result>(operation: Operation<Path, Query, Body, Result>, input: Input<Path, Query, Body> = {}): Promise<Result> =>
  plan(operation, input).send(input.signal);

/** The text of a file that the API answers. */
export async function fetchText<Path>(operation: Read<Path, {}, void, unknown>, path: Path, signal?: AbortSignal): Promise<string> {
  const { asked } = plan(operation, { path });
  return (await send({ ...asked, kind: operation.kind, accept: 'text/xml, application/json', signal })).text();
}
