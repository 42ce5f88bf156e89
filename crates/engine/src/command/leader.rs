//! Commands that the leader writes by itself: jobs come back, exports advance. Time passing and steps left over are in
//! `transaction.rs`.

use protocol::{Document, Intent, Key, Name, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::counters::JobAction;
use crate::core::effects::JobEnd;
use crate::core::failure::Failure;
use crate::entity::JobState;

impl CommandContext<'_> {
    /// Puts jobs back into the queue that never reached their worker.
    pub(super) fn yield_jobs(
        &mut self,
        keys: &[Key],
        deadlines_ms: Option<&[i64]>,
    ) -> Result<Response, Failure> {
        for (number, &key) in keys.iter().enumerate() {
            let Some(job) = self.tables.jobs.get(&key)? else { continue };
            if job.state != JobState::Activated {
                continue;
            }
            // Given back twice, or late: another worker has it by now.
            let held_until_ms = deadlines_ms.and_then(|deadlines| deadlines.get(number).copied());
            if held_until_ms.is_some_and(|held_until_ms| held_until_ms != job.due_ms) {
                continue;
            }
            let mut job = (*job).clone();
            self.enqueue(key, &mut job);
            self.counters.count_job(JobAction::Yielded);
            self.effects.ended_jobs.push((key, JobEnd::Yielded));
            self.record_job(key, Intent::Yielded, &job, &Document::empty(), "", -1)?;
            self.tables.jobs.put(key, job);
        }
        Ok(Response::Done)
    }

    /// Notes how far an exporter has come; never back.
    pub(super) fn acknowledge_export(&mut self, exporter: &Name, position: u64) -> Result<Response, Failure> {
        let known = self.tables.exporters.get(&exporter.0)?.map_or(0, |position| *position);
        if position > known {
            self.tables.exporters.put(exporter.0.clone(), position);
        }
        Ok(Response::Done)
    }

    pub(super) fn forget_exporter(&mut self, exporter: &Name) -> Result<Response, Failure> {
        if self.tables.exporters.get(&exporter.0)?.is_none() {
            return Err(Rejection::not_found(format!(
                "Expected to forget the exporter '{exporter}', but none with this ID has exported"
            ))
            .into());
        }
        self.tables.exporters.delete(&exporter.0);
        self.unpark_all(exporter)?;
        Ok(Response::Done)
    }
}
