//! Jobs, and how many of a type came to what.

use protocol::{JobIntent, JobRecord, Name, PartitionId, Record};
use search::Value;
use search::model::{ColumnId, job, job_metric as metric};

use crate::change::{Batch, Change, RowId};
use crate::recent::Recent;
use crate::words::{local, word};

/// Jobs are counted by the minute.
const METRIC_MS: i64 = 60_000;

/// Parts of the identity of a count.
pub(super) struct Parts {
    partition: PartitionId,
    minute: i64,
    job_type: Name,
    worker: Name,
    tenant: Name,
}

/// The rows that jobs were counted in lately.
pub(super) type Counted = Recent<Parts>;

/// The identity of the row in which a job is counted.
fn counted_in(counted: &mut Counted, record: &Record, value: &JobRecord, minute: i64) -> Name {
    let partition = record.partition_id;
    let (job_type, worker, tenant) = (&value.job_type, &value.worker, &value.tenant_id);
    let is_it = |parts: &Parts| {
        parts.minute == minute
            && parts.job_type == *job_type
            && parts.worker == *worker
            && parts.tenant == *tenant
            && parts.partition == partition
    };
    counted.id(is_it, || {
        // Lengths keep apart what would look the same.
        let (type_length, worker_length) = (job_type.len(), worker.len());
        let id = format!("{partition}-{minute}-{type_length}-{job_type}-{worker_length}-{worker}-{tenant}");
        let [job_type, worker, tenant] = [job_type, worker, tenant].map(Name::clone);
        (Parts { partition, minute, job_type, worker, tenant }, id)
    })
}

pub(super) fn apply(record: &Record, value: &JobRecord, counted: &mut Counted, batch: &mut Batch) {
    let Some(intent) = JobIntent::of(record.intent) else { return };
    let (state, is_end) = match intent {
        JobIntent::Created => return create(record, value, counted, batch),
        JobIntent::Completed => ("COMPLETED", true),
        JobIntent::Canceled => ("CANCELED", true),
        JobIntent::ErrorThrown => ("ERROR_THROWN", true),
        JobIntent::Failed => ("FAILED", false),
        JobIntent::TimedOut => ("TIMED_OUT", false),
        JobIntent::RetriesUpdated => ("RETRIES_UPDATED", false),
        JobIntent::TimeoutUpdated => ("TIMEOUT_UPDATED", false),
        JobIntent::PriorityUpdated => ("PRIORITY_UPDATED", false),
        JobIntent::Migrated => ("MIGRATED", false),
        // No state of its own in the API, but other values.
        JobIntent::Activated | JobIntent::Updated | JobIntent::Yielded | JobIntent::RecurredAfterBackoff => {
            ("", false)
        }
    };
    let row = batch.update(&job::ENTITY, RowId::Key(record.key));
    if !state.is_empty() {
        row.set(job::STATE, word(state));
    }
    if is_end {
        row.set(job::END, record.timestamp_ms);
    }
    let counters = match intent {
        JobIntent::Migrated => {
            row.set(job::PROCESS_ID, local(&value.instance.bpmn_process_id))
                .set(job::ELEMENT_ID, local(&value.element_id))
                .set(job::DEFINITION_KEY, value.instance.process_definition_key);
            None
        }
        JobIntent::PriorityUpdated | JobIntent::Updated => {
            row.set(job::PRIORITY, value.priority);
            None
        }
        JobIntent::Failed | JobIntent::ErrorThrown => {
            row.set(job::HAS_FAILED_WITH_RETRIES_LEFT, value.retries > 0 && intent == JobIntent::Failed)
                .set(job::ERROR_MESSAGE, Value::non_empty(&value.error_message))
                .set(job::ERROR_CODE, Value::non_empty(&value.error_code));
            Some((metric::FAILED, metric::LAST_FAILED))
        }
        JobIntent::Completed => Some((metric::COMPLETED, metric::LAST_COMPLETED)),
        JobIntent::Created
        | JobIntent::Canceled
        | JobIntent::TimedOut
        | JobIntent::RetriesUpdated
        | JobIntent::TimeoutUpdated
        | JobIntent::Activated
        | JobIntent::Yielded
        | JobIntent::RecurredAfterBackoff => None,
    };
    common(row, record, value);
    if let Some(counters) = counters {
        count(record, value, counted, counters, batch);
    }
}

fn create(record: &Record, value: &JobRecord, counted: &mut Counted, batch: &mut Batch) {
    let row = batch.insert(&job::ENTITY, RowId::Key(record.key));
    row.set(job::CUSTOM_HEADERS, local(&value.custom_headers))
        .set(job::ELEMENT_ID, local(&value.element_id))
        .set(job::ELEMENT_KEY, value.element_instance_key)
        .set(job::HAS_FAILED_WITH_RETRIES_LEFT, false)
        .set(job::KIND, word(value.job_kind.as_str()))
        .set(job::LISTENER_EVENT_TYPE, word(value.job_listener_event_type.as_str()))
        .set(job::PROCESS_ID, local(&value.instance.bpmn_process_id))
        .set(job::DEFINITION_KEY, value.instance.process_definition_key)
        .set(job::INSTANCE_KEY, value.instance.process_instance_key)
        .set(job::ROOT_INSTANCE_KEY, value.instance.root_process_instance_key)
        .set(job::STATE, word("CREATED"))
        .set(job::TENANT, local(&value.tenant_id))
        .set(job::TYPE, local(&value.job_type))
        .set(job::CREATED, record.timestamp_ms)
        .set(job::BUSINESS_ID, &value.instance.business_id)
        .set(job::PRIORITY, value.priority);
    common(row, record, value);
    count(record, value, counted, (metric::CREATED, metric::LAST_CREATED), batch);
}

/// Columns that may differ after every change.
fn common(row: &mut Change, record: &Record, value: &JobRecord) {
    row.set(job::RETRIES, value.retries)
        .set(job::WORKER, local(&value.worker))
        .set(job::DEADLINE, (value.deadline_ms > 0).then_some(value.deadline_ms))
        .set(job::UPDATED, record.timestamp_ms);
}

fn count(
    record: &Record,
    value: &JobRecord,
    counted: &mut Counted,
    (counter, last): (ColumnId, ColumnId),
    batch: &mut Batch,
) {
    let minute = record.timestamp_ms - record.timestamp_ms.rem_euclid(METRIC_MS);
    batch
        .insert(&metric::ENTITY, RowId::Text(counted_in(counted, record, value, minute)))
        .set(metric::TIME, minute)
        .set(metric::TYPE, local(&value.job_type))
        .set(metric::WORKER, local(&value.worker))
        .set(metric::TENANT, local(&value.tenant_id))
        .add(counter, 1)
        .set(last, record.timestamp_ms);
}
