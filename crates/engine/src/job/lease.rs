//! Leases: each activation of a job has a token, so that the answer to an earlier one is refused.

use protocol::{Demand, Key, Name, Rejection};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::Job;

impl CommandContext<'_> {
    /// A token that no other activation has, if the worker wants one.
    pub(super) fn new_lease(&self, key: Key, wanted: &Demand) -> Option<Name> {
        wanted.with_lease.then(|| Name::from(format!("{key:x}-{:x}", self.meta.position)))
    }
}

/// Refuses a command that names another activation of a job than the one that it has. A command without a token is for
/// whichever there is.
pub(super) fn check_lease(key: Key, job: &Job, lease: Option<&Name>, purpose: &str) -> Result<(), Failure> {
    let Some(lease) = lease else { return Ok(()) };
    if job.lease.as_ref() == Some(lease) {
        return Ok(());
    }
    let reason = match job.lease {
        Some(_) => "the lease is not that of its current activation",
        None => "it is not activated with a lease",
    };
    Err(Rejection::invalid_state(format!(
        "Expected to {purpose} job with key '{key}' and lease '{lease}', but {reason}"
    ))
    .into())
}
