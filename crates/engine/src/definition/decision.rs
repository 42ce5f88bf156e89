//! Decisions: their deployment and deletion, and how a reference finds one.

use std::sync::Arc;

use protocol::{DecisionRef, Intent, Key, Name, Rejection, Resource};
use state::StateError;

use super::record::{decision_record, requirements_record};
use super::{Deployment, Entry, ReadFile};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::{Decision, DecisionRequirements, DefinitionKind, Imported};

impl CommandContext<'_> {
    /// The latest graph of its ID, if it is exactly this file with these imports, and its decisions are the latest of
    /// theirs; then they are part of the deployment.
    pub(super) fn known_decisions(
        &self,
        file: &ReadFile,
        model: &dmn::DecisionRequirements,
        imported: &Imported,
        deployment: &mut Deployment,
    ) -> Result<Option<Key>, StateError> {
        let tenant = deployment.created.tenant_id.clone();
        let id = Name::from(model.id());
        let latest = self.latest(DefinitionKind::DecisionRequirements, &tenant, &id)?;
        let Some(key) = latest else { return Ok(None) };
        let Some(graph) = self.tables.decision_requirements.get(&key)? else { return Ok(None) };
        let is_same = graph.checksum == file.checksum && graph.resource_name == file.resource.name;
        if !is_same || graph.imported != *imported {
            return Ok(None);
        }
        deployment.add_requirements(&graph, key, true);
        for decision_key in &graph.decisions {
            let Some(decision) = self.tables.decisions.get(decision_key)? else { return Ok(None) };
            // Another file may have brought a decision of the same ID since.
            if self.latest(DefinitionKind::Decision, &tenant, &decision.id)? != Some(*decision_key) {
                return Ok(None);
            }
            deployment.add_decision(&decision, *decision_key, &graph, true);
        }
        Ok(Some(key))
    }

    /// Adds a graph with its decisions. Gives its key.
    pub(super) fn add_decisions(
        &mut self,
        resource: &Resource,
        model: dmn::DecisionRequirements,
        checksum: [u8; 16],
        imported: Imported,
        deployment: &mut Deployment,
    ) -> Result<Key, StateError> {
        let key = self.next_key();
        let tenant_id = deployment.created.tenant_id.clone();
        let deployment_key = deployment.created.deployment_key;
        let id = Name::from(model.id());
        let kind = DefinitionKind::DecisionRequirements;
        let entry = Entry { kind, tenant_id: &tenant_id, id: &id, version_tag: None, deployment_key };
        let version = self.register(&entry, key)?;
        let mut decisions = Vec::new();
        for info in model.decisions() {
            let decision_key = self.next_key();
            let mut decision = Decision {
                id: Name::from(info.id),
                name: Name::from(info.name),
                version: 0,
                version_tag: info.version_tag.map(Name::from),
                requirements_key: key,
                deployment_key,
                tenant_id: tenant_id.clone(),
            };
            decision.version = self.register(&entry_of(&decision), decision_key)?;
            decisions.push((decision_key, decision));
        }
        let graph = DecisionRequirements {
            id,
            name: Name::from(model.name()),
            namespace: Name::from(model.namespace()),
            version,
            resource_name: resource.name.clone(),
            checksum,
            resource: resource.content.clone(),
            deployment_key,
            tenant_id,
            decisions: decisions.iter().map(|(decision_key, _)| *decision_key).collect(),
            imported,
        };
        deployment.add_requirements(&graph, key, false);
        self.emit(key, Intent::Created, |_| requirements_record(&graph, key));
        for (decision_key, decision) in decisions {
            deployment.add_decision(&decision, decision_key, &graph, false);
            self.emit(decision_key, Intent::Created, |_| decision_record(&decision, decision_key, &graph));
            self.tables.decisions.insert(decision_key, decision);
        }
        self.definitions.keep_decisions(key, model, graph.bytes());
        self.tables.requirements_by_namespace.insert(by_namespace(&graph, key), ());
        self.tables.decision_requirements.insert(key, graph);
        Ok(key)
    }

    /// Removes a graph with its decisions.
    pub(super) fn remove_decisions(
        &mut self,
        key: Key,
        graph: &DecisionRequirements,
    ) -> Result<(), StateError> {
        for decision_key in &graph.decisions {
            let Some(decision) = self.tables.decisions.get(decision_key)? else { continue };
            self.unregister(&entry_of(&decision), decision.version);
            self.emit(*decision_key, Intent::Deleted, |_| decision_record(&decision, *decision_key, graph));
            self.tables.decisions.delete(decision_key);
        }
        let entry = Entry {
            kind: DefinitionKind::DecisionRequirements,
            tenant_id: &graph.tenant_id,
            id: &graph.id,
            version_tag: None,
            deployment_key: graph.deployment_key,
        };
        self.unregister(&entry, graph.version);
        self.emit(key, Intent::Deleted, |_| requirements_record(graph, key));
        self.tables.requirements_by_namespace.delete(&by_namespace(graph, key));
        self.tables.decision_requirements.delete(&key);
        self.definitions.forget(key);
        Ok(())
    }

    /// The decision a command means.
    pub fn find_decision(
        &self,
        reference: &DecisionRef,
        tenant: &Name,
    ) -> Result<(Key, Arc<Decision>), Failure> {
        let (key, which) = match reference {
            DecisionRef::Key(key) => (Some(*key), format!("key '{key}'")),
            DecisionRef::Id(id) => (self.latest(DefinitionKind::Decision, tenant, id)?, format!("id '{id}'")),
        };
        let decision = match key {
            Some(key) => self.tables.decisions.get(&key)?.map(|decision| (key, decision)),
            None => None,
        };
        match decision {
            Some((key, decision)) if decision.tenant_id == *tenant => Ok((key, decision)),
            _ => Err(Rejection::not_found(format!(
                "Expected to evaluate decision with {which}, but no such decision found"
            ))
            .into()),
        }
    }
}

fn by_namespace(graph: &DecisionRequirements, key: Key) -> (Arc<str>, Arc<str>, Key) {
    (graph.tenant_id.0.clone(), graph.namespace.0.clone(), key)
}

fn entry_of(decision: &Decision) -> Entry<'_> {
    Entry {
        kind: DefinitionKind::Decision,
        tenant_id: &decision.tenant_id,
        id: &decision.id,
        version_tag: decision.version_tag.as_ref(),
        deployment_key: decision.deployment_key,
    }
}
