//! Start events: none, message and timer for a process, none for a sub-process, and what starts an event sub-process.

use super::Kind;
use crate::catalogue::is_true;
use crate::context::Context;
use crate::event::{Definition, KeyNeed, TimerUse, caught_error, definition, message, timer};
use crate::extension::form_reference;
use crate::graph::{ElementKind, ElementType, EventType, FormReference, PROCESS, StartEvent, Trigger};

pub(super) const KIND: Kind = Kind::node("startEvent", ElementType::StartEvent, read);

/// Where a start event stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Process,
    SubProcess,
    EventSubProcess { interrupting: bool },
}

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let place = place(cx);
    let definition = definition(cx).ok()?;
    if definition.is_some() && place == Place::SubProcess {
        cx.problem("the start event of an embedded sub-process must be a none start event");
        return None;
    }
    let inside = matches!(place, Place::EventSubProcess { .. });
    let (trigger, event_type) = match definition {
        None if inside => {
            cx.problem("the start event of an event sub-process must have an event definition");
            return None;
        }
        None => (Trigger::None, EventType::None),
        Some(Definition::Message(node)) => {
            let need = if inside { KeyNeed::Required } else { KeyNeed::Optional };
            (Trigger::Message(message(cx, node, need)?), EventType::Message)
        }
        Some(Definition::Timer(node)) => {
            let timer_use = match place {
                Place::EventSubProcess { interrupting: true } => TimerUse::InterruptingEventSubProcess,
                Place::EventSubProcess { interrupting: false } => TimerUse::NonInterruptingEventSubProcess,
                _ => TimerUse::ProcessStart,
            };
            (Trigger::Timer(timer(cx, node, timer_use)?), EventType::Timer)
        }
        Some(Definition::Error(node)) if inside => {
            let trigger = caught_error(cx, node)?;
            if place == (Place::EventSubProcess { interrupting: false }) {
                cx.problem("an error start event must be interrupting");
                return None;
            }
            (trigger, EventType::Error)
        }
        Some(
            Definition::Error(_) | Definition::Terminate | Definition::Compensation(_) | Definition::Cancel,
        ) => {
            cx.problem(if inside {
                "the start event of an event sub-process must be one of: message, timer, error"
            } else {
                "a start event must be one of: none, message, timer"
            });
            return None;
        }
    };
    let form = if matches!(trigger, Trigger::None) { form(cx)? } else { None };
    let interrupting = place == Place::EventSubProcess { interrupting: true };
    Some((ElementKind::StartEvent(StartEvent { form, trigger, interrupting }), event_type))
}

/// The form of a none start event. One that is embedded in the process has no version to choose.
fn form(cx: &mut Context<'_, '_>) -> Option<Option<FormReference>> {
    let Some(node) = cx.extension("formDefinition") else { return Some(None) };
    let has = |name: &str| cx.document.attribute(node, name).is_some_and(|value| !value.trim().is_empty());
    if !has("formId") && has("formKey") {
        return Some(None);
    }
    form_reference(cx, node).map(Some)
}

fn place(cx: &Context<'_, '_>) -> Place {
    let scope = cx.draft().scope;
    let kind = cx.outline.elements[scope as usize].kind;
    match kind.map(|kind| kind.element_type) {
        _ if scope == PROCESS => Place::Process,
        Some(ElementType::EventSubProcess) => {
            Place::EventSubProcess { interrupting: cx.attribute("isInterrupting").is_none_or(is_true) }
        }
        _ => Place::SubProcess,
    }
}
