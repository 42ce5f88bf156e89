//! The reserved headers that tell a job worker about a user task.

use json::write_string;
use protocol::{Name, UserTaskProperties};

/// Prefix of the keys of reserved headers.
const PREFIX: &str = "io.camunda.zeebe:";

/// Members of a JSON object; values that are empty are left out.
#[derive(Default)]
pub(crate) struct ReservedHeaders(Vec<u8>);

impl ReservedHeaders {
    /// A text, unless it is empty.
    pub fn text(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        write_string(&format!("{PREFIX}{name}"), &mut self.0);
        self.0.push(b':');
        write_string(value, &mut self.0);
    }

    /// A JSON list of texts, which may be empty.
    pub fn list(&mut self, name: &str, items: &[Name]) {
        let mut list = Vec::from(*b"[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                list.push(b',');
            }
            write_string(item, &mut list);
        }
        list.push(b']');
        self.text(name, &String::from_utf8_lossy(&list));
    }

    /// The members; `None` if there is none.
    pub fn finish(self) -> Option<Name> {
        (!self.0.is_empty()).then(|| Name::from(&*String::from_utf8_lossy(&self.0)))
    }
}

/// Headers of a listener's job about its user task.
pub(crate) fn of_listener(task: &UserTaskProperties) -> Option<Name> {
    let mut headers = ReservedHeaders::default();
    headers.text("userTaskKey", &task.user_task_key.to_string());
    headers.text("action", &task.action);
    headers.text("assignee", &task.assignee);
    let lists = [
        ("candidateGroups", &task.candidate_groups),
        ("candidateUsers", &task.candidate_users),
        ("changedAttributes", &task.changed_attributes),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        headers.list(name, list);
    }
    headers.text("dueDate", &task.due_date);
    headers.text("followUpDate", &task.follow_up_date);
    if let Some(key) = task.form_key {
        headers.text("formKey", &key.to_string());
    }
    headers.text("priority", &task.priority.to_string());
    headers.finish()
}
