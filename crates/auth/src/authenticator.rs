//! The entrance: finds out who sends a request.

use std::sync::Arc;

use tokio::sync::watch;

use crate::basic::{Basic, Recheck};
use crate::clock::Clock;
use crate::failed_sign_ins::FailedSignIns;
use crate::metric_definitions::refused;
use crate::oidc::{Arrival, Oidc, SignInFailure, path_of_ours};
use crate::origin::Origins;
use crate::presented::{BASIC, BEARER, Credentials, Presented};
use crate::principal::Principal;
use crate::refusal::{Reason, Refusal};
use crate::session::{Due, SessionSettings, Sessions};

/// Authentication of requests.
#[derive(Debug)]
pub enum Method {
    /// Not at all: everybody is [`Anonymous`](crate::Identity::Anonymous). For machines that nobody else reaches.
    None,
    /// By user name and password.
    Basic(Arc<Basic>),
    /// By bearer tokens of an issuer.
    Oidc(Arc<Oidc>),
}

/// With what somebody begins a session.
#[derive(Clone, Copy)]
pub enum SignIn<'a> {
    /// User name and password; for [`Method::Basic`].
    Password {
        /// The name.
        user: &'a str,
        /// The password.
        password: &'a str,
    },
    /// A token; for [`Method::Oidc`]. The session ends with it.
    Token(&'a str),
}

/// A session that began.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// Owner of the session.
    pub principal: Arc<Principal>,
    /// Values of `Set-Cookie`, each for a header of its own.
    pub cookies: [String; 2],
    /// Value of the CSRF cookie, for clients that read it from the answer.
    pub csrf_token: String,
}

/// How a browser gets a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInWay {
    /// It needs none.
    Open,
    /// With a user name and a password.
    Password,
    /// At the issuer.
    Redirect,
    /// With a token.
    Token,
}

/// Where a browser goes, and what it keeps and forgets: values of `Set-Cookie`, each for a header of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departed {
    /// An address, or a path of ours.
    pub location: String,
    /// The cookies.
    pub cookies: Vec<String>,
}

/// A session that ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignedOut {
    /// Values of `Set-Cookie`, each for a header of its own.
    pub cookies: Vec<String>,
    /// Where the browser goes to sign out at the issuer, too.
    pub location: Option<String>,
}

/// Finds out who sends a request. Made once, asked for every request.
#[derive(Debug)]
pub struct Authenticator {
    method: Method,
    sessions: Option<Sessions>,
    origins: Origins,
    anonymous: Arc<Principal>,
    failed: FailedSignIns,
}

impl Authenticator {
    /// Authenticates by `method`, and by sessions, if there are settings for them.
    pub fn new(method: Method, sessions: Option<SessionSettings>, clock: Clock) -> Self {
        let sessions = sessions.map(|settings| Sessions::new(settings, clock.clone()));
        let anonymous = Arc::new(Principal::anonymous());
        let failed = FailedSignIns::new(clock);
        Self { method, sessions, origins: Origins::default(), anonymous, failed }
    }

    /// Lets pages of these origins do what our own may.
    #[must_use]
    pub fn with_origins(self, origins: Origins) -> Self {
        Self { origins, ..self }
    }

    /// The method, as settings name it.
    pub fn method_name(&self) -> &'static str {
        match self.method {
            Method::None => "none",
            Method::Basic(_) => "basic",
            Method::Oidc(_) => "oidc",
        }
    }

    /// Whether it matters which address a request comes from.
    pub fn wants_addresses(&self) -> bool {
        !matches!(self.method, Method::None)
    }

    /// The sessions, if there may be any.
    pub fn sessions(&self) -> Option<&Sessions> {
        self.sessions.as_ref()
    }

    /// News of sessions that are ended, if the request comes with one instead of credentials.
    pub fn session_ends(&self, presented: &Presented<'_>) -> Option<watch::Receiver<()>> {
        let sessions = self.sessions.as_ref().filter(|_| presented.authorization.is_none())?;
        presented.cookie(sessions.cookie_name()).map(|_| sessions.ends())
    }

    /// Authenticates a request. An `Authorization` header takes precedence over a session.
    pub async fn authenticate(&self, presented: &Presented<'_>) -> Result<Arc<Principal>, Refusal> {
        self.principal(presented).await.map_err(|reason| self.refuse(reason))
    }

    /// Refuses a change that a page of another site made a browser send, also where no credentials are asked.
    ///
    /// # Errors
    /// [`Reason::CrossSite`]
    pub fn check_site(&self, presented: &Presented<'_>) -> Result<(), Refusal> {
        if presented.changes && self.origins.is_cross_site(presented) {
            return Err(self.refuse(Reason::CrossSite));
        }
        Ok(())
    }

    /// Begins a session. One that the browser has already ends, so that nobody can foist a known one on it.
    pub async fn sign_in(&self, presented: &Presented<'_>, with: SignIn<'_>) -> Result<SignedIn, Refusal> {
        self.begin_session(presented, with).await.map_err(|reason| self.refuse(reason))
    }

    /// How a browser gets a session.
    pub fn entry(&self) -> SignInWay {
        match (&self.method, &self.sessions) {
            (Method::None, _) => SignInWay::Open,
            (Method::Oidc(oidc), Some(_)) if oidc.has_code_flow() => SignInWay::Redirect,
            (Method::Oidc(_), _) => SignInWay::Token,
            (Method::Basic(_), _) => SignInWay::Password,
        }
    }

    fn issuer(&self) -> Option<(&Oidc, &Sessions)> {
        match (&self.method, &self.sessions) {
            (Method::Oidc(oidc), Some(sessions)) if oidc.has_code_flow() => Some((oidc, sessions)),
            _ => None,
        }
    }

    /// Sends a browser to the issuer. It comes back to `redirect_uri`, if the settings name no other address, and goes
    /// to `next` then, if that is a path of ours.
    ///
    /// # Errors
    /// [`SignInFailure::Refused`]: people do not sign in at an issuer here. Otherwise the issuer is away.
    pub async fn depart(&self, next: &str, redirect_uri: String) -> Result<Departed, SignInFailure> {
        let (oidc, sessions) = self.issuer().ok_or(SignInFailure::Refused)?;
        let (location, sealed) = oidc.depart(next, redirect_uri).await?;
        let cookie = sessions.cookie(sessions.departure_name(), &sealed, "; HttpOnly; Max-Age=600");
        Ok(Departed { location, cookies: vec![cookie] })
    }

    /// Begins the session of a browser that comes back from the issuer with these fields of the query. Where it goes
    /// and what it forgets is told in any case; whether it failed, too.
    pub async fn arrive(
        &self,
        presented: &Presented<'_>,
        field: impl Fn(&str) -> Option<String>,
    ) -> Result<Departed, (SignInFailure, Departed)> {
        let Some((oidc, sessions)) = self.issuer() else {
            let nowhere = Departed { location: "/".to_owned(), cookies: vec![] };
            return Err((SignInFailure::Refused, nowhere));
        };
        let sealed = presented.cookie(sessions.departure_name());
        let forget = sessions.cookie(sessions.departure_name(), "", "; HttpOnly; Max-Age=0");
        let (state, code, issuer) = (field("state"), field("code"), field("iss"));
        let answer = Arrival {
            state: state.as_deref(),
            code: code.as_deref(),
            issuer: issuer.as_deref(),
            is_error: field("error").is_some(),
        };
        match oidc.arrive(sealed, &answer).await {
            Ok((granted, next)) => {
                if let Some(before) = presented.cookie(sessions.cookie_name()) {
                    sessions.end(before);
                }
                let id = sessions.begin_granted(granted);
                let cookies = sessions.cookies(&id).into_iter().chain([forget]).collect();
                Ok(Departed { location: next, cookies })
            }
            Err(failure) => {
                self.failed.note_at_issuer(presented.address, failure);
                let next = sealed.and_then(|sealed| oidc.next_of(sealed));
                let location = next.as_deref().map_or("/", path_of_ours).to_owned();
                // A page of another site that leads a browser here ends no login that is under way.
                let is_under_way = sealed.is_some_and(|sealed| oidc.is_under_way(sealed, answer.state));
                let cookies = if is_under_way { vec![] } else { vec![forget] };
                Err((failure, Departed { location, cookies }))
            }
        }
    }

    /// Ends the session, if there is one. Gives values of `Set-Cookie`, each for a header of its own, and where the
    /// browser goes to sign out at the issuer, too.
    ///
    /// # Errors
    /// [`Reason::CrossSite`] and [`Reason::CsrfToken`]: nobody signs out somebody else.
    pub fn sign_out(&self, presented: &Presented<'_>) -> Result<SignedOut, Refusal> {
        let Some(sessions) = &self.sessions else { return Ok(SignedOut::default()) };
        // Browsers leave cookies out of what other sites have them send, but would forget them at our word.
        if self.origins.is_cross_site(presented) {
            return Err(self.refuse(Reason::CrossSite));
        }
        let mut location = None;
        if let Some(id) = presented.cookie(sessions.cookie_name()) {
            if sessions.find(id).is_some() {
                self.check_origin(presented, sessions, id).map_err(|reason| self.refuse(reason))?;
                if let (Some((oidc, _)), Some(grant)) = (self.issuer(), sessions.grant(id)) {
                    location = oidc.sign_out_url(&grant);
                }
            }
            sessions.end(id);
        }
        Ok(SignedOut { cookies: sessions.ending_cookies().into(), location })
    }

    async fn principal(&self, presented: &Presented<'_>) -> Result<Arc<Principal>, Reason> {
        // Browsers add Basic credentials by themselves, too, and reach servers that only they can reach.
        let is_ambient = !matches!(self.method, Method::Oidc(_));
        if is_ambient && presented.changes && self.origins.is_cross_site(presented) {
            return Err(Reason::CrossSite);
        }
        match (&self.method, presented.authorization) {
            (Method::None, _) => Ok(Arc::clone(&self.anonymous)),
            (Method::Basic(basic), Some(header)) => match Credentials::parse(header, BASIC)? {
                Credentials::Basic { user, password } => {
                    let verified = basic.verify(&user, &password, presented.address).await;
                    Ok(self.noted(verified, Some(&user), presented)?.0)
                }
                Credentials::Bearer(_) => Err(Reason::Scheme(BASIC)),
            },
            (Method::Oidc(oidc), Some(header)) => match Credentials::parse(header, BEARER)? {
                Credentials::Bearer(token) => Ok(self.noted(oidc.verify(token).await, None, presented)?.0),
                Credentials::Basic { .. } => Err(Reason::Scheme(BEARER)),
            },
            (_, None) => self.of_session(presented).await,
        }
    }

    async fn of_session(&self, presented: &Presented<'_>) -> Result<Arc<Principal>, Reason> {
        let sessions = self.sessions.as_ref().ok_or(Reason::Missing)?;
        let id = presented.cookie(sessions.cookie_name()).ok_or(Reason::Missing)?;
        let found = sessions.find(id).ok_or(Reason::Session)?;
        let mut principal = found.principal;
        if let (Method::Basic(basic), Some(standing), Some(user)) =
            (&self.method, found.standing, principal.user_name())
        {
            match basic.standing_of(user, &standing).await? {
                Recheck::Same => {}
                Recheck::Confirmed(standing) => sessions.confirm(id, standing),
                Recheck::Changed => {
                    sessions.end(id);
                    return Err(Reason::Session);
                }
            }
        }
        self.check_origin(presented, sessions, id)?;
        if let (Some((oidc, _)), Some(due)) = (self.issuer(), found.due) {
            principal = renewed(oidc, sessions, id, principal, &due).await?;
        }
        Ok(principal)
    }

    async fn begin_session(&self, presented: &Presented<'_>, with: SignIn<'_>) -> Result<SignedIn, Reason> {
        let sessions = self.sessions.as_ref().ok_or(Reason::Malformed("there are no sessions here"))?;
        if self.origins.is_cross_site(presented) {
            return Err(Reason::CrossSite);
        }
        let (principal, standing, ends_ms) = match (&self.method, with) {
            (Method::Basic(basic), SignIn::Password { user, password }) => {
                let verified = basic.verify(user, password, presented.address).await;
                let (principal, standing) = self.noted(verified, Some(user), presented)?;
                (principal, Some(standing), None)
            }
            (Method::Oidc(oidc), SignIn::Token(token)) => {
                let (principal, ends_ms) = self.noted(oidc.verify(token).await, None, presented)?;
                (principal, None, Some(ends_ms))
            }
            (Method::None, _) => (Arc::clone(&self.anonymous), None, None),
            (Method::Basic(_), SignIn::Token(_)) => return Err(Reason::Scheme(BASIC)),
            (Method::Oidc(_), SignIn::Password { .. }) => return Err(Reason::Scheme(BEARER)),
        };
        if let Some(before) = presented.cookie(sessions.cookie_name()) {
            sessions.end(before);
        }
        let id = sessions.begin(Arc::clone(&principal), standing, ends_ms);
        Ok(SignedIn { principal, cookies: sessions.cookies(&id), csrf_token: sessions.csrf_token(&id) })
    }

    /// Logs a failure, without the owner of a token, which nobody vouches for then.
    fn noted<T>(
        &self,
        verified: Result<T, Reason>,
        name: Option<&str>,
        presented: &Presented<'_>,
    ) -> Result<T, Reason> {
        verified.inspect_err(|reason| self.failed.note(name, presented.address, *reason))
    }

    /// The answer to a refused request.
    pub fn refuse(&self, reason: Reason) -> Refusal {
        refused(reason);
        match self.method {
            Method::None => Refusal::plain(reason),
            Method::Basic(_) => Refusal::basic(reason),
            Method::Oidc(_) => Refusal::bearer(reason),
        }
    }

    /// Whether a page of ours made the browser send what changes something.
    fn check_origin(&self, presented: &Presented<'_>, sessions: &Sessions, id: &str) -> Result<(), Reason> {
        if !presented.changes {
            return Ok(());
        }
        if self.origins.is_cross_site(presented) {
            return Err(Reason::CrossSite);
        }
        if sessions.is_csrf_token(id, presented.csrf_token) { Ok(()) } else { Err(Reason::CsrfToken) }
    }
}

/// The principal of a session whose tokens are due.
async fn renewed(
    oidc: &Oidc,
    sessions: &Sessions,
    id: &str,
    principal: Arc<Principal>,
    due: &Due,
) -> Result<Arc<Principal>, Reason> {
    let is_renewed = || sessions.is_renewed(id, &due.grant);
    match oidc.renew(&principal.identity, &due.grant, is_renewed).await {
        Ok(Some(granted)) => {
            let principal = Arc::clone(&granted.principal);
            sessions.renew(id, granted);
            Ok(principal)
        }
        // Another request renewed them, or the session ended.
        Ok(None) if is_renewed() => Ok(sessions.find(id).ok_or(Reason::Session)?.principal),
        Ok(None) | Err(SignInFailure::Unavailable) if !due.have_ended => Ok(principal),
        Ok(None) | Err(SignInFailure::Unavailable) => Err(Reason::IssuerUnavailable),
        Err(_) => {
            sessions.end(id);
            Err(Reason::Session)
        }
    }
}
