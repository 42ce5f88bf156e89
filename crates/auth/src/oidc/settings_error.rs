//! Errors of the settings of an issuer.

/// Errors of the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Not an absolute URL with http or https.
    #[error("{field}: '{url}' is no http or https URL")]
    Url {
        /// Which setting.
        field: &'static str,
        /// Its value.
        url: String,
    },
    /// Keys of an issuer behind TLS must come over TLS, too.
    #[error("keys_url: '{0}' is without TLS while the issuer is with")]
    Downgrade(String),
    /// Not a path to a claim.
    #[error("'{path}' is no path to a claim: {reason}")]
    ClaimPath {
        /// Its value.
        path: String,
        /// The reason.
        reason: String,
    },
}
