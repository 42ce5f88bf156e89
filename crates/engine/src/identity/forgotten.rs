//! An entity that was deleted, of which members, memberships or authorizations may be left.

use minicbor::{Decode, Encode};
use protocol::{CircleKind, EntityType, Key, Name};

/// The deleted entity.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Forgotten {
    /// Whether it had members.
    #[n(0)]
    pub(super) circle: Option<CircleKind>,
    /// Key of the one that had members.
    #[n(1)]
    pub(super) circle_key: Key,
    /// Its type as a member and owner.
    #[n(2)]
    pub(super) entity: Option<EntityType>,
    #[n(3)]
    pub(super) id: Name,
}

impl Forgotten {
    pub(super) fn entity(entity_type: EntityType, id: &Name) -> Self {
        Self { circle: None, circle_key: 0, entity: Some(entity_type), id: id.clone() }
    }

    pub(super) fn circle(kind: CircleKind, key: Key, id: &Name) -> Self {
        Self { circle: Some(kind), circle_key: key, entity: kind.as_entity(), id: id.clone() }
    }
}
