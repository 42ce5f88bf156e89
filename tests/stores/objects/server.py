#!/usr/bin/env python3
"""Buckets for tests, by moto: `server.py s3 DIRECTORY` or `server.py gcs DIRECTORY`.

moto takes every request for a good one, so each is checked here first, with what the clouds publish: signatures of
Amazon by botocore, signed addresses and tokens of Google by its client library. For Google there is no emulator in the
package registries of what the server speaks to it, its XML API; that is made like Amazon's, so that moto stands in for it
once what differs is translated: the condition that an object is not there yet.

The key of whoever may come in is made anew, and stands in `DIRECTORY/account.json`. Prints `port N` once it listens, and
ends when its input does.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import logging
import sys
import threading
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlencode

from werkzeug.serving import make_server
from werkzeug.test import Client
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

BUCKET = "files"
REGION = "eu-central-1"


def is_fresh(date: str, seconds: str) -> bool:
    began = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    age = (datetime.datetime.now(datetime.timezone.utc) - began).total_seconds()
    return -60 < age < int(seconds)


class Amazon:
    """Whoever knows a secret may come in (AWS Signature Version 4)."""

    def __init__(self) -> None:
        from botocore.credentials import Credentials

        self._key = Credentials("test-access-key", hashlib.sha256(str(id(self)).encode()).hexdigest())

    def account(self) -> dict[str, str]:
        return {"access_key_id": self._key.access_key, "secret_access_key": self._key.secret_key}

    def lets_in(self, environ: dict, body: bytes) -> bool:
        from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth

        query = dict(parse_qsl(environ["QUERY_STRING"], keep_blank_values=True))
        if found := query.pop("X-Amz-Signature", None):
            date, signed = query["X-Amz-Date"], query["X-Amz-SignedHeaders"]
            if not is_fresh(date, query["X-Amz-Expires"]):
                return False
            auth = S3SigV4QueryAuth(self._key, "s3", REGION)
        else:
            header = environ.get("HTTP_AUTHORIZATION", "").removeprefix("AWS4-HMAC-SHA256 ")
            parts = dict(part.strip().split("=", 1) for part in header.split(",") if "=" in part)
            if not parts:
                return False
            date, signed, found = environ["HTTP_X_AMZ_DATE"], parts["SignedHeaders"], parts["Signature"]
            if environ["HTTP_X_AMZ_CONTENT_SHA256"] != hashlib.sha256(body).hexdigest():
                return False
            if not is_fresh(date, "900"):
                return False
            auth = S3SigV4Auth(self._key, "s3", REGION)
        request = self._request(environ, query, signed)
        request.context["timestamp"] = date
        text = auth.string_to_sign(request, auth.canonical_request(request))
        return found == auth.signature(text, request)

    def _request(self, environ: dict, query: dict[str, str], signed: str):
        from botocore.awsrequest import AWSRequest
        from botocore.compat import quote

        path = environ["RAW_URI"].partition("?")[0]
        url = f"http://{environ['HTTP_HOST']}{path}?{urlencode(query, quote_via=quote, safe='-._~')}"
        names = {name: name.upper().replace("-", "_") for name in signed.split(";")}
        values = {name: environ.get(key, environ.get(f"HTTP_{key}", "")) for name, key in names.items()}
        return AWSRequest(environ["REQUEST_METHOD"], url.rstrip("?"), values)

    def translate(self, environ: dict) -> None:
        pass


class Google:
    """Whoever has the key of a service account may come in."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa
        from google.oauth2 import service_account

        key = rsa.generate_private_key(65537, 2048)
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        self._public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self._account = {
            "type": "service_account",
            "client_email": "documents@baton.test",
            "private_key_id": "1",
            "private_key": private.decode(),
            "token_uri": "http://127.0.0.1:1/token",
        }
        self._credentials = service_account.Credentials.from_service_account_info(self._account)

    def account(self) -> dict[str, str]:
        return self._account

    def lets_in(self, environ: dict, body: bytes) -> bool:
        query = parse_qs(environ["QUERY_STRING"])
        if found := query.get("X-Goog-Signature"):
            return found == [self._signature(environ, {name: each[0] for name, each in query.items()})]
        from google.auth import jwt

        kind, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        claims = jwt.decode(token, certs=self._public)
        return kind == "Bearer" and claims["iss"] == self._account["client_email"]

    def _signature(self, environ: dict, query: dict[str, str]) -> str | None:
        from google.cloud.storage._signing import generate_signed_url_v4

        if not is_fresh(query["X-Goog-Date"], query["X-Goog-Expires"]):
            return None
        url = generate_signed_url_v4(
            self._credentials,
            environ["RAW_URI"].partition("?")[0],
            int(query["X-Goog-Expires"]),
            # The server signs for this host, wherever the store is.
            api_access_endpoint="https://storage.googleapis.com",
            method=environ["REQUEST_METHOD"],
            _request_timestamp=query["X-Goog-Date"],
        )
        return parse_qs(url.partition("?")[2])["X-Goog-Signature"][0]

    def translate(self, environ: dict) -> None:
        if environ.pop("HTTP_X_GOOG_IF_GENERATION_MATCH", None) == "0":
            environ["HTTP_IF_NONE_MATCH"] = "*"


class Guarded:
    """moto, behind what the cloud asks of whoever comes in."""

    def __init__(self, cloud: Amazon | Google) -> None:
        self._cloud = cloud
        self._alone = threading.Lock()
        self._moto = DomainDispatcherApplication(create_backend_app)
        made = Client(self._moto).put(f"/{BUCKET}", base_url="http://s3.amazonaws.com")
        assert made.status_code == 200, made.data

    def __call__(self, environ: dict, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        try:
            is_good = self._cloud.lets_in(environ, body)
        except (KeyError, ValueError):
            is_good = False
        if not is_good:
            start_response("403 Forbidden", [("content-type", "application/xml")])
            return [b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"]
        self._cloud.translate(environ)
        # Without any, moto lets nobody read.
        environ["HTTP_AUTHORIZATION"] = f"AWS4-HMAC-SHA256 Credential=checked/20260101/{REGION}/s3/aws4_request"
        query = parse_qsl(environ["QUERY_STRING"], keep_blank_values=True)
        signing = ("X-Amz-", "X-Goog-")
        environ["QUERY_STRING"] = urlencode([each for each in query if not each[0].startswith(signing)])
        raw_path = environ["RAW_URI"].partition("?")[0]
        environ["RAW_URI"] = environ["REQUEST_URI"] = f"{raw_path}?{environ['QUERY_STRING']}"
        environ["HTTP_HOST"] = "s3.amazonaws.com"
        environ["wsgi.input"] = io.BytesIO(body)
        # moto looks whether an object is there and writes it in two steps, between which another request could come.
        with self._alone:
            return list(self._moto(environ, start_response))


def main() -> None:
    cloud = {"s3": Amazon, "gcs": Google}[sys.argv[1]]()
    Path(sys.argv[2], "account.json").write_text(json.dumps(cloud.account()))
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, Guarded(cloud), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"port {server.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
