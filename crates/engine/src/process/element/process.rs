//! The process itself.

use bpmn::graph::PROCESS;
use protocol::{Document, Rejection, Response};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::Leave;
use crate::process::instance::created;

pub(super) struct Process;

impl Behavior for Process {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let start = work.tables.element_instances.get(&at.key)?.and_then(|row| row.pending_event.clone());
        if let Some(event) = &start
            && !at.element().event_starts.is_empty()
            && at.process.element(event.element).outputs.is_empty()
        {
            // Its start variables are stored there anyway; its event sub-processes may need them for their keys.
            work.check_room_above(at, at.key, &event.variables)?;
            work.propagate(at.key, at.process_instance_key, &event.variables)?;
        }
        self.enter(work, at)?;
        match start {
            Some(event) => {
                work.tables.element_instances.update(&at.key, |row| row.pending_event = None)?;
                work.start_child(at, event.element, Some(event.variables))?;
            }
            None => match at.process.none_start(PROCESS) {
                Some(element) => work.start_child(at, element, None)?,
                None => return Err(Rejection::invalid_state("the process has no none start event").into()),
            },
        }
        Ok(Next::Wait)
    }

    fn enter(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        work.subscribe_to_events(at)
    }

    fn complete(
        &self,
        _work: &mut CommandContext,
        _at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        Ok(Leave::All)
    }

    fn leaving(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        if let Some(parent) = at.instance.parent {
            let variables = work.tables.visible_variables(at.key, &[])?;
            work.steps.push_back(Step::Complete { key: parent.element_instance_key, variables });
        }
        if let Some(wait) = &at.instance.await_result {
            let variables = work.tables.visible_variables(at.key, &wait.fetch_variables)?;
            let instance = created(&at.instance, at.key);
            work.effects
                .late_responses
                .push((wait.request_id, Ok(Response::InstanceCompleted { instance, variables })));
        }
        Ok(())
    }
}
