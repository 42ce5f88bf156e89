//! Incidents of instances and elements.

use std::collections::BTreeMap;

use protocol::{IncidentRecord, Intent, Key, Name, Record};
use search::model::{element_instance as element, incident as incidents, process_instance as instance};
use secondary::AuditSettings;

use super::{record, rows};

/// An incident at 32, in the scope 31 of instance 30, which 21 of instance 20 called, which 11 of instance 10 called.
fn incident(position: u64, key: Key, intent: Intent) -> Record {
    let value = IncidentRecord {
        error_type: Name::from("JOB_NO_RETRIES"),
        error_message: Name::from("no"),
        bpmn_process_id: Name::from("p"),
        process_definition_key: 3,
        process_instance_key: 30,
        element_id: Name::from("a"),
        element_instance_key: 32,
        job_key: None,
        variable_scope_key: 32,
        tenant_id: Name::default_tenant(),
        root_process_instance_key: 10,
        element_instance_path: vec![vec![10, 11], vec![20, 21], vec![30, 31, 32]],
        process_definition_path: vec![1, 2, 3],
        calling_element_path: vec![0, 0],
    };
    record(position, key, intent, value)
}

/// By how much the count of each has grown.
fn flags(records: &[Record]) -> [BTreeMap<String, String>; 2] {
    [(&instance::ENTITY, "processInstanceKey"), (&element::ENTITY, "elementInstanceKey")].map(
        |(entity, identity)| {
            let rows = rows(entity, &AuditSettings::none(), records);
            rows.into_iter().map(|row| (row[identity].clone(), row["hasIncident"].clone())).collect()
        },
    )
}

#[test]
fn everything_above_an_incident_has_one_until_the_last_is_resolved() {
    let all = |amount: &str, keys: &[Key]| -> BTreeMap<String, String> {
        keys.iter().map(|key| (key.to_string(), amount.to_owned())).collect()
    };
    let wanted = |amount| [all(amount, &[10, 20, 30]), all(amount, &[11, 21, 31, 32])];
    assert_eq!(flags(&[incident(1, 40, Intent::Created)]), wanted("+1"));
    assert_eq!(flags(&[incident(2, 40, Intent::Resolved)]), wanted("+-1"));
    let two = [incident(1, 40, Intent::Created), incident(2, 41, Intent::Created)];
    assert_eq!(flags(&two), wanted("+2"));
    let both = [two[0].clone(), two[1].clone(), incident(3, 41, Intent::Resolved)];
    assert_eq!(flags(&both), wanted("+1"));
}

#[test]
fn an_incident_names_all_that_have_it() {
    let rows = rows(&incidents::ENTITY, &AuditSettings::none(), &[incident(1, 40, Intent::Created)]);
    assert_eq!(rows[0]["holderKeys"], r#"["10","11","20","21","31"]"#, "30 and 32 have columns of their own");
}
