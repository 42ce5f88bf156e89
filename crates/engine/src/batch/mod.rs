//! Batch operations: one action on every process instance, or every incident, that a filter finds.
//!
//! A command creates one with a filter. A search of secondary storage finds its items among what was there at the
//! creation, and commands hand them over (`given.rs`). From then on it lives by its own steps
//! ([`Step::WorkOnBatch`]), one at a time at the end of the queue, so that a million items hold up nobody else:
//! `execute.rs` does one item in each step, in a transaction of its own, and keeps its outcome. One that has ended
//! stays until `retention.rs` makes room.
//!
//! The incidents of one instance are the exception: `scan.rs` finds them in the engine's state.
//!
//! An item does what the command of a client would do, with the same refusals.

mod delete_history;
mod dispatch;
mod execute;
mod given;
mod remote;
mod retention;
pub mod row;
mod scan;

use std::sync::Arc;

use execute::ItemAtWork;
use protocol::{
    BatchAction, BatchMigrationPlan, BatchModificationPlan, BatchMoveInstruction, BatchOperationChange,
    BatchOperationCreated, BatchOperationCreationRecord, BatchOperationInitializationRecord,
    BatchOperationLifecycleRecord, BatchOperationPartitionRecord, BatchOperationState, CreateBatchOperation,
    ElementSource, Intent, Key, MoveElement, Name, Rejection, Response,
};
use row::{BatchOperation, BatchPlan, ItemsAway};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::origin::{Attribution, CommandOrigin};
use crate::core::step::Step;

/// Batch operations that have not ended, at most.
const MAX_RUNNING: usize = 1000;

/// Whether a batch operation has come to its end.
pub(crate) const fn has_ended(state: BatchOperationState) -> bool {
    use BatchOperationState::{Active, Canceled, Completed, Created, Failed, Suspended};
    match state {
        Created | Active | Suspended => false,
        Completed | Canceled | Failed => true,
    }
}

impl CommandContext<'_> {
    pub fn create_batch_operation(&mut self, create: &CreateBatchOperation) -> Result<Response, Failure> {
        if create.search.is_none() {
            return Err(Rejection::invalid_argument(
                "Expected to create a batch operation with a filter, but there is none",
            )
            .into());
        }
        self.begin_batch_operation(create, None)
    }

    /// Refuses one batch operation more than may run at once.
    fn refuse_too_many(&self) -> Result<(), Failure> {
        let mut running = 0;
        self.tables.batch_operations.visit(.., |_, operation| {
            running += usize::from(!has_ended(operation.state));
            std::ops::ControlFlow::Continue(())
        })?;
        if running >= MAX_RUNNING {
            return Err(Rejection::invalid_state(format!(
                "Expected to create a batch operation, but {MAX_RUNNING} of them have not ended yet"
            ))
            .into());
        }
        Ok(())
    }

    /// Begins a batch operation whose items a search finds, or the engine among the incidents of an instance.
    fn begin_batch_operation(
        &mut self,
        create: &CreateBatchOperation,
        incidents_of: Option<Key>,
    ) -> Result<Response, Failure> {
        self.refuse_too_many()?;
        let key = self.next_key();
        let kind = create.action.kind();
        let operation = BatchOperation {
            kind,
            state: BatchOperationState::Created,
            is_scanned: false,
            cursor: 0,
            life: 0,
            attempts: 0,
            total: 0,
            completed: 0,
            failed: 0,
            started_ms: None,
            ended_ms: None,
            error: None,
            away: None,
        };
        self.emit(key, Intent::Created, |work| BatchOperationCreationRecord {
            batch_operation_key: key,
            batch_operation_type: Name::from(kind.as_str()),
            migration_plan: migration_plan(&create.action),
            modification_plan: modification_plan(&create.action),
            partition_ids: vec![work.options.partition_id],
        });
        let initialization = move || BatchOperationInitializationRecord {
            batch_operation_key: key,
            batch_operation_type: Name::from(kind.as_str()),
        };
        self.emit(key, Intent::Initializing, move |_| initialization());
        self.tables.batch_operations.insert(key, operation);
        let plan = BatchPlan {
            action: create.action.clone(),
            operation_reference: create.operation_reference,
            actor: self.origin.actor(),
            caller: self.origin.caller.as_deref().cloned(),
            search: create.search.clone(),
            position: self.meta.position,
            incidents_of,
        };
        self.tables.batch_plans.insert(key, plan);
        if incidents_of.is_some() {
            self.leave_step_to(key, Step::WorkOnBatch { batch_operation_key: key, life: 0 });
        }
        Ok(Response::BatchOperationCreated(BatchOperationCreated { batch_operation_key: key, kind }))
    }

    /// Creates a batch operation that resolves the incidents of one instance.
    fn resolve_instance_incidents(&mut self, process_instance_key: Key) -> Result<Response, Failure> {
        if !self.tables.instances.contains(&process_instance_key)? {
            return Err(Rejection::not_found(format!(
                "Expected to resolve incidents of process instance with key '{process_instance_key}', but no such process \
                 instance was found"
            ))
            .into());
        }
        let create =
            CreateBatchOperation { action: BatchAction::Resolve, operation_reference: None, search: None };
        self.begin_batch_operation(&create, Some(process_instance_key))
    }

    /// Suspends, resumes or cancels a batch operation.
    fn change_batch_operation(
        &mut self,
        key: Key,
        change: BatchOperationChange,
    ) -> Result<Response, Failure> {
        use BatchOperationState::{Active, Canceled, Created, Suspended};
        let Some(operation) = self.tables.batch_operations.get(&key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to {} a batch operation with key '{key}', but no such batch operation was found",
                change.as_str()
            ))
            .into());
        };
        let mut operation = (*operation).clone();
        // A step of the new life is left instead.
        operation.away = operation.away.map(|away| ItemsAway { is_awaited: false, ..away });
        let intent = match (change, operation.state) {
            (BatchOperationChange::Suspend, Created | Active) => {
                operation.state = Suspended;
                Intent::Suspended
            }
            (BatchOperationChange::Resume, Suspended) => {
                operation.state = if operation.is_scanned { Active } else { Created };
                operation.life += 1;
                Intent::Resumed
            }
            (BatchOperationChange::Cancel, Created | Active | Suspended) => {
                operation.state = Canceled;
                operation.life += 1;
                operation.ended_ms = Some(self.now_ms());
                Intent::Canceled
            }
            (_, state) => {
                return Err(Rejection::invalid_state(format!(
                    "Expected to {} a batch operation with key '{key}', but it is in state '{state}'",
                    change.as_str()
                ))
                .into());
            }
        };
        self.record_lifecycle(key, intent, &operation);
        if operation.state != Suspended {
            self.leave_step_to(key, Step::WorkOnBatch { batch_operation_key: key, life: operation.life });
        }
        self.tables.batch_operations.put(key, operation);
        Ok(Response::Done)
    }

    /// Does the next part of a batch operation. Gives the item whose command is to be performed, if one is next.
    pub fn work_on_batch(&mut self, key: Key, life: u32) -> Result<Option<ItemAtWork>, Failure> {
        let Some(operation) = self.tables.batch_operations.get(&key)? else { return Ok(None) };
        if operation.life != life {
            return Ok(None);
        }
        let operation = (*operation).clone();
        self.take_origin(key)?;
        match operation.state {
            BatchOperationState::Created => self.scan_for_items(key, operation)?,
            BatchOperationState::Active => return self.begin_item(key, operation),
            BatchOperationState::Canceled => self.cancel_items(key, operation)?,
            BatchOperationState::Suspended | BatchOperationState::Completed | BatchOperationState::Failed => {
            }
        }
        Ok(None)
    }

    /// Works on behalf of the principal that created a batch operation.
    fn take_origin(&mut self, key: Key) -> Result<(), Failure> {
        if let Some(plan) = self.tables.batch_plans.get(&key)? {
            let subjects = plan.action.subjects();
            self.origin = CommandOrigin {
                caller: plan.caller.clone().map(Arc::new),
                operation_reference: plan.operation_reference,
                attribution: plan.actor.clone().map(|actor| Attribution { actor, subjects }),
                ..CommandOrigin::default()
            };
        }
        Ok(())
    }

    /// Goes on in a later step, when it is the operation's turn again.
    fn go_on_with_batch(&mut self, key: Key, operation: BatchOperation) {
        self.go_on_behind(key, key, operation);
    }

    /// Goes on in a later step, after all that the owner of other steps has waiting already.
    fn go_on_behind(&mut self, owner: Key, key: Key, operation: BatchOperation) {
        let life = operation.life;
        self.tables.batch_operations.put(key, operation);
        self.leave_step_to(owner, Step::WorkOnBatch { batch_operation_key: key, life });
    }

    fn end_batch(&mut self, key: Key, mut operation: BatchOperation, state: BatchOperationState) {
        operation.state = state;
        operation.ended_ms = Some(self.now_ms());
        if state == BatchOperationState::Completed {
            self.emit(key, Intent::PartitionCompleted, |work| BatchOperationPartitionRecord {
                batch_operation_key: key,
                source_partition_id: work.options.partition_id,
            });
        }
        let intent = if state == BatchOperationState::Failed { Intent::Failed } else { Intent::Completed };
        self.record_lifecycle(key, intent, &operation);
        self.tables.batch_operations.put(key, operation);
        self.leave_step_to(0, Step::ForgetBatches);
    }

    fn record_lifecycle(&mut self, key: Key, intent: Intent, operation: &BatchOperation) {
        self.emit(key, intent, |_| BatchOperationLifecycleRecord {
            batch_operation_key: key,
            batch_operation_type: Name::from(operation.kind.as_str()),
            errors: operation.error.iter().cloned().collect(),
        });
    }
}

fn migration_plan(action: &BatchAction) -> Option<BatchMigrationPlan> {
    let BatchAction::Migrate(plan) = action else { return None };
    Some(BatchMigrationPlan {
        target_process_definition_key: plan.target_definition_key,
        mapping_instructions: plan.mappings.clone(),
    })
}

fn modification_plan(action: &BatchAction) -> Option<BatchModificationPlan> {
    let BatchAction::Modify(moves) = action else { return None };
    Some(BatchModificationPlan { move_instructions: moves.iter().map(move_record).collect() })
}

fn move_record(instruction: &MoveElement) -> BatchMoveInstruction {
    let source_element_id = match &instruction.source {
        ElementSource::Id(id) => id.clone(),
        ElementSource::Key(key) => Name::from(key.to_string()),
    };
    BatchMoveInstruction { source_element_id, target_element_id: instruction.target_id.clone() }
}
