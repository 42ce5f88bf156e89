// The last commands that this page has sent, for whoever wants to send the same from elsewhere.
import type { Asked } from './http';

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

/** Keeps a command. Files, and what belongs to the page alone, are left out. */
export function keepSent({ method, path, body }: Asked): void {
  if (body instanceof FormData || !path.startsWith('/v2/')) return;
  sent = [{ asked: { method, path, ...(body === undefined ? {} : { body: withoutSecrets(body) }) }, at: new Date() }, ...sent].slice(0, KEPT);
}
