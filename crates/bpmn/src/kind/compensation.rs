//! Rules about compensation and about the cancellation of transactions.

use super::check::Check;
use crate::graph::{Boundary, ElementIndex, ElementKind, End, Trigger};

/// A compensation handler has no sequence flows.
pub(super) fn check_handlers(check: &mut Check<'_, '_>) {
    let process = check.process;
    for (index, element) in process.elements.iter().enumerate().filter(|(_, e)| e.is_for_compensation) {
        let index = index as ElementIndex;
        if matches!(element.kind, ElementKind::EventSubProcess { .. }) {
            check_event_sub_process(check, index);
            continue;
        }
        if !element.incoming.is_empty() || !element.outgoing.is_empty() {
            check.problem(index, "a compensation handler cannot have incoming or outgoing sequence flows");
        }
        for &event in &element.boundary_events {
            if is_boundary(check, event, |trigger| matches!(trigger, Trigger::Compensation { .. })) {
                check.problem(event, "a compensation handler cannot be compensated itself");
            }
        }
    }
}

/// A sub-process has one compensation handler only.
fn check_event_sub_process(check: &mut Check<'_, '_>, index: ElementIndex) {
    let process = check.process;
    let around = process.element(process.element(index).scope);
    let is_handled = |event: &ElementIndex| {
        is_boundary(check, *event, |trigger| matches!(trigger, Trigger::Compensation { .. }))
    };
    if around.boundary_events.iter().any(is_handled) {
        check.problem(
            index,
            "the sub-process around a compensation event sub-process cannot have a compensation boundary event too",
        );
    }
    let others = around.children.iter().filter(|&&child| {
        let child = process.element(child);
        child.is_for_compensation && matches!(child.kind, ElementKind::EventSubProcess { .. })
    });
    if others.min() != Some(&index) {
        check.problem(index, "another event sub-process of the same scope waits for compensation");
    }
}

/// A compensation boundary event has no outgoing flow; a cancel boundary event ends a transaction. At most one of
/// each.
pub(super) fn check_boundary(check: &mut Check<'_, '_>, index: ElementIndex, boundary: &Boundary) {
    let (kind, is_same): (_, fn(&Trigger) -> bool) = match &boundary.trigger {
        Trigger::Compensation { .. } => {
            if !check.process.element(index).outgoing.is_empty() {
                check.problem(index, "a compensation boundary event cannot have outgoing sequence flows");
            }
            ("compensation", |trigger| matches!(trigger, Trigger::Compensation { .. }))
        }
        Trigger::Cancel => {
            if !boundary.interrupting {
                check.problem(index, "a cancel boundary event must be interrupting");
            }
            if !is_transaction(check, boundary.attached_to) {
                check.problem(index, "a cancel boundary event must be attached to a transaction");
            }
            ("cancel", |trigger| matches!(trigger, Trigger::Cancel))
        }
        _ => return,
    };
    let siblings = &check.process.element(boundary.attached_to).boundary_events;
    let first = siblings.iter().find(|&&sibling| is_boundary(check, sibling, is_same));
    if first != Some(&index) {
        check.problem(index, format!("the activity has another {kind} boundary event"));
    }
}

/// A cancel end event is directly inside a transaction with a cancel boundary event.
pub(super) fn check_cancel(check: &mut Check<'_, '_>, index: ElementIndex) {
    let element = check.process.element(index);
    if !matches!(element.kind, ElementKind::EndEvent(End::Cancel)) {
        return;
    }
    let scope = element.scope;
    if !is_transaction(check, scope) {
        check.problem(index, "a cancel end event must be directly inside a transaction");
        return;
    }
    let events = &check.process.element(scope).boundary_events;
    if !events.iter().any(|&event| is_boundary(check, event, |trigger| matches!(trigger, Trigger::Cancel))) {
        check.problem(index, "the transaction around a cancel end event must have a cancel boundary event");
    }
}

fn is_boundary(check: &Check<'_, '_>, index: ElementIndex, wanted: impl Fn(&Trigger) -> bool) -> bool {
    matches!(&check.process.element(index).kind, ElementKind::Boundary(boundary) if wanted(&boundary.trigger))
}

fn is_transaction(check: &Check<'_, '_>, index: ElementIndex) -> bool {
    check.document.node(check.outline.elements[index as usize].node).name == "transaction"
}
