//! Start events: none, message and timer for a process, none for a sub-process.

use super::Kind;
use crate::context::Context;
use crate::event::{Definition, KeyNeed, TimerUse, definition, message, timer};
use crate::extension::form_reference;
use crate::graph::{ElementKind, ElementType, EventType, FormReference, PROCESS, StartEvent, Trigger};

pub(super) const KIND: Kind = Kind::node("startEvent", ElementType::StartEvent, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let definition = definition(cx).ok()?;
    if definition.is_some() && cx.draft().scope != PROCESS {
        cx.problem("the start event of an embedded sub-process must be a none start event");
        return None;
    }
    let (trigger, event_type) = match definition {
        None => (Trigger::None, EventType::None),
        Some(Definition::Message(node)) => {
            (Trigger::Message(message(cx, node, KeyNeed::Optional)?), EventType::Message)
        }
        Some(Definition::Timer(node)) => {
            (Trigger::Timer(timer(cx, node, TimerUse::ProcessStart)?), EventType::Timer)
        }
        Some(Definition::Error(_) | Definition::Terminate) => {
            cx.problem("a start event must be one of: none, message, timer");
            return None;
        }
    };
    let form = if matches!(trigger, Trigger::None) { form(cx)? } else { None };
    Some((ElementKind::StartEvent(StartEvent { form, trigger }), event_type))
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
