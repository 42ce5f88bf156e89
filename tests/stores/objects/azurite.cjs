// A container for tests, by Azurite. Prints `port N` once it is there, and ends when its input does.
'use strict';

const crypto = require('node:crypto');

// The account that everybody knows, of Azurite and its documentation.
const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const CONTAINER = 'files';

async function create(port) {
  const path = `/${ACCOUNT}/${CONTAINER}`;
  const headers = { 'x-ms-date': new Date().toUTCString(), 'x-ms-version': '2023-11-03' };
  const signed = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`).join('');
  const text = `PUT\n\n\n\n\n\n\n\n\n\n\n\n${signed}/${ACCOUNT}${path}\nrestype:container`;
  const mac = crypto.createHmac('sha256', Buffer.from(KEY, 'base64')).update(text).digest('base64');
  const url = `http://127.0.0.1:${port}${path}?restype=container`;
  headers.authorization = `SharedKey ${ACCOUNT}:${mac}`;
  const answer = await fetch(url, { method: 'PUT', headers });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
}

// It tells its port nowhere else.
const say = console.log;
console.log = (...words) => {
  const found = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(words.join(' '));
  if (found) create(found[1]).then(() => say(`port ${found[1]}`));
};
process.stdin.on('end', () => process.exit()).resume();
process.argv.push('--blobHost', '127.0.0.1', '--blobPort', '0', '--inMemoryPersistence', '--silent');
process.argv.push('--disableTelemetry', '--skipApiVersionCheck');
require(require.resolve('azurite/dist/src/blob/main.js', { paths: [process.argv[2]] }));
