//! Attributes of a user task, and their expressions in its model.

use bpmn::graph::{ElementKind, FormReference, TaskForm, Text};
use bpmn::timer::parse_date;
use feel::Value;
use protocol::{Key, Name, UserTaskChanges};

use super::row::TaskAttributes;
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::{Scope, mismatch, to_json};
use crate::entity::{DefinitionKind, ErrorType};

pub(super) const ASSIGNEE: &str = "assignee";
/// Priority of a task whose model gives none.
const DEFAULT_PRIORITY: i64 = 50;
const PRIORITIES: std::ops::RangeInclusive<i32> = 0..=100;
const _: () = assert!(
    *PRIORITIES.start() as i64 <= DEFAULT_PRIORITY && DEFAULT_PRIORITY <= *PRIORITIES.end() as i64,
    "the default priority is a priority"
);

/// Applies changes and gives the names of what differs afterwards; the error names what is wrong with them.
pub(crate) fn change(
    attributes: &mut TaskAttributes,
    changes: &UserTaskChanges,
) -> Result<Vec<Name>, String> {
    if let Some(priority) = changes.priority.filter(|priority| !PRIORITIES.contains(priority)) {
        return Err(format!("priority must be a number from 0 to 100, but is '{priority}'"));
    }
    for (name, date) in [("dueDate", &changes.due_date), ("followUpDate", &changes.follow_up_date)] {
        if let Some(date) = date.as_ref().filter(|date| !date.is_empty())
            && let Err(error) = parse_date(date)
        {
            return Err(format!("{name}: {error}"));
        }
    }
    let mut changed = Vec::new();
    set(ASSIGNEE, &mut attributes.assignee, changes.assignee.as_ref(), &mut changed);
    set(
        "candidateGroupsList",
        &mut attributes.candidate_groups,
        changes.candidate_groups.as_ref(),
        &mut changed,
    );
    set(
        "candidateUsersList",
        &mut attributes.candidate_users,
        changes.candidate_users.as_ref(),
        &mut changed,
    );
    set("dueDate", &mut attributes.due_date, changes.due_date.as_ref(), &mut changed);
    set("followUpDate", &mut attributes.follow_up_date, changes.follow_up_date.as_ref(), &mut changed);
    set("priority", &mut attributes.priority, changes.priority.as_ref(), &mut changed);
    Ok(changed)
}

fn set<T: Clone + PartialEq>(name: &str, value: &mut T, wanted: Option<&T>, changed: &mut Vec<Name>) {
    if let Some(wanted) = wanted
        && wanted != value
    {
        value.clone_from(wanted);
        changed.push(Name::from(name));
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
    /// A text that is static or evaluates to a string; null is the same as empty.
    fn evaluate_optional_text(&self, text: &Text, scope: &Scope) -> Result<Name, Failure> {
        let Text::Expression(expression) = text else { return self.evaluate_text(text, scope) };
        let kind = ErrorType::ExtractValueError;
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
        match (&value, value.as_str()) {
            (Value::Null, _) => Ok(Name::default()),
            (_, Some(text)) => Ok(Name::from(text)),
            _ => Err(mismatch(expression, "'STRING'", &value, &warnings, kind)),
        }
    }

    /// Names from a static list with commas or a list of strings.
    fn evaluate_names(&self, text: &Text, scope: &Scope) -> Result<Vec<Name>, Failure> {
        let expression = match text {
            Text::Static(list) => return Ok(list.split(',').map(|item| Name::from(item.trim())).collect()),
            Text::Expression(expression) => expression,
        };
        let kind = ErrorType::ExtractValueError;
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
        let items = value.as_list().map(|list| list.items().iter().map(|item| item.as_str().map(Name::from)));
        items
            .and_then(Iterator::collect::<Option<Vec<Name>>>)
            .ok_or_else(|| mismatch(expression, "a list of strings", &value, &warnings, kind))
    }

    /// A date and time with an offset, from static text, a string or a temporal value; null is the same as empty.
    fn evaluate_date(&self, text: &Text, scope: &Scope) -> Result<Name, Failure> {
        let expression = match text {
            Text::Static(text) => return Ok(Name::from(text)),
            Text::Expression(expression) => expression,
        };
        let kind = ErrorType::ExtractValueError;
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
        let text = match (&value, value.as_str()) {
            (Value::Null, _) | (_, Some("")) => return Ok(Name::default()),
            (_, Some(text)) => text.to_owned(),
            _ if value.type_name() == "DATE_TIME" => to_json(&value).as_str().trim_matches('"').to_owned(),
            _ => {
                let wanted = "one of '[DATE_TIME, STRING]'";
                return Err(mismatch(expression, wanted, &value, &warnings, kind));
            }
        };
        if let Err(error) = parse_date(&text) {
            let message = format!(
                "Expected result of the expression '{}' to be a date, but {error}",
                expression.text()
            );
            return Err(Failure::incident(kind, message));
        }
        Ok(Name::from(without_zero_seconds(&text)))
    }

    /// Initial attributes of a task, if the element is a user task.
    pub fn evaluate_task_attributes(&self, at: &ActiveElement) -> Result<Option<TaskAttributes>, Failure> {
        let ElementKind::UserTask(definition) = &at.element().kind else { return Ok(None) };
        let details = self.evaluate_task_details(at, &definition.details)?;
        let priority = match &definition.priority {
            Some(priority) => self.evaluate_integer(priority, &Scope::of(at.key))?,
            None => DEFAULT_PRIORITY,
        };
        let priority = i32::try_from(priority)
            .ok()
            .filter(|priority| PRIORITIES.contains(priority))
            .ok_or_else(|| {
                let message =
                    format!("Expected the priority to be a number from 0 to 100, but was '{priority}'.");
                Failure::incident(ErrorType::ExtractValueError, message)
            })?;
        let (form_key, external_form_reference) = form(self, at, definition.form.as_ref())?;
        Ok(Some(TaskAttributes { priority, form_key, external_form_reference, ..details }))
    }

    /// The form that a task refers to, or an incident.
    pub fn resolve_form(&self, at: &ActiveElement, reference: &FormReference) -> Result<Key, Failure> {
        let id = self.evaluate_text(&reference.id, &Scope::of(at.key))?;
        let (tenant, definition_key) = (&at.instance.tenant_id, at.instance.definition_key);
        let found = self.bound(DefinitionKind::Form, tenant, &id, &reference.binding, definition_key)?;
        found.ok_or_else(|| {
            let message = format!("Expected to find a form with id '{id}', but no such form was found");
            Failure::incident(ErrorType::FormNotFound, message)
        })
    }

    /// Assignment and dates of a task.
    pub fn evaluate_task_details(
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

/// Leaves out seconds that are zero, as clients know it from the reference engine.
fn without_zero_seconds(date: &str) -> String {
    let date = date.trim();
    let seconds = date.find('T').map(|at| at + "T12:00".len());
    match seconds.and_then(|at| date.get(at..)) {
        Some(rest) if rest.starts_with(":00") && !rest.starts_with(":00.") => {
            format!("{}{}", &date[..date.len() - rest.len()], &rest[":00".len()..])
        }
        _ => date.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_ones_stay_and_empty_ones_are_cleared() {
        let mut attributes = TaskAttributes {
            assignee: "ann".into(),
            due_date: "2030-01-01T00:00:00Z".into(),
            candidate_users: vec!["bob".into()],
            priority: 50,
            ..TaskAttributes::default()
        };
        let changes = UserTaskChanges {
            due_date: Some(Name::default()),
            candidate_users: Some(Vec::new()),
            candidate_groups: Some(Vec::new()),
            priority: Some(50),
            ..UserTaskChanges::default()
        };
        let changed = change(&mut attributes, &changes);
        assert_eq!(changed, Ok(vec!["candidateUsersList".into(), "dueDate".into()]));
        let wanted = TaskAttributes { assignee: "ann".into(), priority: 50, ..TaskAttributes::default() };
        assert_eq!(attributes, wanted);
    }

    #[test]
    fn zero_seconds_are_left_out() {
        for (date, expected) in [
            ("2030-01-01T00:00:00Z", "2030-01-01T00:00Z"),
            ("2030-01-01T00:00:05Z", "2030-01-01T00:00:05Z"),
            ("2030-01-01T00:00:00.5Z", "2030-01-01T00:00:00.5Z"),
            ("2030-01-01T00:00Z", "2030-01-01T00:00Z"),
            ("2030-01-01T10:30:00+02:00[Europe/Berlin]", "2030-01-01T10:30+02:00[Europe/Berlin]"),
        ] {
            assert_eq!(without_zero_seconds(date), expected);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let changes = |priority, date: &str| UserTaskChanges {
            priority,
            follow_up_date: Some(date.into()),
            ..UserTaskChanges::default()
        };
        let error = change(&mut TaskAttributes::default(), &changes(Some(101), "")).unwrap_err();
        assert_eq!(error, "priority must be a number from 0 to 100, but is '101'");
        let error = change(&mut TaskAttributes::default(), &changes(None, "soon")).unwrap_err();
        assert!(error.starts_with("followUpDate: 'soon'"), "{error}");
    }
}
