//! Whether whoever asks for a command may have it.
//!
//! A command says who asks and what of that is to be checked; the engine knows who may do what. [`needs`] tells of
//! each command what it takes, [`rights`] remembers what was found out. Commands of nobody in particular and of the
//! leader are not checked, and cost one look at an option.
//!
//! Refusals are worded as clients of the compatible API know them. A principal that is not assigned to the tenant of
//! something is told that there is no such thing.

mod needs;
pub(crate) mod rights;

use std::sync::Arc;

use protocol::{
    Access, Caller, Command, HistoryKind, HistoryOwner, Name, PermissionType, Rejection, RejectionType,
    ResourceType, UserTaskProperty,
};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::Instance;

/// One permission, with one resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Need {
    pub resource_type: ResourceType,
    pub permission: PermissionType,
    /// Without it, only a permission for all resources will do, unless [`Self::for_any_one`].
    pub resource_id: Option<Name>,
    /// Whether a permission for one resource will do, whichever that is.
    pub for_any_one: bool,
    /// Properties of the user task that name whoever asks.
    pub properties: Vec<UserTaskProperty>,
}

impl Need {
    pub fn of(resource_type: ResourceType, permission: PermissionType, id: impl Into<Name>) -> Self {
        Self {
            resource_type,
            permission,
            resource_id: Some(id.into()),
            for_any_one: false,
            properties: Vec::new(),
        }
    }

    pub fn any(resource_type: ResourceType, permission: PermissionType) -> Self {
        Self { resource_type, permission, resource_id: None, for_any_one: false, properties: Vec::new() }
    }

    /// With one resource at least.
    pub fn any_one(resource_type: ResourceType, permission: PermissionType) -> Self {
        Self { for_any_one: true, ..Self::any(resource_type, permission) }
    }

    /// With something of a process.
    pub fn process(permission: PermissionType, process_id: &Name) -> Self {
        Self::of(ResourceType::ProcessDefinition, permission, process_id.clone())
    }

    fn access(&self) -> Access<'_> {
        Access {
            resource_type: self.resource_type,
            permission: self.permission,
            resource_id: self.resource_id.as_deref(),
            properties: &self.properties,
        }
    }

    fn refusal(&self) -> Rejection {
        let Self { resource_type, permission, resource_id, .. } = self;
        let mut reason = format!(
            "Insufficient permissions to perform operation '{permission}' on resource '{resource_type}'"
        );
        if let Some(id) = resource_id {
            reason += &format!(", required resource identifiers are one of '[*, {id}]'");
        }
        Rejection::new(RejectionType::Forbidden, reason)
    }
}

/// Permissions that a command requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequiredPermissions {
    /// The tenant of what it is about.
    pub tenant_id: Option<Name>,
    /// Whether the command makes that. Else it is to be found there.
    pub is_new: bool,
    /// One of these for each; the first of them is told when none is there.
    pub permissions: Vec<Vec<Need>>,
}

impl RequiredPermissions {
    pub fn new(tenant_id: Option<Name>, need: Need) -> Self {
        Self { tenant_id, is_new: false, permissions: vec![vec![need]] }
    }
}

impl CommandContext<'_> {
    /// Refuses a command that whoever asks for it may not have.
    pub fn check_access(&mut self, command: &Command) -> Result<(), Failure> {
        let Some(caller) = self.checked_caller() else { return Ok(()) };
        match self.demands(command, &caller)? {
            Some(demands) => self.check_demands(&caller, &demands),
            None => Ok(()),
        }
    }

    /// The caller, if any check applies.
    fn checked_caller(&self) -> Option<Arc<Caller>> {
        let caller = self.origin.caller.as_ref()?;
        (caller.checks_authorizations || caller.checks_tenants).then(|| Arc::clone(caller))
    }

    /// Whether something of a tenant may be known to exist to somebody.
    pub fn knows_tenant(&mut self, caller: &Caller, tenant_id: &Name) -> Result<bool, StateError> {
        Ok(!caller.checks_tenants || self.standing(&caller.principal)?.tenants.contains(tenant_id))
    }

    /// Whether somebody may do something with what is of a tenant; nobody in particular may do everything.
    fn may(&mut self, caller: Option<&Caller>, tenant_id: &Name, need: &Need) -> Result<bool, StateError> {
        let Some(caller) = caller else { return Ok(true) };
        if !self.knows_tenant(caller, tenant_id)? {
            return Ok(false);
        }
        Ok(!caller.checks_authorizations || self.is_allowed(&caller.principal, need)?)
    }

    /// Whether somebody may work on the jobs of a process instance.
    pub fn may_work_on(&mut self, caller: &Caller, instance: &Instance) -> Result<bool, StateError> {
        let need = Need::process(PermissionType::UpdateProcessInstance, &instance.process_id);
        self.may(Some(caller), &instance.tenant_id, &need)
    }

    /// Whether somebody may see a process instance.
    pub fn may_see(&mut self, caller: Option<&Caller>, instance: &Instance) -> Result<bool, StateError> {
        let need = Need::process(PermissionType::ReadProcessInstance, &instance.process_id);
        self.may(caller, &instance.tenant_id, &need)
    }

    /// Whether somebody may see what is kept of something.
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

    pub(super) fn check_demands(
        &mut self,
        caller: &Caller,
        demands: &RequiredPermissions,
    ) -> Result<(), Failure> {
        if let Some(tenant_id) = demands.tenant_id.as_ref().filter(|id| !id.is_empty())
            && !self.knows_tenant(caller, tenant_id)?
        {
            return Err(not_assigned(demands, tenant_id).into());
        }
        if !caller.checks_authorizations {
            return Ok(());
        }
        for any_of in &demands.permissions {
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

fn not_assigned(demands: &RequiredPermissions, tenant_id: &Name) -> Rejection {
    let need = demands.permissions.iter().flatten().next();
    let (operation, resource) =
        need.map_or(("", ""), |need| (need.permission.as_str(), need.resource_type.as_str()));
    let expected = format!("Expected to perform operation '{operation}' on resource '{resource}'");
    if demands.is_new {
        let reason = format!("{expected} for tenant '{tenant_id}', but user is not assigned to this tenant");
        return Rejection::new(RejectionType::Forbidden, reason);
    }
    Rejection::not_found(format!("{expected}, but no resource was found for tenant '{tenant_id}'"))
}
