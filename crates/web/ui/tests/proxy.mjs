// A proxy that shares its address between programs: one of them is below a path, and nothing else is there.
import { createServer, request } from 'node:http';

/** Passes a request on to an address, and its answer back. */
export function passOn(asked, answer, address) {
  const passed = request(address, { method: asked.method, headers: asked.headers }, (told) => {
    answer.writeHead(told.statusCode, told.headers);
    told.pipe(answer);
  });
  passed.on('error', () => answer.destroy());
  answer.on('close', () => passed.destroy());
  asked.pipe(passed);
}

/** Has a server listen on a port of its own. */
export async function listening(server) {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => (server.closeAllConnections(), server.close()) };
}

/** Stands before the server at `url`; with `strips` it takes the path off. `strays` are requests that went elsewhere. */
export async function shareAddress(url, path, strips) {
  const strays = [];
  const proxy = createServer((asked, answer) => {
    const isOurs = asked.url === path || asked.url.startsWith(`${path}/`) || asked.url.startsWith(`${path}?`);
    if (!isOurs) {
      // Browsers ask for this by themselves.
      if (asked.url !== '/favicon.ico') strays.push(asked.url);
      answer.writeHead(404, { 'content-type': 'text/plain' }).end('another program');
      return;
    }
    const rest = strips ? asked.url.slice(path.length) : asked.url;
    passOn(asked, answer, url + (rest.startsWith('/') ? rest : `/${rest}`));
  });
  return { ...(await listening(proxy)), strays };
}
