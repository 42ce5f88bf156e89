//! The discovery document of an issuer (OpenID Connect Discovery 1.0 §3).

use http::Uri;
use serde::Deserialize;

use super::fetch::fetch;
use super::settings::parse_url;
use super::settings_error::SettingsError;
use crate::tls::ClientTls;

/// The relevant part.
#[derive(Debug, Deserialize)]
pub(super) struct Discovery {
    issuer: String,
    pub jwks_uri: String,
    pub authorization_endpoint: Option<String>,
    pub token_endpoint: Option<String>,
    pub end_session_endpoint: Option<String>,
    /// Whether its answers by way of a browser name it (RFC 9207 §3).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

pub(super) fn discovery_url(issuer: &str) -> Result<Uri, SettingsError> {
    parse_url("issuer", issuer)?;
    parse_url("issuer", &format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/')))
}

/// The document at `url`, which must be that of `issuer`.
pub(super) async fn discover(url: &Uri, issuer: &str, tls: &ClientTls) -> Result<Discovery, String> {
    let json = fetch(url, tls).await.map_err(|error| format!("{url}: {error}"))?;
    let document: Discovery = serde_json::from_slice(&json).map_err(|error| format!("{url}: {error}"))?;
    // Otherwise somebody else would vouch for this issuer's tokens (OpenID Connect Discovery 1.0 §4.3).
    if document.issuer != issuer {
        return Err(format!("{url}: it is the document of '{}'", document.issuer));
    }
    Ok(document)
}
