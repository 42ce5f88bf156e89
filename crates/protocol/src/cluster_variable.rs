//! Changes of variables of the cluster and of tenants.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{Document, Json, Name};

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
    /// Texts and numbers to find it by, which expressions do not see.
    #[n(4)]
    pub metadata: Option<Document>,
    /// Kind of a new one; one that is changed keeps its own. `None`: [`ClusterVariableKind::Json`].
    #[n(5)]
    pub kind: Option<ClusterVariableKind>,
}

/// Meaning of the value of a variable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum ClusterVariableKind {
    /// Data.
    #[default]
    #[n(0)]
    Json,
    /// Data that names secrets.
    #[n(1)]
    SecretReference,
}

impl ClusterVariableKind {
    /// The kind of a name in requests.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Json, Self::SecretReference].into_iter().find(|kind| kind.as_str() == name)
    }

    /// The name in records and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::SecretReference => "SECRET_REFERENCE",
        }
    }
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
