//! The end of an element instance that does not complete: terminating, terminated.
//!
//! Children end first, a slice at a time; the last one lets the scope end.

use protocol::{Intent, Key};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::options::FaultPoint;
use crate::core::step::Step;
use crate::entity::{AfterListeners, ElementInstance, JoinCheck, Listening, Phase};

impl CommandContext<'_> {
    /// Begins to terminate an element instance.
    pub fn terminate(&mut self, key: Key) -> Result<(), Failure> {
        let Some((at, row)) = self.at(key)? else { return Ok(()) };
        if at.scope_key == 0 {
            // Before it ends, which may be at once.
            self.lift_suspension(key)?;
        }
        if at.instance.is_erased {
            return self.erase(&at, &row);
        }
        if row.phase == Phase::Terminating {
            return Ok(());
        }
        self.begin_to_end(&at, &row)?;
        if row.active_children > 0 {
            self.steps.push_back(Step::TerminateChildren { scope_key: key, after: 0 });
            return Ok(());
        }
        if let Some(called) = row.called_instance_key
            && self.tables.instances.contains(&called)?
        {
            if row.withdrawn {
                self.tables.element_instances.update(&called, |row| row.withdrawn = true)?;
            }
            self.steps.push_back(Step::Terminate { key: called });
            return Ok(());
        }
        if let Some(task_key) = row.user_task_key
            && !self.cancel_user_task(&at, task_key)?
        {
            return Ok(());
        }
        self.finish_termination(&at, &row)
    }

    /// Takes what an element instance waits for from it.
    pub(super) fn begin_to_end(&mut self, at: &ActiveElement, row: &ElementInstance) -> Result<(), Failure> {
        if row.phase != Phase::Terminating {
            self.record_element(at, Intent::ElementTerminating);
        }
        self.clear_incident(at.key)?;
        if let Some(job_key) = row.job_key {
            self.cancel_job(job_key)?;
        }
        self.close(at)?;
        if row.waiting_tokens > 0 || row.join_check != JoinCheck::None {
            self.drop_tokens(at.key)?;
        }
        self.tables.element_instances.update(&at.key, |row| {
            row.phase = Phase::Terminating;
            row.waiting_tokens = 0;
            row.job_key = None;
        })?;
        Ok(())
    }

    /// Terminates what is inside a scope.
    pub(super) fn terminate_children(&mut self, scope_key: Key, after: Key) -> Result<(), Failure> {
        // The scope may go on already, by an event sub-process that must live.
        let ends = |row: &ElementInstance| row.phase == Phase::Terminating || row.interrupted;
        if !self.tables.element_instances.get(&scope_key)?.is_some_and(|row| ends(&row)) {
            return Ok(());
        }
        if let Some(after) = self.terminate_slice(scope_key, after, Key::MAX)? {
            self.steps.push_back(Step::TerminateChildren { scope_key, after });
        }
        Ok(())
    }

    /// Terminates what is inside a scope and older than this key.
    pub(super) fn terminate_older(&mut self, scope_key: Key, after: Key, until: Key) -> Result<(), Failure> {
        if let Some(after) = self.terminate_slice(scope_key, after, until)? {
            self.steps.push_back(Step::TerminateOlder { scope_key, after, until });
        }
        Ok(())
    }

    /// Terminates some children of a scope. Gives the last one if there may be more.
    fn terminate_slice(&mut self, scope_key: Key, after: Key, until: Key) -> Result<Option<Key>, Failure> {
        let limit = self.options.max_children_per_step;
        let (children, last) = self.tables.children_between(scope_key, after, until, limit)?;
        let scope = self.tables.element_instances.get(&scope_key)?;
        let withdrawn = scope.as_ref().is_some_and(|row| row.withdrawn);
        if let Some(row) = scope
            && !children.is_empty()
        {
            self.record_batch(scope_key, row.process_instance_key, Intent::Terminated, after)?;
        }
        for key in children {
            if withdrawn {
                self.tables.element_instances.update(&key, |row| row.withdrawn = true)?;
            }
            self.steps.push_back(Step::Terminate { key });
        }
        Ok(last)
    }

    /// Terminates everything in a scope that goes on itself; it completes when all of it has ended.
    pub fn interrupt_scope(&mut self, scope_key: Key) -> Result<(), Failure> {
        self.drop_tokens(scope_key)?;
        self.tables.element_instances.update(&scope_key, |row| {
            row.interrupted = true;
            row.waiting_tokens = 0;
        })?;
        self.steps.push_back(Step::TerminateChildren { scope_key, after: 0 });
        Ok(())
    }

    /// The last step of a termination: everything inside has ended.
    pub(super) fn finish_termination(
        &mut self,
        at: &ActiveElement,
        row: &ElementInstance,
    ) -> Result<(), Failure> {
        if at.instance.is_erased {
            return self.erase(at, row);
        }
        debug_assert!(
            self.tables.children.keys((at.key, 0)..(at.key + 1, 0), 1)?.is_empty(),
            "'{}' is terminated before its children",
            at.element().id
        );
        if at.scope_key == 0 && !at.element().listeners.cancel.is_empty() {
            let listens = |listening: &Listening| listening.then == AfterListeners::Terminate;
            if row.listening.as_deref().is_some_and(listens) {
                return Ok(());
            }
            return self.begin_listening(at, AfterListeners::Terminate);
        }
        self.end_termination(at, row)
    }

    /// Ends a terminated element instance, whose listeners have been heard.
    pub fn end_termination(&mut self, at: &ActiveElement, row: &ElementInstance) -> Result<(), Failure> {
        self.record_element(at, Intent::ElementTerminated);
        self.options.fault_point(FaultPoint::Terminate, &at.element().id);
        self.forget_compensations(at.key, row)?;
        self.remove(at)?;
        if at.scope_key == 0 {
            return self.end_instance(at, false);
        }
        if at.element().is_for_compensation {
            self.handler_ended(at, false)?;
        }
        self.child_ended(at, false)?;
        if self.terminates_after(at)? {
            return self.leave_empty(at.scope_key);
        }
        let scope = self.tables.element_instances.get(&at.scope_key)?;
        let goes_on = scope.is_some_and(|scope| scope.phase == Phase::Activated && !scope.interrupted);
        match &row.pending_event {
            Some(event) if goes_on => {
                self.steps.push_back(Step::Activate {
                    process_instance_key: at.process_instance_key,
                    element: event.element,
                    scope_key: at.scope_key,
                    trigger: Some(event.variables.clone()),
                });
                Ok(())
            }
            _ if row.withdrawn && goes_on => self.leave_empty(at.scope_key),
            _ => self.change_scope(at.scope_key, -1, 0),
        }
    }
}
