//! Extension elements of user tasks: assignment, schedule, priority, form, listeners.

use super::listener::read_listener;
use super::{form_reference, headers, headers_json};
use crate::context::Context;
use crate::graph::{TaskDetails, TaskEvent, TaskForm, TaskListener, Text, UserTask};
use crate::problem::excerpt;
use crate::timer::parse_date;
use crate::xml::NodeId;

/// Most listeners of one user task; each is a job that delays the task.
const MAX_LISTENERS: usize = 1000;

const EVENTS: [(&str, TaskEvent); 5] = [
    ("creating", TaskEvent::Creating),
    ("assigning", TaskEvent::Assigning),
    ("updating", TaskEvent::Updating),
    ("completing", TaskEvent::Completing),
    ("canceling", TaskEvent::Canceling),
];

/// A finding, which is reported already.
pub(crate) struct Reported;

/// A user task without a job worker.
pub(crate) fn user_task(cx: &mut Context<'_, '_>) -> Option<UserTask> {
    let details = task_details(cx);
    let priority = priority(cx);
    let form = form(cx);
    let listeners = listeners(cx);
    let headers_json = headers_json(&headers(cx));
    Some(UserTask {
        details: details.ok()?,
        priority: priority.ok()?,
        form: form.ok()?,
        listeners: listeners.ok()?,
        headers_json,
    })
}

/// Assignment and schedule of a user task of either kind.
pub(crate) fn task_details(cx: &mut Context<'_, '_>) -> Result<TaskDetails, Reported> {
    let assignment = cx.extension("assignmentDefinition");
    let schedule = cx.extension("taskSchedule");
    let assignee = optional_text(cx, assignment, "assignee", |_| None);
    let candidate_groups = optional_text(cx, assignment, "candidateGroups", list_problem);
    let candidate_users = optional_text(cx, assignment, "candidateUsers", list_problem);
    let due_date = optional_text(cx, schedule, "dueDate", date_problem);
    let follow_up_date = optional_text(cx, schedule, "followUpDate", date_problem);
    Ok(TaskDetails {
        assignee: assignee?,
        candidate_users: candidate_users?,
        candidate_groups: candidate_groups?,
        due_date: due_date?,
        follow_up_date: follow_up_date?,
    })
}

/// The items of a list with commas; `None` if one is blank.
pub(crate) fn list_items(list: &str) -> Option<Vec<&str>> {
    let items: Vec<&str> = list.split(',').map(str::trim).collect();
    items.iter().all(|item| !item.is_empty()).then_some(items)
}

fn list_problem(list: &str) -> Option<String> {
    let is_list = list_items(list).is_some();
    (!is_list).then(|| format!(" must be a list such as 'a, b', but is '{}'", excerpt(list)))
}

fn date_problem(date: &str) -> Option<String> {
    parse_date(date).err().map(|error| format!(": {error}"))
}

/// An optional attribute of a part; it may be blank. `problem` returns the finding about static text.
fn optional_text(
    cx: &mut Context<'_, '_>,
    part: Option<NodeId>,
    name: &str,
    problem: impl Fn(&str) -> Option<String>,
) -> Result<Option<Text>, Reported> {
    let Some(part) = part else { return Ok(None) };
    let value = cx.document.attribute(part, name).map(str::trim).filter(|value| !value.is_empty());
    let Some(value) = value else { return Ok(None) };
    let place = format!("attribute '{name}' of {}", cx.name_of(part));
    let text = cx.text(value, &place).ok_or(Reported)?;
    if let Text::Static(text) = &text
        && let Some(problem) = problem(text)
    {
        cx.problem(format!("{place}{problem}"));
        return Err(Reported);
    }
    Ok(Some(text))
}

fn priority(cx: &mut Context<'_, '_>) -> Result<Option<Text>, Reported> {
    let Some(node) = cx.extension("priorityDefinition") else { return Ok(None) };
    cx.required(node, "priority").ok_or(Reported)?;
    optional_text(cx, Some(node), "priority", |number| {
        let is_valid = number.parse::<i32>().is_ok_and(|number| (0..=100).contains(&number));
        (!is_valid).then(|| format!(" must be a whole number from 0 to 100, but is '{}'", excerpt(number)))
    })
}

fn form(cx: &mut Context<'_, '_>) -> Result<Option<TaskForm>, Reported> {
    let Some(node) = cx.extension("formDefinition") else { return Ok(None) };
    let has = |name| cx.document.attribute(node, name).is_some_and(|value| !value.trim().is_empty());
    match (has("formId"), has("externalReference")) {
        (true, false) => form_reference(cx, node).map(|form| Some(TaskForm::Deployed(form))).ok_or(Reported),
        (false, true) => {
            let reference = optional_text(cx, Some(node), "externalReference", |_| None)?;
            Ok(reference.map(TaskForm::External))
        }
        _ => {
            cx.problem(
                "zeebe:formDefinition must have either a non-empty attribute 'formId' or a non-empty attribute \
                 'externalReference'",
            );
            Err(Reported)
        }
    }
}

fn listeners(cx: &mut Context<'_, '_>) -> Result<Vec<TaskListener>, Reported> {
    let Some(container) = cx.extension("taskListeners") else { return Ok(Vec::new()) };
    let events = EVENTS.map(|(name, _)| name);
    let mut listeners = Vec::new();
    let mut is_whole = true;
    for (count, node) in cx.document.zeebe_children(container, "taskListener").enumerate() {
        if count == MAX_LISTENERS {
            cx.problem(format!("must not have more than {MAX_LISTENERS} task listeners"));
            return Err(Reported);
        }
        if cx.document.zeebe_children(node, "taskHeaders").next().is_some() {
            let part = cx.name_of(node);
            cx.problem(format!(
                "{part}: headers of a task listener are not supported, those of its user task are"
            ));
            is_whole = false;
            continue;
        }
        let Some((name, listener)) = read_listener(cx, node, &events) else {
            is_whole = false;
            continue;
        };
        listeners.extend(
            EVENTS
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, event)| TaskListener { event: *event, listener }),
        );
    }
    if is_whole { Ok(listeners) } else { Err(Reported) }
}
