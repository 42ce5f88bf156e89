// The last commands that this page has sent, for whoever wants to send the same from elsewhere.
import type { Asked, FileField } from './http';

const KEPT = 20;

export interface Sent {
  asked: Asked;
  at: Date;
}
let sent: readonly Sent[] = [];

/** The latest first. */
export const lastSent = (): readonly Sent[] => sent;

/** Passwords stay where they are. */
const withoutSecrets = (body: string): string => body.replace(/("(?:password|client_?secret)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, '$1"…"');

const filesOf = (form: FormData): FileField[] => [...form].flatMap(([field, value]) => (value instanceof File ? [[field, value.name] as const] : []));

/** A command without secrets; of files, their names. */
export function keepable({ method, path, body }: Asked): Asked {
  if (body === undefined) return { method, path };
  return body instanceof FormData ? { method, path, files: filesOf(body) } : { method, path, body: withoutSecrets(body) };
}

/** Keeps a command, unless it belongs to the page alone. */
export function keepSent(asked: Asked): void {
  if (asked.path.startsWith('/v2/')) sent = [{ asked: keepable(asked), at: new Date() }, ...sent].slice(0, KEPT);
}
