//! Resolves an incident: what it stopped is tried again.

use bpmn::graph::{ElementKind, End};
use protocol::{Key, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::{ErrorType, Incident, JobState};
use crate::job::no_retries;

impl CommandContext<'_> {
    pub(super) fn resolve_incident(&mut self, key: Key) -> Result<Response, Failure> {
        if let Some(incident) = self.tables.incidents.get(&key)? {
            let purpose = format!("resolve incident with key '{key}'");
            self.refuse_halted(incident.process_instance_key, &purpose)?;
            self.refuse_uncaught(key, &incident)?;
            self.refuse_without_retries(key, &incident)?;
        }
        let Some(incident) = self.remove_incident(key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to resolve incident with key '{key}', but no such incident was found"
            ))
            .into());
        };
        self.blame(incident.process_instance_key);
        if let Some(job_key) = incident.job_key {
            self.retry_job(job_key)?;
        }
        if let Some(step) = incident.resume {
            self.steps.push_back(step);
        }
        Ok(Response::Done)
    }

    /// An error that an end event threw stays uncaught: throwing it again would only raise the same incident. It may be
    /// caught by now, though, after a migration or because its code comes from a variable.
    fn refuse_uncaught(&mut self, key: Key, incident: &Incident) -> Result<(), Failure> {
        if incident.error_type != ErrorType::UnhandledErrorEvent || incident.job_key.is_some() {
            return Ok(());
        }
        let Some((at, _)) = self.at(incident.element_instance_key)? else { return Ok(()) };
        let ElementKind::EndEvent(End::Error(code)) = &at.element().kind else { return Ok(()) };
        let Ok(code) = self.evaluate_text(code, &Scope::of(at.key)) else { return Ok(()) };
        if self.find_error_catch(at.key, &code)?.is_some() {
            return Ok(());
        }
        Err(Rejection::invalid_state(format!(
            "Expected to resolve incident with key '{key}', but nothing catches the error '{code}' that end event '{}' throws; migrate, modify or cancel the process instance instead",
            at.element().id
        ))
        .into())
    }

    /// A job without retries would only raise the same incident.
    fn refuse_without_retries(&self, key: Key, incident: &Incident) -> Result<(), Failure> {
        let Some(job_key) = incident.job_key else { return Ok(()) };
        let Some(job) = self.tables.jobs.get(&job_key)? else { return Ok(()) };
        if !matches!(job.state, JobState::Failed | JobState::ErrorThrown) || job.retries > 0 {
            return Ok(());
        }
        Err(Rejection::invalid_state(format!(
            "Expected to resolve incident with key '{key}', but its job with key '{job_key}' has no retries left; \
             update the retries of the job before"
        ))
        .into())
    }

    fn retry_job(&mut self, key: Key) -> Result<(), Failure> {
        let Some(job) = self.tables.jobs.get(&key)? else { return Ok(()) };
        if !matches!(job.state, JobState::Failed | JobState::ErrorThrown) {
            return Ok(());
        }
        let mut job = (*job).clone();
        if job.retries <= 0 {
            let message =
                "No more retries left: update the retries of the job before resolving the incident.";
            self.raise_for_job(key, &job, no_retries(job.kind), message)?;
            return Ok(());
        }
        self.enqueue(key, &mut job);
        self.tables.jobs.put(key, job);
        Ok(())
    }
}
