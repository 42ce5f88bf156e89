//! Changes of variables of the cluster and of tenants.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{Json, Name};

/// A change of a variable of the cluster or of a tenant.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ClusterVariable {
    #[n(0)]
    pub action: ClusterVariableAction,
    /// The tenant that sees it; `None`: all do.
    #[n(1)]
    pub tenant_id: Option<Name>,
    #[n(2)]
    pub name: Name,
    /// Its value; null if it is deleted.
    #[n(3)]
    pub value: Json,
}

/// Kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum ClusterVariableAction {
    /// There must be none of the name.
    #[n(0)]
    Create,
    /// There must be one of the name.
    #[n(1)]
    Update,
    /// There must be one of the name.
    #[n(2)]
    Delete,
}
