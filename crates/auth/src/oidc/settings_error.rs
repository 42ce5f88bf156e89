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
    /// Endpoints of an issuer behind TLS must be behind TLS, too.
    #[error("{field}: '{url}' is without TLS while the issuer is with")]
    Downgrade {
        /// Which setting.
        field: &'static str,
        /// Its value.
        url: String,
    },
    /// Not a path to a claim.
    #[error("'{path}' is no path to a claim: {reason}")]
    ClaimPath {
        /// Its value.
        path: String,
        /// The reason.
        reason: String,
    },
}
