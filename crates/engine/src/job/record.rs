//! Records of jobs.

use protocol::{Document, Intent, JobRecord, JobResult, Key, Name, Word};
use state::StateError;

use super::headers::headers;
use crate::core::context::CommandContext;
use crate::core::recorded::unknown_instance;
use crate::entity::{Job, JobState};

/// Fields of a job's record beyond the job itself.
pub(super) struct JobNews<'a> {
    /// Variables that were sent or are handed out.
    pub variables: Option<&'a Document>,
    pub error_code: &'a str,
    /// For how long a worker has it, or -1.
    pub timeout_ms: i64,
    pub result: Option<&'a JobResult>,
    /// Names of the attributes that were changed from outside.
    pub changed: &'a [&'static str],
    /// Whether people do its work now.
    pub is_handed_over: bool,
    /// Whether nobody catches its error.
    pub is_uncaught: bool,
}

impl Default for JobNews<'_> {
    fn default() -> Self {
        Self {
            variables: None,
            error_code: "",
            timeout_ms: -1,
            result: None,
            changed: &[],
            is_handed_over: false,
            is_uncaught: false,
        }
    }
}

impl CommandContext<'_> {
    pub fn record_job(
        &mut self,
        key: Key,
        intent: Intent,
        job: &Job,
        variables: &Document,
        error_code: &str,
        timeout_ms: i64,
    ) -> Result<(), StateError> {
        let news = JobNews { variables: Some(variables), error_code, timeout_ms, ..JobNews::default() };
        self.record_job_news(key, intent, job, &news)
    }

    pub(super) fn record_job_news(
        &mut self,
        key: Key,
        intent: Intent,
        job: &Job,
        news: &JobNews,
    ) -> Result<(), StateError> {
        self.meter.note_record(news.variables.map_or(0, |variables| variables.json_len() as u64));
        self.try_emit(key, intent, |work| {
            let (instance, element_id, custom_headers, element_type) = match work
                .instance(job.process_instance_key)?
            {
                Some((instance, process)) => {
                    let element = process.element(job.element);
                    let recorded = work.recorded.of(job.process_instance_key, &instance);
                    let element_type = Some(Word::new(element.element_type.as_str()));
                    (recorded, Name::from(&element.id), Name::from(headers(element, job)), element_type)
                }
                None => (unknown_instance(job.process_instance_key), Name::default(), Name::from("{}"), None),
            };
            Ok(JobRecord {
                instance,
                job_type: job.job_type.clone(),
                worker: job.worker.clone(),
                retries: job.retries,
                deadline_ms: if job.state == JobState::Activated { job.due_ms } else { -1 },
                timeout_ms: news.timeout_ms,
                custom_headers,
                variables: news.variables.cloned().unwrap_or_default(),
                retry_backoff_ms: job.retry_backoff_ms,
                recurring_time_ms: if job.state == JobState::Backoff { job.due_ms } else { -1 },
                error_message: job.error_message.clone(),
                error_code: Name::from(news.error_code),
                element_id,
                element_instance_key: job.element_instance_key,
                tenant_id: job.tenant_id.clone(),
                job_kind: Word::new(job.kind.as_str()),
                job_listener_event_type: Word::new(job.listener_event_type.as_str()),
                changed_attributes: news.changed.iter().copied().map(Name::from).collect(),
                result: news.result.cloned().map(Box::new),
                is_job_to_user_task_migration: news.is_handed_over,
                priority: job.priority(),
                element_type,
                is_uncaught: news.is_uncaught,
            })
        })
    }
}
