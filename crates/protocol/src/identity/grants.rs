//! Authorizations, and what they allow.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{EntityType, Key, Name, PermissionType, ResourceType, UserTaskProperty};

/// Permissions of an owner. No authorization takes a permission away.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Authorization {
    /// Of what kind the owner is.
    #[n(0)]
    pub owner_type: EntityType,
    /// ID of the owner; the name of a user.
    #[n(1)]
    pub owner_id: Name,
    #[n(2)]
    pub resource_type: ResourceType,
    /// With which of them.
    #[n(3)]
    pub scope: AuthorizationScope,
    /// The permissions, in the order of their numbers, each once.
    #[n(4)]
    pub permissions: Vec<PermissionType>,
}

/// Which resources of a type are meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub enum AuthorizationScope {
    #[n(0)]
    Any,
    /// The one with this ID.
    #[n(1)]
    Id(#[n(0)] Name),
    /// Those whose property names the one who asks. User tasks only.
    #[n(2)]
    Property(#[n(0)] UserTaskProperty),
}

impl AuthorizationScope {
    /// The ID that means all.
    pub const WILDCARD: &'static str = "*";

    /// The kind of comparison, as records name it.
    pub const fn matcher(&self) -> &'static str {
        match self {
            Self::Any => "ANY",
            Self::Id(_) => "ID",
            Self::Property(_) => "PROPERTY",
        }
    }

    /// From an ID, which may mean all.
    pub fn from_id(id: &str) -> Self {
        if id == Self::WILDCARD { Self::Any } else { Self::Id(id.into()) }
    }

    /// The ID, if it is one, or means all.
    pub fn resource_id(&self) -> Option<&str> {
        match self {
            Self::Any => Some(Self::WILDCARD),
            Self::Id(id) => Some(id),
            Self::Property(_) => None,
        }
    }

    /// The name of the property, if it is one.
    pub fn property_name(&self) -> Option<&'static str> {
        match self {
            Self::Property(property) => Some(property.as_str()),
            Self::Any | Self::Id(_) => None,
        }
    }
}

/// An access to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access<'a> {
    /// With what kind of resource.
    pub resource_type: ResourceType,
    pub permission: PermissionType,
    /// With which one. Without an ID, only an authorization for all allows it.
    pub resource_id: Option<&'a str>,
    /// Properties of the user task that name the one who asks.
    pub properties: &'a [UserTaskProperty],
}

impl Access<'_> {
    /// Whether a scope includes the resource.
    fn is_within(&self, scope: &AuthorizationScope) -> bool {
        match scope {
            AuthorizationScope::Any => true,
            AuthorizationScope::Id(id) => self.resource_id == Some(&**id),
            AuthorizationScope::Property(property) => self.properties.contains(property),
        }
    }
}

impl Authorization {
    /// Whether it allows this to its owner.
    pub fn allows(&self, access: &Access<'_>) -> bool {
        self.resource_type == access.resource_type
            && self.permissions.contains(&access.permission)
            && access.is_within(&self.scope)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationView {
    pub key: Key,
    pub authorization: Authorization,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Principal {
    #[n(0)]
    pub entity_type: EntityType,
    /// Name of the user or ID of the client.
    #[n(1)]
    pub id: Name,
    /// Groups that its token names, beside those that it is a member of.
    #[n(2)]
    pub groups: Vec<Name>,
    /// Claims of its token by name and value, one entry for each value of a list.
    #[n(3)]
    pub claims: Vec<(Name, Name)>,
}

impl Principal {
    /// A user of whom nothing else is known.
    pub fn user(username: impl Into<Name>) -> Self {
        Self::named(EntityType::User, username)
    }

    /// A client of which nothing else is known.
    pub fn client(id: impl Into<Name>) -> Self {
        Self::named(EntityType::Client, id)
    }

    fn named(entity_type: EntityType, id: impl Into<Name>) -> Self {
        Self { entity_type, id: id.into(), groups: Vec::new(), claims: Vec::new() }
    }
}

/// Everything that is granted to a principal. All lists are in the order of their IDs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Position in the log of the last change to anybody's grants before these were read. They hold as long as it is
    /// the same.
    pub valid_from: u64,
    /// Those of its claims that meet a mapping rule.
    pub claims: Vec<(Name, Name)>,
    /// Mapping rules that its claims meet.
    pub mapping_rules: Vec<Name>,
    pub groups: Vec<Name>,
    /// Roles, of its own or of its groups.
    pub roles: Vec<Name>,
    /// Tenants, of its own, of its groups or of its roles.
    pub tenants: Vec<Name>,
    /// Permissions of the principal, its groups, roles and mapping rules.
    pub authorizations: Vec<AuthorizationView>,
    /// Whether there are more authorizations than the limit.
    pub has_more: bool,
}

impl Grants {
    /// Whether this is allowed.
    pub fn allows(&self, access: &Access<'_>) -> bool {
        self.authorizations.iter().any(|view| view.authorization.allows(access))
    }
}
