//! Records of batch operations.

use minicbor::{Decode, Encode};
use serde::{Serialize, Serializer};

use crate::{ElementMapping, Key, Name, PartitionId};

records! {
    BatchOperationCreationRecord {
        0 batch_operation_key: Key, 1 batch_operation_type: Name,
        2 #[serde(serialize_with = "migration_plan")] migration_plan: Option<BatchMigrationPlan>,
        3 partition_ids: Vec<PartitionId>,
        4 #[serde(serialize_with = "modification_plan")] modification_plan: Option<BatchModificationPlan>,
    }
    /// Moves of a batch operation.
    BatchModificationPlan {
        0 move_instructions: Vec<BatchMoveInstruction>,
    }
    /// A move of a batch operation.
    BatchMoveInstruction {
        0 source_element_id: Name, 1 target_element_id: Name,
    }
    /// Where instances of a batch operation go.
    BatchMigrationPlan {
        0 target_process_definition_key: Key, 1 mapping_instructions: Vec<ElementMapping>,
    }
    /// The search for the items of a batch operation.
    BatchOperationInitializationRecord {
        0 batch_operation_key: Key, 1 batch_operation_type: Name,
    }
    /// Items that a batch operation has found.
    BatchOperationChunkRecord {
        0 batch_operation_key: Key, 1 items: Vec<BatchOperationItem>, 2 #[cbor(default)] batch_operation_type: Name,
    }
    BatchOperationItem {
        0 item_key: Key, 1 process_instance_key: Key, 2 root_process_instance_key: Key,
    }
    /// Outcome of an item of a batch operation.
    BatchOperationExecutionRecord {
        0 batch_operation_key: Key, 1 batch_operation_type: Name, 2 item_keys: Vec<Key>, 3 state: Name, 4 error_message: Name,
    }
    /// A change to a batch operation.
    BatchOperationLifecycleRecord {
        0 batch_operation_key: Key, 1 batch_operation_type: Name, 2 errors: Vec<Name>,
    }
    /// The end of a batch operation on one partition.
    BatchOperationPartitionRecord {
        0 batch_operation_key: Key, 1 source_partition_id: PartitionId,
    }
}

/// A plan is there in any case; without one, it leads nowhere.
#[expect(clippy::ref_option, reason = "serde hands over a reference")]
fn migration_plan<S: Serializer>(
    plan: &Option<BatchMigrationPlan>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct NoPlan {
        target_process_definition_key: i64,
        mapping_instructions: [(); 0],
    }
    match plan {
        Some(plan) => plan.serialize(serializer),
        None => NoPlan { target_process_definition_key: -1, mapping_instructions: [] }.serialize(serializer),
    }
}

/// Moves are there in any case.
#[expect(clippy::ref_option, reason = "serde hands over a reference")]
fn modification_plan<S: Serializer>(
    plan: &Option<BatchModificationPlan>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let none = BatchModificationPlan { move_instructions: Vec::new() };
    plan.as_ref().unwrap_or(&none).serialize(serializer)
}
