//! Views of user tasks.

#![expect(missing_docs, reason = "names say what is held")]

use std::sync::Arc;

use crate::{Key, Name};

/// A user task that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserTaskView {
    pub key: Key,
    /// Where it is in its life, as the API names it.
    pub state: &'static str,
    /// Name of the element, if the model gives one.
    pub name: Option<Name>,
    pub element_id: Name,
    pub element_instance_key: Key,
    /// Assignee; empty if unassigned.
    pub assignee: Name,
    pub candidate_users: Vec<Name>,
    /// Groups whose members may take it.
    pub candidate_groups: Vec<Name>,
    /// When it should be done, Unix milliseconds.
    pub due_ms: Option<i64>,
    /// When to look at it, Unix milliseconds.
    pub follow_up_ms: Option<i64>,
    /// 0 to 100.
    pub priority: i32,
    pub form_key: Option<Key>,
    /// Its form, if somebody else knows it; empty if not.
    pub external_form_reference: Name,
    /// When it was created, Unix milliseconds.
    pub created_ms: i64,
    /// Task headers as a JSON object.
    pub custom_headers_json: Arc<str>,
    pub process_instance_key: Key,
    /// The instance at the top of the call hierarchy.
    pub root_process_instance_key: Key,
    pub process_definition_key: Key,
    pub process_id: Name,
    /// Name of the process, if the model gives one.
    pub process_name: Option<Name>,
    /// Version of the definition.
    pub version: u32,
    pub tenant_id: Name,
    /// Tags of the process instance.
    pub tags: Vec<Name>,
    /// Business ID of the process instance.
    pub business_id: Option<Name>,
}
