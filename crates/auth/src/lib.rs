//! Authentication of requests, sessions of browsers, and TLS.
//!
//! A gateway hands what a request presents (its `Authorization` header, cookies, and what tells a browser's
//! request) to an [`Authenticator`] and gets a [`Principal`] or a [`Refusal`], which says what status and which
//! challenge to answer. Three methods: none, Basic against a store of users ([`Basic`]), and bearer tokens of an
//! OpenID Connect issuer ([`Oidc`]). A browser may trade either for a session ([`Sessions`]), or get one by signing in
//! at the issuer. [`ServerTls`] is for every port.
//!
//! Each request is answered from bounded caches: one keyed hash and one look-up. The password hash, the
//! check of a signature and the issuer are met only by what was not seen before.
//!
//! Authorizations, roles and tenants of a principal are not known here, nor HTTP beyond header names.

mod attempts;
mod authenticator;
mod basic;
mod clock;
mod failed_sign_ins;
mod metric_definitions;
mod oidc;
mod origin;
mod outbound;
mod password;
mod presented;
mod principal;
mod refusal;
mod secret;
mod session;
mod tls;

pub use attempts::AttemptLimits;
pub use authenticator::{Authenticator, Departed, Method, SignIn, SignInWay, SignedIn, SignedOut};
pub use basic::{Basic, Unavailable, Users};
pub use clock::Clock;
pub use oidc::{ClaimPath, CodeFlowSettings, Oidc, OidcSettings, SettingsError, SignInFailure, claim_values};
pub use origin::{Origin, Origins};
pub use outbound::{ConnectError, connect};
pub use password::{Cost, HashError, HashLimits, Hasher};
pub use presented::{CSRF_HEADER, Presented};
pub use principal::{Identity, Principal};
pub use refusal::{Reason, Refusal, TokenFault};
pub use secret::generated_password;
pub use session::{SessionSettings, Sessions};
pub use tls::{ClientCertificates, ClientTls, ServerTls, TlsError, TlsFiles};
