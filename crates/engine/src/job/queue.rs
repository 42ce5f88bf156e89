//! The queue of activatable jobs of a type: those of a higher priority first, and among equals the oldest.
//!
//! Nearly all jobs have priority 0. They have a table of their own, as they had before there were priorities; the jobs
//! before and after them stand in another.

use std::sync::Arc;

use protocol::{Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::entity::Job;
use crate::entity::tables::Tables;

/// Whether jobs of a type wait in the queue.
pub(crate) fn is_queued(tables: &Tables, job_type: &Name) -> Result<bool, StateError> {
    let first: Arc<str> = Arc::from("");
    let plain = tables.job_queue.keys((job_type.0.clone(), Arc::clone(&first), 0).., 1)?;
    if plain.first().is_some_and(|(found, _, _)| *found == job_type.0) {
        return Ok(true);
    }
    let ranked = tables.job_queue_by_priority.keys((job_type.0.clone(), first, i64::MIN, 0).., 1)?;
    Ok(ranked.first().is_some_and(|(found, ..)| *found == job_type.0))
}

/// A place in the queue of a type and a tenant: negated priority, job.
pub(super) type Place = (i64, Key);

/// The first place there can be.
pub(super) const FRONT: Place = (i64::MIN, 0);

fn rank(job: &Job) -> i64 {
    -i64::from(job.priority())
}

impl CommandContext<'_> {
    pub(super) fn join_queue(&mut self, key: Key, job: &Job) {
        let (job_type, tenant) = (job.job_type.0.clone(), job.tenant_id.0.clone());
        match rank(job) {
            0 => self.tables.job_queue.put((job_type, tenant, key), ()),
            rank => self.tables.job_queue_by_priority.put((job_type, tenant, rank, key), ()),
        }
    }

    pub(super) fn leave_queue(&mut self, key: Key, job: &Job) {
        let (job_type, tenant) = (job.job_type.0.clone(), job.tenant_id.0.clone());
        match rank(job) {
            0 => self.tables.job_queue.delete(&(job_type, tenant, key)),
            rank => self.tables.job_queue_by_priority.delete(&(job_type, tenant, rank, key)),
        }
    }

    /// Some of the jobs from a place on, in their order; none at the end only.
    pub(super) fn queued_jobs(
        &self,
        (job_type, tenant): (&Name, &Name),
        from: Place,
        limit: usize,
    ) -> Result<Vec<Place>, StateError> {
        let has_ranks = !self.tables.job_queue_by_priority.is_empty()?;
        let ranked = |from: Place, end: Place| -> Result<Vec<Place>, StateError> {
            let at = |(rank, key)| (job_type.0.clone(), tenant.0.clone(), rank, key);
            let found = self.tables.job_queue_by_priority.keys(at(from)..at(end), limit)?;
            Ok(found.into_iter().map(|(_, _, rank, key)| (rank, key)).collect())
        };
        if has_ranks && from.0 < 0 {
            let urgent = ranked(from, (0, 0))?;
            if !urgent.is_empty() {
                return Ok(urgent);
            }
        }
        if from.0 <= 0 {
            let at = |key| (job_type.0.clone(), tenant.0.clone(), key);
            let first = if from.0 == 0 { from.1 } else { 0 };
            let plain = self.tables.job_queue.keys(at(first)..=at(Key::MAX), limit)?;
            if !plain.is_empty() {
                return Ok(plain.into_iter().map(|(_, _, key)| (0, key)).collect());
            }
        }
        if has_ranks { ranked(from.max((1, 0)), (i64::MAX, Key::MAX)) } else { Ok(Vec::new()) }
    }
}
