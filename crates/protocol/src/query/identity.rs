//! Questions about who there is and what they may do.

#![expect(missing_docs, reason = "names say what is held")]

use crate::{
    AuthorizationView, Circle, CircleKind, EntityType, Grants, Key, MappingRule, Name, PasswordHash,
    Principal, SavedView,
};
use minicbor::{Decode, Encode};

/// See [`crate::Query::Identity`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityQuery {
    User {
        username: Name,
    },
    Users {
        /// How many at the most.
        limit: usize,
    },
    /// Hash of a user's password.
    PasswordHash {
        username: Name,
    },
    /// A group, role or tenant.
    Circle {
        kind: CircleKind,
        id: Name,
    },
    /// All groups, roles or tenants.
    Circles {
        kind: CircleKind,
        /// How many at the most.
        limit: usize,
    },
    MappingRule {
        id: Name,
    },
    MappingRules {
        /// How many at the most.
        limit: usize,
    },
    /// The members of a group, role or tenant; none if it does not exist.
    Members {
        /// Of what kind it is.
        kind: CircleKind,
        circle_id: Name,
        /// Members of this kind.
        entity_type: EntityType,
        /// How many at the most.
        limit: usize,
    },
    /// The groups, roles or tenants that somebody is a member of; none if there is nobody.
    CirclesOf {
        /// Of what kind the member is.
        entity_type: EntityType,
        entity_id: Name,
        kind: CircleKind,
        /// How many at the most.
        limit: usize,
    },
    Authorization {
        key: Key,
    },
    Authorizations {
        /// How many at the most.
        limit: usize,
    },
    /// Whether anybody has, or ever had, the role of administrators.
    HadAdministrator,
    /// Everything that is granted to a principal.
    Grants {
        principal: Principal,
        /// How many authorizations at the most.
        limit: usize,
    },
    /// Since when all grants are as they are, to compare with [`Grants::valid_from`].
    GrantsVersion,
    /// The views of an owner, and those that are shared.
    SavedViews {
        owner: Name,
    },
}

/// The answer to an [`IdentityQuery`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityReply {
    /// See [`IdentityQuery::User`].
    User(UserView),
    /// See [`IdentityQuery::Users`]: by their names.
    Users(Page<UserView>),
    /// See [`IdentityQuery::PasswordHash`].
    PasswordHash(PasswordHash),
    /// See [`IdentityQuery::Circle`].
    Circle(CircleView),
    /// See [`IdentityQuery::Circles`] and [`IdentityQuery::CirclesOf`], and members that are roles: by their IDs.
    Circles(Page<CircleView>),
    /// See [`IdentityQuery::MappingRule`].
    MappingRule(MappingRule),
    /// See [`IdentityQuery::MappingRules`], and members that are mapping rules: by their IDs.
    MappingRules(Page<MappingRule>),
    /// See [`IdentityQuery::Members`]: names of users, IDs of clients or groups, in order.
    Members(Page<Name>),
    /// See [`IdentityQuery::Authorization`].
    Authorization(AuthorizationView),
    /// See [`IdentityQuery::Authorizations`]: by their keys.
    Authorizations(Page<AuthorizationView>),
    /// See [`IdentityQuery::HadAdministrator`].
    HadAdministrator(bool),
    /// See [`IdentityQuery::Grants`].
    Grants(Box<Grants>),
    /// See [`IdentityQuery::GrantsVersion`].
    GrantsVersion(u64),
    /// See [`IdentityQuery::SavedViews`]: in the order of their keys.
    SavedViews(Vec<SavedView>),
}

/// The first of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Whether there are more than the limit.
    pub has_more: bool,
}

/// A user, without what nobody needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct UserView {
    #[n(0)]
    pub username: Name,
    /// Display name; may be empty.
    #[n(1)]
    pub name: Name,
    /// Where it gets mail; may be empty.
    #[n(2)]
    pub email: Name,
}

/// A group, role or tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CircleView {
    pub key: Key,
    pub circle: Circle,
}
