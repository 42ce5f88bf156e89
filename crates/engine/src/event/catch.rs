//! Catch events: opening what an element instance waits for, and what happens when it comes.

use std::sync::Arc;

use bpmn::graph::{Element, ElementIndex, ElementKind, MessageDefinition, Trigger};
use protocol::{Document, Key, Name};

use feel::Expression;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::definition::expression::{Scope, with_warnings};
use crate::entity::{Cancelling, ErrorType, PendingEvent, Phase, SignalSubscription, Subscription};
use crate::event::timer::Schedule;

/// A subscription or timer whose expressions are evaluated.
enum Prepared {
    Timer(ElementIndex, Schedule),
    Message { element: ElementIndex, name: Name, correlation_key: Name, interrupting: bool },
    Signal { element: ElementIndex, name: Name },
    Condition { element: ElementIndex, is_met: bool },
}

impl ActiveElement {
    /// A subscription of one of its catch events.
    fn subscription(
        &self,
        element: ElementIndex,
        message_name: Name,
        correlation_key: Name,
        interrupting: bool,
    ) -> Subscription {
        Subscription {
            element_instance_key: self.key,
            process_instance_key: self.process_instance_key,
            definition_key: self.instance.definition_key,
            process_id: self.instance.process_id.clone(),
            element,
            message_name,
            correlation_key,
            interrupting,
            tenant_id: self.instance.tenant_id.clone(),
            business_id: self.instance.business_id.clone(),
            generation: None,
        }
    }
}

impl CommandContext<'_> {
    /// Opens subscriptions and timers for the boundary events of an activity and the event sub-processes inside it.
    pub fn subscribe_to_events(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        let element = process.element(at.index);
        if element.event_starts.is_empty() {
            return self.subscribe(at, &element.boundary_events);
        }
        let events: Vec<_> = element.boundary_events.iter().chain(&element.event_starts).copied().collect();
        self.subscribe(at, &events)
    }

    /// Opens subscriptions and timers of catch events, on behalf of an element instance. All or nothing.
    pub fn subscribe(&mut self, at: &ActiveElement, events: &[ElementIndex]) -> Result<(), Failure> {
        if events.is_empty() {
            return Ok(());
        }
        let mut prepared = Vec::with_capacity(events.len());
        for &element in events {
            let (trigger, interrupting) = match &at.process.element(element).kind {
                ElementKind::Receive(message) => {
                    prepared.push(self.prepare_message(at, element, message, true)?);
                    continue;
                }
                ElementKind::IntermediateCatch(trigger) => (trigger, true),
                ElementKind::Boundary(boundary) => (&boundary.trigger, boundary.interrupting),
                ElementKind::StartEvent(start) => (&start.trigger, start.interrupting),
                _ => continue,
            };
            match trigger {
                Trigger::Timer(timer) => {
                    prepared.push(Prepared::Timer(element, self.schedule(timer, &Scope::of(at.key))?));
                }
                Trigger::Message(message) => {
                    prepared.push(self.prepare_message(at, element, message, interrupting)?);
                }
                Trigger::Signal(name) => {
                    let name = self.evaluate_text(name, &Scope::of(at.key))?;
                    prepared.push(Prepared::Signal { element, name });
                }
                Trigger::Condition(condition) => {
                    let is_met = self.is_met(condition, &Scope::of(at.key))?;
                    prepared.push(Prepared::Condition { element, is_met });
                }
                Trigger::None
                | Trigger::Error(_)
                | Trigger::Escalation(_)
                | Trigger::Compensation { .. }
                | Trigger::Cancel => {}
            }
        }
        if !prepared.is_empty() {
            self.tables.element_instances.update(&at.key, |row| row.subscribed = true)?;
        }
        for event in prepared {
            match event {
                Prepared::Timer(element, schedule) => self.start_timer(at, element, schedule)?,
                Prepared::Condition { element, is_met } => self.open_condition(at, element, is_met)?,
                Prepared::Signal { element, name } => self.open_signal_subscription(SignalSubscription {
                    element_instance_key: at.key,
                    process_instance_key: at.process_instance_key,
                    definition_key: at.instance.definition_key,
                    process_id: at.instance.process_id.clone(),
                    element,
                    signal_name: name,
                    tenant_id: at.instance.tenant_id.clone(),
                })?,
                Prepared::Message { element, name, correlation_key, interrupting } => {
                    self.open_subscription(at.subscription(element, name, correlation_key, interrupting))?;
                }
            }
        }
        Ok(())
    }

    fn prepare_message(
        &self,
        at: &ActiveElement,
        element: ElementIndex,
        message: &MessageDefinition,
        interrupting: bool,
    ) -> Result<Prepared, Failure> {
        let scope = Scope::of(at.key);
        let name = self.evaluate_text(&message.name, &scope)?;
        let correlation_key = match &message.correlation_key {
            Some(expression) => self.evaluate_correlation_key(expression, &scope)?,
            None => Name::default(),
        };
        Ok(Prepared::Message { element, name, correlation_key, interrupting })
    }

    /// Whether an element instance can take an event. One that waits for people in the midst of its completion still
    /// takes those at its boundary.
    pub(super) fn accepts(&mut self, host_key: Key, event: ElementIndex) -> Result<bool, Failure> {
        let Some((at, row)) = self.at(host_key)? else { return Ok(false) };
        if matches!(at.process.element(event).kind, ElementKind::StartEvent(_)) {
            // Nothing may be left inside: until its end is reached, it goes on by the event.
            let is_cancelled = row.cancelling != Cancelling::No;
            return Ok(row.phase == Phase::Activated && !row.interrupted && !is_cancelled);
        }
        let in_time = match row.phase {
            Phase::Activated => true,
            Phase::Completing => event != row.element,
            Phase::Activating | Phase::Terminating => false,
        };
        Ok(in_time && row.pending_event.is_none())
    }

    /// Triggers an event of an element instance that accepts it.
    pub(super) fn trigger(
        &mut self,
        host_key: Key,
        event: ElementIndex,
        variables: &Document,
    ) -> Result<(), Failure> {
        let Some((at, _)) = self.at(host_key)? else { return Ok(()) };
        if event == at.index {
            self.steps.push_back(Step::Complete { key: host_key, variables: variables.clone() });
            // Nothing else may happen to it before the step has run.
            return self.close(&at);
        }
        let pending = PendingEvent { element: event, variables: variables.clone() };
        match &at.process.element(event).kind {
            ElementKind::Boundary(boundary) if !boundary.interrupting => {
                self.change_scope(at.scope_key, 1, 0)?;
                self.steps.push_back(Step::Activate {
                    process_instance_key: at.process_instance_key,
                    element: event,
                    scope_key: at.scope_key,
                    trigger: Some(variables.clone()),
                });
            }
            ElementKind::Boundary(_) => self.interrupt(&at, pending)?,
            ElementKind::StartEvent(start) if start.interrupting => {
                self.interrupt_by_event_sub_process(&at, pending)?;
            }
            ElementKind::StartEvent(_) => {
                let event_sub_process = at.process.element(event).scope;
                self.start_child(&at, event_sub_process, Some(pending.variables))?;
            }
            _ => {
                self.tables.element_instances.update(&host_key, |row| row.pending_event = Some(pending))?;
                self.close(&at)?;
                self.steps.push_back(Step::Complete { key: host_key, variables: Document::empty() });
            }
        }
        Ok(())
    }

    /// Ends an activity by a boundary event.
    pub(super) fn interrupt(&mut self, at: &ActiveElement, event: PendingEvent) -> Result<(), Failure> {
        self.tables.element_instances.update(&at.key, |row| row.pending_event = Some(event))?;
        self.close(at)?;
        self.steps.push_back(Step::Terminate { key: at.key });
        Ok(())
    }

    /// Terminates everything in a scope; the event sub-process of the event follows.
    pub(super) fn interrupt_by_event_sub_process(
        &mut self,
        at: &ActiveElement,
        event: PendingEvent,
    ) -> Result<(), Failure> {
        // Its boundary events stay open: they may end it still.
        self.close_events(at, |element| matches!(element.kind, ElementKind::StartEvent(_)))?;
        self.tables.element_instances.update(&at.key, |row| row.interrupting_event = Some(event))?;
        self.interrupt_scope(at.key)?;
        // It goes on at once if nothing is inside that has to end before.
        self.change_scope(at.key, 0, 0)
    }

    /// Starts an event sub-process, after everything else in the scope has ended.
    pub fn start_event_sub_process(&mut self, scope_key: Key, event: PendingEvent) -> Result<(), Failure> {
        let Some((at, _)) = self.at(scope_key)? else { return Ok(()) };
        self.tables.element_instances.update(&scope_key, |row| {
            row.interrupting_event = None;
            row.interrupted = false;
        })?;
        self.finish_ad_hoc(&at)?;
        self.start_child(&at, at.process.element(event.element).scope, Some(event.variables))
    }

    /// Closes subscriptions and timers of some events of an element instance.
    fn close_events(&mut self, at: &ActiveElement, which: impl Fn(&Element) -> bool) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        self.close_awaited(at.key, |event| which(process.element(event)))
    }

    /// Closes all subscriptions and timers of an element instance.
    pub fn close(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        if !self.tables.element_instances.get(&at.key)?.is_some_and(|row| row.subscribed) {
            return Ok(());
        }
        self.tables.element_instances.update(&at.key, |row| row.subscribed = false)?;
        self.close_awaited(at.key, |_| true)
    }

    /// A correlation key: a string, or a number as its whole part, however long that is. A number of which digits are
    /// lost is no key: another one would have the same.
    pub(super) fn evaluate_correlation_key(
        &self,
        expression: &Expression,
        scope: &Scope,
    ) -> Result<Name, Failure> {
        let kind = ErrorType::ExtractValueError;
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
        if let Some(text) = value.as_str() {
            return Ok(Name::from(text));
        }
        if let Some(number) = value.as_number() {
            return number.whole_digits().map(Name::from).ok_or_else(|| {
                let message = format!(
                    "Failed to extract the correlation key for '{}': The number has more than {} digits. Use a string.",
                    expression.text(),
                    feel::PRECISION
                );
                Failure::incident(kind, message)
            });
        }
        let message = format!(
            "Failed to extract the correlation key for '{}': The value must be either a string or a number, but was '{}'.",
            expression.text(),
            value.type_name()
        );
        Err(Failure::incident(kind, with_warnings(message, &warnings)))
    }
}
