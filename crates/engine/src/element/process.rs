//! The process itself.

use protocol::{Document, Response};

use super::{Behavior, Leave, Next};
use crate::failure::Failure;
use crate::instance::created;
use crate::step::Step;
use crate::work::{At, Work};

pub(super) struct Process;

impl Behavior for Process {
    /// Runs after start listeners only; without them, `Work::start_instance` does it all.
    fn activate(&self, work: &mut Work, at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        let row = work.tables.element_instances.get(&at.key)?;
        let start = row.and_then(|row| row.pending_event.clone());
        if start.is_some() {
            work.tables.element_instances.update(&at.key, |row| row.pending_event = None)?;
        }
        work.enter_process(at, start.map(|event| (event.element, event.variables)))?;
        Ok(Next::Wait)
    }

    fn complete(&self, _work: &mut Work, _at: &At, _variables: &Document) -> Result<Leave, Failure> {
        Ok(Leave::All)
    }

    fn leaving(&self, work: &mut Work, at: &At) -> Result<(), Failure> {
        if let Some(parent) = at.instance.parent {
            let variables = work.visible_variables(at.key, &[])?;
            work.steps.push_back(Step::Complete { key: parent.element_instance_key, variables });
        }
        if let Some(wait) = &at.instance.await_result {
            let variables = work.visible_variables(at.key, &wait.fetch_variables)?;
            let instance = created(&at.instance, at.key);
            work.effects
                .late_responses
                .push((wait.request_id, Ok(Response::InstanceCompleted { instance, variables })));
        }
        Ok(())
    }
}
