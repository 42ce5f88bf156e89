//! Records in the form in which they are exported.

use serde::{Serialize, Serializer};

use super::{JobRecord, Record, RecordValue};
use crate::{Intent, Key, Name, PartitionId, ValueType};

/// The version that consumers take for that of the broker: of the compatible system.
const BROKER_VERSION: &str = crate::COMPATIBLE_VERSION;

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Exported<'a> {
            position: u64,
            source_record_position: u64,
            key: Key,
            timestamp: i64,
            partition_id: PartitionId,
            record_type: &'static str,
            record_version: u32,
            broker_version: &'static str,
            value_type: ValueType,
            intent: Intent,
            rejection_type: &'static str,
            rejection_reason: &'static str,
            authorizations: Authorizations,
            operation_reference: i64,
            batch_operation_reference: i64,
            value: ExportedValue<'a>,
        }
        #[derive(Serialize)]
        struct Authorizations {}
        Exported {
            position: self.position,
            source_record_position: self.source_position,
            key: self.key,
            timestamp: self.timestamp_ms,
            partition_id: self.partition_id,
            record_type: "EVENT",
            record_version: 1,
            broker_version: BROKER_VERSION,
            value_type: self.exported_type(),
            intent: self.intent,
            rejection_type: "NULL_VAL",
            rejection_reason: "",
            authorizations: Authorizations {},
            operation_reference: self.operation_reference.map_or(-1, |reference| reference as i64),
            batch_operation_reference: self.batch_operation_reference.map_or(-1, |key| key as i64),
            value: self.exported_value(),
        }
        .serialize(serializer)
    }
}

impl Record {
    /// The value type that consumers know it by: jobs are activated in batches there.
    pub fn exported_type(&self) -> ValueType {
        match (&self.value, self.intent) {
            (RecordValue::Job(_), Intent::Activated) => ValueType::JobBatch,
            (value, _) => value.value_type(),
        }
    }

    /// The value as consumers know it.
    fn exported_value(&self) -> ExportedValue<'_> {
        match (&self.value, self.intent) {
            (RecordValue::Job(job), Intent::Activated) => ExportedValue::JobBatch(JobBatch {
                job_type: &job.job_type,
                worker: &job.worker,
                timeout: job.timeout_ms,
                max_jobs_to_activate: 1,
                job_keys: [self.key],
                jobs: [job],
                truncated: false,
                tenant_ids: [&job.tenant_id],
            }),
            (value, _) => ExportedValue::Own(value),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ExportedValue<'a> {
    Own(&'a RecordValue),
    JobBatch(JobBatch<'a>),
}

/// A batch of one job that was activated.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JobBatch<'a> {
    #[serde(rename = "type")]
    job_type: &'a Name,
    worker: &'a Name,
    timeout: i64,
    max_jobs_to_activate: u32,
    job_keys: [Key; 1],
    jobs: [&'a JobRecord; 1],
    truncated: bool,
    tenant_ids: [&'a Name; 1],
}
