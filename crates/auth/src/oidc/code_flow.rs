//! Signing in at the issuer with a browser: authorization code (OpenID Connect Core 1.0 §3.1) with PKCE (RFC 7636),
//! renewal of tokens (RFC 6749 §6), and signing out there (OpenID Connect RP-Initiated Logout 1.0).
//!
//! The server keeps nothing of a login that is under way: it is sealed in a cookie (`departure`).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{StatusCode, Uri};
use parking_lot::RwLock;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::departure::Departure;
use super::discovery::{Discovery, discover, discovery_url};
use super::fetch::{Form, post};
use super::settings::{CodeFlowSettings, OidcSettings, parse_endpoint};
use super::settings_error::SettingsError;
use crate::clock::Clock;
use crate::tls::ClientTls;

/// Requests to the token endpoint at a time.
const EXCHANGES_MAX: usize = 32;
/// The longest token, in bytes, that is kept for later.
const KEPT_BYTES_MAX: usize = 16 * 1024;
/// Characters that need no escape in a form or a query (RFC 3986 §2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The reason of a login that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignInFailure {
    /// The issuer or the user refused.
    #[error("the issuer did not sign anybody in")]
    Denied,
    /// It took too long, began in another browser, or is not there any more.
    #[error("the login has expired")]
    Expired,
    /// The issuer's answer is not accepted.
    #[error("the issuer's answer is not accepted")]
    Refused,
    /// The issuer cannot be reached.
    #[error("the issuer cannot be reached at the moment")]
    Unavailable,
}

impl SignInFailure {
    /// A short name for pages and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
        }
    }
}

/// The issuer's answer with tokens (OpenID Connect Core 1.0 §3.1.3.3).
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the protocol names them so")]
pub(super) struct Tokens {
    pub access_token: String,
    pub id_token: Option<String>,
    pub refresh_token: Option<String>,
}

#[derive(Debug)]
struct Endpoints {
    authorization: Uri,
    token: Uri,
    end_session: Option<Uri>,
    /// Whether every answer by way of a browser says whose it is.
    names_itself: bool,
    fetched_ms: u64,
}

/// A client of the issuer.
#[derive(Debug)]
pub(super) struct CodeFlow {
    pub settings: CodeFlowSettings,
    issuer: String,
    discovery_url: Uri,
    tls: ClientTls,
    age_max_ms: u64,
    clock: Clock,
    endpoints: RwLock<Option<Arc<Endpoints>>>,
    places: Semaphore,
}

impl CodeFlow {
    pub fn new(
        settings: &CodeFlowSettings,
        oidc: &OidcSettings,
        clock: Clock,
    ) -> Result<Self, SettingsError> {
        for (field, url) in [
            ("redirect_uri", &settings.redirect_uri),
            ("post_logout_redirect_uri", &settings.post_logout_redirect_uri),
        ] {
            if let Some(url) = url {
                super::settings::parse_url(field, url)?;
            }
        }
        Ok(Self {
            settings: settings.clone(),
            issuer: oidc.issuer.clone(),
            discovery_url: discovery_url(&oidc.issuer)?,
            tls: oidc.tls.clone(),
            age_max_ms: oidc.keys_age_max.as_millis() as u64,
            clock,
            endpoints: RwLock::default(),
            places: Semaphore::new(EXCHANGES_MAX),
        })
    }

    /// Where the endpoints are. Old ones serve while the issuer is away.
    async fn endpoints(&self) -> Result<Arc<Endpoints>, SignInFailure> {
        let known = self.endpoints.read().clone();
        let now_ms = self.clock.steady_ms();
        if let Some(known) = &known
            && now_ms.saturating_sub(known.fetched_ms) < self.age_max_ms
        {
            return Ok(Arc::clone(known));
        }
        let found = discover(&self.discovery_url, &self.issuer, &self.tls).await;
        match found.and_then(|document| self.read(&document, now_ms)) {
            Ok(endpoints) => {
                let endpoints = Arc::new(endpoints);
                *self.endpoints.write() = Some(Arc::clone(&endpoints));
                Ok(endpoints)
            }
            Err(error) => known.ok_or_else(|| {
                tracing::warn!(issuer = self.issuer, error, "the issuer's endpoints cannot be fetched");
                SignInFailure::Unavailable
            }),
        }
    }

    fn read(&self, document: &Discovery, fetched_ms: u64) -> Result<Endpoints, String> {
        let endpoint = |field, url: &Option<String>| {
            url.as_ref()
                .map(|url| parse_endpoint(field, url, &self.discovery_url).map_err(|error| error.to_string()))
                .transpose()
        };
        let needed = |field, url| {
            endpoint(field, url)?.ok_or_else(|| format!("{}: {field} is missing", self.discovery_url))
        };
        Ok(Endpoints {
            authorization: needed("authorization_endpoint", &document.authorization_endpoint)?,
            token: needed("token_endpoint", &document.token_endpoint)?,
            end_session: endpoint("end_session_endpoint", &document.end_session_endpoint)?,
            names_itself: document.authorization_response_iss_parameter_supported,
            fetched_ms,
        })
    }

    /// Where the browser goes to sign in.
    pub async fn authorization_url(&self, departure: &Departure) -> Result<String, SignInFailure> {
        let endpoints = self.endpoints().await?;
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, departure.verifier.as_bytes()));
        let mut scopes = self.settings.scopes.clone();
        if !scopes.iter().any(|scope| scope == "openid") {
            scopes.insert(0, "openid".to_owned());
        }
        let fields = encoded(&[
            ("response_type", "code"),
            ("client_id", &self.settings.client_id),
            ("redirect_uri", &departure.redirect_uri),
            ("scope", &scopes.join(" ")),
            ("state", &departure.state),
            ("nonce", &departure.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        Ok(with_query(&endpoints.authorization, &fields))
    }

    /// Whether an answer is that of this issuer. It may leave out whose it is only if the issuer does not promise to
    /// say so (RFC 9207 §2.4).
    pub async fn is_issuer(&self, issuer: Option<&str>) -> Result<bool, SignInFailure> {
        match issuer {
            Some(issuer) => Ok(issuer == self.issuer),
            None => Ok(!self.endpoints().await?.names_itself),
        }
    }

    /// The tokens for a code.
    pub async fn exchange(&self, code: &str, departure: &Departure) -> Result<Tokens, SignInFailure> {
        self.tokens(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &departure.redirect_uri),
            ("code_verifier", &departure.verifier),
        ])
        .await
    }

    /// Newer tokens. [`SignInFailure::Refused`]: the issuer gives none any more.
    pub async fn renew(&self, refresh_token: &str) -> Result<Tokens, SignInFailure> {
        self.tokens(&[("grant_type", "refresh_token"), ("refresh_token", refresh_token)]).await
    }

    async fn tokens(&self, fields: &[(&str, &str)]) -> Result<Tokens, SignInFailure> {
        let endpoints = self.endpoints().await?;
        let _place = self.places.acquire().await.expect("the semaphore is never closed");
        let client_id = &self.settings.client_id;
        let mut fields = encoded(fields);
        // A client without a secret says who it is in the form (RFC 6749 §2.3.1, §3.2.1).
        let authorization = if let Some(secret) = &self.settings.client_secret {
            let pair = format!("{}:{}", escape(client_id), escape(secret));
            Some(format!("Basic {}", STANDARD.encode(pair)))
        } else {
            fields += &format!("&client_id={}", escape(client_id));
            None
        };
        let url = &endpoints.token;
        let answer = post(url, &self.tls, &Form { fields, authorization }).await;
        let (status, body) = answer.map_err(|error| {
            tracing::warn!(%url, %error, "the issuer gives no tokens");
            SignInFailure::Unavailable
        })?;
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            tracing::warn!(%url, %status, "the issuer gives no tokens");
            return Err(SignInFailure::Unavailable);
        }
        if status != StatusCode::OK {
            // A browser with a bad code can cause it, so it is no warning.
            tracing::info!(%url, %status, error = error_code(&body), "the issuer refuses tokens");
            return Err(SignInFailure::Refused);
        }
        let tokens: Tokens = serde_json::from_slice(&body).map_err(|error| {
            tracing::warn!(%url, %error, "the issuer's answer is none with tokens");
            SignInFailure::Refused
        })?;
        let kept = [&tokens.id_token, &tokens.refresh_token];
        let is_small = kept.iter().all(|token| token.as_ref().is_none_or(|it| it.len() <= KEPT_BYTES_MAX));
        if is_small { Ok(tokens) } else { Err(SignInFailure::Refused) }
    }

    /// Where the browser goes to sign out at the issuer, if it has such a place.
    pub fn sign_out_url(&self, id_token: &str) -> Option<String> {
        let endpoints = self.endpoints.read().clone()?;
        let end_session = endpoints.end_session.as_ref()?;
        let mut fields = vec![("id_token_hint", id_token), ("client_id", &self.settings.client_id)];
        if let Some(uri) = &self.settings.post_logout_redirect_uri {
            fields.push(("post_logout_redirect_uri", uri));
        }
        Some(with_query(end_session, &encoded(&fields)))
    }
}

fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
    fields.join("&")
}

fn with_query(url: &Uri, fields: &str) -> String {
    let separator = if url.query().is_some() { '&' } else { '?' };
    format!("{url}{separator}{fields}")
}

/// The code of an error (RFC 6749 §5.2), if it looks like one.
fn error_code(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Refused {
        error: String,
    }
    let code = serde_json::from_slice::<Refused>(body).map(|answer| answer.error).unwrap_or_default();
    code.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_added_to_those_that_are_there() {
        let fields = encoded(&[("a", "x y&z"), ("b", "ä")]);
        let url = |text: &str| with_query(&text.parse().unwrap(), &fields);
        assert_eq!(url("https://i/authorize"), "https://i/authorize?a=x%20y%26z&b=%C3%A4");
        assert_eq!(url("https://i/authorize?policy=p"), "https://i/authorize?policy=p&a=x%20y%26z&b=%C3%A4");
    }

    #[test]
    fn error_codes_are_short_and_plain() {
        assert_eq!(error_code(br#"{"error":"invalid_grant"}"#), "invalid_grant");
        assert_eq!(error_code("{\"error\":\"a\\nWARN b\"}".as_bytes()), "aWARNb");
        assert_eq!(error_code(b"<html>"), "");
    }
}
