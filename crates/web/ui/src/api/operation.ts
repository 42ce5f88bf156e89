/** An operation of the API: what it takes in its path, query and body, and what it answers. */
export interface Operation<Path, Query, Body, Result> {
  readonly method: string;
  readonly path: string;
  /** Types alone; never set. */
  readonly types?: (path: Path, query: Query, body: Body) => Result;
}

export function operation<Path, Query, Body, Result>(method: string, path: string): Operation<Path, Query, Body, Result> {
  return { method, path };
}
