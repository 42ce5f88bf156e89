//! Actors: the principals of the audit log.

use minicbor::{Decode, Encode};

use crate::intent::named;
use crate::{Caller, EntityType, Name};

named! {
    /// Kinds of actors.
    ActorType { Anonymous = 0 "ANONYMOUS", User = 1 "USER", Client = 2 "CLIENT", Unknown = 3 "UNKNOWN" }
}

/// The actor of a command.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Actor {
    /// Its kind.
    #[n(0)]
    pub actor_type: ActorType,
    /// Name of the user or ID of the client.
    #[n(1)]
    pub id: Option<Name>,
}

impl Actor {
    /// An actor without a name: authentication is off.
    pub const ANONYMOUS: Self = Self { actor_type: ActorType::Anonymous, id: None };

    /// The actor of a command, if known.
    pub fn of(caller: Option<&Caller>) -> Self {
        let Some(Caller { principal, .. }) = caller else { return Self::ANONYMOUS };
        let actor_type = match principal.entity_type {
            EntityType::User => ActorType::User,
            EntityType::Client => ActorType::Client,
            EntityType::Group | EntityType::Role | EntityType::MappingRule => ActorType::Unknown,
        };
        Self { actor_type, id: Some(principal.id.clone()) }
    }
}
