//! Identity: users, groups, roles, tenants, mapping rules and their authorizations.

mod caller;
mod command;
mod entity_type;
mod grants;
mod permission;
mod saved_view;

pub use caller::Caller;
pub use command::{
    Circle, CircleKind, IdentityCommand, MappingRule, Membership, PasswordHash, User, UserChange,
};
pub use entity_type::EntityType;
pub use grants::{Access, Authorization, AuthorizationScope, AuthorizationView, Grants, Principal};
pub use permission::{PermissionType, ResourceType, UserTaskProperty};
pub use saved_view::{SavedView, SavedViewCommand};
