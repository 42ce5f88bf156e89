// The path before all paths of ours, where a proxy shares an address. The server writes it into the page.

const told = globalThis.document?.querySelector?.<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '';

/** Without a slash at its end; empty at the root. */
export const BASE: string = told.startsWith('/') ? told.replace(/\/+$/, '') : '';

/** The address of a path of ours, for links and requests that the router does not make. */
export const at = (path: string): string => BASE + path;

/** The path of ours that a path of the browser is. */
export const within = (pathname: string): string => (BASE !== '' && `${pathname}/`.startsWith(`${BASE}/`) ? pathname.slice(BASE.length) || '/' : pathname);

/** A name in what all pages of an origin share: each server has its own. */
export const own = (name: string): string => name + BASE;
