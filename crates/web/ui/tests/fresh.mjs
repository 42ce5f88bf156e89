// The files of ../dist before a server, so that pages can be tried without building the program anew.
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { listening, passOn } from './proxy.mjs';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const PAGES = JSON.parse(readFileSync(new URL('../src/pages.json', import.meta.url), 'utf8'));
const MEDIA = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Whether a path is a page; a part that begins with a colon stands for any. */
function isPage(path) {
  const parts = path.replace(/(.)\/$/, '$1').split('/');
  return PAGES.some((page) => {
    const wanted = page.split('/');
    return wanted.length === parts.length && wanted.every((part, at) => part === parts[at] || (part.startsWith(':') && parts[at] !== ''));
  });
}

/** Stands before the server at `url`, whose pages are below `base`, and gives its own address. The server's headers of pages hold here, too. */
export async function standBefore(url, base = '') {
  const { title } = await (await fetch(`${url}/baton/v1/boot`)).json();
  const headers = Object.fromEntries([...(await fetch(`${url}/login`)).headers].filter(([name]) => !/^(content-(length|encoding|type)|date|etag|transfer|connection)/.test(name)));
  const escaped = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  const page = gzipSync(gunzipSync(readFileSync(`${DIST}index.html.gz`)).toString().replace('__TITLE__', () => escaped).replace('__BASE__', base).replaceAll('"./assets/', `"${base}/assets/`));
  const assets = new Map(readdirSync(`${DIST}assets`).map((name) => [`/assets/${name.replace(/\.gz$/, '')}`, readFileSync(`${DIST}assets/${name}`)]));
  const front = createServer((asked, answer) => {
    const whole = new URL(asked.url, url).pathname;
    const pathname = whole === base || whole.startsWith(`${base}/`) ? whole.slice(base.length) || '/' : whole;
    const send = (bytes, media, more) => answer.writeHead(200, { ...headers, 'content-type': media, 'content-encoding': 'gzip', 'content-length': bytes.length, ...more }).end(asked.method === 'HEAD' ? undefined : bytes);
    const asset = assets.get(pathname);
    if (asset) send(asset, MEDIA[pathname.split('.').at(-1)], { 'cache-control': IMMUTABLE });
    else if (asked.method !== 'POST' && isPage(pathname)) send(page, 'text/html; charset=utf-8', {});
    else passOn(asked, answer, url + asked.url);
  });
  return listening(front);
}
