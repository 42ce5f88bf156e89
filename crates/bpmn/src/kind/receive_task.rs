//! Receive task: waits for a message, or starts the process when one is correlated.

use super::check::Check;
use super::element::Kind;
use crate::catalogue::is_true;
use crate::context::Context;
use crate::event::{KeyNeed, message};
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType, PROCESS, StartEvent, Trigger};

pub(super) const KIND: Kind = Kind::activity("receiveTask", ElementType::ReceiveTask, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    if !cx.attribute("instantiate").is_some_and(is_true) {
        let message = message(cx, cx.node(), KeyNeed::Required)?;
        return Some((ElementKind::Receive(message), EventType::Unspecified));
    }
    let message = message(cx, cx.node(), KeyNeed::Optional);
    let has = |name| cx.document.bpmn_children(cx.node(), name).next().is_some();
    let mut clean = true;
    for (found, what) in [
        (cx.draft().scope != PROCESS, "must be directly in the process, not in a sub-process"),
        (cx.attribute("isForCompensation").is_some_and(is_true), "cannot be a compensation handler"),
        (
            has("multiInstanceLoopCharacteristics") || has("standardLoopCharacteristics"),
            "cannot be multi-instance or have a loop marker",
        ),
    ] {
        if found {
            clean = false;
            cx.problem(format!("a receive task that starts a process {what}"));
        }
    }
    let trigger = Trigger::Message(message.filter(|_| clean)?);
    let start = StartEvent { form: None, trigger, interrupting: false };
    Some((ElementKind::StartEvent(start), EventType::Unspecified))
}

fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    if starts_process(check, index) && !check.process.element(index).incoming.is_empty() {
        check.problem(index, "a receive task that starts a process cannot have incoming sequence flows");
    }
}

/// Whether an element is a receive task with `instantiate`, valid or not.
pub(super) fn starts_process(check: &Check<'_, '_>, index: ElementIndex) -> bool {
    let node = check.outline.elements[index as usize].node;
    check.process.element(index).element_type == ElementType::ReceiveTask
        && check.document.attribute(node, "instantiate").is_some_and(is_true)
}
