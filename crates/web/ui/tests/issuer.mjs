// An issuer of the suite's own (OpenID Connect): whoever the test names signs in there, with tokens of a life that it chooses.
import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const CLIENT = 'baton';
const LIFE_S = 600;
const encode = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Settings of a server that signs people in there. */
export const settingsOf = (issuer) => [
  'security.authentication.method=oidc',
  `security.authentication.oidc.issuer=${issuer.url}`,
  `security.authentication.oidc.client_id=${CLIENT}`,
  `security.authentication.oidc.audiences=${CLIENT}`,
  'security.authentication.oidc.clock_skew=0s',
];

export async function startIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const codes = new Map();
  const issuer = {
    url: '',
    /** The user that signs in next. */
    person: '',
    lifeS: LIFE_S,
    /** Whether tokens are renewed. */
    renews: true,
    /** How often each of these was asked for. */
    asked: { authorize: 0, code: 0, refresh: 0, logout: 0 },
    token(sub, nonce) {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer.url, aud: CLIENT, sub, iat: now, exp: now + issuer.lifeS, ...(nonce ? { nonce } : {}) };
      const text = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'one' })}.${encode(claims)}`;
      return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
    },
    close: () => (listener.closeAllConnections(), listener.close()),
  };
  const discovery = () => ({
    issuer: issuer.url,
    jwks_uri: `${issuer.url}/keys`,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    end_session_endpoint: `${issuer.url}/logout`,
  });
  const json = (answer, status, body) => answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const tokens = (fields) => {
    const isRefresh = fields.get('grant_type') === 'refresh_token';
    issuer.asked[isRefresh ? 'refresh' : 'code'] += 1;
    if (isRefresh) return issuer.renews ? { sub: fields.get('refresh_token').split(' ')[0] } : undefined;
    const given = codes.get(fields.get('code'));
    codes.delete(fields.get('code'));
    const challenge = createHash('sha256').update(fields.get('code_verifier') ?? '').digest('base64url');
    return given?.challenge === challenge && given.redirect === fields.get('redirect_uri') ? given : undefined;
  };
  const listener = createServer(async (request, answer) => {
    const { pathname, searchParams: query } = new URL(request.url, issuer.url);
    if (pathname === '/.well-known/openid-configuration') json(answer, 200, discovery());
    else if (pathname === '/keys') json(answer, 200, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] });
    else if (pathname === '/authorize') {
      issuer.asked.authorize += 1;
      const code = randomUUID();
      const redirect = query.get('redirect_uri');
      codes.set(code, { sub: issuer.person, nonce: query.get('nonce'), challenge: query.get('code_challenge'), redirect });
      answer.writeHead(302, { location: `${redirect}?${new URLSearchParams({ code, state: query.get('state') })}` }).end();
    } else if (pathname === '/token') {
      let text = '';
      for await (const part of request) text += part;
      const found = tokens(new URLSearchParams(text));
      if (!found) return json(answer, 400, { error: 'invalid_grant' });
      const token = issuer.token(found.sub, found.nonce);
      json(answer, 200, { access_token: token, id_token: token, refresh_token: `${found.sub} ${randomUUID()}`, token_type: 'Bearer', expires_in: issuer.lifeS });
    } else {
      if (pathname === '/logout') issuer.asked.logout += 1;
      answer.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><html lang="en"><title>Issuer</title><p>Issuer</p></html>');
    }
    return undefined;
  });
  await new Promise((done) => listener.listen(0, '127.0.0.1', done));
  issuer.url = `http://127.0.0.1:${listener.address().port}`;
  return issuer;
}
