//! Usage metrics.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::{Intent, Record, RecordValue};
use search::model::{usage_assignee, usage_metric};
use secondary::Projection;

use super::audit_log::{process, task};
use super::{Nothing, rows_by};

fn projection() -> Projection {
    Projection::new(Box::new(Nothing)).with_usage_interval(Duration::from_mins(1))
}

/// An instance that begins after some seconds, of a tenant; called by another one or not.
fn begun(second: i64, tenant: &str, is_called: bool) -> Record {
    let mut record = process(1, "PROCESS");
    record.intent = Intent::ElementActivating;
    record.timestamp_ms = second * 1000;
    let RecordValue::ProcessInstance(value) = &mut record.value else { panic!("{record:?}") };
    let instance = Arc::make_mut(&mut value.instance);
    instance.tenant_id = tenant.into();
    instance.parent_process_instance_key = is_called.then_some(3);
    record
}

#[test]
fn a_tenant_has_one_row_for_each_interval() {
    let mut records = vec![];
    for second in 0..120 {
        records.push(begun(second, "a", false));
        records.push(begun(second, "a", true));
    }
    records.push(begun(119, "b", false));
    records.push(begun(121, "a", false));
    let found = rows_by(projection(), &usage_metric::ENTITY, &records);
    let told = |row: &BTreeMap<&str, String>| {
        ["time", "tenantId", "processInstances"].map(|name| row[name].clone()).join(" ")
    };
    let told: Vec<_> = found.iter().map(told).collect();
    assert_eq!(told, ["0 a +60", "60000 a +60", "60000 b +1", "120000 a +1"]);
}

#[test]
fn an_assignee_is_told_once_for_each_interval_and_not_by_name() {
    let assigned = |second: i64, name: &str| {
        let mut record = task(2, Intent::Assigned, name);
        record.timestamp_ms = second * 1000;
        record
    };
    let records =
        [assigned(1, "ann"), assigned(59, "ann"), assigned(59, "bob"), assigned(60, "ann"), assigned(61, "")];
    let found = rows_by(projection(), &usage_assignee::ENTITY, &records);
    let times: Vec<_> = found.iter().map(|row| &*row["time"]).collect();
    assert_eq!(times, ["0", "0", "60000"]);
    assert_eq!(found[0]["assigneeHash"], found[2]["assigneeHash"]);
    assert_ne!(found[0]["assigneeHash"], found[1]["assigneeHash"]);
    assert!(!format!("{found:?}").contains("ann"), "{found:?}");
}
