//! The life of an element instance: activating, activated, completing, completed, or terminating, terminated.
//!
//! A scope counts its children from the moment they are decided on (a step may still wait), so it never ends early.
//! Nothing here recurses: what follows from a move is a step.

use std::sync::Arc;

use bpmn::graph::{ElementIndex, FlowIndex};
use protocol::{Document, Intent, Key};
use state::StateError;

use crate::compensation::Walk;
use crate::element::{Leave, Next, behavior};
use crate::entity::{AfterListeners, Cancelling, ElementInstance, JoinCheck, Listening, Phase};
use crate::failure::Failure;
use crate::join::is_join;
use crate::options::FaultPoint;
use crate::step::Step;
use crate::work::{At, Work};

impl Work<'_> {
    /// Runs one step. Whatever it speaks of may have ended since it was written: then nothing happens.
    pub fn run_step(&mut self, step: Step) -> Result<(), Failure> {
        if let Some(instance_key) = self.instance_of(&step)? {
            self.blame(instance_key);
            if self.is_banned(instance_key)? {
                self.meta.pending_counter += 1;
                self.tables.banned_steps.insert((instance_key, self.meta.pending_counter), step);
                return Ok(());
            }
        }
        match step {
            Step::Activate { process_instance_key, element, scope_key, trigger } => {
                self.activate(process_instance_key, element, scope_key, trigger)
            }
            Step::ResumeActivation { key, trigger } => match self.at(key)? {
                Some((at, row)) if row.phase == Phase::Activating => self.proceed_activation(&at, trigger),
                _ => Ok(()),
            },
            Step::Complete { key, variables } => match self.at(key)? {
                Some((at, row)) if row.phase == Phase::Activated => self.complete(&at, variables, false),
                Some((at, row)) if row.phase == Phase::Completing && row.listening.is_none() => {
                    self.complete(&at, variables, true)
                }
                _ => Ok(()),
            },
            Step::ListenTask { key, index } => match self.at(key)? {
                Some((at, row)) => self.listen_task(&at, &row, index),
                None => Ok(()),
            },
            Step::Listen { key, index } => match self.at(key)? {
                Some((at, row)) => self.listen(&at, &row, index),
                None => Ok(()),
            },
            Step::FinishTermination { key } => match self.at(key)? {
                Some((at, row)) if row.phase == Phase::Terminating => self.finish_termination(&at, &row),
                _ => Ok(()),
            },
            Step::WorkOnBatch { batch_operation_key, life } => self.work_on_batch(batch_operation_key, life),
            Step::ForgetBatches => self.forget_batches(),
            Step::CheckJoins { scope_key } => self.check_joins(scope_key),
            Step::Compensate { thrower_key, scope_key, entered_by, after, activity, variables } => self
                .walk_compensations(Walk { thrower_key, scope_key, entered_by, after, activity, variables }),
            Step::RunHandler { host_key, scope_key, key, variables } => {
                self.run_handler(host_key, (scope_key, key), &variables)
            }
            Step::DropCompensations { scope_key } => self.drop_compensations(scope_key),
            Step::CheckComplex { key } => self.check_complex(key),
            Step::AnnounceJobs { scope_key, after } => self.announce_jobs(scope_key, after),
            Step::CompensateCancelled { key } => self.compensate_cancelled(key),
            Step::Terminate { key } => self.terminate(key),
            Step::Withdraw { key } => self.withdraw(key),
            Step::TerminateChildren { scope_key, after } => self.terminate_children(scope_key, after),
            Step::StartFromBuffer { tenant_id, process_id, correlation_key } => {
                self.start_from_buffer(&tenant_id, &process_id, &correlation_key)
            }
            Step::MatchBuffered { subscription_key } => self.match_buffered(subscription_key),
            Step::EvaluateConditions { process_instance_key, touches, after } => {
                self.evaluate_conditions(process_instance_key, touches, after)
            }
            Step::TriggerCondition { subscription_key } => self.trigger_condition(subscription_key),
            Step::BroadcastSignal { signal_key, name, tenant_id, variables, after } => {
                self.broadcast_slice(signal_key, name, tenant_id, variables, after)
            }
            Step::PublishMessage { message } => self.publish_sent(&message),
            Step::StartBySignal { definition_key, element, variables } => {
                self.start_by_signal(definition_key, element, variables)
            }
            Step::TriggerSignal { subscription_key, variables } => {
                self.trigger_signal(subscription_key, &variables)
            }
            Step::SpawnLoop { body_key } => self.spawn_loop(body_key),
            Step::ActivateLoop { body_key, index } => self.activate_in_loop(body_key, index),
            Step::GatherLoop { body_key, chunk } => self.gather_loop(body_key, chunk),
            Step::ActivateAdHoc { ad_hoc_key, elements } => self.activate_ad_hoc(ad_hoc_key, elements),
            Step::CreateAdHocJob { ad_hoc_key } => self.create_ad_hoc_job(ad_hoc_key),
            Step::TerminateOlder { scope_key, after, until } => self.terminate_older(scope_key, after, until),
            Step::ForgetLoop { body_key } => self.forget_loop(body_key),
        }
    }

    /// The process instance that a step is of.
    pub fn instance_of(&self, step: &Step) -> Result<Option<Key>, StateError> {
        let key = match step {
            Step::Activate { process_instance_key, .. } => return Ok(Some(*process_instance_key)),
            Step::ResumeActivation { key, .. }
            | Step::Complete { key, .. }
            | Step::Listen { key, .. }
            | Step::ListenTask { key, .. }
            | Step::Terminate { key }
            | Step::Withdraw { key }
            | Step::CompensateCancelled { key }
            | Step::CheckComplex { key }
            | Step::Compensate { thrower_key: key, .. }
            | Step::RunHandler { host_key: key, .. }
            | Step::FinishTermination { key } => *key,
            Step::TerminateChildren { scope_key, .. }
            | Step::AnnounceJobs { scope_key, .. }
            | Step::CheckJoins { scope_key } => *scope_key,
            Step::SpawnLoop { body_key }
            | Step::ActivateLoop { body_key, .. }
            | Step::GatherLoop { body_key, .. } => *body_key,
            // The body or scope is gone already.
            Step::ForgetLoop { .. } | Step::DropCompensations { .. } => return Ok(None),
            Step::WorkOnBatch { .. } | Step::ForgetBatches => return Ok(None),
            Step::ActivateAdHoc { ad_hoc_key, .. } | Step::CreateAdHocJob { ad_hoc_key } => *ad_hoc_key,
            Step::TerminateOlder { scope_key, .. } => *scope_key,
            Step::StartFromBuffer { .. }
            | Step::BroadcastSignal { .. }
            | Step::PublishMessage { .. }
            | Step::StartBySignal { .. } => return Ok(None),
            Step::EvaluateConditions { process_instance_key, .. } => return Ok(Some(*process_instance_key)),
            Step::TriggerCondition { subscription_key } => {
                let row = self.tables.condition_subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Step::TriggerSignal { subscription_key, .. } => {
                let row = self.tables.signal_subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Step::MatchBuffered { subscription_key } => {
                return Ok(self
                    .tables
                    .subscriptions
                    .get(subscription_key)?
                    .map(|row| row.process_instance_key));
            }
        };
        Ok(self.tables.element_instances.get(&key)?.map(|row| row.process_instance_key))
    }

    fn activate(
        &mut self,
        process_instance_key: Key,
        element: ElementIndex,
        scope_key: Key,
        trigger: Option<Document>,
    ) -> Result<(), Failure> {
        let Some(scope) = self.tables.element_instances.get(&scope_key)? else { return Ok(()) };
        if scope.phase == Phase::Terminating || scope.interrupted {
            return self.change_scope(scope_key, -1, 0);
        }
        let row = ElementInstance::new(element, Phase::Activating, scope_key, process_instance_key);
        let Some(at) = self.place(row)? else { return Ok(()) };
        self.scope_moved(scope_key, &scope)?;
        self.proceed_activation(&at, trigger)
    }

    /// Puts a new element instance into its scope.
    pub fn place(&mut self, mut row: ElementInstance) -> Result<Option<At>, StateError> {
        let key = self.next_key();
        let Some((instance, process)) = self.instance(row.process_instance_key)? else { return Ok(None) };
        let (process_instance_key, scope_key, index) = (row.process_instance_key, row.scope_key, row.element);
        let at = At { key, process_instance_key, scope_key, index, instance, process };
        row.started_ms = self.now_ms();
        self.tables.element_instances.insert(key, row);
        self.tables.children.insert((scope_key, key), ());
        self.count_living(&at, 1)?;
        self.record_element(&at, Intent::ElementActivating);
        Ok(Some(at))
    }

    /// Activates an element instance, from the beginning or after its start listeners.
    pub fn proceed_activation(&mut self, at: &At, trigger: Option<Document>) -> Result<(), Failure> {
        match self.try_activate(at, trigger.as_ref()) {
            Ok(Next::Listen) => Ok(()),
            Ok(Next::Wait) => {
                self.record_element(at, Intent::ElementActivated);
                self.tables.element_instances.update(&at.key, |row| {
                    row.phase = Phase::Activated;
                    row.listening = None;
                })?;
                Ok(())
            }
            Ok(Next::Complete(variables)) => {
                self.record_element(at, Intent::ElementActivated);
                if !at.element().listeners.start.is_empty() {
                    self.tables.element_instances.update(&at.key, |row| row.listening = None)?;
                }
                self.complete(at, variables, false)
            }
            Err(Failure::Incident { error_type, message }) => {
                let resume = Step::ResumeActivation { key: at.key, trigger };
                self.raise(at, error_type, &message, None, Some(resume))?;
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    fn try_activate(&mut self, at: &At, trigger: Option<&Document>) -> Result<Next, Failure> {
        let process = Arc::clone(&at.process);
        let element = process.element(at.index);
        if element.listeners.start.is_empty() {
            self.apply_inputs(at)?;
        } else if !self.has_listened(at)? {
            self.apply_inputs(at)?;
            self.listen_before(at, trigger.cloned())?;
            return Ok(Next::Listen);
        }
        self.fault_point(FaultPoint::Activate, &element.id);
        behavior(&element.kind).activate(self, at, trigger)
    }

    /// Completes an element instance and leaves it, unless end listeners come before that.
    fn complete(&mut self, at: &At, variables: Document, again: bool) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        let behavior = behavior(&process.element(at.index).kind);
        if !again {
            self.record_element(at, Intent::ElementCompleting);
        }
        self.fault_point(FaultPoint::Complete, &at.element().id);
        let leave = match behavior.complete(self, at, &variables) {
            Ok(leave) => leave,
            Err(Failure::Incident { error_type, message }) => {
                self.tables.element_instances.update(&at.key, |row| row.phase = Phase::Completing)?;
                let resume = Step::Complete { key: at.key, variables };
                self.raise(at, error_type, &message, None, Some(resume))?;
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        if at.element().listeners.end.is_empty() {
            return self.leave(at, leave);
        }
        self.listen_after(at, leave)
    }

    /// Ends a completed element instance and goes on behind it.
    pub fn leave(&mut self, at: &At, leave: Leave) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        let behavior = behavior(&process.element(at.index).kind);
        match self.child_completing(at) {
            Ok(()) => {}
            Err(Failure::Incident { error_type, message }) => {
                // Its own part is done: only this is tried again.
                let index = at.element().listeners.end.len() as u32;
                let listening = Box::new(Listening { index, then: AfterListeners::Leave(leave) });
                self.tables.element_instances.update(&at.key, |row| {
                    row.phase = Phase::Completing;
                    row.listening = Some(listening);
                })?;
                let resume = Step::Listen { key: at.key, index };
                self.raise(at, error_type, &message, None, Some(resume))?;
                return Ok(());
            }
            Err(failure) => return Err(failure),
        }
        self.close(at)?;
        behavior.leaving(self, at)?;
        self.record_element(at, Intent::ElementCompleted);
        self.note_completed(at)?;
        self.remove(at)?;
        behavior.completed(self, at)?;
        if at.scope_key == 0 {
            return self.end_instance(at, true);
        }
        if at.element().is_for_compensation {
            self.handler_ended(at, true)?;
        }
        self.child_ended(at, true)?;
        if self.terminates_after(at)? {
            return self.leave_empty(at.scope_key);
        }
        let Some(scope) = self.tables.element_instances.get(&at.scope_key)? else { return Ok(()) };
        let (mut children, mut tokens) = (-1, 0);
        if scope.phase != Phase::Terminating && !scope.interrupted {
            match leave {
                Leave::All => {
                    for &flow in &process.element(at.index).outgoing {
                        self.take_flow(at, flow, None, &mut children, &mut tokens)?;
                    }
                }
                Leave::Some(flows) => {
                    for flow in flows {
                        self.take_flow(at, flow, None, &mut children, &mut tokens)?;
                    }
                }
                Leave::ByLink(target) => {
                    children += 1;
                    self.steps.push_back(Step::Activate {
                        process_instance_key: at.process_instance_key,
                        element: target,
                        scope_key: at.scope_key,
                        trigger: None,
                    });
                }
                Leave::Through(flow) => self.take_flow(at, flow, None, &mut children, &mut tokens)?,
                Leave::ByEvent(flow, trigger) => {
                    self.take_flow(at, flow, Some(trigger), &mut children, &mut tokens)?;
                }
            }
        }
        self.change_scope(at.scope_key, children, tokens)
    }

    fn take_flow(
        &mut self,
        at: &At,
        flow: FlowIndex,
        trigger: Option<Document>,
        children: &mut i64,
        tokens: &mut i64,
    ) -> Result<(), Failure> {
        self.record_flow(at, flow);
        let target = at.process.flow(flow).target;
        let element = at.process.element(target);
        if is_join(element) {
            let Some(used) = self.arrive(at.scope_key, target, flow, element)? else {
                *tokens += 1;
                return Ok(());
            };
            *tokens -= used;
        }
        *children += 1;
        self.steps.push_back(Step::Activate {
            process_instance_key: at.process_instance_key,
            element: target,
            scope_key: at.scope_key,
            trigger,
        });
        Ok(())
    }

    /// Corrects the counts of a scope; one that has nothing left inside ends.
    pub fn change_scope(&mut self, scope_key: Key, children: i64, tokens: i64) -> Result<(), Failure> {
        let end = Step::Complete { key: scope_key, variables: Document::empty() };
        self.count_scope(scope_key, children, tokens, end)
    }

    /// One child less in a scope; if nothing is left, the scope terminates, for its end was not reached.
    pub fn leave_empty(&mut self, scope_key: Key) -> Result<(), Failure> {
        self.count_scope(scope_key, -1, 0, Step::Withdraw { key: scope_key })
    }

    /// Corrects the counts of a scope; one that has nothing left inside goes on to its end, which is this step if it
    /// is not on its way there already.
    fn count_scope(&mut self, scope_key: Key, children: i64, tokens: i64, end: Step) -> Result<(), Failure> {
        let Some(scope) = self.tables.element_instances.get(&scope_key)? else { return Ok(()) };
        let active = u32::try_from(i64::from(scope.active_children) + children).unwrap_or_default();
        let waiting = u32::try_from(i64::from(scope.waiting_tokens) + tokens).unwrap_or_default();
        if active != scope.active_children || waiting != scope.waiting_tokens {
            self.tables.element_instances.update(&scope_key, |row| {
                row.active_children = active;
                row.waiting_tokens = waiting;
            })?;
        }
        self.scope_moved(scope_key, &scope)?;
        if active > 0 || waiting > 0 {
            return Ok(());
        }
        if scope.phase == Phase::Terminating {
            self.steps.push_back(Step::FinishTermination { key: scope_key });
            return Ok(());
        }
        if let Some(event) = scope.interrupting_event.clone() {
            return self.start_event_sub_process(scope_key, event);
        }
        match scope.cancelling {
            Cancelling::No => {
                if let Some((at, _)) = self.at(scope_key)?
                    && (matches!(end, Step::Withdraw { .. })
                        || behavior(&at.element().kind).completes_when_empty(self, &at)?)
                {
                    self.steps.push_back(end);
                }
            }
            Cancelling::Ending => self.steps.push_back(Step::CompensateCancelled { key: scope_key }),
            // It is left when everything is undone.
            Cancelling::Compensating => {}
        }
        Ok(())
    }

    pub fn terminate(&mut self, key: Key) -> Result<(), Failure> {
        let Some((at, row)) = self.at(key)? else { return Ok(()) };
        if row.phase == Phase::Terminating {
            return Ok(());
        }
        self.record_element(&at, Intent::ElementTerminating);
        self.clear_incident(key)?;
        if let Some(job_key) = row.job_key {
            self.cancel_job(job_key)?;
        }
        self.close(&at)?;
        if row.waiting_tokens > 0 || row.join_check != JoinCheck::None {
            self.drop_tokens(key)?;
        }
        self.tables.element_instances.update(&key, |row| {
            row.phase = Phase::Terminating;
            row.waiting_tokens = 0;
            row.job_key = None;
        })?;
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
            self.lift_ban(called)?;
            return Ok(());
        }
        if let Some(task_key) = row.user_task_key
            && !self.cancel_user_task(&at, task_key)?
        {
            return Ok(());
        }
        self.finish_termination(&at, &row)
    }

    fn terminate_children(&mut self, scope_key: Key, after: Key) -> Result<(), Failure> {
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

    fn terminate_older(&mut self, scope_key: Key, after: Key, until: Key) -> Result<(), Failure> {
        if let Some(after) = self.terminate_slice(scope_key, after, until)? {
            self.steps.push_back(Step::TerminateOlder { scope_key, after, until });
        }
        Ok(())
    }

    /// Terminates some children of a scope. Gives the last one if there may be more.
    fn terminate_slice(&mut self, scope_key: Key, after: Key, until: Key) -> Result<Option<Key>, Failure> {
        let limit = self.options.max_children_per_step;
        let children = self.tables.children.keys((scope_key, after + 1)..=(scope_key, until), limit)?;
        let last = children.last().map(|(_, child)| *child);
        let more = children.len() == limit;
        let scope = self.tables.element_instances.get(&scope_key)?;
        let withdrawn = scope.as_ref().is_some_and(|row| row.withdrawn);
        if let Some(row) = scope
            && !children.is_empty()
        {
            self.record_batch(scope_key, row.process_instance_key, Intent::Terminated, after);
        }
        for (_, key) in children {
            if withdrawn {
                self.tables.element_instances.update(&key, |row| row.withdrawn = true)?;
            }
            self.steps.push_back(Step::Terminate { key });
        }
        Ok(last.filter(|_| more))
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
    pub fn finish_termination(&mut self, at: &At, row: &ElementInstance) -> Result<(), Failure> {
        self.record_element(at, Intent::ElementTerminated);
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

    /// Removes the rows of an element instance that has ended.
    fn remove(&mut self, at: &At) -> Result<(), Failure> {
        let Some(row) = self.tables.element_instances.get(&at.key)? else { return Ok(()) };
        if row.has_variables {
            self.delete_variables(at.key)?;
        }
        self.tables.element_instances.delete(&at.key);
        if at.scope_key != 0 {
            self.tables.children.delete(&(at.scope_key, at.key));
            self.count_living(at, -1)?;
        }
        behavior(&at.element().kind).removed(self, at)
    }

    /// Tells the scope of a child that this is about to complete.
    fn child_completing(&mut self, child: &At) -> Result<(), Failure> {
        match self.watching_scope(child)? {
            Some(scope) => behavior(&scope.element().kind).child_completing(self, &scope, child),
            None => Ok(()),
        }
    }

    /// Tells the scope of a child that this has ended.
    fn child_ended(&mut self, child: &At, completed: bool) -> Result<(), Failure> {
        match self.watching_scope(child)? {
            Some(scope) => behavior(&scope.element().kind).child_ended(self, &scope, child, completed),
            None => Ok(()),
        }
    }

    /// The scope of a child if it wants to know what becomes of it.
    fn watching_scope(&mut self, child: &At) -> Result<Option<At>, StateError> {
        let scope = child.process.element(child.element().scope);
        if child.scope_key == 0 || !behavior(&scope.kind).watches_children() {
            return Ok(None);
        }
        // A compensation handler may run in another scope than the model has it in.
        let scope = self.at(child.scope_key)?.map(|(scope, _)| scope);
        Ok(scope.filter(|scope| scope.index == child.element().scope))
    }
}
