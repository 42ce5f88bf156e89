//! Rows of tables that stores of earlier releases do not have: made of the rows that are there.

use search::model::{ColumnId, Entity, EntityId, element_count as count, element_instance as element};

use crate::count::{COUNTED, REMOVED};
use crate::sql::Dialect;

/// Statements that fill the table of an entity, once it is made.
pub(crate) fn of_what_is_there(dialect: &dyn Dialect, entity: &Entity) -> Option<String> {
    match entity.id {
        EntityId::ElementCount => Some(counts()),
        EntityId::WaitState => Some(wait_states(dialect)),
        _ => None,
    }
}

/// Elements that have ended are counted.
fn counts() -> String {
    let name = |column: ColumnId| element::ENTITY.columns[column as usize].name;
    let [definition, id, process, tenant, state] = COUNTED.map(name);
    format!(
        "INSERT INTO \"{}\" SELECT '{REMOVED}-'||\"{definition}\"||'-'||\"{id}\", \"{definition}\", \"{id}\", \
         MIN(\"{process}\"), MIN(\"{tenant}\"), SUM(CASE \"{state}\" WHEN 'COMPLETED' THEN 1 ELSE 0 END), \
         SUM(CASE \"{state}\" WHEN 'TERMINATED' THEN 1 ELSE 0 END) FROM \"{}\" \
         WHERE \"{state}\" IN ('COMPLETED','TERMINATED') AND \"{id}\" IS NOT NULL AND \"{definition}\" IS NOT NULL \
         GROUP BY \"{definition}\", \"{id}\"",
        count::ENTITY.name,
        element::ENTITY.name
    )
}

/// Jobs, people and messages that elements wait for. Nothing is kept of timers, signals and conditions.
fn wait_states(dialect: &dyn Dialect) -> String {
    let insert = |key: &str, wait_type: &str, members: &str, from: &str| {
        let details = dialect.json_object(&format!("'waitStateType','{wait_type}',{members}"));
        format!(
            "INSERT INTO wait_state (\"waitStateId\",\"rootProcessInstanceKey\",\"processInstanceKey\",\
             \"elementInstanceKey\",\"elementId\",\"elementType\",\"tenantId\",\"bpmnProcessId\",details,\"waitStateType\") \
             SELECT w.\"elementInstanceKey\"||'_'||w.\"{key}\", COALESCE(w.\"rootProcessInstanceKey\",e.\"rootProcessInstanceKey\"), \
             w.\"processInstanceKey\", w.\"elementInstanceKey\", w.\"elementId\", COALESCE(e.type,'PROCESS'), \
             w.\"tenantId\", w.\"processDefinitionId\", {details}, '{wait_type}' FROM {from};"
        )
    };
    let jobs = insert(
        "jobKey",
        "JOB",
        "'jobKey',CAST(w.\"jobKey\" AS TEXT),'jobType',w.type,'jobKind',w.kind,'retries',w.retries,\
         'listenerEventType',NULLIF(w.\"listenerEventType\",'UNSPECIFIED')",
        "job w LEFT JOIN element_instance e ON e.\"elementInstanceKey\"=w.\"elementInstanceKey\" \
         WHERE w.state<>'COMPLETED' AND w.\"endTime\" IS NULL",
    );
    let due = dialect.moment("w.\"dueDate\"");
    let tasks = insert(
        "userTaskKey",
        "USER_TASK",
        &format!("'taskKey',CAST(w.\"userTaskKey\" AS TEXT),'dueDate',{due}"),
        "user_task w JOIN element_instance e ON e.\"elementInstanceKey\"=w.\"elementInstanceKey\" \
         WHERE w.state IN ('CREATED','ASSIGNING','UPDATING','COMPLETING','CANCELING')",
    );
    let messages = insert(
        "messageSubscriptionKey",
        "MESSAGE",
        "'messageName',w.\"messageName\",'correlationKey',w.\"correlationKey\"",
        "message_subscription w JOIN element_instance e ON e.\"elementInstanceKey\"=w.\"elementInstanceKey\" \
         AND e.\"elementId\"=w.\"elementId\" WHERE w.\"messageSubscriptionState\" IN ('CREATED','MIGRATED') \
         AND e.type IN ('INTERMEDIATE_CATCH_EVENT','RECEIVE_TASK')",
    );
    [jobs, tasks, messages].concat()
}
