// A proxy that shares its address between programs: one of them is below a path, and nothing else is there.
import { createServer, request } from 'node:http';

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
    const passed = request(url + (rest.startsWith('/') ? rest : `/${rest}`), { method: asked.method, headers: asked.headers }, (told) => {
      answer.writeHead(told.statusCode, told.headers);
      told.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${proxy.address().port}`, strays, close: () => (proxy.closeAllConnections(), proxy.close()) };
}
