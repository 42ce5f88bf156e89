//! Settings of a partition that decide what its commands do.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::PartitionId;

/// Limits that stand in the state of a partition: all replicas apply a command under the same ones, whatever their
/// configuration says. A later field must be optional; its absence is the behavior of the releases without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Settings {
    /// Bytes of the variables of the jobs of one delivery.
    #[n(0)]
    pub max_delivery_bytes: u64,
    #[n(1)]
    pub work: WorkSettings,
    #[n(2)]
    pub bpmn: BpmnSettings,
    #[n(3)]
    pub dmn: DmnSettings,
    #[n(4)]
    pub idempotency: Option<IdempotencySettings>,
    /// `None`: there is one partition.
    #[n(5)]
    pub partitions: Option<PartitionSettings>,
}

/// How many partitions the cluster has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct PartitionSettings {
    #[n(0)]
    pub count: PartitionId,
    /// Over how many of them correlation keys and business IDs are spread: as many as there were when the cluster was
    /// made.
    #[n(1)]
    pub of_messages: PartitionId,
}

impl Default for PartitionSettings {
    fn default() -> Self {
        Self { count: 1, of_messages: 1 }
    }
}

/// How long and how many idempotency keys are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct IdempotencySettings {
    #[n(0)]
    pub keep_ms: u64,
    #[n(1)]
    pub max_keys: u64,
    #[n(2)]
    pub max_bytes: u64,
}

impl Default for IdempotencySettings {
    fn default() -> Self {
        Self { keep_ms: 10 * 60 * 1000, max_keys: 5_000_000, max_bytes: 1 << 30 }
    }
}

/// How much work commands may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct WorkSettings {
    #[n(0)]
    pub max_fuel_per_command: u64,
    #[n(1)]
    pub max_fuel_per_step: u64,
    #[n(2)]
    pub max_bytes_per_step: u64,
    #[n(3)]
    pub max_evaluation_bytes: u64,
    #[n(4)]
    pub max_variable_bytes: u64,
    #[n(5)]
    pub max_collection_bytes: u64,
    #[n(6)]
    pub max_instance_variable_bytes: u64,
    #[n(7)]
    pub max_record_bytes_per_command: u64,
    #[n(8)]
    pub max_entries_per_command: Option<u64>,
    #[n(9)]
    pub max_scope_variables: Option<u64>,
}

/// Limits of process models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct BpmnSettings {
    #[n(0)]
    pub max_bytes: u64,
    #[n(1)]
    pub max_depth: u64,
    #[n(2)]
    pub max_xml_elements: u64,
    #[n(3)]
    pub max_flow_elements: u64,
    #[n(4)]
    pub max_id_chars: u64,
    #[n(5)]
    pub max_name_chars: u64,
    #[n(6)]
    pub max_problems: u64,
}

/// Limits of decision models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct DmnSettings {
    #[n(0)]
    pub max_bytes: u64,
    #[n(1)]
    pub max_depth: u64,
    #[n(2)]
    pub max_xml_elements: u64,
    #[n(3)]
    pub max_cells: u64,
    #[n(4)]
    pub max_requirement_depth: u64,
    #[n(5)]
    pub max_imported_models: u64,
    #[n(6)]
    pub max_id_chars: u64,
    #[n(7)]
    pub max_problems: u64,
    #[n(8)]
    pub max_evaluated_decisions: u64,
}
