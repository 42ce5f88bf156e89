//! A user task by its key, its form, and listeners of all user tasks.

use std::ops::Bound;
use std::sync::Arc;

use bpmn::graph::ElementKind;
use bpmn::timer::parse_date;
use protocol::{GlobalListener, Key, Name, QueryReply, Rejection, UserTaskView};

use super::definition;
use super::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View, not_found};

pub(super) fn read(view: &mut View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let missing = || not_found("User task", key);
    let task = view.tables.user_tasks.get(&key)?.ok_or_else(missing)?;
    let row = view.tables.element_instances.get(&task.element_instance_key)?.ok_or_else(missing)?;
    let instance = view.instance(row.process_instance_key)?;
    let process = view.process(instance.definition_key)?;
    let element = process.element(row.element);
    let attributes = &task.attributes;
    Ok(QueryReply::UserTask(Box::new(UserTaskView {
        key,
        state: task.state.as_str(),
        name: element.name.as_ref().map(Name::from),
        element_id: Name::from(&element.id),
        element_instance_key: task.element_instance_key,
        assignee: attributes.assignee.clone(),
        candidate_users: attributes.candidate_users.clone(),
        candidate_groups: attributes.candidate_groups.clone(),
        due_ms: parse_date(&attributes.due_date).ok(),
        follow_up_ms: parse_date(&attributes.follow_up_date).ok(),
        priority: attributes.priority,
        form_key: attributes.form_key,
        external_form_reference: attributes.external_form_reference.clone(),
        created_ms: task.created_ms,
        custom_headers_json: match &element.kind {
            ElementKind::UserTask(definition) => Arc::clone(&definition.headers_json),
            _ => Arc::from("{}"),
        },
        process_instance_key: row.process_instance_key,
        root_process_instance_key: instance.root_key,
        process_definition_key: instance.definition_key,
        process_id: instance.process_id.clone(),
        process_name: process.name.as_ref().map(Name::from),
        version: instance.version,
        tenant_id: instance.tenant_id.clone(),
        tags: instance.tags.clone(),
        business_id: instance.business_id.clone(),
    })))
}

pub(super) fn form(view: &View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let task = view.tables.user_tasks.get(&key)?.ok_or_else(|| not_found("User task", key))?;
    let Some(form_key) = task.attributes.form_key else { return Ok(QueryReply::UserTaskForm(None)) };
    match definition::form(view, form_key)? {
        QueryReply::Form(form) => Ok(QueryReply::UserTaskForm(Some(form))),
        other => Ok(other),
    }
}

pub(super) fn global_listener(view: &View<'_>, id: &Name) -> Result<QueryReply, ReadError> {
    let stored = view.tables.global_listeners.get(&id.0)?;
    let stored =
        stored.ok_or_else(|| Rejection::not_found(format!("Global listener with id '{id}' not found")))?;
    Ok(QueryReply::GlobalListener(stored.listener.clone()))
}

/// Listeners of all user tasks in the order of their IDs, up to a limit.
pub(super) fn global_listeners(limit: usize) -> Read {
    Read::More(Box::new(Listeners { after: None, limit, found: Vec::new() }))
}

struct Listeners {
    after: Option<Arc<str>>,
    limit: usize,
    found: Vec<GlobalListener>,
}

impl Scan for Listeners {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        // One more tells that there are more.
        let room = (self.limit + 1 - self.found.len()).min(ROWS_PER_SLICE);
        let from = self.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let rows = view.tables.global_listeners.scan((from, Bound::Unbounded), room)?;
        let is_last = rows.len() < room;
        for (id, stored) in rows {
            self.after = Some(id);
            self.found.push(stored.listener.clone());
        }
        if !is_last && self.found.len() <= self.limit {
            return Ok(Read::More(self));
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        Ok(Read::Done(QueryReply::GlobalListeners { listeners: self.found, has_more }))
    }
}
