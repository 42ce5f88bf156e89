/** The filter of a list without the place in it: a view begins with the first page. */
export function queryOf(search: string): string {
  const query = new URLSearchParams(search);
  for (const place of ['after', 'before']) query.delete(place);
  return query.toString();
}
