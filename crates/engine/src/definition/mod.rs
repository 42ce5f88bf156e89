//! Process definitions: the compiled models, and how a reference finds one.

mod form;
mod registry;

pub(crate) use registry::{Entry, describe};

use std::collections::HashMap;
use std::sync::Arc;

use bpmn::Process;
use protocol::{DefinitionRef, Key, Name, Rejection};
use state::StateError;

use crate::entity::{Definition, DefinitionKind, DefinitionState};
use crate::failure::Failure;
use crate::tables::Tables;
use crate::work::Work;

/// Compiled models by definition key. Derived from the tables, so it is no part of the state.
#[derive(Default)]
pub(crate) struct Definitions {
    compiled: HashMap<Key, Arc<Process>>,
    /// Added by the command at work.
    new: Vec<Key>,
}

impl Definitions {
    /// The model of a definition that is in the tables.
    pub fn process(&mut self, tables: &Tables, key: Key) -> Result<Arc<Process>, StateError> {
        if let Some(process) = self.compiled.get(&key) {
            return Ok(Arc::clone(process));
        }
        let definition = tables
            .definitions
            .get(&key)?
            .ok_or_else(|| StateError::Decode(format!("definition {key} is referenced, but not there")))?;
        let processes = bpmn::parse(&definition.resource, &no_limits()).map_err(|problems| {
            StateError::Decode(format!("deployed model {key} cannot be read: {problems}"))
        })?;
        let process = processes
            .into_iter()
            .find(|process| *process.id == *definition.process_id)
            .map(Arc::new)
            .ok_or_else(|| {
                StateError::Decode(format!("deployed model {key} lacks process {}", definition.process_id))
            })?;
        self.compiled.insert(key, Arc::clone(&process));
        Ok(process)
    }

    /// Keeps a model that was just compiled.
    pub fn keep(&mut self, key: Key, process: Arc<Process>) {
        self.compiled.insert(key, process);
        self.new.push(key);
    }

    /// Forgets one that is deleted.
    pub fn forget(&mut self, key: Key) {
        self.compiled.remove(&key);
    }

    /// Forgets what the command at work kept, because it is undone.
    pub fn forget_new(&mut self) {
        for key in self.new.drain(..) {
            self.compiled.remove(&key);
        }
    }

    /// Makes what was kept permanent.
    pub fn settle(&mut self) {
        self.new.clear();
    }
}

/// What was deployed was valid under the limits of that day; they may be lower now.
fn no_limits() -> bpmn::Limits {
    bpmn::Limits {
        max_bytes: usize::MAX,
        max_depth: usize::MAX,
        max_xml_elements: usize::MAX,
        max_flow_elements: usize::MAX,
        max_id_chars: usize::MAX,
        max_name_chars: usize::MAX,
        ..bpmn::Limits::default()
    }
}

impl Work<'_> {
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
