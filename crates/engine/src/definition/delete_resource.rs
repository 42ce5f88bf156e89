//! Deletes what was deployed. A process gets no new instances at once and is gone when the last running one has
//! ended; everything else is gone at once, and the version before is the latest again. The history of its
//! instances stays unless its deletion was asked for; then a batch operation deletes it.

use std::sync::Arc;

use protocol::{
    BatchAction, CreateBatchOperation, DeleteResource, HistoryDeletionRecord, HistoryKind, Intent, Key, Name,
    Rejection, ResourceDeletionRecord, Response,
};

use state::StateError;

use super::record::process_record;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::Entry;
use crate::entity::{DecisionRequirements, Definition, DefinitionKind, DefinitionState, StoredFile};

/// Kinds of resources behind a key.
enum Deletable {
    Process(Arc<Definition>),
    Decisions(Arc<DecisionRequirements>),
    Stored(DefinitionKind, Arc<StoredFile>),
}

impl CommandContext<'_> {
    pub(super) fn delete_resource(&mut self, delete: &DeleteResource) -> Result<Response, Failure> {
        let key = delete.resource_key;
        let Some(found) = self.find_deletable(key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to delete resource but no resource found with key `{key}`"
            ))
            .into());
        };
        let tenant_id = match &found {
            Deletable::Process(definition) => definition.tenant_id.clone(),
            Deletable::Decisions(graph) => graph.tenant_id.clone(),
            Deletable::Stored(_, file) => file.tenant_id.clone(),
        };
        let deletion_key = self.next_key();
        self.emit(deletion_key, Intent::Deleting, |_| ResourceDeletionRecord {
            resource_key: key,
            tenant_id: tenant_id.clone(),
        });
        let history = match &found {
            Deletable::Process(_) => Some((HistoryKind::ProcessInstance, "processDefinitionKey")),
            Deletable::Decisions(_) => Some((HistoryKind::DecisionInstance, "decisionRequirementsKey")),
            Deletable::Stored(..) => None,
        };
        match found {
            Deletable::Process(definition) => {
                self.delete_process(key, &definition)?;
                if delete.delete_history {
                    self.forget_process(key, &definition);
                }
            }
            Deletable::Decisions(graph) => self.remove_decisions(key, &graph)?,
            Deletable::Stored(kind, file) => self.remove_stored(kind, key, &file),
        }
        self.emit(deletion_key, Intent::Deleted, |_| ResourceDeletionRecord { resource_key: key, tenant_id });
        match history.filter(|_| delete.delete_history) {
            Some((kind, property)) => self.create_batch_operation(&CreateBatchOperation {
                action: BatchAction::DeleteWithResource(kind),
                operation_reference: delete.operation_reference,
                search: Some(Name::from(format!("{{\"{property}\":\"{key}\"}}"))),
            }),
            None => Ok(Response::Done),
        }
    }

    fn find_deletable(&self, key: Key) -> Result<Option<Deletable>, StateError> {
        if let Some(definition) = self.tables.definitions.get(&key)? {
            let active = definition.state == DefinitionState::Active;
            return Ok(active.then_some(Deletable::Process(definition)));
        }
        if let Some(graph) = self.tables.decision_requirements.get(&key)? {
            return Ok(Some(Deletable::Decisions(graph)));
        }
        for kind in [DefinitionKind::Form, DefinitionKind::Resource] {
            if let Some(file) = self.stored_file(kind, key)? {
                return Ok(Some(Deletable::Stored(kind, file)));
            }
        }
        Ok(None)
    }

    fn delete_process(&mut self, key: Key, definition: &Definition) -> Result<(), Failure> {
        let tenant_id = &definition.tenant_id;
        let was_latest = self.latest_definition(tenant_id, &definition.process_id)? == Some(key);
        if was_latest {
            self.disarm_start_events(key)?;
        }
        self.emit(key, Intent::Deleting, |_| process_record(definition, key));
        let entry = Entry {
            kind: DefinitionKind::Process,
            tenant_id,
            id: &definition.process_id,
            version_tag: definition.version_tag.as_ref(),
            deployment_key: definition.deployment_key,
        };
        self.unregister(&entry, definition.version);
        self.tables.definitions.update(&key, |definition| definition.state = DefinitionState::Draining)?;
        if was_latest && let Some(before) = self.latest_definition(tenant_id, &definition.process_id)? {
            let model = self.definitions.process(self.tables, before)?;
            self.arm_start_events(before, &model)?;
        }
        for partition in self.other_partitions() {
            self.tables.draining.put((key, partition), ());
        }
        self.remove_if_drained(key)
    }

    /// Secondary storage hides it once no history of its instances is kept.
    fn forget_process(&mut self, key: Key, definition: &Definition) {
        let record_key = self.next_key();
        self.emit(record_key, Intent::Deleted, |_| HistoryDeletionRecord {
            resource_key: key,
            resource_type: Name::from(HistoryKind::PROCESS_DEFINITION),
            process_id: definition.process_id.clone(),
            decision_definition_id: Name::default(),
            tenant_id: definition.tenant_id.clone(),
        });
    }
}
