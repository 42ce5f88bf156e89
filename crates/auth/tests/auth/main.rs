//! Authentication as a gateway uses it: against an issuer on localhost, a store of users, browsers and real handshakes.
#![allow(clippy::unwrap_used)]

mod basic;
mod code_flow;
mod fixture;
mod issuer;
mod oidc;
mod session;
mod tls;
