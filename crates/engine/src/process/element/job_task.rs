//! Tasks and throw events that a job worker does.

use bpmn::graph::{ElementKind, WorkerUserTask};
use protocol::{Document, Name};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::user_task::headers::ReservedHeaders;

pub(super) struct JobTask;

impl Behavior for JobTask {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let ElementKind::Job(definition) = &at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let job = work.evaluate_job(at, &definition.job_type, &definition.retries)?;
        // Only a user task is for people, and only a service task has links.
        let more_headers = match &definition.user_task {
            Some(task) => user_task_headers(work, at, task)?,
            None => work.linked_resources(at, &definition.linked_resources)?,
        };
        work.subscribe_to_events(at)?;
        work.create_job(at, job, more_headers)?;
        Ok(Next::Wait)
    }
}

/// The reserved headers that expressions give, as members of a JSON object.
fn user_task_headers(
    work: &CommandContext,
    at: &ActiveElement,
    task: &WorkerUserTask,
) -> Result<Option<Name>, Failure> {
    let found = work.evaluate_task_details(at, &task.details)?;
    let form_key = task.form.as_ref().map(|form| work.resolve_form(at, form)).transpose()?;
    let mut headers = ReservedHeaders::default();
    headers.text("assignee", &found.assignee);
    if task.details.candidate_groups.is_some() {
        headers.list("candidateGroups", &found.candidate_groups);
    }
    if task.details.candidate_users.is_some() {
        headers.list("candidateUsers", &found.candidate_users);
    }
    headers.text("dueDate", &found.due_date);
    headers.text("followUpDate", &found.follow_up_date);
    if let Some(key) = form_key {
        headers.text("formKey", &key.to_string());
    }
    Ok(headers.finish())
}
