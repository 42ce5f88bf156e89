//! Definitions: processes, decisions, forms and other files. The compiled models, and how a reference finds one.

mod agents;
mod cache;
mod cluster_variable;
pub(crate) mod cluster_variables;
mod compiled;
mod decision;
mod delete_resource;
mod deploy;
mod deployment;
mod describe;
mod dispatch;
mod distribution;
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

pub(crate) use compiled::Definitions;
pub(crate) use deployment::Deployment;
pub(crate) use imports::Source;
pub(crate) use read::{Content, Head, ReadFile, with_heading};
pub(crate) use registry::{Entry, bound, describe};

use std::sync::Arc;

use protocol::{DefinitionRef, Key, Name, Rejection};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::{Definition, DefinitionKind, DefinitionState};

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
