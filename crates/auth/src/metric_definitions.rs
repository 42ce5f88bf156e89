//! Metrics of authentication.

use metrics::counter;

use crate::refusal::Reason;

/// A request was not let in.
pub(crate) fn refused(reason: Reason) {
    counter!("baton_auth_refused_total", "reason" => reason.name()).increment(1);
}

/// A password hash was computed.
pub(crate) fn hashed() {
    counter!("baton_auth_password_hashes_total").increment(1);
}

/// The keys of the issuer were asked for.
pub(crate) fn keys_fetched(succeeded: bool) {
    let result = if succeeded { "ok" } else { "failed" };
    counter!("baton_auth_key_fetches_total", "result" => result).increment(1);
}
