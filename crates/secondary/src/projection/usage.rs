//! What was used, by tenant and interval: root process instances, decision instances, assignees.

use protocol::{Name, Record};
use xxhash_rust::xxh3::xxh3_64;

use crate::change::{Batch, RowId};
use crate::model::{usage_assignee as assignee, usage_metric as usage};

/// Usage is counted by five minutes.
const INTERVAL_MS: i64 = 300_000;

/// What is counted.
#[derive(Clone, Copy)]
pub(super) enum Used {
    /// A process instance that no other called.
    RootInstance,
    /// A decision.
    Decision,
}

fn interval(record: &Record) -> i64 {
    record.timestamp_ms - record.timestamp_ms.rem_euclid(INTERVAL_MS)
}

/// Counts.
pub(super) fn count(record: &Record, used: Used, tenant: &Name, amount: i64, batch: &mut Batch) {
    let (time, partition) = (interval(record), record.partition_id);
    let (kind, column) = match used {
        Used::RootInstance => ("i", usage::PROCESS_INSTANCES),
        Used::Decision => ("d", usage::DECISION_INSTANCES),
    };
    let id = RowId::Text(Name::from(format!("{partition}-{time}-{kind}-{tenant}")));
    batch.insert(&usage::ENTITY, id).set(usage::TIME, time).set(usage::TENANT, tenant).add(column, amount);
}

/// Remembers whom a task was assigned to, without telling who it is.
pub(super) fn assigned(record: &Record, tenant: &Name, name: &Name, batch: &mut Batch) {
    if name.is_empty() {
        return;
    }
    let (time, hash) = (interval(record), xxh3_64(name.as_bytes()).cast_signed());
    let id = RowId::Text(Name::from(format!("{time}-{hash:x}-{tenant}")));
    batch
        .insert(&assignee::ENTITY, id)
        .set(assignee::TIME, time)
        .set(assignee::TENANT, tenant)
        .set(assignee::ASSIGNEE_HASH, hash);
}
