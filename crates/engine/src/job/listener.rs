//! Execution listeners: jobs before and after the work of an element, and before a process ends without completing, one
//! at a time.
//!
//! Where they stand is kept in the row of the element instance, with what comes after the last of them.

use bpmn::graph::ElementKind;
use protocol::{Document, JobListenerEventType};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{AfterListeners, ElementInstance, Listening, Phase};

impl CommandContext<'_> {
    /// Begins with the listeners of one event.
    pub fn begin_listening(&mut self, at: &ActiveElement, then: AfterListeners) -> Result<(), Failure> {
        let listening = Box::new(Listening { index: 0, then });
        self.tables.element_instances.update(&at.key, |row| row.listening = Some(listening))?;
        self.steps.push_back(Step::Listen { key: at.key, index: 0 });
        Ok(())
    }

    /// Creates the job of a listener, or goes on after the last.
    pub fn listen(&mut self, at: &ActiveElement, row: &ElementInstance, index: u32) -> Result<(), Failure> {
        let Some(listening) = &row.listening else { return Ok(()) };
        let (listeners, event_type) = match (&listening.then, row.phase) {
            (AfterListeners::Activate(_), Phase::Activating) => {
                let is_body = matches!(at.element().kind, ElementKind::MultiInstance(_));
                let event =
                    if is_body { JobListenerEventType::BeforeAll } else { JobListenerEventType::Start };
                (&at.element().listeners.start, event)
            }
            // One that has been interrupted meanwhile is about to be terminated.
            (AfterListeners::Leave(_), Phase::Completing) if row.pending_event.is_none() => {
                (&at.element().listeners.end, JobListenerEventType::End)
            }
            (AfterListeners::Terminate, Phase::Terminating) => {
                (&at.element().listeners.cancel, JobListenerEventType::Cancel)
            }
            _ => return Ok(()),
        };
        self.tables.element_instances.update(&at.key, |row| {
            if let Some(listening) = &mut row.listening {
                listening.index = index;
            }
        })?;
        if let Some(listener) = listeners.get(index as usize) {
            let created = self
                .evaluate_job(at, &listener.job_type, &listener.retries)
                .and_then(|job| self.create_execution_listener_job(at, job, event_type, listener));
            return match created {
                // All of this moment run again once it is resolved.
                Err(Failure::Incident { error_type, message }) => {
                    let resume = Step::Listen { key: at.key, index: 0 };
                    self.raise(at, error_type, &message, None, Some(resume))?;
                    Ok(())
                }
                other => other,
            };
        }
        match listening.then.clone() {
            AfterListeners::Activate(trigger) => {
                // A migration may have brought it to a model without any.
                if at.element().listeners.start.is_empty() {
                    self.tables.element_instances.update(&at.key, |row| row.listening = None)?;
                }
                self.proceed_activation(at, trigger)
            }
            AfterListeners::Leave(leave) => self.leave(at, leave),
            AfterListeners::Terminate => self.end_termination(at, row),
        }
    }

    /// The job of an execution listener is completed.
    pub(super) fn listener_done(
        &mut self,
        at: &ActiveElement,
        row: &ElementInstance,
        event_type: JobListenerEventType,
        variables: &Document,
    ) -> Result<(), Failure> {
        let Some(listening) = &row.listening else { return Ok(()) };
        match event_type {
            JobListenerEventType::End => {
                let scope_key = if at.scope_key == 0 { at.key } else { at.scope_key };
                self.propagate(scope_key, at.process_instance_key, variables)?;
            }
            _ => {
                self.set_locals(at.key, at.process_instance_key, variables)?;
            }
        }
        self.steps.push_back(Step::Listen { key: at.key, index: listening.index + 1 });
        Ok(())
    }
}
