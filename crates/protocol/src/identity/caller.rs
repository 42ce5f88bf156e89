//! Callers of commands.

use minicbor::{Decode, Encode};

use crate::{EntityType, Principal};

/// The caller of a command and the checks at its application. The checks stand with the command,
/// since all replicas must do alike, whatever their configuration is by then.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Caller {
    /// The principal. Groups and claims are present as far as the checks need them.
    #[n(0)]
    pub principal: Principal,
    /// Whether it needs permissions for what it asks.
    #[n(1)]
    pub checks_authorizations: bool,
    /// Whether it must be assigned to the tenants of what it is about.
    #[n(2)]
    pub checks_tenants: bool,
    /// Kinds of members and owners that are kept elsewhere and need not be known here.
    #[n(3)]
    pub foreign: Vec<EntityType>,
}

impl Caller {
    /// A caller without checks, known by its name only.
    pub const fn unchecked(principal: Principal) -> Self {
        Self { principal, checks_authorizations: false, checks_tenants: false, foreign: Vec::new() }
    }
}
