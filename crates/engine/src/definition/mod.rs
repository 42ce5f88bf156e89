//! Definitions: processes, decisions, forms and other files. The compiled models, and how a reference finds one.

mod agents;
mod cache;
mod cluster_variable;
pub(crate) mod cluster_variables;
mod decision;
mod delete_resource;
mod deploy;
mod deployment;
mod dispatch;
mod evaluate_decision;
mod evaluation;
pub(crate) mod expression;
mod imports;
mod linked;
mod read;
mod record;
mod registry;
mod stored;
#[cfg(test)]
mod unusable;

pub(crate) use deployment::Deployment;
pub(crate) use imports::Source;
pub(crate) use read::{Content, Head, ReadFile, with_heading};
pub(crate) use registry::{Entry, bound, describe};

use std::sync::Arc;

use bpmn::Process;
use protocol::{DefinitionRef, Key, Name, Rejection};
use state::StateError;

use cache::Cache;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::options::Options;
use crate::definition::cluster_variables::Contexts;
use crate::entity::tables::Tables;
use crate::entity::{Definition, DefinitionKind, DefinitionState};

/// Compiled models by definition key. Derived from the tables, so it is no part of the state.
pub(crate) struct Definitions {
    processes: Cache<Arc<Process>>,
    /// By the key of their graph.
    decisions: Cache<dmn::DecisionRequirements>,
    /// The context `camunda` of expressions.
    pub cluster_variables: Contexts,
    /// Added by the command at work.
    new: Vec<Key>,
}

impl Definitions {
    /// An empty cache of models.
    pub fn new(options: &Options) -> Self {
        let max_bytes = options.max_cached_model_bytes;
        Self {
            processes: Cache::new(max_bytes),
            decisions: Cache::new(max_bytes),
            cluster_variables: Contexts::default(),
            new: Vec::new(),
        }
    }

    /// Forgets what expressions found in `camunda`.
    pub fn cluster_variables_changed(&mut self) {
        self.cluster_variables.clear();
    }

    /// The model of a definition that is in the tables.
    pub fn process(&mut self, tables: &Tables, key: Key) -> Result<Arc<Process>, StateError> {
        let missing = || StateError::Decode(format!("definition {key} is referenced, but not there"));
        self.find_process(tables, key)?.ok_or_else(missing)
    }

    /// The model of a definition, if that is still there.
    pub fn find_process(&mut self, tables: &Tables, key: Key) -> Result<Option<Arc<Process>>, StateError> {
        if let Some(process) = self.processes.get(key) {
            return Ok(Some(process));
        }
        let Some(definition) = tables.definitions.get(&key)? else { return Ok(None) };
        let processes = bpmn::parse(&definition.resource, &no_limits()).map_err(|problems| {
            StateError::Unusable(format!("deployed model {key} cannot be read by this release: {problems}"))
        })?;
        let process = processes
            .into_iter()
            .find(|process| *process.id == *definition.process_id)
            .map(Arc::new)
            .ok_or_else(|| {
                let id = &definition.process_id;
                StateError::Unusable(format!(
                    "process '{id}' is not in the deployed model {key}, as this release reads it"
                ))
            })?;
        self.processes.put(key, Arc::clone(&process), definition.resource.len());
        Ok(Some(process))
    }

    /// The decisions of a graph that is in the tables.
    pub fn decisions(&mut self, tables: &Tables, key: Key) -> Result<dmn::DecisionRequirements, StateError> {
        if let Some(decisions) = self.decisions.get(key) {
            return Ok(decisions);
        }
        let graph = tables
            .decision_requirements
            .get(&key)?
            .ok_or_else(|| StateError::Decode(format!("decisions {key} are referenced, but not there")))?;
        let decisions = imports::compile(&graph).map_err(|problems| {
            StateError::Unusable(format!(
                "deployed decisions {key} cannot be read by this release: {problems}"
            ))
        })?;
        self.decisions.put(key, decisions.clone(), graph.bytes());
        Ok(decisions)
    }

    /// Keeps a process that was just compiled.
    pub fn keep(&mut self, key: Key, process: Arc<Process>, bytes: usize) {
        self.processes.put(key, process, bytes);
        self.new.push(key);
    }

    /// Keeps decisions that were just compiled.
    pub fn keep_decisions(&mut self, key: Key, decisions: dmn::DecisionRequirements, bytes: usize) {
        self.decisions.put(key, decisions, bytes);
        self.new.push(key);
    }

    /// Forgets a model that is deleted.
    pub fn forget(&mut self, key: Key) {
        self.processes.remove(key);
        self.decisions.remove(key);
    }

    /// Forgets what the command at work kept, because it is undone.
    pub fn forget_new(&mut self) {
        for key in std::mem::take(&mut self.new) {
            self.forget(key);
        }
        self.cluster_variables.clear();
    }

    /// Makes what was kept permanent.
    pub fn keep_new(&mut self) {
        self.new.clear();
    }
}

/// A deployed model was valid under the limits of its day; they may be lower now.
fn no_limits() -> bpmn::Limits {
    bpmn::Limits {
        max_bytes: usize::MAX,
        max_depth: usize::MAX,
        max_xml_elements: usize::MAX,
        max_flow_elements: usize::MAX,
        max_id_chars: usize::MAX,
        max_name_chars: usize::MAX,
        has_agents: false,
        ..bpmn::Limits::default()
    }
}

/// The same for decisions. The recursion of the evaluation stays bounded: no setting allows more than the defaults.
fn no_dmn_limits() -> dmn::Limits {
    dmn::Limits {
        max_bytes: usize::MAX,
        max_xml_elements: usize::MAX,
        max_cells: usize::MAX,
        max_imported_models: usize::MAX,
        max_id_chars: usize::MAX,
        ..dmn::Limits::default()
    }
}

impl CommandContext<'_> {
    /// The key of the highest version of a process, deleted ones aside.
    pub fn latest_definition(&self, tenant: &Name, process_id: &Name) -> Result<Option<Key>, StateError> {
        self.latest(DefinitionKind::Process, tenant, process_id)
    }

    /// The definition a command means.
    pub fn find_definition(
        &self,
        reference: &DefinitionRef,
        tenant: &Name,
    ) -> Result<(Key, Arc<Definition>), Failure> {
        let (key, missing) = match reference {
            DefinitionRef::Key(key) => {
                (Some(*key), format!("Expected to find process definition with key '{key}', but none found"))
            }
            DefinitionRef::Id { id, version: None } => (
                self.latest_definition(tenant, id)?,
                format!("Expected to find process definition with process ID '{id}', but none found"),
            ),
            DefinitionRef::Id { id, version: Some(version) } => (
                self.version_of(DefinitionKind::Process, tenant, id, *version)?,
                format!(
                    "Expected to find process definition with process ID '{id}' and version '{version}', but none found"
                ),
            ),
        };
        let definition = match key {
            Some(key) => self.tables.definitions.get(&key)?.map(|definition| (key, definition)),
            None => None,
        };
        match definition {
            Some((key, definition))
                if definition.tenant_id == *tenant && definition.state == DefinitionState::Active =>
            {
                Ok((key, definition))
            }
            _ => Err(Rejection::not_found(missing).into()),
        }
    }
}
