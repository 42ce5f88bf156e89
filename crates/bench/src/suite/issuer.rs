//! An issuer of tokens for the server to trust.

use axum::{Json, Router, routing::get};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::Error;

const KEY_ID: &str = "bench";
/// Long enough for any measurement: 2100.
const EXPIRY: u64 = 4_102_444_800;

/// Answers where its keys are, and which.
pub(super) struct Issuer {
    url: String,
    pair: EcdsaKeyPair,
    server: JoinHandle<()>,
}

impl Issuer {
    pub(super) async fn start() -> Result<Self, Error> {
        let failed = |reason: String| Error::Server { program: "issuer of tokens".to_owned(), reason };
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document =
            EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|error| failed(error.to_string()))?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random)
            .map_err(|error| failed(error.to_string()))?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| failed(error.to_string()))?;
        let address = listener.local_addr().map_err(|error| failed(error.to_string()))?;
        let url = format!("http://{address}");
        let discovery = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        // An uncompressed point: a mark, then both coordinates.
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let keys = json!({ "keys": [{
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": KEY_ID,
            "x": BASE64.encode(x), "y": BASE64.encode(y),
        }]});
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(move || async { Json(discovery) }))
            .route("/keys", get(move || async { Json(keys) }));
        let server = tokio::spawn(async {
            // Without it the server refuses every token, which the measurement shows.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, pair, server })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn token(&self, user: &str) -> Result<String, Error> {
        let header = json!({ "alg": "ES256", "typ": "JWT", "kid": KEY_ID });
        let claims = json!({ "iss": self.url, "sub": user, "iat": 0, "exp": EXPIRY });
        let signed = format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|error| Error::Options(format!("signing a token: {error}")))?;
        Ok(format!("{signed}.{}", BASE64.encode(signature)))
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.server.abort();
    }
}
