//! The index of definitions of all kinds: versions, version tags, deployments, and how a reference finds its target.

use bpmn::graph::Binding;
use protocol::{Intent, Key, Name};
use state::StateError;

use super::record::process_record;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::DefinitionKind;
use crate::entity::tables::Tables;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub kind: DefinitionKind,
    pub tenant_id: &'a Name,
    pub id: &'a Name,
    pub version_tag: Option<&'a Name>,
    pub deployment_key: Key,
}

impl CommandContext<'_> {
    /// Adds a definition as the latest of its ID. Gives its version; none is ever given twice.
    pub(super) fn register(&mut self, entry: &Entry, key: Key) -> Result<u32, StateError> {
        let (kind, tenant, id) = (entry.kind as u8, &entry.tenant_id.0, &entry.id.0);
        let counter = (kind, tenant.clone(), id.clone());
        let version = self.tables.last_version.get(&counter)?.map_or(0, |version| *version) + 1;
        self.tables.last_version.put(counter, version);
        self.tables.definition_by_id.insert((kind, tenant.clone(), id.clone(), version), key);
        if let Some(tag) = entry.version_tag {
            let by_tag = (kind, tenant.clone(), id.clone(), tag.0.clone(), version);
            self.tables.definition_by_tag.insert(by_tag, key);
        }
        self.tables.definition_by_deployment.insert((entry.deployment_key, kind, id.clone()), key);
        Ok(version)
    }

    /// Removes a definition from the index: the version before it becomes the latest, of its ID and of its tag.
    pub(super) fn unregister(&mut self, entry: &Entry, version: u32) {
        let (kind, tenant, id) = (entry.kind as u8, &entry.tenant_id.0, &entry.id.0);
        self.tables.definition_by_id.delete(&(kind, tenant.clone(), id.clone(), version));
        if let Some(tag) = entry.version_tag {
            let by_tag = (kind, tenant.clone(), id.clone(), tag.0.clone(), version);
            self.tables.definition_by_tag.delete(&by_tag);
        }
        self.tables.definition_by_deployment.delete(&(entry.deployment_key, kind, id.clone()));
    }

    /// The key of the highest version of an ID, deleted ones aside.
    pub(super) fn latest(
        &self,
        kind: DefinitionKind,
        tenant: &Name,
        id: &Name,
    ) -> Result<Option<Key>, StateError> {
        latest(self.tables, kind, tenant, id)
    }

    /// The key of one version of an ID.
    pub(super) fn version_of(
        &self,
        kind: DefinitionKind,
        tenant: &Name,
        id: &Name,
        version: u32,
    ) -> Result<Option<Key>, StateError> {
        let at = (kind as u8, tenant.0.clone(), id.0.clone(), version);
        Ok(self.tables.definition_by_id.get(&at)?.map(|key| *key))
    }

    /// Target of a process definition's reference by ID with a binding. Both are of one tenant.
    pub fn bound(
        &self,
        kind: DefinitionKind,
        tenant: &Name,
        id: &Name,
        binding: &Binding,
        referrer_key: Key,
    ) -> Result<Option<Key>, StateError> {
        bound(self.tables, kind, tenant, id, binding, referrer_key)
    }

    /// Removes a draining definition that nobody runs any more.
    pub(super) fn remove_definition(&mut self, key: Key) -> Result<(), Failure> {
        if let Some(definition) = self.tables.definitions.get(&key)? {
            self.remove_agents(key, &definition)?;
            self.emit(key, Intent::Deleted, |_| process_record(&definition, key));
        }
        self.tables.definitions.delete(&key);
        self.definitions.forget(key);
        Ok(())
    }
}

fn latest(
    tables: &Tables,
    kind: DefinitionKind,
    tenant: &Name,
    id: &Name,
) -> Result<Option<Key>, StateError> {
    let at = |version| (kind as u8, tenant.0.clone(), id.0.clone(), version);
    Ok(tables.definition_by_id.last(at(0)..=at(u32::MAX))?.map(|(_, key)| *key))
}

/// See [`CommandContext::bound`].
pub(crate) fn bound(
    tables: &Tables,
    kind: DefinitionKind,
    tenant: &Name,
    id: &Name,
    binding: &Binding,
    referrer_key: Key,
) -> Result<Option<Key>, StateError> {
    match binding {
        Binding::Latest => latest(tables, kind, tenant, id),
        Binding::Deployment => {
            let Some(referrer) = tables.definitions.get(&referrer_key)? else { return Ok(None) };
            let at = (referrer.deployment_key, kind as u8, id.0.clone());
            Ok(tables.definition_by_deployment.get(&at)?.map(|key| *key))
        }
        Binding::VersionTag(tag) => {
            let at = |version| (kind as u8, tenant.0.clone(), id.0.clone(), tag.clone(), version);
            Ok(tables.definition_by_tag.last(at(0)..=at(u32::MAX))?.map(|(_, key)| *key))
        }
    }
}

/// How a binding is told in a message after `no … found for ID 'x'`.
pub(crate) fn describe(binding: &Binding) -> String {
    match binding {
        Binding::Latest => String::new(),
        Binding::Deployment => " in the deployment of the process".to_owned(),
        Binding::VersionTag(tag) => format!(" with version tag '{tag}'"),
    }
}
