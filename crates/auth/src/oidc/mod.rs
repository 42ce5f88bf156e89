//! Bearer tokens of an OpenID Connect issuer: signed JSON web tokens, checked with the keys that the issuer publishes.
//!
//! Only asymmetric signatures are accepted, and each only with a key of its own kind, so neither `alg: none` nor a
//! shared secret made of a public key gets in. Keys are fetched by `source`, checked by `keys`; `claim_path` finds
//! names.

mod algorithm;
mod claim_path;
mod code_flow;
mod departure;
mod discovery;
mod fetch;
mod json_path;
mod keys;
mod settings;
mod settings_error;
mod sign_in;
mod source;
mod token;

use std::fmt;
use std::sync::Arc;

use quick_cache::sync::Cache;
use serde_json::{Map, Value};

pub use self::claim_path::{ClaimPath, claim_values};
use self::code_flow::CodeFlow;
pub use self::code_flow::SignInFailure;
pub(crate) use self::departure::path_of_ours;
use self::departure::{Arrived, Seal};
pub use self::settings::{CodeFlowSettings, OidcSettings};
pub use self::settings_error::SettingsError;
pub(crate) use self::sign_in::{Arrival, Grant, Granted};
use self::source::KeySource;
use self::token::Token;
use crate::clock::Clock;
use crate::principal::{Identity, Principal};
use crate::refusal::{Reason, TokenFault};
use crate::secret::{Digest, ProcessKey};

/// How many accepted tokens are kept.
const ACCEPTED_MAX: usize = 10_000;
/// The longest token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// A token that was accepted before.
#[derive(Debug)]
struct Accepted {
    principal: Arc<Principal>,
    /// When it is accepted no longer, skew included.
    ends_ms: u64,
    /// Which set of keys it was checked with.
    generation: u64,
}

/// Authentication by bearer tokens.
pub struct Oidc {
    settings: OidcSettings,
    source: Arc<KeySource>,
    accepted: Cache<Digest, Arc<Accepted>>,
    key: ProcessKey,
    clock: Clock,
    code_flow: Option<CodeFlow>,
    seal: Seal,
    arrived: Arrived,
}

impl fmt::Debug for Oidc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oidc").field("issuer", &self.settings.issuer).finish_non_exhaustive()
    }
}

impl Oidc {
    /// Accepts tokens as `settings` say. The issuer is not asked before the first token comes.
    ///
    /// # Errors
    /// [`SettingsError`], if a URL is none.
    pub fn new(settings: OidcSettings, clock: Clock) -> Result<Self, SettingsError> {
        let source = Arc::new(KeySource::new(&settings, clock.clone())?);
        let code_flow = settings
            .code_flow
            .as_ref()
            .map(|flow| CodeFlow::new(flow, &settings, clock.clone()))
            .transpose()?;
        let (accepted, key, seal) = (Cache::new(ACCEPTED_MAX), ProcessKey::random(), Seal::random());
        let arrived = Arrived::default();
        Ok(Self { settings, source, accepted, key, clock, code_flow, seal, arrived })
    }

    /// How often the issuer was asked for its keys.
    pub fn keys_fetched(&self) -> u64 {
        self.source.fetches()
    }

    /// The principal of a token, and its end in Unix milliseconds.
    pub(crate) async fn verify(&self, token: &str) -> Result<(Arc<Principal>, u64), Reason> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenFault::Malformed("it is too long").into());
        }
        let now_ms = self.clock.now_ms();
        let digest = self.key.digest(&[token.as_bytes()]);
        if let Some(accepted) = self.accepted.get(&digest) {
            let is_current = self.source.tend().is_some_and(|keys| keys.generation == accepted.generation);
            if is_current && now_ms < accepted.ends_ms {
                return Ok((Arc::clone(&accepted.principal), accepted.ends_ms));
            }
        }
        // Cheap checks come first: only a token that is otherwise valid may cause a fetch of the issuer's keys.
        let token = Token::parse(token)?;
        let ends_ms = self.check_claims(&token.claims, now_ms)?;
        self.check_recipients(&token.claims)?;
        let principal = self.principal(&token.claims, self.settings.prefer_user_name)?;
        let generation = self.check_signature(&token).await?;
        let principal = Arc::new(principal);
        let accepted = Accepted { principal: Arc::clone(&principal), ends_ms, generation };
        self.accepted.insert(digest, Arc::new(accepted));
        Ok((principal, ends_ms))
    }

    /// Gives the generation of the keys that the signature was checked with.
    async fn check_signature(&self, token: &Token<'_>) -> Result<u64, Reason> {
        let keys = self.source.keys().await?;
        match keys.set.check(token) {
            Err(TokenFault::UnknownKey) => {
                // The issuer may have changed its keys since.
                let newer = self.source.newer_than(&keys).await.ok_or(TokenFault::UnknownKey)?;
                newer.set.check(token)?;
                Ok(newer.generation)
            }
            result => {
                result?;
                Ok(keys.generation)
            }
        }
    }

    /// Gives when the token ends.
    fn check_claims(&self, claims: &Map<String, Value>, now_ms: u64) -> Result<u64, TokenFault> {
        let skew_ms = self.settings.clock_skew.as_millis() as u64;
        if claims.get("iss").and_then(Value::as_str) != Some(&self.settings.issuer) {
            return Err(TokenFault::Issuer);
        }
        let expires_ms =
            time_ms(claims, "exp", "exp is no time")?.ok_or(TokenFault::Malformed("exp is missing"))?;
        let ends_ms = expires_ms.saturating_add(skew_ms);
        if now_ms >= ends_ms {
            return Err(TokenFault::Expired);
        }
        let begins_ms = time_ms(claims, "nbf", "nbf is no time")?.unwrap_or(0);
        if now_ms.saturating_add(skew_ms) < begins_ms {
            return Err(TokenFault::NotYetValid);
        }
        Ok(ends_ms)
    }

    /// Whether it is meant for us, and was given to somebody who may have it.
    fn check_recipients(&self, claims: &Map<String, Value>) -> Result<(), TokenFault> {
        let audiences = &self.settings.audiences;
        if !audiences.is_empty() && !is_meant_for(claims, |name| audiences.iter().any(|a| a == name)) {
            return Err(TokenFault::Audience);
        }
        let parties = &self.settings.authorized_parties;
        if !parties.is_empty() {
            let party = claims.get("azp").and_then(Value::as_str);
            if !party.is_some_and(|party| parties.iter().any(|accepted| accepted == party)) {
                return Err(TokenFault::AuthorizedParty);
            }
        }
        Ok(())
    }

    fn principal(
        &self,
        claims: &Map<String, Value>,
        prefers_user_name: bool,
    ) -> Result<Principal, TokenFault> {
        let user_name = self.settings.user_name.text(claims);
        let client_id = self.settings.client_id.as_ref().and_then(|path| path.text(claims));
        let identity = match (user_name, client_id) {
            (Some(name), None) => Identity::User(name),
            (Some(name), Some(_)) if prefers_user_name => Identity::User(name),
            (_, Some(id)) => Identity::Client(id),
            (None, None) => return Err(TokenFault::NoIdentity),
        };
        let groups = match &self.settings.groups {
            Some(path) => path.texts(claims).ok_or(TokenFault::Groups)?,
            None => vec![],
        };
        Ok(Principal { identity, groups, claims: claims.clone() })
    }
}

/// Whether `aud` names one of the recipients.
fn is_meant_for(claims: &Map<String, Value>, is_recipient: impl Fn(&str) -> bool) -> bool {
    let is_one = |value: &Value| value.as_str().is_some_and(&is_recipient);
    match claims.get("aud") {
        Some(Value::Array(several)) => several.iter().any(is_one),
        Some(one) => is_one(one),
        None => false,
    }
}

/// A `NumericDate` (RFC 7519 §2): seconds, maybe with a fraction.
fn time_ms(claims: &Map<String, Value>, name: &str, fault: &'static str) -> Result<Option<u64>, TokenFault> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(seconds) if seconds >= 0.0 => Ok(Some((seconds * 1000.0) as u64)),
            _ => Err(TokenFault::Malformed(fault)),
        },
    }
}
