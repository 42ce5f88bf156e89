//! Files that the engine keeps and hands out without executing them: forms and other resources.

use std::sync::Arc;

use protocol::{Intent, Key, Resource};
use state::{StateError, Table};

use super::record::{form_record, resource_record};
use super::{Deployment, Entry, Head, ReadFile};
use crate::core::context::CommandContext;
use crate::entity::{DefinitionKind, StoredFile};

impl CommandContext<'_> {
    fn stored(&mut self, kind: DefinitionKind) -> &mut Table<Key, StoredFile> {
        match kind {
            DefinitionKind::Form => &mut self.tables.forms,
            _ => &mut self.tables.resources,
        }
    }

    /// A form or other resource by its key.
    pub fn stored_file(&self, kind: DefinitionKind, key: Key) -> Result<Option<Arc<StoredFile>>, StateError> {
        match kind {
            DefinitionKind::Form => self.tables.forms.get(&key),
            _ => self.tables.resources.get(&key),
        }
    }

    /// Whether the latest of its ID is exactly this file; then it is part of the deployment.
    pub(super) fn known_file(
        &self,
        kind: DefinitionKind,
        file: &ReadFile,
        head: &Head,
        deployment: &mut Deployment,
    ) -> Result<bool, StateError> {
        let Some(key) = self.latest(kind, &deployment.created.tenant_id, &head.id)? else { return Ok(false) };
        match self.stored_file(kind, key)? {
            Some(latest)
                if latest.checksum == file.checksum && latest.resource_name == file.resource.name =>
            {
                deployment.add_stored(kind, &latest, key, true);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Adds a form or other resource.
    pub(super) fn add_stored(
        &mut self,
        kind: DefinitionKind,
        resource: &Resource,
        head: Head,
        checksum: [u8; 16],
        deployment: &mut Deployment,
    ) -> Result<(), StateError> {
        let key = self.next_key();
        let tenant_id = deployment.created.tenant_id.clone();
        let deployment_key = deployment.created.deployment_key;
        let Head { id, version_tag } = head;
        let entry =
            Entry { kind, tenant_id: &tenant_id, id: &id, version_tag: version_tag.as_ref(), deployment_key };
        let version = self.register(&entry, key)?;
        let file = StoredFile {
            id,
            version,
            version_tag,
            resource_name: resource.name.clone(),
            checksum,
            content: resource.content.clone(),
            deployment_key,
            tenant_id,
        };
        deployment.add_stored(kind, &file, key, false);
        self.record_stored(kind, key, Intent::Created, &file);
        self.stored(kind).insert(key, file);
        Ok(())
    }

    /// Removes a form or other resource.
    pub(super) fn remove_stored(&mut self, kind: DefinitionKind, key: Key, file: &StoredFile) {
        let entry = Entry {
            kind,
            tenant_id: &file.tenant_id,
            id: &file.id,
            version_tag: file.version_tag.as_ref(),
            deployment_key: file.deployment_key,
        };
        self.unregister(&entry, file.version);
        self.record_stored(kind, key, Intent::Deleted, file);
        self.stored(kind).delete(&key);
    }

    pub(super) fn record_stored(
        &mut self,
        kind: DefinitionKind,
        key: Key,
        intent: Intent,
        file: &StoredFile,
    ) {
        if kind == DefinitionKind::Form {
            self.emit(key, intent, |_| form_record(file, key));
        } else {
            self.emit(key, intent, |_| resource_record(file, key));
        }
    }
}
