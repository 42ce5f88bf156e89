//! Steps of process instances that do not go on: banned ones, until they are released, and suspended ones, until they
//! are resumed.

use std::sync::Arc;

use protocol::{Key, Rejection, Response};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::due;
use crate::core::failure::Failure;
use crate::core::slices::{Slices, keys_of_model};
use crate::core::step::Step;
use crate::entity::{Job, JobState};

impl CommandContext<'_> {
    /// Lets the commands of a banned instance run again.
    pub(super) fn unban(&mut self, key: Key) -> Result<Response, Failure> {
        if !self.tables.is_banned(key)? {
            return Err(Rejection::not_found(format!(
                "Expected to release process instance with key '{key}', but it is not banned"
            ))
            .into());
        }
        self.blame(key);
        self.lift_ban(key)?;
        Ok(Response::Done)
    }

    /// Takes back a ban, if there is one, and queues the steps that were skipped meanwhile.
    fn lift_ban(&mut self, key: Key) -> Result<(), Failure> {
        if !self.tables.is_banned(key)? {
            return Ok(());
        }
        self.tables.banned.delete(&key);
        self.queue_set_aside(key)?;
        self.steps.push_back(Step::AnnounceJobs { scope_key: key, after: 0 });
        Ok(())
    }

    /// Takes back a suspension, if there is one: the steps that were set aside come first, then what was held.
    pub fn lift_suspension(&mut self, key: Key) -> Result<(), Failure> {
        if !self.tables.is_suspended(key)? {
            return Ok(());
        }
        self.tables.suspended.delete(&key);
        self.queue_set_aside(key)?;
        self.steps.push_back(Step::Revive { scope_key: key, after: 0 });
        Ok(())
    }

    /// Keeps a step of an instance that is banned or suspended.
    pub(super) fn set_step_aside(&mut self, instance_key: Key, step: Step) {
        let step = self.origin.noted_with(step);
        self.meta.pending_counter += 1;
        self.tables.banned_steps.insert((instance_key, self.meta.pending_counter), step);
    }

    /// Queues the steps of an instance that were set aside, in their order.
    fn queue_set_aside(&mut self, instance_key: Key) -> Result<(), Failure> {
        let mut slices = Slices::of((instance_key, 0)..(instance_key + 1, 0));
        while let Some(rows) = slices.rows(&self.tables.banned_steps)? {
            for (at, step) in rows {
                self.tables.banned_steps.delete(&at);
                self.steps.push_back((*step).clone());
            }
        }
        Ok(())
    }

    /// Tells subscribers of jobs inside a scope that were passed over, a slice at a time.
    pub(super) fn announce_jobs(&mut self, scope_key: Key, after: Key) -> Result<(), Failure> {
        let step = |scope_key, after| Step::AnnounceJobs { scope_key, after };
        self.walk(scope_key, after, step, |work, key| {
            if let Some((_, job)) = work.job_in_state(key, JobState::Activatable)? {
                work.effects.queued_types.push(job.job_type.clone());
            }
            // Other partitions were told that it takes none.
            if work.has_others() { work.match_events(key) } else { Ok(()) }
        })
    }

    /// Puts back jobs and events that were held inside a scope, a slice at a time.
    pub(super) fn revive(&mut self, scope_key: Key, after: Key) -> Result<(), Failure> {
        let step = |scope_key, after| Step::Revive { scope_key, after };
        self.walk(scope_key, after, step, |work, key| {
            if let Some((job_key, job)) = work.job_in_state(key, JobState::Held)? {
                let mut job = (*job).clone();
                work.enqueue(job_key, &mut job);
                work.tables.jobs.put(job_key, job);
            }
            work.revive_events(key)
        })
    }

    /// Goes through a scope and the element instances inside it after one of them. Scopes among these are left to steps
    /// of their own.
    fn walk(
        &mut self,
        scope_key: Key,
        after: Key,
        step: impl Fn(Key, Key) -> Step,
        visit: impl Fn(&mut Self, Key) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if after == 0 {
            visit(self, scope_key)?;
        }
        let limit = self.options.max_children_per_step;
        let (children, last) = self.tables.children_between(scope_key, after, Key::MAX, limit)?;
        for key in children {
            let row = self.tables.element_instances.get(&key)?;
            match row.map(|row| row.active_children) {
                None => {}
                Some(0) => visit(self, key)?,
                Some(_) => self.steps.push_back(step(key, 0)),
            }
        }
        if let Some(last) = last {
            self.steps.push_back(step(scope_key, last));
        }
        Ok(())
    }

    /// The job of an element instance, if it is in a state.
    fn job_in_state(&self, element_key: Key, state: JobState) -> Result<Option<(Key, Arc<Job>)>, StateError> {
        let row = self.tables.element_instances.get(&element_key)?;
        let Some(job_key) = row.and_then(|row| row.job_key) else { return Ok(None) };
        let job = self.tables.jobs.get(&job_key)?.filter(|job| job.state == state);
        Ok(job.map(|job| (job_key, job)))
    }

    /// Has the timers of an element instance trigger again, and messages that were kept meanwhile reach it.
    fn revive_events(&mut self, owner: Key) -> Result<(), Failure> {
        let owned = (owner, 0)..(owner + 1, 0);
        for (_, timer_key) in keys_of_model(&self.tables.timer_by_owner, owned)? {
            due::release_timer(self.tables, timer_key)?;
        }
        if self.has_others() || !self.tables.messages.is_empty()? {
            self.match_events(owner)?;
        }
        Ok(())
    }

    fn match_events(&mut self, owner: Key) -> Result<(), Failure> {
        let owned = (owner, 0)..(owner + 1, 0);
        for (_, subscription_key) in keys_of_model(&self.tables.subscription_by_owner, owned)? {
            self.steps.push_back(Step::MatchBuffered { subscription_key });
        }
        Ok(())
    }
}
