//! An issuer of tokens on localhost, which publishes what the test wants.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use auth::ServerTls;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;

/// The key that signs tokens.
pub enum Pair {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// A key with its ID.
pub struct SigningKey {
    pub id: Option<String>,
    pub pair: Pair,
}

pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl SigningKey {
    /// RSA keys cannot be made with what tests have, so there is only this one.
    pub fn rsa(id: &str) -> Self {
        let pair = RsaKeyPair::from_der(include_bytes!("rsa-for-tests.der")).unwrap();
        Self { id: Some(id.to_owned()), pair: Pair::Rsa(pair) }
    }

    pub fn p256(id: &str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &signature::ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { id: Some(id.to_owned()), pair: Pair::P256(pair) }
    }

    pub fn p384(id: &str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &signature::ECDSA_P384_SHA384_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { id: Some(id.to_owned()), pair: Pair::P384(pair) }
    }

    pub fn ed25519(id: &str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        Self { id: Some(id.to_owned()), pair: Pair::Ed25519(pair) }
    }

    pub fn without_id(self) -> Self {
        Self { id: None, ..self }
    }

    /// The key as it is published.
    pub fn public(&self) -> Value {
        let of_curve = |name: &str, point: &[u8]| {
            let (x, y) = point[1..].split_at((point.len() - 1) / 2);
            json!({"kty": "EC", "crv": name, "x": encode(x), "y": encode(y), "use": "sig"})
        };
        let mut key = match &self.pair {
            Pair::Rsa(pair) => {
                let public = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "n": encode(&public.n), "e": encode(&public.e), "use": "sig"})
            }
            Pair::P256(pair) => of_curve("P-256", pair.public_key().as_ref()),
            Pair::P384(pair) => of_curve("P-384", pair.public_key().as_ref()),
            Pair::Ed25519(pair) => json!({"kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key())}),
        };
        if let Some(id) = &self.id {
            key["kid"] = json!(id);
        }
        key
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let padding: &'static dyn signature::RsaEncoding = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_SHA256,
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    "PS512" => &signature::RSA_PSS_SHA512,
                    other => panic!("RSA does not sign {other}"),
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Pair::P256(pair) | Pair::P384(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// A signed token.
    pub fn token(&self, algorithm: &str, claims: &Value) -> String {
        let mut header = json!({"alg": algorithm, "typ": "JWT"});
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = self.sign(algorithm, message.as_bytes());
        format!("{message}.{}", encode(signature))
    }
}

struct State {
    url: String,
    keys: Mutex<Value>,
    /// The issuer in the discovery document, if not its own.
    claims_to_be: Mutex<Option<String>>,
    away: AtomicBool,
    names_itself: AtomicBool,
    silent: AtomicBool,
    connections: AtomicU64,
    key_requests: AtomicU64,
    /// Answers of the token endpoint, the next one first.
    tokens: Mutex<VecDeque<(u16, Value)>>,
    /// Forms that came there, each with its `Authorization`.
    forms: Mutex<Vec<(String, String)>>,
}

/// The issuer. It ends with the test.
pub struct Issuer {
    state: Arc<State>,
}

impl Issuer {
    pub async fn start() -> Self {
        Self::start_with(None).await
    }

    /// With TLS, the host is `localhost`.
    pub async fn start_with(tls: Option<ServerTls>) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = match &tls {
            Some(_) => format!("https://localhost:{port}/realms/test"),
            None => format!("http://127.0.0.1:{port}/realms/test"),
        };
        let state = Arc::new(State {
            url,
            keys: Mutex::new(json!({"keys": []})),
            claims_to_be: Mutex::default(),
            away: AtomicBool::new(false),
            names_itself: AtomicBool::new(false),
            silent: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            key_requests: AtomicU64::new(0),
            tokens: Mutex::default(),
            forms: Mutex::default(),
        });
        let of_server = Arc::clone(&state);
        tokio::spawn(async move {
            let mut unanswered = Vec::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                of_server.connections.fetch_add(1, Ordering::Relaxed);
                if of_server.silent.load(Ordering::Relaxed) {
                    unanswered.push(stream);
                    continue;
                }
                if of_server.away.load(Ordering::Relaxed) {
                    continue;
                }
                let (state, acceptor) = (Arc::clone(&of_server), tls.as_ref().map(ServerTls::acceptor));
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(stream, state).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, state).await;
                            }
                        }
                    }
                });
            }
        });
        Self { state }
    }

    pub fn url(&self) -> &str {
        &self.state.url
    }

    pub fn publish(&self, keys: &[&SigningKey]) {
        let keys: Vec<_> = keys.iter().map(|key| key.public()).collect();
        *self.state.keys.lock() = json!({ "keys": keys });
    }

    /// Promises that its answers say whose they are (RFC 9207).
    pub fn name_itself(&self) {
        self.state.names_itself.store(true, Ordering::Relaxed);
    }

    pub fn claim_to_be(&self, issuer: &str) {
        *self.state.claims_to_be.lock() = Some(issuer.to_owned());
    }

    /// From now on connections are closed without an answer, or no longer.
    pub fn be_away(&self, away: bool) {
        self.state.away.store(away, Ordering::Relaxed);
    }

    /// From now on connections are kept open without an answer.
    pub fn be_silent(&self) {
        self.state.silent.store(true, Ordering::Relaxed);
    }

    /// Has the token endpoint answer this once, after what it was told before.
    pub fn give(&self, status: u16, answer: Value) {
        self.state.tokens.lock().push_back((status, answer));
    }

    /// The forms that came to the token endpoint since the last call, each with its `Authorization`.
    pub fn take_forms(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.state.forms.lock())
    }

    pub fn connections(&self) -> u64 {
        self.state.connections.load(Ordering::Relaxed)
    }

    /// How often the keys were asked for.
    pub fn key_requests(&self) -> u64 {
        self.state.key_requests.load(Ordering::Relaxed)
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, state: Arc<State>) {
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(answer(request, &state).await) }
    });
    // A connection that the other side gave up is no failure of the test.
    drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
}

async fn answer(request: Request<Incoming>, state: &State) -> Response<Full<Bytes>> {
    let body = match request.uri().path() {
        "/realms/test/.well-known/openid-configuration" => {
            let issuer = state.claims_to_be.lock().clone().unwrap_or(state.url.clone());
            let url = &state.url;
            json!({
                "issuer": issuer, "jwks_uri": format!("{url}/keys"),
                "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token"),
                "end_session_endpoint": format!("{url}/logout"),
                "authorization_response_iss_parameter_supported": state.names_itself.load(Ordering::Relaxed),
            })
        }
        "/realms/test/token" => {
            let header = request.headers().get("authorization");
            let authorization = header.map_or("", |value| value.to_str().unwrap()).to_owned();
            let body = request.into_body().collect().await.unwrap().to_bytes();
            state.forms.lock().push((String::from_utf8(body.to_vec()).unwrap(), authorization));
            let (status, answer) = state.tokens.lock().pop_front().expect("an answer was given");
            let mut response = Response::new(Full::from(answer.to_string()));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            return response;
        }
        "/realms/test/keys" => {
            state.key_requests.fetch_add(1, Ordering::Relaxed);
            state.keys.lock().clone()
        }
        _ => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        }
    };
    Response::new(Full::from(body.to_string()))
}
