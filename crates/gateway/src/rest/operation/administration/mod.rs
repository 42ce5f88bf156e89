//! Operations on the broker and the cluster from outside: the same as at the management port, with the
//! permissions of the caller.
//!
//! Each operation stands at two paths: below `/v2` for a physical tenant, below `/cluster/v2` for all of them. There is
//! one, so both do the same.

pub(super) mod backups;
pub(super) mod cluster;
pub(super) mod exporting;
pub(super) mod history_backups;
pub(super) mod restore;
pub(super) mod secrets;

use std::sync::Arc;

use super::Call;
use crate::management::{OperationError, Operations};
use crate::rest::problem::Failure;
use crate::rest::problem_code::Code;
use crate::rest::writer::{Object, object};
use crate::wall_clock;

/// The only physical tenant: all data is in one cluster.
pub(super) const PHYSICAL_TENANT: &str = "default";

/// Adds the list of physical tenants, each with its members.
fn of_tenants(whole: Object<'_>, members: impl Fn(Object<'_>)) -> Object<'_> {
    whole.list("physicalTenants", [PHYSICAL_TENANT], |tenant, out| {
        members(object(out).with("physicalTenantId", tenant));
    })
}

/// The answer to an order that changes the cluster: the number of the change, and the steps that it takes.
fn planned<T>(
    change_id: &str,
    steps: impl IntoIterator<Item = T> + Clone,
    mut write: impl FnMut(T, &mut Vec<u8>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .with("changeId", change_id)
        .list("plannedChanges", [PHYSICAL_TENANT], |tenant, out| {
            object(out).with("physicalTenantId", tenant).list("operations", steps.clone(), &mut write).end();
        })
        .end();
    out
}

/// The number of a change that begins now.
fn new_change_id() -> String {
    wall_clock::now_ms().to_string()
}

impl Call<'_> {
    /// The broker as operators see it, if it runs.
    pub(in crate::rest) fn operations(&self) -> Result<Arc<dyn Operations>, Failure> {
        self.gateway
            .options
            .operations
            .get()
            .ok_or_else(|| Failure::new(Code::Unavailable, "the broker is starting"))
    }

    /// Refuses a request for a physical tenant that is not there.
    fn check_physical_tenant(&self) -> Result<(), Failure> {
        match self.query_parameter("physicalTenantId")? {
            Some(id) if id != PHYSICAL_TENANT => Err(Failure::not_found(format!(
                "physicalTenantId: expected '{PHYSICAL_TENANT}', the only physical tenant, but found '{id}'"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether a parameter of the query is there and true.
    fn is_set(&self, name: &str) -> Result<bool, Failure> {
        Ok(self.query_parameter(name)?.as_deref() == Some("true"))
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Self {
        let detail = error.to_string();
        match error {
            OperationError::Invalid(_) => Self::invalid(detail),
            OperationError::Forbidden(_) => Self::new(Code::Forbidden, detail),
            OperationError::NotFound(_) => Self::not_found(detail),
            OperationError::Conflict(_) => Self::new(Code::InvalidState, detail),
            OperationError::Unavailable(_) => Self::new(Code::Unavailable, detail),
            OperationError::Failed(_) => Self::internal(detail),
        }
    }
}
