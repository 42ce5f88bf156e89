//! Event definitions, common to start, catch, boundary, throw and end events.

mod compensation;
mod condition;
mod error;
mod escalation;
mod link;
mod message;
mod signal;
mod timer;
mod trigger;

pub(crate) use compensation::{compensate, handler};
pub(crate) use error::thrown_code;
pub(crate) use escalation::thrown_escalation;
pub(crate) use link::link_name;
pub(crate) use message::{KeyNeed, message};
pub(crate) use signal::signal;
pub(crate) use trigger::{Place, trigger};

use crate::context::Context;
use crate::xml::{NodeId, Space};

/// A supported event definition.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Definition {
    Message(NodeId),
    Timer(NodeId),
    Error(NodeId),
    Compensation(NodeId),
    Cancel,
    Escalation(NodeId),
    Signal(NodeId),
    Link(NodeId),
    Condition(NodeId),
    Terminate,
}

/// The definition of an event that has at most one: `Ok(None)` for a none event, `Err` after a finding, which is
/// reported.
pub(crate) fn definition(cx: &mut Context<'_, '_>) -> Result<Option<Definition>, ()> {
    let document = cx.document;
    let mut found = Vec::new();
    for child in document.children(cx.node()) {
        let node = document.node(child);
        if node.space != Space::Bpmn
            || !(node.name.ends_with("EventDefinition") || node.name == "eventDefinitionRef")
        {
            continue;
        }
        if node.name == "eventDefinitionRef" {
            cx.problem("references to shared event definitions are not supported");
            return Err(());
        }
        found.push(child);
    }
    let [one] = found.as_slice() else {
        if found.is_empty() {
            return Ok(None);
        }
        cx.problem("must have at most one event definition");
        return Err(());
    };
    let name = document.node(*one).name;
    match name {
        "messageEventDefinition" => Ok(Some(Definition::Message(*one))),
        "timerEventDefinition" => Ok(Some(Definition::Timer(*one))),
        "errorEventDefinition" => Ok(Some(Definition::Error(*one))),
        "compensateEventDefinition" => Ok(Some(Definition::Compensation(*one))),
        "cancelEventDefinition" => Ok(Some(Definition::Cancel)),
        "escalationEventDefinition" => Ok(Some(Definition::Escalation(*one))),
        "signalEventDefinition" => Ok(Some(Definition::Signal(*one))),
        "linkEventDefinition" => Ok(Some(Definition::Link(*one))),
        "conditionalEventDefinition" => Ok(Some(Definition::Condition(*one))),
        "terminateEventDefinition" => Ok(Some(Definition::Terminate)),
        _ => {
            cx.problem(format!("the event definition '{name}' is unknown"));
            Err(())
        }
    }
}

/// The definition of an event that must have exactly one.
pub(crate) fn required_definition(cx: &mut Context<'_, '_>) -> Option<Definition> {
    let found = definition(cx).ok()?;
    if found.is_none() {
        cx.problem("must have exactly one event definition");
    }
    found
}
