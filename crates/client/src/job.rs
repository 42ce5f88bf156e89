//! A job as handed to a worker.

#![expect(missing_docs, reason = "names say what is held")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Work that belongs to this worker until its deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub key: i64,
    pub job_type: String,
    pub process_instance_key: i64,
    /// BPMN ID of its process.
    pub process_definition_id: String,
    pub process_definition_version: i32,
    pub process_definition_key: i64,
    /// BPMN ID of its element.
    pub element_id: String,
    pub element_instance_key: i64,
    /// Task headers, a JSON object as text.
    pub custom_headers: String,
    /// Worker that it was handed to.
    pub worker: String,
    pub retries: i32,
    /// Until when it belongs to the worker, milliseconds since 1970.
    pub deadline_ms: i64,
    /// Variables, a JSON object as text.
    pub variables: String,
    pub tenant_id: String,
}

impl Job {
    /// How long the job still belongs to this worker; zero when another may have it.
    pub fn time_left(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let deadline = Duration::from_millis(u64::try_from(self.deadline_ms).unwrap_or(0));
        deadline.saturating_sub(now)
    }
}

impl From<grpc::ActivatedJob> for Job {
    fn from(job: grpc::ActivatedJob) -> Self {
        Self {
            key: job.key,
            job_type: job.r#type,
            process_instance_key: job.process_instance_key,
            process_definition_id: job.bpmn_process_id,
            process_definition_version: job.process_definition_version,
            process_definition_key: job.process_definition_key,
            element_id: job.element_id,
            element_instance_key: job.element_instance_key,
            custom_headers: job.custom_headers,
            worker: job.worker,
            retries: job.retries,
            deadline_ms: job.deadline,
            variables: job.variables,
            tenant_id: job.tenant_id,
        }
    }
}
