//! Why a request is not let in, and what to answer.

/// Faults of a bearer token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// It is not three parts of base64url with JSON inside.
    #[error("the token is malformed: {0}")]
    Malformed(&'static str),
    /// Signed by an algorithm that is not accepted; `none` and those with a shared secret never are.
    #[error("the token's algorithm is not accepted")]
    Algorithm,
    /// Its `typ` says it is something else than a token for access.
    #[error("the token's type is not accepted")]
    Type,
    /// It has extensions that must be understood (`crit`).
    #[error("the token has critical extensions")]
    Critical,
    /// The issuer has no key of that ID.
    #[error("the token's key is unknown")]
    UnknownKey,
    /// The signature is not that of the content.
    #[error("the token's signature is wrong")]
    Signature,
    /// Another issuer's.
    #[error("the token's issuer is wrong")]
    Issuer,
    /// Meant for somebody else.
    #[error("the token's audience is wrong")]
    Audience,
    /// Given to a party that is not accepted (`azp`).
    #[error("the token's authorized party is not accepted")]
    AuthorizedParty,
    /// Too old.
    #[error("the token has expired")]
    Expired,
    /// Too young.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// Neither the claim for the user name nor the one for the client ID holds a name.
    #[error("the token names neither a user nor a client")]
    NoIdentity,
    /// The claim for groups holds something else than texts.
    #[error("the token's groups are no list of names")]
    Groups,
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It has no credentials.
    #[error("credentials are missing")]
    Missing,
    /// Its content cannot be read.
    #[error("credentials are malformed: {0}")]
    Malformed(&'static str),
    /// Its credentials are of another kind than the server takes.
    #[error("credentials are of the wrong kind: {0} is expected")]
    Scheme(&'static str),
    /// The user does not exist or the password is wrong; which of them is not told.
    #[error("user name or password is wrong")]
    Credentials,
    /// The token is not accepted.
    #[error("{0}")]
    Token(#[from] TokenFault),
    /// The session has ended, or never was.
    #[error("the session has ended")]
    Session,
    /// A page of another site made a browser send it.
    #[error("the request comes from another site")]
    CrossSite,
    /// It would change something, and the token that proves that our own page sent it is missing or wrong.
    #[error("the CSRF token is missing or wrong")]
    CsrfToken,
    /// Too many passwords wait for being checked.
    #[error("too many passwords are being checked")]
    Busy,
    /// Too many wrong passwords were tried for the user name.
    #[error("too many wrong passwords for this user name: try again in {seconds} s")]
    Resting {
        /// How long that is.
        seconds: u32,
    },
    /// The users could not be looked up.
    #[error("the user store cannot be read at the moment")]
    UsersUnavailable,
    /// The issuer's keys were never received.
    #[error("the keys of the token's issuer cannot be fetched at the moment")]
    IssuerUnavailable,
}

impl Reason {
    /// The HTTP status to answer: 401, 403, 429 or 503.
    pub fn status(&self) -> u16 {
        match self {
            Self::Missing
            | Self::Malformed(_)
            | Self::Scheme(_)
            | Self::Credentials
            | Self::Token(_)
            | Self::Session => 401,
            Self::CrossSite | Self::CsrfToken => 403,
            Self::Resting { .. } => 429,
            Self::Busy | Self::UsersUnavailable | Self::IssuerUnavailable => 503,
        }
    }

    /// A short name for metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Malformed(_) => "malformed",
            Self::Scheme(_) => "scheme",
            Self::Credentials => "credentials",
            Self::Token(_) => "token",
            Self::Session => "session",
            Self::CrossSite => "cross_site",
            Self::CsrfToken => "csrf_token",
            Self::Busy => "busy",
            Self::Resting { .. } => "resting",
            Self::UsersUnavailable => "users_unavailable",
            Self::IssuerUnavailable => "issuer_unavailable",
        }
    }
}

/// A request that is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// Why; its text may be shown to whoever asked.
    pub reason: Reason,
    /// Value of `WWW-Authenticate` for status 401 (RFC 9110 §11.6.1).
    pub challenge: Option<String>,
}

/// The realm in challenges.
const REALM: &str = "Baton";

impl Refusal {
    /// `Retry-After` in seconds, where trying again may help and it is known when (RFC 9110 §10.2.3).
    pub fn retry_after_s(&self) -> Option<u32> {
        match self.reason {
            Reason::Resting { seconds } => Some(seconds),
            _ => None,
        }
    }

    /// Asks for a user name and a password (RFC 7617).
    pub(crate) fn basic(reason: Reason) -> Self {
        let challenge = format!("Basic realm=\"{REALM}\", charset=\"UTF-8\"");
        Self { reason, challenge: (reason.status() == 401).then_some(challenge) }
    }

    /// Asks for a bearer token (RFC 6750 §3).
    pub(crate) fn bearer(reason: Reason) -> Self {
        let error = match reason {
            Reason::Token(_) => Some("invalid_token"),
            Reason::Malformed(_) => Some("invalid_request"),
            _ => None,
        };
        let mut challenge = format!("Bearer realm=\"{REALM}\"");
        if let Some(error) = error {
            challenge += &format!(", error=\"{error}\", error_description=\"{reason}\"");
        }
        Self { reason, challenge: (reason.status() == 401).then_some(challenge) }
    }

    pub(crate) fn plain(reason: Reason) -> Self {
        Self { reason, challenge: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_say_what_is_wanted() {
        assert_eq!(
            Refusal::basic(Reason::Missing).challenge.unwrap(),
            r#"Basic realm="Baton", charset="UTF-8""#
        );
        assert_eq!(Refusal::bearer(Reason::Missing).challenge.unwrap(), r#"Bearer realm="Baton""#);
        assert_eq!(
            Refusal::bearer(TokenFault::Expired.into()).challenge.unwrap(),
            r#"Bearer realm="Baton", error="invalid_token", error_description="the token has expired""#
        );
        assert_eq!(Refusal::bearer(Reason::CsrfToken).challenge, None);
        assert_eq!(Refusal::basic(Reason::Busy).challenge, None);
    }
}
