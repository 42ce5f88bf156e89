//! Event-based gateway.

use super::check::Check;
use super::duplicate;
use super::element::Kind;
use crate::catalogue::is_true;
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType};

pub(super) const KIND: Kind =
    Kind::node("eventBasedGateway", ElementType::EventBasedGateway, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let starts_process = cx.attribute("instantiate").is_some_and(is_true);
    if starts_process || cx.attribute("eventGatewayType").is_some_and(|value| value != "Exclusive") {
        cx.problem("only an exclusive event-based gateway that does not start a process is supported");
        return None;
    }
    Some((ElementKind::EventBased, EventType::Unspecified))
}

/// At least two outgoing flows, each to a message or timer catch event of its own; no message twice.
fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    let process = check.process;
    let element = process.element(index);
    if element.outgoing.len() < 2 {
        check.problem(index, "must have at least two outgoing sequence flows");
    }
    let mut events = Vec::new();
    for &flow in element.outgoing.iter().rev() {
        let target = process.flow(flow).target;
        let event = process.element(target);
        if event.element_type != ElementType::IntermediateCatchEvent || event.event_type == EventType::Link {
            // Unsupported elements are already reported.
            if check.outline.elements[target as usize].kind.is_some() {
                check.flow_problem(
                    flow,
                    "must lead to a message, timer, signal or conditional intermediate catch event",
                );
            }
            continue;
        }
        if event.incoming.len() > 1 {
            check.problem(
                target,
                "cannot have incoming sequence flows other than the one from its event-based gateway",
            );
        }
        events.push(target);
    }
    for duplicate in duplicate::find(process, &events) {
        check.problem(index, format!("two events of the gateway wait for {}", duplicate.trigger));
    }
}
