//! Start events of processes, of embedded sub-processes (none) and of event sub-processes.

use super::element::Kind;
use crate::catalogue::is_true;
use crate::context::Context;
use crate::event::{Place, definition, trigger};
use crate::extension::form_reference;
use crate::graph::{ElementKind, ElementType, EventType, FormReference, PROCESS, StartEvent, Trigger};

pub(super) const KIND: Kind = Kind::node("startEvent", ElementType::StartEvent, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let place = place(cx);
    let definition = definition(cx).ok()?;
    let (trigger, event_type) = match (definition, place) {
        (None, Some(Place::EventSubProcess { .. })) => {
            cx.problem("the start event of an event sub-process must have an event definition");
            return None;
        }
        (None, _) => (Trigger::None, EventType::None),
        (Some(_), None) => {
            cx.problem("the start event of an embedded sub-process must be a none start event");
            return None;
        }
        (Some(definition), Some(place)) => trigger(cx, definition, place)?,
    };
    let form = if matches!(trigger, Trigger::None) { form(cx).ok()? } else { None };
    let interrupting = place == Some(Place::EventSubProcess { interrupting: true });
    Some((ElementKind::StartEvent(StartEvent { form, trigger, interrupting }), event_type))
}

/// The form of a none start event. A form embedded in the process has no version to choose. An error is reported.
fn form(cx: &mut Context<'_, '_>) -> Result<Option<FormReference>, ()> {
    let Some(node) = cx.extension("formDefinition") else { return Ok(None) };
    let has = |name: &str| cx.document.attribute(node, name).is_some_and(|value| !value.trim().is_empty());
    if !has("formId") && has("formKey") {
        return Ok(None);
    }
    form_reference(cx, node).map(Some).ok_or(())
}

/// Position of the start event; `None` in an embedded sub-process.
fn place(cx: &Context<'_, '_>) -> Option<Place> {
    let scope = cx.draft().scope;
    let kind = cx.outline.elements[scope as usize].kind;
    match kind.map(|kind| kind.element_type) {
        _ if scope == PROCESS => Some(Place::ProcessStart),
        Some(ElementType::EventSubProcess) => {
            Some(Place::EventSubProcess { interrupting: cx.attribute("isInterrupting").is_none_or(is_true) })
        }
        _ => None,
    }
}
