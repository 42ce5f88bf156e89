//! Duplicate subscriptions: events of one place that wait for the same trigger, of which only one could ever fire.

use std::collections::HashSet;
use std::sync::Arc;

use crate::graph::{ElementIndex, ElementKind, ElementType, PROCESS, Process, Text, Trigger};
use crate::problem::excerpt;

/// An event with the trigger of an earlier event.
pub(super) struct Duplicate {
    pub(super) event: ElementIndex,
    /// `waits for` or `catches`.
    pub(super) verb: &'static str,
    /// For example `the message 'order'`.
    pub(super) trigger: String,
}

/// The trigger of an event as far as it can be compared: kind and name.
type Wanted = (&'static str, Option<Arc<str>>);

/// The events whose trigger an earlier event has, too.
pub(super) fn find(process: &Process, events: &[ElementIndex]) -> Vec<Duplicate> {
    let mut seen = HashSet::new();
    let mut duplicates = Vec::new();
    for &event in events {
        let Some(trigger) = trigger(&process.element(event).kind) else { continue };
        let Some(wanted) = wanted(process, event, trigger) else { continue };
        if seen.insert(wanted.clone()) {
            continue;
        }
        let (kind, name) = wanted;
        let (verb, trigger) = match (kind, name) {
            ("error" | "escalation", Some(code)) => {
                ("catches", format!("the {kind} code '{}'", excerpt(&code)))
            }
            ("error" | "escalation", None) => ("catches", format!("all {kind}s")),
            (_, name) => ("waits for", format!("the {kind} '{}'", excerpt(&name.unwrap_or_default()))),
        };
        duplicates.push(Duplicate { event, verb, trigger });
    }
    duplicates
}

fn trigger(kind: &ElementKind) -> Option<&Trigger> {
    match kind {
        ElementKind::StartEvent(start) => Some(&start.trigger),
        ElementKind::IntermediateCatch(trigger) => Some(trigger),
        ElementKind::Boundary(boundary) => Some(&boundary.trigger),
        _ => None,
    }
}

fn wanted(process: &Process, event: ElementIndex, trigger: &Trigger) -> Option<Wanted> {
    let named = |kind, name: &Text| match name {
        Text::Static(name) => Some((kind, Some(name.clone()))),
        // The value of an expression is known at run time only.
        Text::Expression(_) => None,
    };
    match trigger {
        Trigger::Message(message) => named("message", &message.name),
        Trigger::Error(code) => Some(("error", code.clone())),
        Trigger::Escalation(code) => Some(("escalation", code.clone())),
        Trigger::Signal(name) => named("signal", name),
        // A condition is evaluated for each event that has it, but starts one instance only.
        Trigger::Condition(condition) if process.element(event).scope == PROCESS => {
            let is_start = process.element(event).element_type == ElementType::StartEvent;
            is_start.then(|| ("condition", Some(Arc::from(condition.expression.text().trim()))))
        }
        Trigger::None
        | Trigger::Timer(_)
        | Trigger::Condition(_)
        | Trigger::Compensation { .. }
        | Trigger::Cancel => None,
    }
}
