//! From a browser that comes to a principal that is signed in, and the renewal of what it was granted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::sync::Mutex;

use super::code_flow::{CodeFlow, SignInFailure, Tokens};
use super::departure::Departure;
use super::token::Token;
use super::{Oidc, is_meant_for};
use crate::principal::{Identity, Principal};
use crate::refusal::{Reason, TokenFault};

/// The issuer is asked for newer tokens of a session at most this often.
const PAUSE_MS: u64 = 5_000;

/// Tokens of a session, beside the principal that they made.
#[derive(Debug)]
pub(crate) struct Grant {
    id_token: String,
    /// Its owner to the issuer, under whatever name.
    subject: String,
    pub refresh_token: Option<String>,
    /// Held by the request that renews the tokens.
    renewing: Mutex<()>,
    /// The time at which they came or a renewal was tried, by the clock that is never set.
    tried_ms: AtomicU64,
}

/// A principal that the issuer has signed in.
#[derive(Debug)]
pub(crate) struct Granted {
    pub principal: Arc<Principal>,
    /// When its tokens end, Unix milliseconds.
    pub ends_ms: u64,
    pub grant: Arc<Grant>,
}

impl Oidc {
    /// Whether people can sign in at the issuer.
    pub(crate) fn has_code_flow(&self) -> bool {
        self.code_flow.is_some()
    }

    fn flow(&self) -> Result<&CodeFlow, SignInFailure> {
        self.code_flow.as_ref().ok_or(SignInFailure::Refused)
    }

    /// Where a browser goes to sign in, and what it takes along, sealed. `default_redirect_uri` counts where the
    /// settings have none.
    pub(crate) async fn depart(
        &self,
        next: &str,
        default_redirect_uri: String,
    ) -> Result<(String, String), SignInFailure> {
        let flow = self.flow()?;
        let redirect_uri = flow.settings.redirect_uri.clone().unwrap_or(default_redirect_uri);
        let departure = Departure::new(redirect_uri, next, self.clock.now_ms());
        let url = flow.authorization_url(&departure).await?;
        Ok((url, self.seal.close(&departure)))
    }

    /// The path to go to after the login, if the seal is ours.
    pub(crate) fn next_of(&self, sealed: &str) -> Option<String> {
        self.seal.open(sealed).map(|departure| departure.next)
    }

    /// Whether a login goes on, whatever came with this state.
    pub(crate) fn is_under_way(&self, sealed: &str, state: Option<&str>) -> bool {
        let departure = self.seal.open(sealed).filter(|departure| self.clock.now_ms() < departure.ends_ms);
        departure.is_some_and(|departure| state != Some(&departure.state))
    }

    /// Signs in the user whose browser brings the answer of the issuer. Gives the path to go to, too.
    pub(crate) async fn arrive(
        &self,
        sealed: Option<&str>,
        answer: &Arrival<'_>,
    ) -> Result<(Granted, String), SignInFailure> {
        let flow = self.flow()?;
        let departure = sealed.and_then(|sealed| self.seal.open(sealed)).ok_or(SignInFailure::Expired)?;
        // Nothing of the answer counts before it is known to be that of this browser.
        if answer.state != Some(&departure.state) || self.clock.now_ms() >= departure.ends_ms {
            return Err(SignInFailure::Expired);
        }
        if self.arrived.has(&departure.state, departure.ends_ms) {
            return Err(SignInFailure::Expired);
        }
        if !flow.is_issuer(answer.issuer).await? {
            return Err(SignInFailure::Refused);
        }
        let code = answer.code.filter(|_| !answer.is_error).ok_or(SignInFailure::Denied)?;
        let tokens = flow.exchange(code, &departure).await?;
        let Some(id_token) = tokens.id_token.clone() else {
            return Err(refused(Reason::Malformed("there is no ID token")));
        };
        let granted = self.granted(tokens, id_token, Some(&departure.nonce)).await?;
        // Of two that bring the same, one is signed in.
        if !self.arrived.note(departure.state, departure.ends_ms, self.clock.now_ms()) {
            return Err(SignInFailure::Expired);
        }
        Ok((granted, departure.next))
    }

    /// The principal of tokens. Access tokens that are none of ours, or none that anybody can read, leave the ID token.
    async fn granted(
        &self,
        tokens: Tokens,
        id_token: String,
        nonce: Option<&str>,
    ) -> Result<Granted, SignInFailure> {
        let by_id = self.check_id_token(&id_token, nonce).await.map_err(refused)?;
        let subject =
            subject_of(&by_id.0).ok_or_else(|| refused(Reason::Malformed("the ID token has no sub")))?;
        let (principal, ends_ms) = match self.check_access_token(&tokens.access_token).await {
            Ok(accepted) => {
                check_is_same(&accepted.0, &by_id.0)?;
                accepted
            }
            Err(Reason::Token(fault)) => {
                tracing::debug!(%fault, "the ID token counts, since the access token is not accepted");
                by_id
            }
            Err(reason) => return Err(refused(reason)),
        };
        let grant = self.grant(id_token, subject, tokens.refresh_token);
        Ok(Granted { principal: Arc::new(principal), ends_ms, grant })
    }

    fn grant(&self, id_token: String, subject: String, refresh_token: Option<String>) -> Arc<Grant> {
        let tried_ms = AtomicU64::new(self.clock.steady_ms());
        Arc::new(Grant { id_token, subject, refresh_token, renewing: Mutex::default(), tried_ms })
    }

    /// OpenID Connect Core 1.0 §3.1.3.7. A renewed one has no nonce.
    async fn check_id_token(&self, text: &str, nonce: Option<&str>) -> Result<(Principal, u64), Reason> {
        let client_id = &self.flow().expect("only a client has ID tokens").settings.client_id;
        let token = Token::parse(text)?;
        let claims = &token.claims;
        let ends_ms = self.check_claims(claims, self.clock.now_ms())?;
        if !is_meant_for(claims, |name| name == client_id) {
            return Err(TokenFault::Audience.into());
        }
        if claims.get("azp").is_some_and(|party| party.as_str() != Some(client_id)) {
            return Err(TokenFault::AuthorizedParty.into());
        }
        if nonce.is_some() && claims.get("nonce").and_then(Value::as_str) != nonce {
            return Err(Reason::Malformed("the ID token is of another login"));
        }
        let principal = self.principal(claims, true)?;
        self.check_signature(&token).await?;
        Ok((principal, ends_ms))
    }

    /// As [`Oidc::verify`], but it was given to a person: the client that it names is ours.
    async fn check_access_token(&self, text: &str) -> Result<(Principal, u64), Reason> {
        let token = Token::parse(text)?;
        let ends_ms = self.check_claims(&token.claims, self.clock.now_ms())?;
        self.check_recipients(&token.claims)?;
        let principal = self.principal(&token.claims, true)?;
        self.check_signature(&token).await?;
        Ok((principal, ends_ms))
    }

    /// Newer tokens for the same principal. Other requests wait for a renewal under way; `is_renewed` tells whether
    /// they are renewed then. `None`: they are, or it was tried a moment ago.
    ///
    /// # Errors
    /// [`SignInFailure::Refused`]: the issuer gives none any more. [`SignInFailure::Unavailable`]: not now.
    pub(crate) async fn renew(
        &self,
        identity: &Identity,
        grant: &Grant,
        is_renewed: impl Fn() -> bool,
    ) -> Result<Option<Granted>, SignInFailure> {
        let _renewing = grant.renewing.lock().await;
        let now_ms = self.clock.steady_ms();
        let is_too_soon = now_ms.saturating_sub(grant.tried_ms.load(Ordering::Relaxed)) < PAUSE_MS;
        if is_too_soon || is_renewed() {
            return Ok(None);
        }
        grant.tried_ms.store(now_ms, Ordering::Relaxed);
        let refresh_token = grant.refresh_token.as_ref().ok_or(SignInFailure::Refused)?;
        let mut tokens = self.flow()?.renew(refresh_token).await?;
        // Unless the issuer gives another one, the same goes on (RFC 6749 §6).
        tokens.refresh_token.get_or_insert_with(|| refresh_token.clone());
        let granted = match tokens.id_token.clone() {
            Some(id_token) => self.granted(tokens, id_token, None).await?,
            None => self.granted_without_id(tokens, grant).await?,
        };
        let is_same = granted.principal.identity == *identity && granted.grant.subject == grant.subject;
        if is_same { Ok(Some(granted)) } else { Err(SignInFailure::Refused) }
    }

    /// Grants a renewed session whose issuer sent no newer ID token; the access token is checked in its place.
    async fn granted_without_id(&self, tokens: Tokens, before: &Grant) -> Result<Granted, SignInFailure> {
        let (principal, ends_ms) = self.check_access_token(&tokens.access_token).await.map_err(refused)?;
        let grant = self.grant(before.id_token.clone(), before.subject.clone(), tokens.refresh_token);
        Ok(Granted { principal: Arc::new(principal), ends_ms, grant })
    }

    /// Where the browser goes to sign out at the issuer, if it has such a place.
    pub(crate) fn sign_out_url(&self, grant: &Grant) -> Option<String> {
        self.code_flow.as_ref()?.sign_out_url(&grant.id_token)
    }
}

/// The answer of the issuer, as a browser brings it (RFC 6749 §4.1.2).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrival<'a> {
    pub state: Option<&'a str>,
    pub code: Option<&'a str>,
    pub issuer: Option<&'a str>,
    pub is_error: bool,
}

/// The owner of a token (OpenID Connect Core 1.0 §2).
fn subject_of(principal: &Principal) -> Option<String> {
    principal.claims.get("sub").and_then(Value::as_str).map(str::to_owned)
}

/// Whether both tokens are of one user: to the issuer, or, since it may call the user otherwise in tokens for another
/// recipient (OpenID Connect Core 1.0 §8.1), by the name that counts here.
fn check_is_same(by_access: &Principal, by_id: &Principal) -> Result<(), SignInFailure> {
    if subject_of(by_access) == subject_of(by_id) || by_access.identity == by_id.identity {
        return Ok(());
    }
    Err(refused(Reason::Malformed("the access token and the ID token are of different users")))
}

fn refused(reason: Reason) -> SignInFailure {
    if reason == Reason::IssuerUnavailable {
        return SignInFailure::Unavailable;
    }
    tracing::info!(%reason, "the issuer's tokens are not accepted");
    SignInFailure::Refused
}
