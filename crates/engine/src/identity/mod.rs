//! Identity and authorizations, as the tables have them. Nothing here changes a row; the commands do.
//!
//! A principal (user or client) meets mapping rules by the claims of its token, is in groups (its own, those of its
//! mapping rules, those that its token names), has roles (its own, of its mapping rules and groups) and is assigned
//! tenants (all of these may be). Nothing is nested deeper. It may do what any of them, tenants excepted, may do.

pub(crate) mod access;
mod change;
pub(crate) mod default_roles;
mod forgotten;
pub(crate) mod row;

pub use forgotten::Forgotten;
pub(crate) use row::{Owned, Pair};

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use protocol::{
    Access, Authorization, AuthorizationScope, CircleKind, EntityType, Key, Name, PermissionType, Principal,
    ResourceType,
};
use state::StateError;

use crate::core::slices::Slices;
use crate::entity::tables::Tables;

/// All pairs that begin with this one, and go on with this kind if there is one.
pub(crate) fn pairs_of(kind: u8, id: &Name, other: Option<u8>) -> Range<Pair> {
    let pair = |other| (kind, Arc::clone(&id.0), other, Arc::default());
    match other {
        Some(other) => pair(other)..pair(other + 1),
        None => pair(0)..pair(u8::MAX),
    }
}

/// Where a scope stands in the index of authorizations.
fn place(scope: &AuthorizationScope) -> (u8, Arc<str>) {
    match scope {
        AuthorizationScope::Any => (0, Arc::default()),
        AuthorizationScope::Id(id) => (1, Arc::clone(&id.0)),
        AuthorizationScope::Property(property) => (2, Arc::from(property.as_str())),
    }
}

/// Where an authorization stands in the index.
pub(crate) fn place_of(authorization: &Authorization, key: Key) -> Owned {
    let Authorization { owner_type, owner_id, resource_type, scope, .. } = authorization;
    (owner_type.number(), Arc::clone(&owner_id.0), resource_type.number(), place(scope), key)
}

/// All authorizations of an owner.
pub(crate) fn owned_by(owner_type: EntityType, owner_id: &Name) -> Range<Owned> {
    let owned = |resource| (owner_type.number(), Arc::clone(&owner_id.0), resource, (0, Arc::default()), 0);
    owned(0)..owned(u8::MAX)
}

/// The authorizations of an owner for one scope.
pub(crate) fn authorizations_for(
    tables: &Tables,
    owner_type: EntityType,
    owner_id: &Name,
    resource_type: ResourceType,
    scope: &AuthorizationScope,
) -> Result<Vec<Arc<row::StoredAuthorization>>, StateError> {
    let owned =
        |key| (owner_type.number(), Arc::clone(&owner_id.0), resource_type.number(), place(scope), key);
    // There are no more of them than permissions, as each is in one only, or in few after changes.
    let mut found = Vec::new();
    let mut slices = Slices::of(owned(0)..=owned(Key::MAX));
    while let Some(keys) = slices.keys(&tables.authorization_by_owner)? {
        for (.., key) in keys {
            found.extend(tables.authorizations.get(&key)?);
        }
    }
    Ok(found)
}

/// Whether an entity exists that can be a member or an owner. There are clients without anybody creating them.
pub(crate) fn exists(tables: &Tables, entity_type: EntityType, id: &Name) -> Result<bool, StateError> {
    match entity_type {
        EntityType::User => tables.users.contains(&id.0),
        EntityType::Client => Ok(true),
        EntityType::Group => circle_exists(tables, CircleKind::Group, id),
        EntityType::Role => circle_exists(tables, CircleKind::Role, id),
        EntityType::MappingRule => tables.mapping_rules.contains(&id.0),
    }
}

pub(crate) fn circle_exists(tables: &Tables, kind: CircleKind, id: &Name) -> Result<bool, StateError> {
    tables.circles.contains(&(kind.number(), Arc::clone(&id.0)))
}

/// Whether any entity has the role of administrators.
pub(crate) fn has_administrator(tables: &Tables) -> Result<bool, StateError> {
    let id = Name::from(default_roles::ADMIN);
    Ok(!tables.members.keys(pairs_of(CircleKind::Role.number(), &id, None), 1)?.is_empty())
}

/// Memberships of a principal.
#[derive(Default)]
pub(crate) struct Memberships {
    /// The claims that meet mapping rules.
    pub claims: BTreeSet<(Name, Name)>,
    pub mapping_rules: BTreeSet<Name>,
    pub groups: BTreeSet<Name>,
    pub roles: BTreeSet<Name>,
    pub tenants: BTreeSet<Name>,
}

impl Memberships {
    pub fn of(tables: &Tables, principal: &Principal) -> Result<Self, StateError> {
        let mut standing = Self { groups: principal.groups.iter().cloned().collect(), ..Self::default() };
        for (name, value) in &principal.claims {
            let rule = tables.mapping_rule_by_claim.get(&(Arc::clone(&name.0), Arc::clone(&value.0)))?;
            let Some(rule) = rule else { continue };
            standing.mapping_rules.insert(rule.id.clone());
            standing.claims.insert((name.clone(), value.clone()));
        }
        // In this order, since each looks at those found so far.
        let groups = standing.circles(tables, principal, CircleKind::Group)?;
        standing.groups.extend(groups);
        standing.roles = standing.circles(tables, principal, CircleKind::Role)?;
        standing.tenants = standing.circles(tables, principal, CircleKind::Tenant)?;
        Ok(standing)
    }

    /// Owners whose permissions the principal shares.
    pub fn owners<'a>(&'a self, principal: &'a Principal) -> impl Iterator<Item = (EntityType, &'a Name)> {
        let of = |entity_type, ids: &'a BTreeSet<Name>| ids.iter().map(move |id| (entity_type, id));
        std::iter::once((principal.entity_type, &principal.id))
            .chain(of(EntityType::Role, &self.roles))
            .chain(of(EntityType::Group, &self.groups))
            .chain(of(EntityType::MappingRule, &self.mapping_rules))
    }

    /// The circles of a kind that the owners found so far are in.
    fn circles(
        &self,
        tables: &Tables,
        principal: &Principal,
        kind: CircleKind,
    ) -> Result<BTreeSet<Name>, StateError> {
        let mut found = BTreeSet::new();
        for (entity_type, id) in self.owners(principal) {
            let range = pairs_of(entity_type.number(), id, Some(kind.number()));
            tables.member_of.visit(range, |(.., circle), _| {
                found.insert(Name(Arc::clone(circle)));
                ControlFlow::Continue(())
            })?;
        }
        // Of a deleted one, memberships may be left for a moment.
        let mut failed = None;
        found.retain(|id| {
            circle_exists(tables, kind, id).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                false
            })
        });
        failed.map_or(Ok(found), Err)
    }
}

/// Whether a principal may do something.
pub fn is_authorized(
    tables: &Tables,
    principal: &Principal,
    access: &Access<'_>,
) -> Result<bool, StateError> {
    is_allowed(tables, &Memberships::of(tables, principal)?, principal, access)
}

/// Whether a principal with known memberships may do something.
pub(crate) fn is_allowed(
    tables: &Tables,
    standing: &Memberships,
    principal: &Principal,
    access: &Access<'_>,
) -> Result<bool, StateError> {
    let scopes: Vec<_> = std::iter::once(AuthorizationScope::Any)
        .chain(access.resource_id.map(|id| AuthorizationScope::Id(id.into())))
        .chain(access.properties.iter().copied().map(AuthorizationScope::Property))
        .collect();
    for (owner_type, owner_id) in standing.owners(principal) {
        for scope in &scopes {
            let stored = authorizations_for(tables, owner_type, owner_id, access.resource_type, scope)?;
            if stored.iter().any(|stored| stored.authorization.allows(access)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a principal may do something with one resource at least.
pub(crate) fn is_allowed_anywhere(
    tables: &Tables,
    standing: &Memberships,
    principal: &Principal,
    resource_type: ResourceType,
    permission: PermissionType,
) -> Result<bool, StateError> {
    for (owner_type, owner_id) in standing.owners(principal) {
        let owned =
            |resource| (owner_type.number(), Arc::clone(&owner_id.0), resource, (0, Arc::default()), 0);
        let range = owned(resource_type.number())..owned(resource_type.number() + 1);
        // The answer is remembered until a grant changes, so that all of them may be looked at.
        let mut slices = Slices::of(range);
        while let Some(keys) = slices.keys(&tables.authorization_by_owner)? {
            for (.., key) in keys {
                let stored = tables.authorizations.get(&key)?;
                if stored.is_some_and(|stored| stored.authorization.permissions.contains(&permission)) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}
