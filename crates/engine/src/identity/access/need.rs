//! Permissions that are needed.

use minicbor::{Decode, Encode};
use protocol::{Access, Name, PermissionType, Rejection, RejectionType, ResourceType, UserTaskProperty};

/// One permission, with one resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub(crate) struct Need {
    #[n(0)]
    pub resource_type: ResourceType,
    #[n(1)]
    pub permission: PermissionType,
    /// Without it, only a permission for all resources will do, unless [`Self::for_any_one`].
    #[n(2)]
    pub resource_id: Option<Name>,
    /// Whether a permission for one resource will do, whichever that is.
    #[n(3)]
    pub for_any_one: bool,
    /// Properties of the user task that name whoever asks.
    #[n(4)]
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

    pub(super) fn access(&self) -> Access<'_> {
        Access {
            resource_type: self.resource_type,
            permission: self.permission,
            resource_id: self.resource_id.as_deref(),
            properties: &self.properties,
        }
    }

    pub(super) fn refusal(&self) -> Rejection {
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
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RequiredPermissions {
    /// The tenant of what it is about.
    #[n(0)]
    pub tenant_id: Option<Name>,
    /// Whether the command makes that. Else it is to be found there.
    #[n(1)]
    pub is_new: bool,
    /// One of these for each; the first of them is told when none is there.
    #[n(2)]
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
