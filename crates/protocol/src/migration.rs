//! Migration of process instances to another definition.

use minicbor::{Decode, Encode};
use serde::Serialize;

use crate::{Key, Name};

/// Moves a process instance to another definition, in whole or not at all.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct MigrateInstance {
    /// The instance.
    #[n(0)]
    pub process_instance_key: Key,
    /// Where to.
    #[n(1)]
    pub plan: MigrationPlan,
    /// Echoed in the records of this command.
    #[n(2)]
    pub operation_reference: Option<u64>,
}

/// Where instances go, and which element becomes which.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct MigrationPlan {
    /// Key of the definition to go to.
    #[n(0)]
    pub target_definition_key: Key,
    /// One for each element that is active, and for catch events and sequence flows that are to be kept.
    #[n(1)]
    pub mappings: Vec<ElementMapping>,
}

/// An element (or sequence flow) of the definition an instance leaves, and what it becomes.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ElementMapping {
    /// ID in the definition it leaves.
    #[n(0)]
    pub source_element_id: Name,
    /// ID in the definition it goes to.
    #[n(1)]
    pub target_element_id: Name,
}
