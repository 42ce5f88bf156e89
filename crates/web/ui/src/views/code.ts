// A request, or several in a row, as lines for a shell and as programs without libraries. Credentials are for whoever runs
// them to add. A body stays the text that it is, so that numbers keep every digit; files are read where the program runs.
import type { Asked } from '../api/http';

/** A word for a shell, whatever is in it. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
/** A text in quotes as JavaScript, Python and Java read it: escapes of JSON mean the same there. */
const quoted = (text: string): string => JSON.stringify(text);
const bodyOf = ({ body }: Asked): string | undefined => (typeof body === 'string' ? body : undefined);

export const curlOf = (origin: string, all: readonly Asked[]): string =>
  all
    .map((asked) => {
      const words = ['curl', ...(asked.method === 'GET' ? [] : ['-X', asked.method]), shellWord(origin + asked.path)];
      const body = bodyOf(asked);
      if (body !== undefined) words.push('-H', shellWord('content-type: application/json'), '-d', shellWord(body));
      // A name in quotes may have commas and semicolons.
      for (const [field, name] of asked.files ?? []) words.push('-F', shellWord(`${field}=@${quoted(name)}`));
      return words.join(' ');
    })
    .join(' &&\n');

const NODE_FILES = [
  'const sendFiles = async (url, files) => {',
  "  const { openAsBlob } = await import('node:fs');",
  '  const body = new FormData();',
  '  for (const [field, name] of files) body.append(field, await openAsBlob(name), name);',
  "  await send(url, { method: 'POST', body });",
  '};',
];

export function nodeOf(origin: string, all: readonly Asked[]): string {
  const calls = all.map((asked) => {
    if (asked.files) return `await sendFiles(${quoted(origin + asked.path)}, ${JSON.stringify(asked.files)});`;
    const body = bodyOf(asked);
    const members = [`method: ${quoted(asked.method)}`, ...(body === undefined ? [] : [`headers: { 'content-type': 'application/json' }`, `body: ${quoted(body)}`])];
    return `await send(${quoted(origin + asked.path)}, { ${members.join(', ')} });`;
  });
  return [
    'const send = async (url, request) => {',
    '  const answer = await fetch(url, request);',
    '  console.log(await answer.text());',
    '  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);',
    '};',
    ...(all.some(({ files }) => files) ? NODE_FILES : []),
    ...calls,
  ].join('\n');
}

const PYTHON_FILES = [
  'def send_files(url, files):',
  '    boundary = "file-boundary-7f3a91c2"',
  '    body = b""',
  '    for field, name in files:',
  '        quoted = name.replace(\'"\', "%22")',
  '        body += f\'--{boundary}\\r\\nContent-Disposition: form-data; name="{field}"; filename="{quoted}"\\r\\n\\r\\n\'.encode()',
  '        body += open(name, "rb").read() + b"\\r\\n"',
  '    body += f"--{boundary}--\\r\\n".encode()',
  '    headers = {"content-type": f"multipart/form-data; boundary={boundary}"}',
  '    with urlopen(Request(url, body, headers, method="POST")) as answer:',
  '        print(answer.read().decode())',
  '',
];

export function pythonOf(origin: string, all: readonly Asked[]): string {
  const calls = all.map((asked) => {
    if (asked.files) return `send_files(${quoted(origin + asked.path)}, ${JSON.stringify(asked.files)})`;
    const body = bodyOf(asked);
    return `send(${quoted(asked.method)}, ${quoted(origin + asked.path)}${body === undefined ? '' : `, ${quoted(body)}`})`;
  });
  return [
    'from urllib.request import Request, urlopen',
    '',
    'def send(method, url, body=None):',
    '    headers = {} if body is None else {"content-type": "application/json"}',
    '    data = None if body is None else body.encode()',
    '    with urlopen(Request(url, data, headers, method=method)) as answer:',
    '        print(answer.read().decode())',
    '',
    ...(all.some(({ files }) => files) ? PYTHON_FILES : []),
    ...calls,
  ].join('\n');
}

const JAVA_FILES = [
  '    static void sendFiles(String url, String... files) throws Exception {',
  '        var boundary = "file-boundary-7f3a91c2";',
  '        var body = new java.io.ByteArrayOutputStream();',
  '        for (int i = 0; i < files.length; i += 2) {',
  '            var name = files[i + 1].replace("\\"", "%22");',
  '            body.write(("--" + boundary + "\\r\\nContent-Disposition: form-data; name=\\"" + files[i] + "\\"; filename=\\"" + name + "\\"\\r\\n\\r\\n").getBytes("UTF-8"));',
  '            body.write(java.nio.file.Files.readAllBytes(java.nio.file.Path.of(files[i + 1])));',
  '            body.write("\\r\\n".getBytes("UTF-8"));',
  '        }',
  '        body.write(("--" + boundary + "--\\r\\n").getBytes("UTF-8"));',
  '        var request = HttpRequest.newBuilder(URI.create(url)).header("content-type", "multipart/form-data; boundary=" + boundary);',
  '        var answer = CLIENT.send(request.POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray())).build(), HttpResponse.BodyHandlers.ofString());',
  '        System.out.println(answer.body());',
  '        if (answer.statusCode() >= 400) throw new IllegalStateException("HTTP " + answer.statusCode());',
  '    }',
  '',
];

export function javaOf(origin: string, all: readonly Asked[]): string {
  const calls = all.map(({ files, ...asked }) => {
    const url = quoted(origin + asked.path);
    if (files) return `        sendFiles(${[url, ...files.flat().map(quoted)].join(', ')});`;
    return `        send(${quoted(asked.method)}, ${url}, ${quoted(bodyOf(asked) ?? '')});`;
  });
  return [
    'import java.net.URI;',
    'import java.net.http.*;',
    '',
    'public class Main {',
    '    static final HttpClient CLIENT = HttpClient.newHttpClient();',
    '',
    '    static void send(String method, String url, String body) throws Exception {',
    '        var request = HttpRequest.newBuilder(URI.create(url)).method(method, HttpRequest.BodyPublishers.ofString(body));',
    '        if (!body.isEmpty()) request.header("content-type", "application/json");',
    '        var answer = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());',
    '        System.out.println(answer.body());',
    '        if (answer.statusCode() >= 400) throw new IllegalStateException("HTTP " + answer.statusCode());',
    '    }',
    '',
    ...(all.some(({ files }) => files) ? JAVA_FILES : []),
    '    public static void main(String[] arguments) throws Exception {',
    ...calls,
    '    }',
    '}',
  ].join('\n');
}

/** Kinds of `baton search`, by the lists of the API that they search. */
const KINDS: Record<string, string> = {
  'process-instances': 'instances',
  'element-instances': 'elements',
  incidents: 'incidents',
  jobs: 'jobs',
  'user-tasks': 'tasks',
  variables: 'variables',
  'process-definitions': 'processes',
  'decision-definitions': 'decisions',
  'message-subscriptions': 'subscriptions',
  'batch-operations': 'batches',
};

interface Search {
  filter?: unknown;
  sort?: { field: string; order: string }[];
  page?: { limit?: number; after?: string };
}

/** A search as a line for the command line, if it has such a search. */
function batonSearch(origin: string, asked: Asked): string | undefined {
  const kind = KINDS[/^\/v2\/([\w-]+)\/search$/.exec(asked.path)?.[1] ?? ''];
  if (!kind) return undefined;
  const { filter, sort, page } = JSON.parse(bodyOf(asked) ?? '{}') as Search;
  const words = ['baton', 'search', kind, '--rest-address', shellWord(origin), '--filter', shellWord(JSON.stringify(filter ?? {}))];
  const first = sort?.[0];
  if (first) words.push('--sort', shellWord(first.order === 'DESC' ? `${first.field}:desc` : first.field));
  if (page?.limit !== undefined) words.push('--limit', String(page.limit));
  if (page?.after !== undefined) words.push('--after', shellWord(page.after));
  return words.join(' ');
}

/** Commands of the command line by method and path, with what they take of the body. */
const COMMANDS: [method: string, path: RegExp, words: (key: string, body: Record<string, unknown>) => string[] | undefined][] = [
  ['POST', /^\/v2\/process-instances\/(\d+)\/cancellation$/, (key) => ['cancel', key]],
  ['POST', /^\/v2\/process-instances\/(\d+)\/deletion$/, (key) => ['delete', 'instances', key]],
  ['POST', /^\/v2\/incidents\/(\d+)\/resolution$/, (key) => ['resolve', key]],
  ['POST', /^\/v2\/user-tasks\/(\d+)\/assignment$/, (key, body) => (typeof body['assignee'] === 'string' ? ['tasks', 'assign', key, body['assignee']] : undefined)],
  ['DELETE', /^\/v2\/user-tasks\/(\d+)\/assignee$/, (key) => ['tasks', 'assign', key, '--nobody']],
  ['POST', /^\/v2\/user-tasks\/(\d+)\/completion$/, (key, body) => ['tasks', 'complete', key, ...variables(body)]],
  ['POST', /^\/v2\/jobs\/(\d+)\/completion$/, (key, body) => ['jobs', 'complete', key, ...variables(body)]],
  ['POST', /^\/v2\/batch-operations\/(\d+)\/(?:cancellation)$/, (key) => ['batch', 'cancel', key]],
  ['POST', /^\/v2\/batch-operations\/(\d+)\/(?:suspension)$/, (key) => ['batch', 'suspend', key]],
  ['POST', /^\/v2\/batch-operations\/(\d+)\/(?:resumption)$/, (key) => ['batch', 'resume', key]],
];

const variables = (body: Record<string, unknown>): string[] => (body['variables'] === undefined || body['variables'] === null ? [] : ['--variables', JSON.stringify(body['variables'])]);

/** A number that JavaScript would not keep; such a body has no line. */
const LONG_NUMBER = /[^"\w.]\d{16,}(?=[\s,}\]])/;

function batonCommand(origin: string, asked: Asked): string | undefined {
  if (asked.files) {
    return asked.path === '/v2/deployments' ? ['baton', 'deploy', '--rest-address', shellWord(origin), '--', ...asked.files.map(([, name]) => shellWord(name))].join(' ') : undefined;
  }
  const body = bodyOf(asked) ?? '{}';
  if (LONG_NUMBER.test(body)) return undefined;
  for (const [method, path, words] of COMMANDS) {
    const key = method === asked.method ? path.exec(asked.path)?.[1] : undefined;
    const found = key === undefined ? undefined : words(key, JSON.parse(body) as Record<string, unknown>);
    if (found) return ['baton', ...found.map(shellWord), '--rest-address', shellWord(origin)].join(' ');
  }
  return undefined;
}

/** Requests as lines for the command line, if it knows all of them. */
export function batonOf(origin: string, all: readonly Asked[]): string | undefined {
  const lines = all.map((asked) => batonSearch(origin, asked) ?? batonCommand(origin, asked));
  return lines.some((line) => line === undefined) ? undefined : lines.join(' &&\n');
}
