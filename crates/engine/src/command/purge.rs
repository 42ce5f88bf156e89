//! Removes all data of a partition, as one change of the cluster.
//!
//! Keys and positions go on from where they were, so that nothing is taken for something of before: neither by workers
//! that still hold jobs, nor by exporters. The progress of exporters and the settings stay.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use protocol::{
    ClusterChange, IdentityCommand, Intent, PartitionMessage, PurgeRecord, Rejection, RejectionType, Response,
};
use state::StateError;

use super::transaction::Attempt;
use crate::Engine;
use crate::core::context::CommandContext;
use crate::core::effects::{Effects, JobEnd, Outcome};
use crate::core::failure::{ApplyError, Failure};
use crate::entity::{JobState, Meta};

/// Tables that are kept.
const KEPT: &[&str] = &["meta", "settings", "exporters", "channels", "outbox"];

impl Engine {
    /// Removes all data but default roles and the default tenant. Takes time in proportion to the data. `after`: the
    /// last change that the client knows. A request that comes late does not remove what came after another purge.
    pub(crate) fn purge(&mut self, after: Option<u64>, effects: &mut Effects) -> Result<Outcome, ApplyError> {
        if let Some(change) = self.meta.change.filter(|change| change.completed_ms.is_none()) {
            return Ok(Err(Rejection::invalid_state(format!(
                "Expected to purge the cluster, but its change {} goes on",
                change.id
            ))));
        }
        let last = self.meta.change.map_or(0, |change| change.id);
        if let Some(after) = after.filter(|after| *after != last) {
            return Ok(Err(Rejection::invalid_state(format!(
                "Expected to purge the cluster after its change {after}, but its last one is {last}"
            ))));
        }
        let id = last + 1;
        self.remove_all(
            Some(ClusterChange { id, started_ms: self.meta.wall_ms, completed_ms: None }),
            effects,
        )?;
        match self.attempt(effects, |work| work.begin_anew(id))? {
            Attempt::Done(()) => Ok(Ok(Response::ChangeBegun { change_id: id })),
            Attempt::Refused(failure) => Ok(Err(failure.into_rejection())),
            Attempt::Panicked { reason, .. } => Ok(Err(Rejection::new(
                RejectionType::ProcessingError,
                format!("All data are purged, but default roles cannot be set up: {reason}"),
            ))),
        }
    }

    /// Removes all data, as partition 1 has told.
    pub(crate) fn purge_as_told(&mut self, effects: &mut Effects) -> Result<(), ApplyError> {
        self.remove_all(None, effects)
    }

    fn remove_all(&mut self, change: Option<ClusterChange>, effects: &mut Effects) -> Result<(), ApplyError> {
        self.tell_waiting(effects)?;
        self.tables.clear_but(KEPT)?;
        self.forget_known();
        let purged = self.meta.position + 1;
        assert!(
            self.meta.purged.is_none_or(|before| before < purged),
            "each purge is later than the one before"
        );
        self.meta = Meta {
            key_counter: self.meta.key_counter,
            position: self.meta.position,
            pending_counter: self.meta.pending_counter,
            wall_ms: self.meta.wall_ms,
            active_version: self.meta.active_version,
            change,
            purged: Some(purged),
            ..Meta::default()
        };
        self.meta.set_now();
        Ok(())
    }

    /// Notes that a change is complete.
    pub(crate) fn end_change(&mut self, change_id: u64) -> Response {
        let wall_ms = self.meta.wall_ms;
        let change = self.meta.change.as_mut().filter(|change| change.id == change_id);
        if let Some(change) = change {
            change.completed_ms.get_or_insert(wall_ms);
        }
        Response::Done
    }

    /// Answers all requests that wait for purged entities, and takes jobs from their workers.
    fn tell_waiting(&self, effects: &mut Effects) -> Result<(), StateError> {
        let mut requests = BTreeSet::new();
        self.tables.instances.visit(.., |_, instance| {
            requests.extend(instance.await_result.as_ref().map(|wait| wait.request_id));
            ControlFlow::Continue(())
        })?;
        self.tables.user_tasks.visit(.., |_, task| {
            requests.extend(task.transition.as_ref().and_then(|transition| transition.request_id));
            ControlFlow::Continue(())
        })?;
        self.tables.keyed_requests.visit(.., |request, _| {
            requests.insert(*request);
            ControlFlow::Continue(())
        })?;
        let reason = "Expected to answer when it is done, but the cluster was purged";
        let answers = requests.into_iter().map(|request| (request, Err(Rejection::invalid_state(reason))));
        effects.late_responses.extend(answers);
        self.tables.jobs.visit(.., |key, job| {
            if job.state == JobState::Activated {
                effects.ended_jobs.push((*key, JobEnd::Canceled));
            }
            ControlFlow::Continue(())
        })
    }
}

impl CommandContext<'_> {
    /// Writes the first records and entities after a purge.
    fn begin_anew(&mut self, change_id: u64) -> Result<(), Failure> {
        // Before the rows that all partitions begin anew with.
        if self.has_others() {
            self.send_to_all(&PartitionMessage::Purge { change_id })?;
        }
        self.record_purge(change_id);
        self.change_identity(&IdentityCommand::SetUp)?;
        Ok(())
    }

    pub(super) fn record_purge(&mut self, change_id: u64) {
        let key = self.next_key();
        self.emit(key, Intent::Purged, |_| PurgeRecord { change_id });
    }
}
