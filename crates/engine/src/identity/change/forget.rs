//! Removes what is left of somebody who was deleted: members, memberships and authorizations, a slice at a time.

use std::sync::Arc;

use protocol::{Circle, CircleKind, EntityType, Intent, Key, Membership, Name, Rejection};

use super::member::describe;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::identity::{Forgotten, owned_by, pairs_of};

/// The only numbers in these tables.
const KNOWN: &str = "tables hold numbers of kinds that there are";

impl CommandContext<'_> {
    /// Begins to remove what is left.
    pub(super) fn forget(&mut self, forgotten: Forgotten) {
        self.steps.push_back(Step::ForgetIdentity(forgotten));
    }

    /// Removes the next slice.
    pub fn forget_identity(&mut self, forgotten: Forgotten) -> Result<(), Failure> {
        let mut room = self.options.max_children_per_step;
        for membership in self.memberships_left(&forgotten, room)? {
            room -= 1;
            self.forget_membership(&forgotten, &membership)?;
        }
        for key in self.authorizations_left(&forgotten, room)? {
            room -= 1;
            self.drop_authorization(key)?;
        }
        self.grants_changed();
        if room == 0 {
            self.forget(forgotten);
        }
        Ok(())
    }

    /// Refuses a new entity while grants of a deleted one with the same ID are being removed.
    pub(super) fn check_forgotten(&self, forgotten: &Forgotten) -> Result<(), Failure> {
        let is_gone = self.memberships_left(forgotten, 1)?.is_empty()
            && self.authorizations_left(forgotten, 1)?.is_empty();
        if is_gone {
            return Ok(());
        }
        let what =
            forgotten.circle.map_or_else(|| forgotten.entity.map_or("", describe), super::circle::noun);
        Err(Rejection::invalid_state(format!(
            "Expected to create a {what} with ID '{}', but its predecessor is still being removed",
            forgotten.id
        ))
        .into())
    }

    /// Members of it first, then what it is a member of.
    fn memberships_left(&self, forgotten: &Forgotten, limit: usize) -> Result<Vec<Membership>, Failure> {
        let mut found = Vec::new();
        if let Some(kind) = forgotten.circle {
            let keys = self.tables.members.keys(pairs_of(kind.number(), &forgotten.id, None), limit)?;
            found.extend(keys.into_iter().map(|(_, _, entity_type, entity_id)| Membership {
                kind,
                circle_id: forgotten.id.clone(),
                entity_type: EntityType::from_number(entity_type).expect(KNOWN),
                entity_id: Name(entity_id),
            }));
        }
        if let Some(entity_type) = forgotten.entity {
            let range = pairs_of(entity_type.number(), &forgotten.id, None);
            let keys = self.tables.member_of.keys(range, limit - found.len())?;
            found.extend(keys.into_iter().map(|(_, _, kind, circle_id)| Membership {
                kind: CircleKind::from_number(kind).expect(KNOWN),
                circle_id: Name(circle_id),
                entity_type,
                entity_id: forgotten.id.clone(),
            }));
        }
        Ok(found)
    }

    fn authorizations_left(&self, forgotten: &Forgotten, limit: usize) -> Result<Vec<Key>, Failure> {
        let Some(entity_type) = forgotten.entity else { return Ok(Vec::new()) };
        let range = owned_by(entity_type, &forgotten.id);
        let keys = self.tables.authorization_by_owner.keys(range, limit)?;
        Ok(keys.into_iter().map(|(.., key)| key).collect())
    }

    fn forget_membership(&mut self, forgotten: &Forgotten, membership: &Membership) -> Result<(), Failure> {
        let place = (membership.kind.number(), Arc::clone(&membership.circle_id.0));
        let stored = self.tables.circles.get(&place)?;
        let (key, circle) = stored.map_or_else(
            || {
                let id = membership.circle_id.clone();
                (forgotten.circle_key, Circle { id, name: Name::default(), description: Name::default() })
            },
            |stored| (stored.key, stored.circle.clone()),
        );
        let member = Some((membership.entity_type, &membership.entity_id));
        self.record_circle(membership.kind, key, Intent::EntityRemoved, &circle, member);
        self.drop_membership(membership);
        Ok(())
    }
}
