//! Event sub-process.

use super::check::Check;
use super::duplicate;
use super::element::Kind;
use super::sub_process::only_start;
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType};

pub(super) const KIND: Kind =
    Kind { is_scope: true, ..Kind::node("subProcess", ElementType::EventSubProcess, read).with_check(check) };

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let start = only_start(cx)?;
    Some((ElementKind::EventSubProcess { start }, EventType::Unspecified))
}

/// It has no sequence flows, and no two of one scope have the same trigger.
fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    let process = check.process;
    let element = process.element(index);
    if !element.incoming.is_empty() || !element.outgoing.is_empty() {
        check.problem(index, "an event sub-process cannot have incoming or outgoing sequence flows");
    }
    let ElementKind::EventSubProcess { start } = element.kind else { return };
    let siblings = &process.element(element.scope).event_starts;
    // Once per scope, at its first event sub-process.
    if siblings.first() == Some(&start) {
        for duplicate in duplicate::find(process, siblings) {
            let scope = process.element(duplicate.event).scope;
            let (verb, what) = (duplicate.verb, duplicate.trigger);
            check.problem(scope, format!("another event sub-process of the same scope {verb} {what}"));
        }
    }
}
