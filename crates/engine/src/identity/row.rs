//! The rows of who there is and what they may do.

use std::sync::Arc;

use minicbor::{Decode, Encode};
use protocol::{Authorization, Circle, Key, MappingRule, Name, SavedView, User};
use state::minicbor_value;

/// Kind and ID of a circle and of its member, or the other way round.
pub(crate) type Pair = (u8, Arc<str>, u8, Arc<str>);

/// Kind and ID of the owner, resource type, kind and text of the scope, authorization.
pub(crate) type Owned = (u8, Arc<str>, u8, (u8, Arc<str>), Key);

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StoredUser {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub user: User,
}
minicbor_value!(StoredUser);

/// A group, role or tenant.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StoredCircle {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub circle: Circle,
}
minicbor_value!(StoredCircle);

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StoredMappingRule {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub rule: MappingRule,
}
minicbor_value!(StoredMappingRule);

/// Which mapping rule a claim meets.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ClaimedRule {
    #[n(0)]
    pub id: Name,
}
minicbor_value!(ClaimedRule);

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StoredAuthorization {
    #[n(0)]
    pub authorization: Authorization,
}
minicbor_value!(StoredAuthorization);

/// A list with its filters.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StoredView {
    #[n(0)]
    pub view: SavedView,
}
minicbor_value!(StoredView);
