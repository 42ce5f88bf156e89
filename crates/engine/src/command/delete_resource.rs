//! Deletes a process definition: no new instances at once, gone when the last running one has ended.

use protocol::{DeleteResource, Intent, Key, Rejection, ResourceDeletionRecord, Response};

use super::deploy::process_record;
use crate::definition::Entry;
use crate::entity::{DefinitionKind, DefinitionState};
use crate::failure::Failure;
use crate::work::Work;

impl Work<'_> {
    pub(super) fn delete_resource(&mut self, delete: &DeleteResource) -> Result<Response, Failure> {
        self.operation_reference = delete.operation_reference;
        let key = delete.resource_key;
        let Some(definition) = self
            .tables
            .definitions
            .get(&key)?
            .filter(|definition| definition.state == DefinitionState::Active)
        else {
            return Err(Rejection::not_found(format!(
                "Expected to delete resource but no resource found with key `{key}`"
            ))
            .into());
        };
        let deletion_key = self.next_key();
        let tenant_id = definition.tenant_id.clone();
        self.emit(deletion_key, Intent::Deleting, |_| ResourceDeletionRecord {
            resource_key: key,
            tenant_id: tenant_id.clone(),
        });
        let was_latest = self.latest_definition(&tenant_id, &definition.process_id)? == Some(key);
        if was_latest {
            self.disarm(key)?;
        }
        self.emit(key, Intent::Deleting, |_| process_record(&definition, key));
        let entry = Entry {
            kind: DefinitionKind::Process,
            tenant_id: &tenant_id,
            id: &definition.process_id,
            version_tag: definition.version_tag.as_ref(),
            deployment_key: definition.deployment_key,
        };
        self.unregister(&entry, definition.version);
        self.tables.definitions.update(&key, |definition| definition.state = DefinitionState::Draining)?;
        if was_latest && let Some(before) = self.latest_definition(&tenant_id, &definition.process_id)? {
            let model = self.definitions.process(self.tables, before)?;
            self.arm(before, &model)?;
        }
        if !self.tables.running_instances.contains(&key)? {
            self.remove_definition(key)?;
        }
        self.emit(deletion_key, Intent::Deleted, |_| ResourceDeletionRecord { resource_key: key, tenant_id });
        Ok(Response::Done)
    }

    /// Removes a draining definition that nobody runs any more.
    pub(crate) fn remove_definition(&mut self, key: Key) -> Result<(), Failure> {
        if let Some(definition) = self.tables.definitions.get(&key)? {
            self.emit(key, Intent::Deleted, |_| process_record(&definition, key));
        }
        self.tables.definitions.delete(&key);
        self.definitions.forget(key);
        Ok(())
    }
}
