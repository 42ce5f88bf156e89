/** `search`: a read that secondary storage answers. */
export type Kind = 'read' | 'search' | 'change';

/** An operation of the API: what it takes in its path, query and body, and what it answers. */
export interface Operation<Path, Query, Body, Result> {
  readonly method: string;
  readonly path: string;
  readonly kind: Kind;
  /** Types alone; never set. */
  readonly types?: (path: Path, query: Query, body: Body) => Result;
}

/** One that changes nothing. */
export interface Read<Path, Query, Body, Result> extends Operation<Path, Query, Body, Result> {
  readonly kind: Exclude<Kind, 'change'>;
  /** Topics that its answer depends on, as `crates/gateway/api/README.md` says. */
  readonly topics: string;
}

export function change<Path, Query, Body, Result>(method: string, path: string): Operation<Path, Query, Body, Result> {
  return { method, path, kind: 'change' };
}

export function read<Path, Query, Body, Result>(method: string, path: string, kind: Exclude<Kind, 'change'>, topics: string): Read<Path, Query, Body, Result> {
  return { method, path, kind, topics };
}
