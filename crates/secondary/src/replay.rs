//! Replay of parked records, after all that followed them. Removed rows stay away: rows of
//! a process instance are written only while the row of that instance is there, or, for a called one, the row at
//! the top of its calls.
//!
//! That row may also be missing because it was refused itself. Parked records come in their order, so its own
//! record has been tried just before, and what belongs to it stays parked with it.

use std::collections::BTreeSet;

use export::ExportError;
use protocol::{Intent, Key, Record, RecordValue};
use search::StoreError;
use search::model::{EntityId, process_instance as instance};

use crate::change::{Batch, Change, RowId};
use crate::history::PROCESS_INSTANCES;
use crate::store::Writer;

/// Instances whose own row was refused when it was tried last.
#[derive(Debug, Default)]
pub(crate) struct Replays {
    refused: BTreeSet<Key>,
}

impl Replays {
    /// The changes of a record that are still to be made. Fails if the record has to stay parked.
    pub fn wanted(
        &mut self,
        record: &Record,
        batch: Batch,
        writer: &mut dyn Writer,
    ) -> Result<Batch, ReplayError> {
        let Some(needed) = needed(record) else { return Ok(batch) };
        if writer.has(&instance::ENTITY, &RowId::Key(needed))? {
            return Ok(batch);
        }
        if self.refused.contains(&needed) {
            self.refused.extend(begins(record).map(|(key, _)| key));
            return Err(ReplayError::Instance(needed));
        }
        tracing::info!(
            position = record.position,
            process_instance_key = needed,
            "skipped the changes of a parked record to a process instance that was removed"
        );
        Ok(batch.without(is_of_instance))
    }

    /// Remembers whether a record's changes were taken.
    pub fn tried(&mut self, record: &Record, is_taken: bool) {
        if let Some((key, _)) = begins(record) {
            if is_taken {
                self.refused.remove(&key)
            } else {
                self.refused.insert(key)
            };
        }
    }
}

/// Why a parked record is not replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("the process instance {0} that it belongs to is refused, too")]
    Instance(Key),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReplayError {
    /// As the exporter says it.
    pub fn of(self, position: u64) -> ExportError {
        match self {
            Self::Store(error) => ExportError::Target(error.to_string()),
            Self::Instance(_) => ExportError::Record { position, reason: self.to_string() },
        }
    }
}

/// The process instance that a record begins, and the one at the top of its calls.
fn begins(record: &Record) -> Option<(Key, Key)> {
    let RecordValue::ProcessInstance(value) = &record.value else { return None };
    (record.intent == Intent::ElementActivating && *value.bpmn_element_type == *"PROCESS")
        .then_some((value.instance.process_instance_key, value.instance.root_process_instance_key))
}

/// The process instance without which a record's changes are not wanted.
fn needed(record: &Record) -> Option<Key> {
    if let Some((key, root)) = begins(record) {
        // Its row is there from now on, unless the whole tree is gone. Records of old releases name no root.
        return (root != key && root != 0).then_some(root);
    }
    process_instance(record)
}

/// The process instance that a record is of.
pub(crate) fn process_instance(record: &Record) -> Option<Key> {
    let key = match &record.value {
        RecordValue::ProcessInstance(value) => value.instance.process_instance_key,
        RecordValue::ProcessInstanceModification(value) => value.process_instance_key,
        RecordValue::ProcessInstanceMigration(value) => value.process_instance_key,
        RecordValue::Variable(value) => value.instance.process_instance_key,
        RecordValue::Job(value) => value.instance.process_instance_key,
        RecordValue::Incident(value) => value.process_instance_key,
        RecordValue::UserTask(value) => value.process_instance_key,
        RecordValue::ProcessMessageSubscription(value) => value.process_instance_key,
        RecordValue::DecisionEvaluation(value) => value.process_instance_key.unwrap_or_default(),
        RecordValue::Timer(value) => value.process_instance_key.unwrap_or_default(),
        RecordValue::SignalSubscription(value) => value.process_instance_key.unwrap_or_default(),
        RecordValue::ConditionalSubscription(value) => value.process_instance_key.unwrap_or_default(),
        RecordValue::AgentInstance(value) => value.process_instance_key,
        RecordValue::AgentHistory(value) => value.process_instance_key,
        // The rest makes no row that goes with an instance: it has none, or makes no row at all.
        #[rustfmt::skip]
        RecordValue::Deployment(_) | RecordValue::Message(_) | RecordValue::MessageSubscription(_)
        | RecordValue::MessageStartEventSubscription(_) | RecordValue::ProcessInstanceCreation(_)
        | RecordValue::Error(_) | RecordValue::Process(_) | RecordValue::ResourceDeletion(_)
        | RecordValue::CompensationSubscription(_) | RecordValue::Signal(_) | RecordValue::Escalation(_)
        | RecordValue::ConditionalEvaluation(_) | RecordValue::RuntimeInstruction(_)
        | RecordValue::DecisionRequirements(_) | RecordValue::Decision(_) | RecordValue::Form(_)
        | RecordValue::ClusterVariable(_) | RecordValue::Resource(_) | RecordValue::BatchOperationCreation(_)
        | RecordValue::BatchOperationChunk(_) | RecordValue::BatchOperationExecution(_)
        | RecordValue::BatchOperationInitialization(_) | RecordValue::BatchOperationLifecycleManagement(_)
        | RecordValue::BatchOperationPartitionLifecycle(_) | RecordValue::HistoryDeletion(_)
        | RecordValue::ProcessInstanceBatch(_) | RecordValue::MultiInstance(_)
        | RecordValue::AdHocSubProcessInstruction(_) | RecordValue::GlobalListener(_)
        | RecordValue::VariableDocument(_) | RecordValue::Clock(_) | RecordValue::User(_)
        | RecordValue::Group(_) | RecordValue::Role(_) | RecordValue::Tenant(_) | RecordValue::MappingRule(_)
        | RecordValue::Authorization(_) | RecordValue::AgentDefinition(_) | RecordValue::Purge(_) => return None,
    };
    (key != 0).then_some(key)
}

/// Whether a change is of a row that goes with its process instance, or counts such rows. The audit log and what
/// was used outlive it.
fn is_of_instance(change: &Change) -> bool {
    matches!(change.entity, EntityId::ProcessInstance | EntityId::ElementCount)
        || PROCESS_INSTANCES.parts.iter().any(|(entity, _)| entity.id == change.entity)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::testing;

    use super::*;
    use search::model::Entity;

    /// A store that has the rows of some instances.
    struct Rows(Vec<Key>);

    impl Writer for Rows {
        fn clear(&mut self, _: u64) -> Result<(), StoreError> {
            unreachable!("nothing is purged")
        }

        fn open(&mut self) -> Result<u64, StoreError> {
            Ok(0)
        }

        fn write(&mut self, _: &Batch, _: u64) -> Result<(), StoreError> {
            Ok(())
        }

        fn has(&mut self, entity: &'static Entity, id: &RowId) -> Result<bool, StoreError> {
            assert_eq!(entity.id, EntityId::ProcessInstance);
            Ok(self.0.iter().any(|key| *id == RowId::Key(*key)))
        }
    }

    fn batch() -> Batch {
        let mut batch = Batch::default();
        batch.insert(&search::model::variable::ENTITY, RowId::Key(1));
        batch.insert(&search::model::audit_log::ENTITY, RowId::Key(2));
        batch
    }

    fn begun(key: Key, root: Key) -> Record {
        let mut record = testing::instance(1, key);
        if let RecordValue::ProcessInstance(value) = &mut record.value {
            Arc::make_mut(&mut value.instance).root_process_instance_key = root;
        }
        record
    }

    #[test]
    fn only_the_rest_is_wanted_of_what_was_removed() {
        // The variable is of the instance 2.
        let variable = testing::variable(5, 1);
        let mut replays = Replays::default();
        let mut wanted =
            |rows: &mut Rows, record: &Record| replays.wanted(record, batch(), rows).unwrap().len();
        assert_eq!(wanted(&mut Rows(vec![2]), &variable), 2);
        assert_eq!(wanted(&mut Rows(vec![]), &variable), 1);
        assert_eq!(wanted(&mut Rows(vec![]), &begun(2, 2)), 2);
        assert_eq!(wanted(&mut Rows(vec![]), &begun(3, 2)), 1);
        assert_eq!(wanted(&mut Rows(vec![2]), &begun(3, 2)), 2);
        assert_eq!(wanted(&mut Rows(vec![]), &begun(3, 0)), 2);
    }

    #[test]
    fn what_belongs_to_a_refused_instance_stays_parked_with_it() {
        let (first, called, variable) = (begun(2, 2), begun(3, 2), testing::variable(5, 1));
        let mut replays = Replays::default();
        let mut rows = Rows(vec![]);
        assert_eq!(replays.wanted(&first, batch(), &mut rows).unwrap().len(), 2);
        replays.tried(&first, false);
        for record in [&called, &variable] {
            let error = replays.wanted(record, batch(), &mut rows).unwrap_err().of(5).to_string();
            assert!(error.contains("the process instance 2 that it belongs to is refused"), "{error}");
        }
        assert!(replays.refused.contains(&3), "and what belongs to the called one, too");
        replays.tried(&first, true);
        rows.0.push(2);
        assert_eq!(replays.wanted(&variable, batch(), &mut rows).unwrap().len(), 2);
        replays.tried(&called, true);
        assert!(replays.refused.is_empty());
    }
}
