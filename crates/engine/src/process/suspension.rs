//! Suspension: a process instance stands still until it is resumed.
//!
//! Its steps are set aside as those of a banned instance, due timers and queued jobs are held when their turn comes,
//! messages pass it by, signals are lost. The suspension itself thus costs the same for an instance of any size; the
//! resumption goes through its element instances, a slice at a time. Called instances are instances of their own and
//! go on.

use protocol::{Intent, Key, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::due;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{JobState, Phase};

impl CommandContext<'_> {
    pub(super) fn suspend_instance(&mut self, key: Key) -> Result<Response, Failure> {
        let purpose = format!("suspend process instance with key '{key}'");
        let Some((at, row)) = self.at(key)?.filter(|(at, _)| at.scope_key == 0) else {
            return Err(no_instance(&purpose));
        };
        self.blame(key);
        if self.tables.is_suspended(key)? {
            return Err(not_in_state(&purpose, "it is suspended already"));
        }
        self.refuse_halted(key, &purpose)?;
        if row.phase == Phase::Terminating {
            return Err(not_in_state(&purpose, "it is about to be terminated"));
        }
        self.tables.suspended.put(key, self.now_ms());
        self.record_element(&at, Intent::Suspended);
        Ok(Response::Done)
    }

    pub(super) fn resume_instance(&mut self, key: Key) -> Result<Response, Failure> {
        let purpose = format!("resume process instance with key '{key}'");
        let Some((at, _)) = self.at(key)?.filter(|(at, _)| at.scope_key == 0) else {
            return Err(no_instance(&purpose));
        };
        self.blame(key);
        if !self.tables.is_suspended(key)? {
            return Err(not_in_state(&purpose, "it is not suspended"));
        }
        if self.tables.is_banned(key)? {
            return Err(not_in_state(&purpose, "it is banned: release or cancel it first"));
        }
        self.steps_stand_alone = true;
        self.record_element(&at, Intent::Resumed);
        self.lift_suspension(key)?;
        Ok(Response::Done)
    }

    /// Puts back events and jobs that were held, of a scope and of its children after one of them.
    pub(super) fn revive(&mut self, scope_key: Key, after: Key) -> Result<(), Failure> {
        if after == 0 {
            self.revive_events(scope_key)?;
        }
        let limit = self.options.max_children_per_step;
        let children = self.tables.children.keys((scope_key, after + 1)..(scope_key + 1, 0), limit)?;
        let last = children.last().map(|(_, child)| *child).filter(|_| children.len() == limit);
        for (_, key) in children {
            let Some(row) = self.tables.element_instances.get(&key)? else { continue };
            if let Some(job_key) = row.job_key {
                self.revive_job(job_key)?;
            }
            if row.active_children > 0 {
                self.steps.push_back(Step::Revive { scope_key: key, after: 0 });
            } else if row.subscribed {
                self.revive_events(key)?;
            }
        }
        if let Some(after) = last {
            self.steps.push_back(Step::Revive { scope_key, after });
        }
        Ok(())
    }

    fn revive_job(&mut self, key: Key) -> Result<(), Failure> {
        let Some(job) = self.tables.jobs.get(&key)?.filter(|job| job.state == JobState::Held) else {
            return Ok(());
        };
        let mut job = (*job).clone();
        self.enqueue(key, &mut job);
        self.tables.jobs.put(key, job);
        Ok(())
    }

    /// Has the timers of an element instance trigger again, and messages that were kept meanwhile reach it.
    fn revive_events(&mut self, owner: Key) -> Result<(), Failure> {
        let owned = (owner, 0)..(owner + 1, 0);
        for (_, timer_key) in self.tables.timer_by_owner.keys(owned.clone(), usize::MAX)? {
            due::release_timer(self.tables, timer_key)?;
        }
        if self.tables.messages.is_empty()? {
            return Ok(());
        }
        for (_, subscription_key) in self.tables.subscription_by_owner.keys(owned, usize::MAX)? {
            self.steps.push_back(Step::MatchBuffered { subscription_key });
        }
        Ok(())
    }
}

fn no_instance(purpose: &str) -> Failure {
    Rejection::not_found(format!("Expected to {purpose}, but no such process instance was found")).into()
}

fn not_in_state(purpose: &str, state: &str) -> Failure {
    Rejection::invalid_state(format!("Expected to {purpose}, but {state}")).into()
}
