//! Commands of callers. Borrowed throughout, so that a request in a loop allocates nothing for its parts.
//!
//! All `variables` are JSON objects as text. Absent lists are empty slices; an absent tenant is the default tenant.

#![expect(missing_docs, reason = "names say what is held")]

use std::time::Duration;

/// Which process definition to start.
#[derive(Debug, Clone, Copy)]
pub enum Definition<'a> {
    /// Exactly this version of this definition.
    Key(i64),
    /// The newest version of the process with this BPMN ID, or the given version.
    Id {
        id: &'a str,
        /// Version number; `None` is the newest.
        version: Option<i32>,
    },
}

/// Starts a process instance.
#[derive(Debug, Clone, Copy)]
pub struct CreateInstance<'a> {
    pub definition: Definition<'a>,
    pub variables: Option<&'a str>,
    /// Element IDs to start before, instead of the start event.
    pub start_before: &'a [&'a str],
    /// Tags of the instance.
    pub tags: &'a [&'a str],
    pub tenant_id: Option<&'a str>,
}

impl<'a> CreateInstance<'a> {
    /// The newest version of process `id`, without variables.
    pub fn latest(id: &'a str) -> Self {
        Self {
            definition: Definition::Id { id, version: None },
            variables: None,
            start_before: &[],
            tags: &[],
            tenant_id: None,
        }
    }
}

/// A file to deploy; its name's ending tells the kind.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'a> {
    /// File name, such as `order.bpmn`.
    pub name: &'a str,
    pub content: &'a [u8],
}

/// Asks for up to `jobs_max` jobs.
#[derive(Debug, Clone, Copy)]
pub struct ActivateJobs<'a> {
    pub job_type: &'a str,
    /// Name of the worker, for people who look.
    pub worker: &'a str,
    /// How long the jobs belong to this worker.
    pub timeout: Duration,
    /// How many jobs at most.
    pub jobs_max: u32,
    /// Variables to hand out; empty means all.
    pub fetch_variables: &'a [&'a str],
    /// How long to wait for a job: `None` is the server's default, zero answers at once.
    pub wait: Option<Duration>,
    /// Tenants to take jobs of.
    pub tenant_ids: &'a [&'a str],
}

/// Opens a stream of jobs (gRPC only).
#[derive(Debug, Clone, Copy)]
pub struct StreamJobs<'a> {
    pub job_type: &'a str,
    /// Name of the worker, for people who look.
    pub worker: &'a str,
    /// How long each job belongs to this worker.
    pub timeout: Duration,
    /// Variables to hand out; empty means all.
    pub fetch_variables: &'a [&'a str],
    /// Tenants to take jobs of.
    pub tenant_ids: &'a [&'a str],
}

#[derive(Debug, Clone, Copy)]
pub struct CompleteJob<'a> {
    pub job_key: i64,
    pub variables: Option<&'a str>,
}

/// Reports that a job could not be done.
#[derive(Debug, Clone, Copy)]
pub struct FailJob<'a> {
    pub job_key: i64,
    /// Tries left; zero raises an incident.
    pub retries: i32,
    pub error_message: &'a str,
    /// Pause before the next try.
    pub retry_backoff: Duration,
    /// Variables to set at the job's element.
    pub variables: Option<&'a str>,
}

/// Reports a business error to be caught in the process.
#[derive(Debug, Clone, Copy)]
pub struct ThrowError<'a> {
    pub job_key: i64,
    /// Code that error events catch.
    pub error_code: &'a str,
    pub error_message: &'a str,
    /// Variables handed to the catching event.
    pub variables: Option<&'a str>,
}

/// Changes a job; at least one of the two.
#[derive(Debug, Clone, Copy)]
pub struct UpdateJob {
    pub job_key: i64,
    /// New number of tries left.
    pub retries: Option<i32>,
    /// New time limit, from now.
    pub timeout: Option<Duration>,
}

/// Publishes a message, to be buffered for `time_to_live` if nobody waits for it.
#[derive(Debug, Clone, Copy)]
pub struct PublishMessage<'a> {
    pub name: &'a str,
    /// Which instance; empty only for message start events.
    pub correlation_key: &'a str,
    /// How long the message waits.
    pub time_to_live: Duration,
    /// ID that only one buffered message of the name and correlation key may have.
    pub message_id: Option<&'a str>,
    pub variables: Option<&'a str>,
    pub tenant_id: Option<&'a str>,
}

/// Correlates a message now or fails (REST only).
#[derive(Debug, Clone, Copy)]
pub struct CorrelateMessage<'a> {
    pub name: &'a str,
    /// Which instance; empty only for message start events.
    pub correlation_key: &'a str,
    pub variables: Option<&'a str>,
    pub tenant_id: Option<&'a str>,
}

/// Sets variables at an element instance or process instance.
#[derive(Debug, Clone, Copy)]
pub struct SetVariables<'a> {
    pub element_instance_key: i64,
    pub variables: &'a str,
    /// Only there, instead of at the scope where each variable exists already.
    pub local: bool,
}

/// Evaluates a FEEL expression (REST only).
#[derive(Debug, Clone, Copy)]
pub struct EvaluateExpression<'a> {
    /// Starts with `=`.
    pub expression: &'a str,
    /// Context of the evaluation.
    pub variables: Option<&'a str>,
    pub tenant_id: Option<&'a str>,
}
