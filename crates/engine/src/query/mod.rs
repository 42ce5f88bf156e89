//! Reads of the state, as of the last batch applied. Nothing here changes a row.
//!
//! A [`Query`] enters at [`Engine::read`]. To add one: a variant of `protocol::Query` and of
//! `protocol::QueryReply`, a file here with its function, a line in [`Engine::read`]. A query that reads more than
//! a few rows is a [`Scan`]: it looks at [`view::ROWS_PER_SLICE`] at the most and says how to go on, so that batches
//! are applied in between. A scan therefore sees each row as it is when it comes by, and not all of them at one moment.

mod banned;
mod batch_operation;
mod call_hierarchy;
mod cluster_variable;
mod definition;
mod element_instance;
mod identity;
mod incident;
mod process_instance;
mod scope;
mod statistics;
mod user_task;
mod variable;
mod view;

use protocol::Query;

pub use view::{Read, ReadError, Scan, View};

use crate::Engine;

impl Engine {
    /// Answers a query, or begins to.
    pub fn read(&mut self, query: &Query) -> Result<Read, ReadError> {
        let view = &mut self.view();
        let reply = match query {
            Query::BatchOperation { key } => batch_operation::read(view, *key)?,
            Query::BatchOperations => batch_operation::read_all(view)?,
            Query::BatchSearches => batch_operation::read_searches(view)?,
            Query::BatchItems { batch_operation_key, limit } => {
                return Ok(batch_operation::read_items(*batch_operation_key, *limit));
            }
            Query::ProcessInstance { key } => process_instance::read(view, *key)?,
            Query::ElementInstance { key } => element_instance::read(view, *key)?,
            Query::ClusterVariable { tenant_id, name } => {
                cluster_variable::read(view, tenant_id.as_ref(), name)?
            }
            Query::ClusterVariables { limit } => return Ok(cluster_variable::read_all(*limit)),
            Query::ClusterContext { tenant_id } => cluster_variable::context(view, tenant_id)?,
            Query::Scope { key } => scope::read(view, *key)?,
            Query::Variable { key } => return Ok(variable::read(*key)),
            Query::Incident { key } => incident::read(view, *key)?,
            Query::CallHierarchy { process_instance_key } => {
                call_hierarchy::read(view, *process_instance_key)?
            }
            Query::ProcessDefinition { key } => definition::process(view, *key)?,
            Query::Decision { key } => definition::decision(view, *key)?,
            Query::DecisionRequirements { key } => definition::requirements(view, *key)?,
            Query::Source { of, key } => definition::source(view, *of, *key)?,
            Query::Form { key } => definition::form(view, *key)?,
            Query::StartForm { process_definition_key } => {
                definition::start_form(view, *process_definition_key)?
            }
            Query::BannedInstances { after, limit } => banned::read(view, *after, *limit)?,
            Query::RunningDefinitions { process_id, limit } => {
                return Ok(statistics::running(process_id.clone(), *limit));
            }
            Query::Errors { limit, of } => return Ok(statistics::by_error(*limit, of.clone())),
            Query::FailingDefinitions { error_hash, limit } => {
                return Ok(statistics::by_definition(*error_hash, *limit));
            }
            Query::Subscriptions { limit } => return Ok(statistics::subscriptions(*limit)),
            Query::Resource { key, with_content } => definition::resource(view, *key, *with_content)?,
            Query::Resources { limit } => return Ok(definition::resources(*limit)),
            Query::UserTask { key } => user_task::read(view, *key)?,
            Query::UserTaskForm { key } => user_task::form(view, *key)?,
            Query::GlobalListeners { limit } => return Ok(user_task::global_listeners(*limit)),
            Query::Identity(query) => return identity::read(view, query),
            Query::GlobalListener { id } => user_task::global_listener(view, id)?,
        };
        Ok(Read::Done(reply))
    }

    /// Goes on with a read.
    pub fn read_on(&mut self, scan: Box<dyn Scan>) -> Result<Read, ReadError> {
        scan.slice(&mut self.view())
    }

    fn view(&mut self) -> View<'_> {
        let (grants_version, had_administrator) = (self.grants_version(), self.meta.had_administrator);
        View { tables: &self.tables, definitions: &mut self.definitions, grants_version, had_administrator }
    }
}
