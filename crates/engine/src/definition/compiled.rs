//! Compiled models of deployed files.

use std::sync::Arc;

use bpmn::Process;
use dmn::{Parser, Problems};
use protocol::Key;
use state::StateError;

use super::cache::Cache;
use super::cluster_variables::Contexts;
use crate::core::options::Options;
use crate::entity::DecisionRequirements;
use crate::entity::tables::Tables;

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
        let decisions = compile(&graph).map_err(|problems| {
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
        max_list_entries: usize::MAX,
        ..bpmn::Limits::default()
    }
}

/// Limits for decisions deployed before. The recursion of the evaluation stays bounded: no setting allows more than the
/// defaults.
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

/// Compiles a deployed graph with what it imports.
fn compile(graph: &DecisionRequirements) -> Result<dmn::DecisionRequirements, Problems> {
    let mut models: Vec<dmn::DecisionRequirements> = Vec::new();
    let parser = |models: &[dmn::DecisionRequirements], imports: &[u32]| {
        let parser = Parser::new(no_dmn_limits());
        imports.iter().fold(parser, |parser, at| parser.with_import(&models[*at as usize]))
    };
    for file in &graph.imported.files {
        let model = parser(&models, &file.imports).parse(&file.resource)?;
        models.push(model);
    }
    parser(&models, &graph.imported.direct).parse(&graph.resource)
}
