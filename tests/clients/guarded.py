"""Servers that let in only whom they know, for the clients' credentials: one that keeps users, and one that trusts an issuer and speaks TLS where
the suite asks for that. The issuer is here, too. OpenSSL makes keys and signatures."""

from __future__ import annotations

import base64
import http.server
import json
import subprocess
import threading
import time
import urllib.parse
from pathlib import Path

USER, PASSWORD = "ann", "ann's password"
CLIENT_ID, CLIENT_SECRET = "robot", "robot's secret"
AUDIENCE = "baton"

# Both may run processes, and neither may cancel an instance.
IDENTITIES = """
users: [{username: "%s", password: "%s"}]
authorizations:
""" % (USER, PASSWORD)
for _kind, _id in (("USER", USER), ("CLIENT", CLIENT_ID)):
    for _resource, _permissions in (
        ("RESOURCE", "CREATE, READ"),
        ("DOCUMENT", "CREATE, READ"),
        ("DECISION_REQUIREMENTS_DEFINITION", "READ"),
        (
            "PROCESS_DEFINITION",
            "CREATE_PROCESS_INSTANCE, READ_PROCESS_DEFINITION, READ_PROCESS_INSTANCE, UPDATE_PROCESS_INSTANCE",
        ),
    ):
        IDENTITIES += (
            f"  - {{owner_type: {_kind}, owner_id: {_id}, resource_type: {_resource}, "
            f"resource_id: '*', permissions: [{_permissions}]}}\n"
        )


def _openssl(*arguments: str, given: bytes = b"") -> bytes:
    return subprocess.run(["openssl", *arguments], input=given, capture_output=True, check=True).stdout


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Gives tokens to clients that know their secret (RFC 6749 §4.4)."""

    def __init__(self, scratch: Path) -> None:
        self._key = str(scratch / "issuer.pem")
        _openssl("genrsa", "-out", self._key, "2048")
        modulus = _openssl("rsa", "-in", self._key, "-noout", "-modulus").decode().strip().partition("=")[2]
        public = {"kty": "RSA", "kid": "1", "n": _encoded(bytes.fromhex(modulus)), "e": "AQAB"}
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/.well-known/openid-configuration":
                    self._answer(200, {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"})
                else:
                    self._answer(200, {"keys": [public]})

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
                scheme, _, encoded = self.headers.get("Authorization", "").partition(" ")
                if scheme == "Basic":
                    known = base64.b64decode(encoded).decode().split(":", 1)
                    form |= dict(zip(("client_id", "client_secret"), map(urllib.parse.unquote_plus, known)))
                if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
                    self._answer(401, {"error": "invalid_client"})
                    return
                token = {"access_token": issuer.token(), "token_type": "Bearer", "expires_in": 600}
                self._answer(200, token)

            def _answer(self, status: int, body: dict) -> None:
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def token(self) -> str:
        claims = {"iss": self.url, "aud": AUDIENCE, "client_id": CLIENT_ID, "exp": int(time.time()) + 600}
        header = {"alg": "RS256", "typ": "JWT", "kid": "1"}
        message = ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = _openssl("dgst", "-sha256", "-sign", self._key, given=message.encode())
        return f"{message}.{_encoded(signature)}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _settings(pairs: dict[str, object]) -> list[str]:
    return [part for key, value in pairs.items() for part in ("--set", f"{key}={value}")]


def _identities(scratch: Path) -> dict[str, object]:
    file = scratch / "identities.yaml"
    file.write_text(IDENTITIES)
    return {"security.authorizations": "true", "security.initialization": file}


def by_password(scratch: Path) -> list[str]:
    """Arguments of a server that keeps users."""
    return _settings({"security.authentication.method": "basic", **_identities(scratch)})


def by_token(scratch: Path, issuer: Issuer, tls: bool) -> list[str]:
    """Arguments of a server that trusts the issuer."""
    oidc = "security.authentication.oidc"
    settings = {
        "security.authentication.method": "oidc",
        f"{oidc}.issuer": issuer.url,
        f"{oidc}.audiences": AUDIENCE,
        f"{oidc}.client_id_claim": "client_id",
        **_identities(scratch),
    }
    if tls:
        chain, key = scratch / "chain.pem", scratch / "key.pem"
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
        name = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        _openssl("req", "-x509", *curve, *name, "-keyout", str(key), "-out", str(chain))
        for port in ("rest", "grpc"):
            settings |= {f"{port}.tls.certificate_chain": chain, f"{port}.tls.private_key": key}
    return _settings(settings)


def environment(password, token, issuer: Issuer, scratch: Path, tls: bool) -> dict[str, str]:
    """What a suite must know of both servers."""
    scheme = "https" if tls else "http"
    port = lambda address: address.rpartition(":")[2]  # noqa: E731
    return {
        "BATON_PASSWORD_REST_ADDRESS": f"http://{password.rest}",
        "BATON_PASSWORD_GRPC_ADDRESS": password.grpc,
        "BATON_TOKEN_REST_ADDRESS": f"{scheme}://localhost:{port(token.rest)}",
        "BATON_TOKEN_GRPC_ADDRESS": f"localhost:{port(token.grpc)}",
        "BATON_USER": USER,
        "BATON_USER_PASSWORD": PASSWORD,
        "BATON_TOKEN_URL": f"{issuer.url}/token",
        "BATON_CLIENT_ID": CLIENT_ID,
        "BATON_CLIENT_SECRET": CLIENT_SECRET,
        "BATON_AUDIENCE": AUDIENCE,
        "BATON_AUTHORITIES": str(scratch / "chain.pem"),
    }
