//! The life of an element instance: activating, activated, completing, completed. Its other end is in `termination.rs`.
//!
//! A scope counts its children from the moment they are decided on (a step may still wait), so it never ends early.
//! Nothing here recurses: what follows from a move is a step.

use std::sync::Arc;

use bpmn::graph::{ElementIndex, FlowIndex};
use protocol::{Document, Intent, Key};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::options::FaultPoint;
use crate::core::step::Step;
use crate::entity::{AfterListeners, Cancelling, ElementInstance, Leave, Listening, Phase};
use crate::process::element::{Next, behavior};
use crate::process::join::is_join;

impl CommandContext<'_> {
    /// Makes an instance of an element.
    pub(super) fn activate(
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
    pub fn place(&mut self, mut row: ElementInstance) -> Result<Option<ActiveElement>, StateError> {
        let key = self.next_key();
        let Some((instance, process)) = self.instance(row.process_instance_key)? else { return Ok(None) };
        let (process_instance_key, scope_key, index) = (row.process_instance_key, row.scope_key, row.element);
        let at = ActiveElement { key, process_instance_key, scope_key, index, instance, process };
        row.started_ms = self.now_ms();
        self.tables.element_instances.insert(key, row);
        self.tables.children.insert((scope_key, key), ());
        self.child_came(&at)?;
        self.record_element(&at, Intent::ElementActivating);
        Ok(Some(at))
    }

    /// Activates an element instance, from the beginning or after its start listeners.
    pub fn proceed_activation(
        &mut self,
        at: &ActiveElement,
        trigger: Option<Document>,
    ) -> Result<(), Failure> {
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

    fn try_activate(&mut self, at: &ActiveElement, trigger: Option<&Document>) -> Result<Next, Failure> {
        let process = Arc::clone(&at.process);
        let element = process.element(at.index);
        let behavior = behavior(&element.kind);
        let mut trigger = trigger;
        if element.listeners.start.is_empty() || !self.has_listened(at)? {
            if self.give_snapshot(at, trigger)? {
                trigger = None;
            }
            self.give_item(at)?;
            behavior.prepare(self, at)?;
            self.apply_inputs(at)?;
            if !element.listeners.start.is_empty() {
                self.begin_listening(at, AfterListeners::Activate(trigger.cloned()))?;
                return Ok(Next::Listen);
            }
        }
        self.options.fault_point(FaultPoint::Activate, &element.id);
        behavior.activate(self, at, trigger)
    }

    /// Completes an element instance and leaves it, unless end listeners come before that.
    pub(super) fn complete(
        &mut self,
        at: &ActiveElement,
        variables: Document,
        again: bool,
    ) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        let behavior = behavior(&process.element(at.index).kind);
        if !again {
            self.record_element(at, Intent::ElementCompleting);
        }
        self.options.fault_point(FaultPoint::Complete, &at.element().id);
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
        self.tables.element_instances.update(&at.key, |row| row.phase = Phase::Completing)?;
        self.begin_listening(at, AfterListeners::Leave(leave))
    }

    /// Ends a completed element instance and goes on behind it.
    pub fn leave(&mut self, at: &ActiveElement, leave: Leave) -> Result<(), Failure> {
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
        at: &ActiveElement,
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

    /// One child less in a scope; if nothing is left, the scope terminates, for its end was not reached. A called
    /// instance completes: somebody waits for it.
    pub(super) fn leave_empty(&mut self, scope_key: Key) -> Result<(), Failure> {
        let instance = self.tables.instances.get(&scope_key)?;
        if instance.is_some_and(|instance| instance.parent.is_some()) {
            return self.change_scope(scope_key, -1, 0);
        }
        let scope = self.tables.element_instances.get(&scope_key)?;
        if let Some(scope) = scope
            && self.waits_for_decision(scope_key, &scope)?
        {
            return self.change_scope(scope_key, -1, 0);
        }
        self.count_scope(scope_key, -1, 0, Step::Withdraw { key: scope_key })
    }

    /// Corrects the counts of a scope; one that has nothing left inside goes on to its end, which is this step if it
    /// is not on its way there already.
    fn count_scope(&mut self, scope_key: Key, children: i64, tokens: i64, end: Step) -> Result<(), Failure> {
        let Some(scope) = self.tables.element_instances.get(&scope_key)? else { return Ok(()) };
        debug_assert!(
            i64::from(scope.active_children) + children >= 0,
            "{} children and a change of {children}",
            scope.active_children
        );
        debug_assert!(
            i64::from(scope.waiting_tokens) + tokens >= 0,
            "{} waiting tokens and a change of {tokens}",
            scope.waiting_tokens
        );
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

    /// Removes the rows of an element instance that has ended.
    pub fn remove(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        let Some(row) = self.tables.element_instances.get(&at.key)? else { return Ok(()) };
        if row.has_variables {
            self.delete_variables(at.key, &row)?;
        }
        debug_assert!(
            self.tables.children.keys((at.key, 0)..(at.key + 1, 0), 1)?.is_empty(),
            "'{}' is removed before its children",
            at.element().id
        );
        self.tables.element_instances.delete(&at.key);
        if at.scope_key != 0 {
            self.tables.children.delete(&(at.scope_key, at.key));
            self.child_left(at)?;
        }
        behavior(&at.element().kind).removed(self, at)
    }

    /// Tells the scope of a child that this is about to complete.
    fn child_completing(&mut self, child: &ActiveElement) -> Result<(), Failure> {
        match self.watching_scope(child)? {
            Some(scope) => behavior(&scope.element().kind).child_completing(self, &scope, child),
            None => Ok(()),
        }
    }

    /// Tells the scope of a child that this has ended.
    pub(super) fn child_ended(&mut self, child: &ActiveElement, completed: bool) -> Result<(), Failure> {
        match self.watching_scope(child)? {
            Some(scope) => behavior(&scope.element().kind).child_ended(self, &scope, child, completed),
            None => Ok(()),
        }
    }

    /// The scope of a child if it wants to know what becomes of it.
    fn watching_scope(&mut self, child: &ActiveElement) -> Result<Option<ActiveElement>, StateError> {
        let scope = child.process.element(child.element().scope);
        if child.scope_key == 0 || !behavior(&scope.kind).watches_children() {
            return Ok(None);
        }
        // A compensation handler may run in another scope than the model has it in.
        let scope = self.at(child.scope_key)?.map(|(scope, _)| scope);
        Ok(scope.filter(|scope| scope.index == child.element().scope))
    }

    /// Whether all start listeners of an element instance are done.
    fn has_listened(&self, at: &ActiveElement) -> Result<bool, StateError> {
        let row = self.tables.element_instances.get(&at.key)?;
        let listening = row.as_ref().and_then(|row| row.listening.as_ref());
        Ok(listening.is_some_and(|listening| listening.index as usize >= at.element().listeners.start.len()))
    }
}
