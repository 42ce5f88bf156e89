//! Members of groups, roles and tenants.

use std::sync::Arc;

use protocol::{EntityType, Intent, Membership, Name, Rejection};
use state::StateError;

use super::circle::noun;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::{Pair, exists, pairs_of};

/// Keys of a membership in its two tables: by the circle, and by the member.
fn places(membership: &Membership) -> (Pair, Pair) {
    let (circle, entity) = (&membership.circle_id.0, &membership.entity_id.0);
    let (kind, entity_type) = (membership.kind.number(), membership.entity_type.number());
    (
        (kind, Arc::clone(circle), entity_type, Arc::clone(entity)),
        (entity_type, Arc::clone(entity), kind, Arc::clone(circle)),
    )
}

/// The member's name in a sentence.
pub(super) fn describe(entity_type: EntityType) -> &'static str {
    match entity_type {
        EntityType::User => "user",
        EntityType::Client => "client",
        EntityType::Group => "group",
        EntityType::Role => "role",
        EntityType::MappingRule => "mapping rule",
    }
}

impl CommandContext<'_> {
    pub(super) fn add_member(&mut self, membership: &Membership) -> Result<(), Failure> {
        let Membership { kind, circle_id, entity_type, entity_id } = membership;
        let stored = self.find_circle(*kind, circle_id, "add a member to")?;
        let (place, reverse) = places(membership);
        let refused = |reason: &str| {
            let (noun, entity) = (noun(*kind), describe(*entity_type));
            format!("Expected to add the {entity} '{entity_id}' to the {noun} '{circle_id}', but {reason}")
        };
        if !kind.members().contains(entity_type) {
            return Err(Rejection::invalid_argument(refused("it cannot be a member")).into());
        }
        match entity_type {
            // Nothing else creates it.
            EntityType::Client => self.check_new_id("client", entity_id)?,
            EntityType::User | EntityType::Group | EntityType::Role | EntityType::MappingRule => {
                self.check_named_id("add a member", entity_id)?;
            }
        }
        if !self.may_name(*entity_type, entity_id)? {
            return Err(Rejection::not_found(refused("it does not exist")).into());
        }
        if self.tables.members.contains(&place)? {
            return Err(Rejection::already_exists(refused("it is a member already")).into());
        }
        let limit = self.options.max_memberships_per_entity;
        let range = pairs_of(entity_type.number(), entity_id, Some(kind.number()));
        if self.tables.member_of.keys(range, limit)?.len() == limit {
            let reason = refused(&format!("it is in {limit} already, which is the limit"));
            return Err(Rejection::invalid_state(reason).into());
        }
        let member = Some((*entity_type, entity_id));
        self.record_circle(*kind, stored.key, Intent::EntityAdded, &stored.circle, member);
        self.tables.members.put(place, ());
        self.tables.member_of.put(reverse, ());
        Ok(())
    }

    /// Whether an entity can be a member or an owner: it is known, or kept elsewhere.
    pub(super) fn may_name(&self, entity_type: EntityType, id: &Name) -> Result<bool, StateError> {
        let is_foreign =
            self.origin.caller.as_ref().is_some_and(|caller| caller.foreign.contains(&entity_type));
        Ok(is_foreign || exists(self.tables, entity_type, id)?)
    }

    pub(super) fn remove_member(&mut self, membership: &Membership) -> Result<(), Failure> {
        let Membership { kind, circle_id, entity_type, entity_id } = membership;
        let stored = self.find_circle(*kind, circle_id, "remove a member from")?;
        if !self.tables.members.contains(&places(membership).0)? {
            return Err(Rejection::not_found(format!(
                "Expected to remove the {} '{entity_id}' from the {} '{circle_id}', but it is no member",
                describe(*entity_type),
                noun(*kind)
            ))
            .into());
        }
        let member = Some((*entity_type, entity_id));
        self.record_circle(*kind, stored.key, Intent::EntityRemoved, &stored.circle, member);
        self.drop_membership(membership);
        Ok(())
    }

    pub(super) fn drop_membership(&mut self, membership: &Membership) {
        let (place, reverse) = places(membership);
        self.tables.members.delete(&place);
        self.tables.member_of.delete(&reverse);
    }
}
