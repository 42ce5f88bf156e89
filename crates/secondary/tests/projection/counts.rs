//! Elements that have ended are counted.

use std::sync::Arc;

use protocol::{Intent, Key, Name, ProcessInstanceRecord, Record, Word, testing};
use search::model::element_count as count;
use secondary::AuditSettings;

use super::{record, rows};

fn element(position: u64, key: Key, id: &str, kind: &'static str, intent: Intent) -> Record {
    let value = ProcessInstanceRecord {
        instance: Arc::new(testing::described(10)),
        element_id: Name::from(id),
        flow_scope_key: Some(10),
        bpmn_element_type: Word::new(kind),
        bpmn_event_type: Word::new("UNSPECIFIED"),
    };
    record(position, key, intent, value)
}

#[test]
fn elements_that_ended_are_counted_by_definition_and_element() {
    let records = [
        element(1, 11, "a", "SERVICE_TASK", Intent::ElementActivating),
        element(2, 11, "a", "SERVICE_TASK", Intent::ElementCompleted),
        element(3, 12, "a", "SERVICE_TASK", Intent::ElementCompleted),
        element(4, 13, "a", "SERVICE_TASK", Intent::ElementTerminated),
        element(5, 14, "b", "USER_TASK", Intent::ElementTerminated),
        element(6, 15, "c", "USER_TASK", Intent::ElementActivating),
        // The process itself is no element of it.
        element(7, 10, "p", "PROCESS", Intent::ElementCompleted),
    ];
    let rows = rows(&count::ENTITY, &AuditSettings::none(), &records);
    let numbers: Vec<_> = rows
        .iter()
        .map(|row| {
            let number = |name: &str| row.get(name).map_or("", String::as_str);
            (row["id"].as_str(), row["elementId"].as_str(), number("completed"), number("terminated"))
        })
        .collect();
    assert_eq!(numbers, [("1-3-a", "a", "+2", "+1"), ("1-3-b", "b", "", "+1")]);
    assert_eq!(rows[0]["processDefinitionId"], "p");
    assert_eq!(rows[0]["tenantId"], "<default>");
}
