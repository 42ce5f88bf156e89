//! User task that people do through the API.

use bpmn::graph::{ElementKind, FormReference, TaskForm, Text};
use protocol::{Document, Key, Name};

use super::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::ErrorType;
use crate::user_task::row::TaskAttributes;

/// Priority of a task whose model gives none.
const DEFAULT_PRIORITY: i64 = 50;

pub(super) struct UserTask;

impl Behavior for UserTask {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let Some(attributes) = work.evaluate_task_attributes(at)? else {
            return Ok(Next::Complete(Document::empty()));
        };
        work.subscribe_to_events(at)?;
        work.create_user_task(at, attributes, work.now_ms())?;
        Ok(Next::Wait)
    }
}

fn form(
    work: &CommandContext,
    at: &ActiveElement,
    form: Option<&TaskForm>,
) -> Result<(Option<Key>, Name), Failure> {
    match form {
        None => Ok((None, Name::default())),
        Some(TaskForm::External(reference)) => Ok((None, work.evaluate_text(reference, &Scope::of(at.key))?)),
        Some(TaskForm::Deployed(reference)) => Ok((Some(work.resolve_form(at, reference)?), Name::default())),
    }
}

impl CommandContext<'_> {
    /// Initial attributes of a task, if the element is a user task.
    pub(in crate::process) fn evaluate_task_attributes(
        &self,
        at: &ActiveElement,
    ) -> Result<Option<TaskAttributes>, Failure> {
        let ElementKind::UserTask(definition) = &at.element().kind else { return Ok(None) };
        let details = self.evaluate_task_details(at, &definition.details)?;
        let priority = match &definition.priority {
            Some(priority) => self.evaluate_integer(priority, &Scope::of(at.key))?,
            None => DEFAULT_PRIORITY,
        };
        let priority = i32::try_from(priority)
            .ok()
            .filter(|priority| (0..=100).contains(priority))
            .ok_or_else(|| {
                let message =
                    format!("Expected the priority to be a number from 0 to 100, but was '{priority}'.");
                Failure::incident(ErrorType::ExtractValueError, message)
            })?;
        let (form_key, external_form_reference) = form(self, at, definition.form.as_ref())?;
        Ok(Some(TaskAttributes { priority, form_key, external_form_reference, ..details }))
    }

    /// The form that a task refers to, or an incident.
    pub(super) fn resolve_form(&self, at: &ActiveElement, reference: &FormReference) -> Result<Key, Failure> {
        let id = self.evaluate_text(&reference.id, &Scope::of(at.key))?;
        let found =
            self.form_key(&id, &reference.binding, &at.instance.tenant_id, at.instance.definition_key)?;
        found.ok_or_else(|| {
            let message = format!("Expected to find a form with id '{id}', but no such form was found");
            Failure::incident(ErrorType::FormNotFound, message)
        })
    }

    /// Assignment and dates of a task.
    pub(super) fn evaluate_task_details(
        &self,
        at: &ActiveElement,
        details: &bpmn::graph::TaskDetails,
    ) -> Result<TaskAttributes, Failure> {
        let scope = Scope::of(at.key);
        let date = |date: &Option<Text>| -> Result<Name, Failure> {
            date.as_ref().map_or(Ok(Name::default()), |date| self.evaluate_date(date, &scope))
        };
        let list = |list: &Option<Text>| -> Result<Vec<Name>, Failure> {
            list.as_ref().map_or(Ok(Vec::new()), |list| self.evaluate_names(list, &scope))
        };
        let assignee = match &details.assignee {
            Some(assignee) => self.evaluate_optional_text(assignee, &scope)?,
            None => Name::default(),
        };
        Ok(TaskAttributes {
            assignee,
            candidate_users: list(&details.candidate_users)?,
            candidate_groups: list(&details.candidate_groups)?,
            due_date: date(&details.due_date)?,
            follow_up_date: date(&details.follow_up_date)?,
            ..TaskAttributes::default()
        })
    }
}
