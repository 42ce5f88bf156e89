// Whether the user may do something. Controls without a right stay reachable, and say which one is missing. The checks of all
// controls of a page go in one request, and again with every action, after a refusal, and when the page is looked at again.
import { A } from '@solidjs/router';
import { useQuery } from '@tanstack/solid-query';
import { type Accessor, createEffect, createRoot, createUniqueId, type JSX, on, Show } from 'solid-js';
import { checkPermissions, searchOwnAuthorizations } from '../api/generated/operations';
import type { BatonPermission, BatonPermissionCheck } from '../api/generated/types';
import { call, onForbidden } from '../api/http';
import { t } from '../language';
import { client } from '../query';
import type { Need, Needs } from '../rights';
import { boot, user } from '../session';
import { say } from './toast';

const RIGHTS = 'rights';
/** How long an answer holds where nothing happens. */
const FRESH_MS = 60_000;
/** The most checks of a request. */
const CHECKS_MAX = 100;
/** The most own authorizations of tasks that are looked at; beyond them, the server's refusal tells. */
const OWN_MAX = 1000;

interface Asked {
  check: BatonPermissionCheck;
  resolve: (answer: BatonPermission) => void;
  reject: (error: unknown) => void;
}
let waiting: Asked[] = [];

async function send(asked: readonly Asked[]): Promise<void> {
  try {
    const { items } = await call(checkPermissions, { body: { checks: asked.map(({ check }) => check) } });
    asked.forEach(({ resolve }, at) => resolve(items[at]!));
  } catch (error) {
    for (const { reject } of asked) reject(error);
  }
}

/** Asks with all others that are asked for at the same moment. */
function ask(check: BatonPermissionCheck): Promise<BatonPermission> {
  return new Promise((resolve, reject) => {
    waiting.push({ check, resolve, reject });
    if (waiting.length > 1) return;
    setTimeout(() => {
      const all = waiting;
      waiting = [];
      for (let at = 0; at < all.length; at += CHECKS_MAX) void send(all.slice(at, at + CHECKS_MAX));
    });
  });
}

const who = (): string => user()?.username ?? '';
const known = <Answer,>(of: unknown, queryFn: () => Promise<Answer>): Promise<Answer> => client.fetchQuery({ queryKey: [RIGHTS, who(), of], queryFn, staleTime: FRESH_MS });

/** By which properties of tasks the user has a permission. */
async function ownProperties(permission: string): Promise<Set<string>> {
  const { items } = await known('tasks', () => call(searchOwnAuthorizations, { body: { filter: { resourceType: 'USER_TASK' }, page: { limit: OWN_MAX } } }));
  return new Set(items.filter((one) => one.permissionTypes.some((type) => type === permission)).flatMap((one) => one.resourcePropertyName ?? []));
}

async function has({ resourceType, permissionType, resourceId, orAny, properties = [] }: Need): Promise<boolean> {
  const of = (check: BatonPermissionCheck) => known(check, () => ask(check));
  // Most people may do something everywhere or nowhere: then nothing is asked for each resource.
  const all = await of({ resourceType, permissionType });
  if (all.allowed || !all.any) return all.allowed;
  if (orAny) return true;
  if (resourceId !== undefined && (await of({ resourceType, permissionType, resourceId })).allowed) return true;
  if (properties.length === 0) return false;
  const own = await ownProperties(permissionType);
  return properties.some((one) => own.has(one));
}

/** The first right that is missing. */
async function missingOf(needs: Needs): Promise<Need | null> {
  const found = await Promise.all(
    needs.map(async (anyOf) => {
      const answers = await Promise.all(anyOf.map(has));
      return answers.length === 0 || answers.includes(true) ? undefined : anyOf[0];
    }),
  );
  return found.find((one) => one !== undefined) ?? null;
}

/** Words for a right that is missing, with the names that the server and an authorization have for it. */
const wordsOf = ({ resourceType, permissionType, resourceId }: Need): string => t('may.missing', { permission: permissionType, resource: resourceId === undefined ? resourceType : `${resourceType} ${resourceId}` });

/** The right that is missing, in words, and a way to find out anew. */
export interface Missing {
  (): string | undefined;
  again: () => Promise<string | undefined>;
}

export const NOTHING_MISSING: Missing = Object.assign(() => undefined, { again: () => Promise.resolve(undefined) });
const forget = (): Promise<void> => client.invalidateQueries({ queryKey: [RIGHTS] });

const useFirstMissing = (needs: Accessor<Needs | undefined>) =>
  useQuery(() => {
    const of = needs() ?? [];
    return {
      queryKey: [RIGHTS, who(), of],
      queryFn: () => missingOf(of),
      enabled: of.length > 0 && boot()?.authentication !== 'none',
      staleTime: FRESH_MS,
      // Each of its questions is tried again by itself.
      retry: false,
      refetchOnWindowFocus: true,
    };
  });

/** Whether the user has the rights. Until it is known, no. */
export function useHas(needs: Needs): Accessor<boolean> {
  const found = useFirstMissing(() => needs);
  return () => boot()?.authentication === 'none' || found.data === null;
}

/** Says which right is missing, if one is. Until it is known, nothing is. */
export function useMay(needs: Accessor<Needs | undefined>): Missing {
  const found = useFirstMissing(needs);
  const missing = () => (found.data ? wordsOf(found.data) : undefined);
  return Object.assign(missing, { again: () => forget().then(missing) });
}

// A right may have been taken away, and others with it.
onForbidden(() => void forget());

// The user may be another one, or may do other things than before.
createRoot(() => createEffect(on(user, () => void forget(), { defer: true })));

/** Says to those who can't see the title why a control does nothing; the control names it by `aria-describedby`. */
export function Reason(props: { id: string; missing: string | undefined }): JSX.Element {
  return (
    <Show when={props.missing}>
      <span id={props.id} hidden>
        {props.missing}
      </span>
    </Show>
  );
}

/** Says why a control does nothing, and has it do nothing. */
function hold(missing: Missing, event: Event): void {
  const reason = missing();
  if (reason === undefined) return;
  event.preventDefault();
  void missing.again();
  say(reason, true);
}

/** A way to a page, or to a file, that is of use to those alone who have a right. */
export function MayLink(props: { href: string; needs: Needs; class?: string; label?: string; download?: string; children: JSX.Element }): JSX.Element {
  const missing = useMay(() => props.needs);
  const id = createUniqueId();
  return (
    <>
      <A
        class={props.class}
        href={props.href}
        title={missing()}
        aria-disabled={missing() ? 'true' : undefined}
        aria-describedby={missing() ? id : undefined}
        aria-label={props.label}
        download={props.download}
        rel={props.download === undefined ? undefined : 'external'}
        onClick={(event) => hold(missing, event)}
      >
        {props.children}
      </A>
      <Reason id={id} missing={missing()} />
    </>
  );
}

/** A field for files that are of use to those alone who have a right; whoever drops files on its surroundings asks `missing`, too. */
export function MayFiles(props: { missing: Missing; onFiles: (files: File[]) => Promise<unknown>; accept?: string; class?: string; disabled?: boolean }): JSX.Element {
  const id = createUniqueId();
  const take = async (input: HTMLInputElement) => {
    await props.onFiles([...(input.files ?? [])]);
    // The same files can be chosen again.
    input.value = '';
  };
  return (
    <>
      <input
        type="file"
        multiple
        class={props.class}
        accept={props.accept}
        disabled={props.disabled}
        title={props.missing()}
        aria-disabled={props.missing() ? 'true' : undefined}
        aria-describedby={props.missing() ? id : undefined}
        onClick={(event) => hold(props.missing, event)}
        onChange={(event) => void take(event.currentTarget)}
      />
      <Reason id={id} missing={props.missing()} />
    </>
  );
}
