/** The filter of a list without the place in it: a view begins with the first page. */
export function queryOf(search: string): string {
  const query = new URLSearchParams(search);
  for (const place of ['after', 'before']) query.delete(place);
  return query.toString();
}

/** A word for a shell, whatever is in it. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export interface Asked {
  method: string;
  path: string;
  body?: unknown;
}

/** A request as a line for curl. Credentials are for whoever runs it to add. */
export function curlOf(origin: string, { method, path, body }: Asked): string {
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), shellWord(origin + path)];
  if (body !== undefined) words.push('-H', shellWord('content-type: application/json'), '-d', shellWord(JSON.stringify(body)));
  return words.join(' ');
}

export interface BatonSearch {
  kind: string;
  filter: unknown;
  sort: { field: string; order: string }[];
  limit: number;
}

/** A search as a line for the command line. */
export function batonOf(origin: string, { kind, filter, sort, limit }: BatonSearch): string {
  const words = ['baton', 'search', kind, '--rest-address', shellWord(origin), '--filter', shellWord(JSON.stringify(filter))];
  const first = sort[0];
  if (first) words.push('--sort', shellWord(first.order === 'DESC' ? `${first.field}:desc` : first.field));
  return [...words, '--limit', String(limit)].join(' ');
}
