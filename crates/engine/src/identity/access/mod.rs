//! Whether whoever asks for a command may have it.
//!
//! A command says who asks and what of that is to be checked; the engine knows who may do what. [`needs`] tells of
//! each command what it takes, [`rights`] remembers what was found out. Commands of nobody in particular and of the
//! leader are not checked, and cost one look at an option.
//!
//! Refusals are worded as clients of the compatible API know them. A principal that is not assigned to the tenant of
//! something is told that there is no such thing.

mod need;
mod needs;
pub(crate) mod rights;

use std::sync::Arc;

use protocol::{
    Caller, Command, HistoryKind, HistoryOwner, Name, PermissionType, Principal, Rejection, RejectionType,
    ResourceType,
};
use state::StateError;

pub(crate) use need::RequiredPermissions;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::Instance;
use crate::identity::Memberships;
use need::Need;

impl CommandContext<'_> {
    /// Refuses a command without the permissions that it requires, which are given back. If it was done before, they
    /// are known: its subject may be gone.
    pub fn check_access(
        &mut self,
        command: &Command,
        known: Option<RequiredPermissions>,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let Some(caller) = self.checked_caller() else { return Ok(None) };
        let required = match known {
            Some(known) => Some(known),
            None => self.required_permissions(command, &caller)?,
        };
        if let Some(required) = &required {
            self.check_permissions(&caller, required)?;
        }
        Ok(required)
    }

    /// The caller, if any check applies.
    fn checked_caller(&self) -> Option<Arc<Caller>> {
        let caller = self.origin.caller.as_ref()?;
        (caller.checks_authorizations || caller.checks_tenants).then(|| Arc::clone(caller))
    }

    fn memberships_of(&mut self, principal: &Principal) -> Result<Arc<Memberships>, StateError> {
        self.rights.memberships_of(self.tables, self.meta.grants_version, principal)
    }

    /// Whether a principal has a permission.
    fn is_allowed(&mut self, principal: &Principal, need: &Need) -> Result<bool, StateError> {
        self.rights.is_allowed(self.tables, self.meta.grants_version, principal, need)
    }

    /// Whether the caller may know that something of a tenant exists.
    pub fn knows_tenant(&mut self, caller: &Caller, tenant_id: &Name) -> Result<bool, StateError> {
        Ok(!caller.checks_tenants || self.memberships_of(&caller.principal)?.tenants.contains(tenant_id))
    }

    /// Whether a caller has a permission within a tenant; without a caller, there is no restriction.
    fn may(&mut self, caller: Option<&Caller>, tenant_id: &Name, need: &Need) -> Result<bool, StateError> {
        let Some(caller) = caller else { return Ok(true) };
        if !self.knows_tenant(caller, tenant_id)? {
            return Ok(false);
        }
        Ok(!caller.checks_authorizations || self.is_allowed(&caller.principal, need)?)
    }

    /// Whether a caller has a permission on a process instance; without a caller, there is no restriction.
    pub fn may_on_instance(
        &mut self,
        caller: Option<&Caller>,
        permission: PermissionType,
        instance: &Instance,
    ) -> Result<bool, StateError> {
        self.may(caller, &instance.tenant_id, &Need::process(permission, &instance.process_id))
    }

    /// Whether a caller may read the history of a process instance or decision instance.
    pub fn may_see_history(
        &mut self,
        caller: Option<&Caller>,
        kind: HistoryKind,
        owner: &HistoryOwner,
    ) -> Result<bool, StateError> {
        let id = &owner.definition_id;
        let need = match kind {
            HistoryKind::ProcessInstance => Need::process(PermissionType::ReadProcessInstance, id),
            HistoryKind::DecisionInstance => {
                Need::of(ResourceType::DecisionDefinition, PermissionType::ReadDecisionInstance, id.clone())
            }
        };
        self.may(caller, &owner.tenant_id, &need)
    }

    pub(super) fn check_permissions(
        &mut self,
        caller: &Caller,
        required: &RequiredPermissions,
    ) -> Result<(), Failure> {
        if let Some(tenant_id) = required.tenant_id.as_ref().filter(|id| !id.is_empty())
            && !self.knows_tenant(caller, tenant_id)?
        {
            return Err(not_assigned(required, tenant_id).into());
        }
        if !caller.checks_authorizations {
            return Ok(());
        }
        for any_of in &required.permissions {
            let mut is_allowed = false;
            for need in any_of {
                is_allowed = self.is_allowed(&caller.principal, need)?;
                if is_allowed {
                    break;
                }
            }
            if !is_allowed && let Some(need) = any_of.first() {
                return Err(need.refusal().into());
            }
        }
        Ok(())
    }
}

fn not_assigned(required: &RequiredPermissions, tenant_id: &Name) -> Rejection {
    let need = required.permissions.iter().flatten().next();
    let (operation, resource) =
        need.map_or(("", ""), |need| (need.permission.as_str(), need.resource_type.as_str()));
    let expected = format!("Expected to perform operation '{operation}' on resource '{resource}'");
    if required.is_new {
        let reason = format!("{expected} for tenant '{tenant_id}', but user is not assigned to this tenant");
        return Rejection::new(RejectionType::Forbidden, reason);
    }
    Rejection::not_found(format!("{expected}, but no resource was found for tenant '{tenant_id}'"))
}
