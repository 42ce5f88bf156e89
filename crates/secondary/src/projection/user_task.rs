//! User tasks.

use protocol::{Name, Record, UserTaskIntent, UserTaskRecord};
use search::Value;
use search::model::user_task as task;

use super::element::tags;
use super::names::Names;
use crate::change::{Batch, Change, RowId};

pub(super) fn apply(record: &Record, value: &UserTaskRecord, names: &mut Names, batch: &mut Batch) {
    let Some(intent) = UserTaskIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let state = match intent {
        UserTaskIntent::Creating => {
            let names = names.of(value.process_definition_key);
            let row = batch.insert(&task::ENTITY, id.clone());
            row.set(task::CREATED, record.timestamp_ms)
                .set(task::ELEMENT_KEY, value.element_instance_key)
                .set(task::INSTANCE_KEY, value.process_instance_key)
                .set(task::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(task::TENANT, &value.tenant_id)
                .set(task::TAGS, tags(&value.tags))
                .set(task::BUSINESS_ID, &value.business_id)
                .set(task::CUSTOM_HEADERS, &value.custom_headers)
                .set(task::PROCESS_NAME, &names.name)
                .set(task::NAME, names.elements.get(&value.element_id));
            define(row, value);
            Some("CREATING")
        }
        UserTaskIntent::Created
        | UserTaskIntent::Assigned
        | UserTaskIntent::Updated
        | UserTaskIntent::AssignmentDenied
        | UserTaskIntent::UpdateDenied
        | UserTaskIntent::CompletionDenied => Some("CREATED"),
        UserTaskIntent::Assigning | UserTaskIntent::Claiming => Some("ASSIGNING"),
        UserTaskIntent::Updating => Some("UPDATING"),
        UserTaskIntent::Completing => Some("COMPLETING"),
        UserTaskIntent::Canceling => Some("CANCELING"),
        UserTaskIntent::Completed => Some("COMPLETED"),
        UserTaskIntent::Canceled => Some("CANCELED"),
        UserTaskIntent::Migrated => {
            let names = names.of(value.process_definition_key);
            let row = batch.update(&task::ENTITY, id.clone());
            define(row, value);
            row.set(task::PROCESS_NAME, &names.name).set(task::NAME, names.elements.get(&value.element_id));
            None
        }
        // It comes while a listener has a say, and nothing is so yet.
        UserTaskIntent::Corrected => return,
    };
    let row = batch.update(&task::ENTITY, id);
    if let Some(state) = state {
        row.set(task::STATE, state);
    }
    if matches!(intent, UserTaskIntent::Completed | UserTaskIntent::Canceled) {
        row.set(task::COMPLETED, record.timestamp_ms);
    }
    // While something is about to happen, the record shows what will be.
    if matches!(
        intent,
        UserTaskIntent::Creating
            | UserTaskIntent::Created
            | UserTaskIntent::Assigned
            | UserTaskIntent::Updated
            | UserTaskIntent::Completed
            | UserTaskIntent::Migrated
    ) {
        attributes(row, value);
    }
}

fn define(row: &mut Change, value: &UserTaskRecord) {
    row.set(task::ELEMENT_ID, &value.element_id)
        .set(task::PROCESS_ID, &value.bpmn_process_id)
        .set(task::VERSION, value.process_definition_version)
        .set(task::DEFINITION_KEY, value.process_definition_key);
}

fn attributes(row: &mut Change, value: &UserTaskRecord) {
    row.set(task::ASSIGNEE, Value::non_empty(&value.assignee))
        .set(task::CANDIDATE_GROUPS, tags(&value.candidate_groups_list))
        .set(task::CANDIDATE_USERS, tags(&value.candidate_users_list))
        .set(task::DUE, date(&value.due_date))
        .set(task::FOLLOW_UP, date(&value.follow_up_date))
        .set(task::FORM_KEY, value.form_key)
        .set(task::EXTERNAL_FORM, Value::non_empty(&value.external_form_reference))
        .set(task::PRIORITY, value.priority);
}

/// The engine has checked the date.
pub(super) fn date(text: &Name) -> Value {
    let zoned = text.parse::<jiff::Timestamp>().ok();
    zoned.map_or(Value::Null, |time| Value::Integer(time.as_millisecond()))
}
