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

    /// For something that comes to be in a tenant.
    pub fn to_create(tenant_id: &Name, need: Need) -> Self {
        Self { is_new: true, ..Self::new(Some(tenant_id.clone()), need) }
    }
}

impl CommandContext<'_> {
    /// Refuses a command without the permissions that it requires.
    pub fn check_access(&mut self, command: &Command) -> Result<(), Failure> {
        let Some(caller) = self.checked_caller() else { return Ok(()) };
        match self.required_permissions(command, &caller)? {
            Some(required) => self.check_permissions(&caller, &required),
            None => Ok(()),
        }
    }

    /// The caller, if any check applies.
    fn checked_caller(&self) -> Option<Arc<Caller>> {
        let caller = self.origin.caller.as_ref()?;
        (caller.checks_authorizations || caller.checks_tenants).then(|| Arc::clone(caller))
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
