//! Settings of an issuer.

use super::claim_path::ClaimPath;
use super::settings_error::SettingsError;
use crate::tls::ClientTls;
use http::Uri;
use std::fmt;
use std::time::Duration;

/// Accepted tokens and the meaning of their claims.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// The issuer: the URL below which its discovery document is, and what `iss` must be, letter by letter.
    pub issuer: String,
    /// Where the keys are. Without it the discovery document says so.
    pub keys_url: Option<String>,
    /// One of these must be in `aud`. Empty: not looked at.
    pub audiences: Vec<String>,
    /// `azp` must be one of these. Empty: not looked at.
    pub authorized_parties: Vec<String>,
    /// Tolerated difference between the clocks of issuer and server.
    pub clock_skew: Duration,
    /// The claim with the user name.
    pub user_name: ClaimPath,
    /// The claim with the client ID.
    pub client_id: Option<ClaimPath>,
    /// A token that has both is a user's; otherwise it is a client's.
    pub prefer_user_name: bool,
    /// The claim with the groups: a text, or a list of texts.
    pub groups: Option<ClaimPath>,
    /// Age at which the issuer's keys are fetched again.
    pub keys_age_max: Duration,
    /// How the issuer is reached over TLS.
    pub tls: ClientTls,
    /// The client of the issuer that people sign in by. Without it, only tokens are taken.
    pub code_flow: Option<CodeFlowSettings>,
}

/// A client of the issuer that people sign in by (OpenID Connect Core 1.0 §3.1).
#[derive(Clone)]
pub struct CodeFlowSettings {
    /// The ID that the issuer knows this server by.
    pub client_id: String,
    /// The secret of that client. Without it, the client is a public one.
    pub client_secret: Option<String>,
    /// Where the issuer sends browsers back to. Without it, the address that the browser came by counts.
    pub redirect_uri: Option<String>,
    /// Asked for. `openid` is always among them.
    pub scopes: Vec<String>,
    /// Where the issuer sends browsers after they signed out there.
    pub post_logout_redirect_uri: Option<String>,
}

impl fmt::Debug for CodeFlowSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeFlowSettings").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl CodeFlowSettings {
    /// A public client that asks who somebody is.
    pub fn new(client_id: impl Into<String>) -> Self {
        Self {
            client_id: client_id.into(),
            client_secret: None,
            redirect_uri: None,
            scopes: vec!["openid".to_owned()],
            post_logout_redirect_uri: None,
        }
    }
}

impl OidcSettings {
    /// The usual for an issuer: user name in `sub`, 60 s of skew, keys for five minutes.
    pub fn new(issuer: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            keys_url: None,
            audiences: vec![],
            authorized_parties: vec![],
            clock_skew: Duration::from_secs(60),
            user_name: ClaimPath::parse("sub").expect("a plain name"),
            client_id: None,
            prefer_user_name: false,
            groups: None,
            keys_age_max: Duration::from_secs(5 * 60),
            tls: ClientTls::default(),
            code_flow: None,
        }
    }
}

/// An absolute URL with http or https.
pub(super) fn parse_url(field: &'static str, url: &str) -> Result<Uri, SettingsError> {
    let error = || SettingsError::Url { field, url: url.to_owned() };
    let uri: Uri = url.parse().map_err(|_| error())?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.host().is_some() { Ok(uri) } else { Err(error()) }
}

/// An absolute URL of an endpoint; an issuer whose discovery URL has https may name none with http.
pub(super) fn parse_endpoint(
    field: &'static str,
    url: &str,
    discovery_url: &Uri,
) -> Result<Uri, SettingsError> {
    let uri = parse_url(field, url)?;
    if discovery_url.scheme_str() == Some("https") && uri.scheme_str() != Some("https") {
        return Err(SettingsError::Downgrade { field, url: url.to_owned() });
    }
    Ok(uri)
}
