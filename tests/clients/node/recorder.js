// A proxy between browser and server that remembers what was asked, and may take away what protects the browser.
import { createServer, request } from 'node:http';

/** Where scripts report that they ran; answered here. */
export const RAN = '/ran';

/**
 * @param target address of the server
 * @param keep headers of files that are left as they are
 * @param namedTypes what uploaders said that files are, by path; files are then told as that
 */
export async function startRecorder(target, { keep = null, namedTypes = new Map() } = {}) {
  const seen = [];
  const protections = ['content-security-policy', 'content-disposition', 'x-content-type-options'];
  const server = createServer((asked, answer) => {
    const url = new URL(asked.url, 'http://recorder');
    const entry = { method: asked.method, path: url.pathname, query: url.searchParams, status: 0 };
    seen.push(entry);
    if (url.pathname === RAN) {
      answer.writeHead(204).end();
      return;
    }
    const forwarded = request(
      new URL(asked.url, target),
      { method: asked.method, headers: asked.headers, setHost: false },
      (answered) => {
        const headers = { ...answered.headers };
        if (keep) {
          for (const name of protections) if (!keep.includes(name)) delete headers[name];
          const named = namedTypes.get(url.pathname);
          if (named) headers['content-type'] = named;
        }
        entry.status = answered.statusCode;
        answer.writeHead(answered.statusCode, headers);
        answered.pipe(answer);
      },
    );
    forwarded.on('error', (error) => answer.destroy(error));
    asked.pipe(forwarded);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    seen,
    /** Which scripts ran, as `file by way`. */
    ran: () =>
      new Set(seen.filter((e) => e.path === RAN).map((e) => `${e.query.get('file')} by ${e.query.get('way')}`)),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
