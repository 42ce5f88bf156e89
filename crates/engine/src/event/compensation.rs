//! Compensation: undoing what completed activities have done.
//!
//! An activity with a compensation boundary event leaves a row in its scope when it completes, and so does a scope
//! that has such rows inside, with a snapshot of its variables. A throw event (or a cancelled transaction) goes
//! through the rows of its scope, slice by slice and from completed scopes inwards, and starts the handlers, all at
//! once; it goes on when the last of them has ended. Handlers run as children of the thrower's scope: they see its
//! variables of now, and those that are inside a completed sub-process have its snapshot as local variables. Rows
//! live as long as their scope can be compensated; an instance without them pays a comparison.

use bpmn::graph::{ElementIndex, ElementKind, Process, Trigger};
use protocol::{Document, Intent, Key};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{Cancelling, Compensation, ElementInstance, ErrorType, PendingEvent, Phase};

/// The row that stands for the walk through the outermost scope.
pub(crate) const WALK: Key = 0;

/// Rows of one scope, from after one of them on.
fn after(scope_key: Key, last: Key) -> std::ops::Range<(Key, Key)> {
    (scope_key, last + 1)..(scope_key + 1, 0)
}

pub(crate) fn handler_of(process: &Process, activity: ElementIndex) -> Option<ElementIndex> {
    compensation_of(process, activity).map(|(_, handler)| handler)
}

/// The event by which an activity can be compensated, and its handler.
fn compensation_of(process: &Process, activity: ElementIndex) -> Option<(ElementIndex, ElementIndex)> {
    let activity = process.element(activity);
    activity.boundary_events.iter().chain(&activity.event_starts).find_map(|&event| {
        let trigger = match &process.element(event).kind {
            ElementKind::Boundary(boundary) => &boundary.trigger,
            ElementKind::StartEvent(start) => &start.trigger,
            _ => return None,
        };
        match trigger {
            Trigger::Compensation { handler } => Some((event, *handler)),
            _ => None,
        }
    })
}

/// Whether a handler is an event sub-process of what it undoes. It takes the place of the handlers inside.
fn is_inside(process: &Process, handler: Option<ElementIndex>) -> bool {
    handler
        .is_some_and(|handler| matches!(process.element(handler).kind, ElementKind::EventSubProcess { .. }))
}

/// One walk through the rows of a scope.
#[derive(Debug, Clone)]
pub(crate) struct CompensationScan {
    pub thrower_key: Key,
    pub scope_key: Key,
    /// The row that the walk came in by, if the scope is inside a completed one.
    pub entered_by: Option<(Key, Key)>,
    pub after: Key,
    pub activity: Option<ElementIndex>,
    pub variables: Document,
}

impl CommandContext<'_> {
    /// Notes that an element instance has completed and can be compensated. Its variables are still there.
    pub fn note_completed(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        let element = at.element();
        if element.boundary_events.is_empty() && element.children.is_empty() {
            return Ok(());
        }
        let Some(row) = self.tables.element_instances.get(&at.key)? else { return Ok(()) };
        // A handler's own work is not compensated.
        if at.scope_key == 0 || element.is_for_compensation {
            return self.forget_compensations(at.key, &row);
        }
        let handler = handler_of(&at.process, at.index);
        let has_inner = row.compensable && !self.tables.compensations.keys(after(at.key, 0), 1)?.is_empty();
        if handler.is_none() && !has_inner {
            return Ok(());
        }
        let is_own_handler = is_inside(&at.process, handler);
        let variables = if (has_inner || is_own_handler) && row.has_variables {
            self.tables.local_variables(at.key)?.into_iter().collect()
        } else {
            Document::empty()
        };
        let key = self.next_key();
        // They count on, though the scope is about to go: as long as it can be undone.
        let counted_bytes = self.count_snapshot(at.process_instance_key, &variables)?;
        let compensation = Compensation {
            activity: at.index,
            handler,
            activity_instance_key: at.key,
            has_inner,
            variables,
            process_instance_key: at.process_instance_key,
            definition_key: at.instance.definition_key,
            tenant_id: at.instance.tenant_id.clone(),
            thrower_key: None,
            handler_instance_key: None,
            parts: 0,
            is_own_handler,
            counted_bytes: Some(counted_bytes),
        };
        self.record_compensation(key, Intent::Created, at.scope_key, &compensation)?;
        self.tables.compensations.insert((at.scope_key, key), compensation);
        self.tables.element_instances.update(&at.scope_key, |row| row.compensable = true)?;
        Ok(())
    }

    /// Removes what is left to compensate in a scope that nobody can compensate any more.
    pub fn forget_compensations(&mut self, scope_key: Key, row: &ElementInstance) -> Result<(), Failure> {
        if row.compensable { self.drop_compensations(scope_key) } else { Ok(()) }
    }

    /// Removes the rows of a scope and of those inside, a slice at a time.
    pub(super) fn drop_compensations(&mut self, scope_key: Key) -> Result<(), Failure> {
        let limit = self.options.max_children_per_step;
        let keys = self.tables.compensations.keys(after(scope_key, 0), limit)?;
        let more = keys.len() == limit;
        for key in keys {
            let Some(row) = self.tables.compensations.get(&key)? else { continue };
            if row.has_inner {
                self.steps.push_back(Step::DropCompensations { scope_key: row.activity_instance_key });
            }
            self.remove_compensation(key, &row, Intent::Deleted)?;
        }
        if more {
            self.steps.push_back(Step::DropCompensations { scope_key });
        }
        Ok(())
    }

    fn remove_compensation(
        &mut self,
        key: (Key, Key),
        row: &Compensation,
        intent: Intent,
    ) -> Result<(), StateError> {
        self.record_compensation(key.1, intent, key.0, row)?;
        self.tables.compensations.delete(&key);
        self.uncount_snapshot(row)?;
        if let Some(thrower_key) = row.thrower_key {
            self.tables.compensation_by_thrower.delete(&(thrower_key, key.1));
        }
        if let Some(handler_key) = row.handler_instance_key {
            self.tables.compensation_by_handler.delete(&(handler_key, key.0, key.1));
        }
        Ok(())
    }

    /// Begins to compensate what is completed in a scope. False if there is nothing.
    pub fn begin_compensation(
        &mut self,
        thrower_key: Key,
        scope_key: Key,
        activity: Option<ElementIndex>,
    ) -> Result<bool, Failure> {
        if self.tables.compensations.keys(after(scope_key, 0), 1)?.is_empty() {
            return Ok(false);
        }
        self.tables.compensation_by_thrower.insert((thrower_key, WALK), ());
        self.steps.push_back(Step::Compensate {
            thrower_key,
            scope_key,
            entered_by: None,
            after: 0,
            activity,
            variables: Document::empty(),
        });
        Ok(true)
    }

    /// Goes on through the rows of a scope.
    pub(super) fn walk_compensations(&mut self, walk: CompensationScan) -> Result<(), Failure> {
        let thrower = self.at(walk.thrower_key)?.filter(|(_, row)| row.phase == Phase::Activated);
        let Some((at, thrower)) = thrower else { return self.abandon(&walk) };
        let host_key = if thrower.cancelling == Cancelling::Compensating { at.key } else { at.scope_key };
        let limit = self.options.max_children_per_step;
        let keys = self.tables.compensations.keys(after(walk.scope_key, walk.after), limit)?;
        let last = keys.last().map(|(_, last)| *last).filter(|_| keys.len() == limit);
        for key in keys {
            let Some(row) = self.tables.compensations.get(&key)? else { continue };
            let is_meant = walk.activity.is_none_or(|activity| activity == row.activity);
            if is_meant && row.thrower_key.is_none() {
                self.trigger_compensation(&walk, key, &row, host_key)?;
            }
        }
        if let Some(last) = last {
            self.steps.push_back(Step::Compensate {
                thrower_key: walk.thrower_key,
                scope_key: walk.scope_key,
                entered_by: walk.entered_by,
                after: last,
                activity: walk.activity,
                variables: walk.variables,
            });
            return Ok(());
        }
        if let Some(key) = walk.entered_by {
            return self.compensation_part_done(key, true);
        }
        self.tables.compensation_by_thrower.delete(&(walk.thrower_key, WALK));
        self.check_compensated(walk.thrower_key)
    }

    /// Ends the walk of a thrower that has been terminated.
    fn abandon(&mut self, walk: &CompensationScan) -> Result<(), Failure> {
        self.tables.compensation_by_thrower.delete(&(walk.thrower_key, WALK));
        let Some(key) = walk.entered_by else { return Ok(()) };
        self.drop_compensations(walk.scope_key)?;
        self.compensation_part_done(key, false)
    }

    fn trigger_compensation(
        &mut self,
        walk: &CompensationScan,
        key: (Key, Key),
        row: &Compensation,
        host_key: Key,
    ) -> Result<(), Failure> {
        let mut row = row.clone();
        row.thrower_key = Some(walk.thrower_key);
        row.parts = u32::from(row.has_inner && !row.is_own_handler) + u32::from(row.handler.is_some());
        // Of two snapshots, the inner is nearer.
        let mut variables = walk.variables.clone();
        for (name, value) in row.variables.iter() {
            variables.set(name.clone(), value.clone());
        }
        self.record_compensation(key.1, Intent::Triggered, key.0, &row)?;
        self.tables.compensation_by_thrower.insert((walk.thrower_key, key.1), ());
        if row.has_inner && !row.is_own_handler {
            self.steps.push_back(Step::Compensate {
                thrower_key: walk.thrower_key,
                scope_key: row.activity_instance_key,
                entered_by: Some(key),
                after: 0,
                activity: None,
                variables: variables.clone(),
            });
        }
        if row.handler.is_some() {
            self.change_scope(host_key, 1, 0)?;
            self.steps.push_back(Step::RunHandler {
                host_key,
                scope_key: key.0,
                key: key.1,
                variables: if row.is_own_handler { variables } else { walk.variables.clone() },
            });
        }
        self.tables.compensations.put(key, row);
        Ok(())
    }

    pub(super) fn run_handler(
        &mut self,
        host_key: Key,
        key: (Key, Key),
        variables: &Document,
    ) -> Result<(), Failure> {
        let Some(host) = self.tables.element_instances.get(&host_key)? else {
            return self.compensation_part_done(key, false);
        };
        let row = self.tables.compensations.get(&key)?;
        let handler = row.as_ref().and_then(|row| row.handler);
        let (Some(row), Some(handler)) = (row, handler) else { return self.change_scope(host_key, -1, 0) };
        if host.phase == Phase::Terminating || host.interrupted {
            self.compensation_part_done(key, false)?;
            return self.change_scope(host_key, -1, 0);
        }
        self.record_compensation_event(host_key, &row)?;
        let instance = ElementInstance::new(handler, Phase::Activating, host_key, row.process_instance_key);
        let Some(at) = self.place(instance)? else { return Ok(()) };
        self.tables.compensations.update(&key, |row| row.handler_instance_key = Some(at.key))?;
        self.tables.compensation_by_handler.insert((at.key, key.0, key.1), ());
        self.scope_moved(host_key, &host)?;
        self.proceed_activation(&at, (!variables.is_empty()).then(|| variables.clone()))
    }

    /// Records the boundary event of a handler that is about to run. It waits for nothing, so it has no row of its own.
    fn record_compensation_event(&mut self, host_key: Key, row: &Compensation) -> Result<(), StateError> {
        let Some((instance, process)) = self.instance(row.process_instance_key)? else { return Ok(()) };
        let Some((index, _)) = compensation_of(&process, row.activity) else { return Ok(()) };
        if !matches!(process.element(index).kind, ElementKind::Boundary(_)) {
            return Ok(());
        }
        let key = self.next_key();
        let process_instance_key = row.process_instance_key;
        let at = ActiveElement { key, process_instance_key, scope_key: host_key, index, instance, process };
        for intent in [
            Intent::ElementActivating,
            Intent::ElementActivated,
            Intent::ElementCompleting,
            Intent::ElementCompleted,
        ] {
            self.record_element(&at, intent);
        }
        Ok(())
    }

    /// Gives a handler the variables of the completed scope that it undoes, if there is room. True if it is one: the
    /// variables that it is activated with are no trigger then.
    pub fn give_snapshot(
        &mut self,
        at: &ActiveElement,
        variables: Option<&Document>,
    ) -> Result<bool, Failure> {
        let element = at.element();
        let may_be_handler =
            element.is_for_compensation || matches!(element.kind, ElementKind::EventSubProcess { .. });
        let Some(variables) = variables.filter(|_| may_be_handler) else { return Ok(false) };
        let range = (at.key, 0, 0)..(at.key + 1, 0, 0);
        if self.tables.compensation_by_handler.keys(range, 1)?.is_empty() {
            return Ok(false);
        }
        let kind = ErrorType::IoMappingError;
        self.check_room(at.process_instance_key, variables, |_, _| Ok(at.key), kind)?;
        self.set_locals(at.key, at.process_instance_key, variables)?;
        Ok(true)
    }

    /// Notes that a handler has completed or was terminated. One that did not complete is not tried again.
    pub fn handler_ended(&mut self, at: &ActiveElement, completed: bool) -> Result<(), Failure> {
        let range = (at.key, 0, 0)..(at.key + 1, 0, 0);
        let Some(&(_, scope_key, key)) = self.tables.compensation_by_handler.keys(range, 1)?.first() else {
            return Ok(());
        };
        self.compensation_part_done((scope_key, key), completed)
    }

    fn compensation_part_done(&mut self, key: (Key, Key), completed: bool) -> Result<(), Failure> {
        let Some(row) = self.tables.compensations.get(&key)? else { return Ok(()) };
        debug_assert!(row.parts > 0, "compensation {key:?} had begun");
        if row.parts > 1 {
            self.tables.compensations.update(&key, |row| row.parts -= 1)?;
            return Ok(());
        }
        if row.has_inner && row.is_own_handler {
            // Activities that the event sub-process has not compensated.
            self.drop_compensations(row.activity_instance_key)?;
        }
        self.remove_compensation(key, &row, if completed { Intent::Completed } else { Intent::Deleted })?;
        match row.thrower_key {
            Some(thrower_key) => self.check_compensated(thrower_key),
            None => Ok(()),
        }
    }

    /// Lets the thrower go on if all it has triggered is done.
    fn check_compensated(&mut self, thrower_key: Key) -> Result<(), Failure> {
        let open = self.tables.compensation_by_thrower.keys((thrower_key, 0)..(thrower_key + 1, 0), 1)?;
        if !open.is_empty() {
            return Ok(());
        }
        let Some((at, row)) = self.at(thrower_key)? else { return Ok(()) };
        if row.phase != Phase::Activated {
            return Ok(());
        }
        if row.cancelling == Cancelling::Compensating {
            return self.leave_cancelled(&at);
        }
        self.steps.push_back(Step::Complete { key: thrower_key, variables: Document::empty() });
        Ok(())
    }

    /// Cancels a transaction at a cancel end event: everything else in it ends, then it is compensated.
    pub fn cancel_transaction(&mut self, key: Key) -> Result<(), Failure> {
        let Some((at, row)) = self.at(key)? else { return Ok(()) };
        if row.phase != Phase::Activated || row.interrupted {
            return Ok(());
        }
        self.tables.element_instances.update(&key, |row| row.cancelling = Cancelling::Ending)?;
        self.close(&at)?;
        self.interrupt_scope(key)
    }

    /// Compensates a cancelled transaction, after everything in it has ended.
    pub(super) fn compensate_cancelled(&mut self, key: Key) -> Result<(), Failure> {
        let Some((at, row)) = self.at(key)? else { return Ok(()) };
        if row.phase != Phase::Activated || row.cancelling != Cancelling::Ending {
            return Ok(());
        }
        self.tables.element_instances.update(&key, |row| {
            row.cancelling = Cancelling::Compensating;
            row.interrupted = false;
        })?;
        if self.begin_compensation(key, key, None)? { Ok(()) } else { self.leave_cancelled(&at) }
    }

    /// Leaves a transaction by its cancel boundary event.
    fn leave_cancelled(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        let is_cancel = |event: &ElementIndex| {
            matches!(&at.process.element(*event).kind, ElementKind::Boundary(boundary)
                if matches!(boundary.trigger, Trigger::Cancel))
        };
        if let Some(element) = at.element().boundary_events.iter().copied().find(is_cancel) {
            return self.interrupt(at, PendingEvent { element, variables: Document::empty() });
        }
        // Of a multi-instance transaction, the events are at the body.
        let body = self.at(at.scope_key)?;
        let event = body
            .as_ref()
            .and_then(|(body, _)| body.element().boundary_events.iter().copied().find(is_cancel));
        if let (Some((body, _)), Some(element)) = (body, event) {
            return self.interrupt(&body, PendingEvent { element, variables: Document::empty() });
        }
        self.steps.push_back(Step::Terminate { key: at.key });
        Ok(())
    }

    /// The scope that a throw event compensates: not an event sub-process, but what that is in, be it completed.
    pub fn compensated_scope(&self, at: &ActiveElement) -> Result<Key, StateError> {
        let mut scope_key = at.scope_key;
        while let Some(row) = self.tables.element_instances.get(&scope_key)?
            && matches!(at.process.element(row.element).kind, ElementKind::EventSubProcess { .. })
        {
            let range = (scope_key, 0, 0)..(scope_key + 1, 0, 0);
            if let Some(&(_, scope, key)) = self.tables.compensation_by_handler.keys(range, 1)?.first() {
                let undone = self.tables.compensations.get(&(scope, key))?;
                return Ok(undone.map_or(row.scope_key, |undone| undone.activity_instance_key));
            }
            scope_key = row.scope_key;
        }
        Ok(scope_key)
    }
}
