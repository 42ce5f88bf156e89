//! `zeebe:publishMessage`: a message that the engine publishes itself.

use super::job;
use crate::context::Context;
use crate::event::{KeyNeed, message};
use crate::graph::{ElementKind, PublishedMessage, Text, Throw};
use crate::timer::Interval;
use crate::xml::NodeId;

/// What an element that sends a message does: a job, or the publication itself. `reference` is the node that refers
/// to the message.
pub(crate) fn job_or_publish(cx: &mut Context<'_, '_>, reference: NodeId) -> Option<ElementKind> {
    match cx.extension("publishMessage") {
        Some(publish) if cx.extension("taskDefinition").is_none() => read(cx, reference, publish),
        _ => Some(ElementKind::Job(job(cx, &["publishMessage"])?)),
    }
}

fn read(cx: &mut Context<'_, '_>, reference: NodeId, publish: NodeId) -> Option<ElementKind> {
    let message = message(cx, reference, KeyNeed::Optional);
    let correlation_key = attribute(cx, publish, "correlationKey");
    let message_id = attribute(cx, publish, "messageId");
    let time_to_live = attribute(cx, publish, "timeToLive").and_then(|text| check_time(cx, text));
    Some(ElementKind::Throw(Throw::Message(Box::new(PublishedMessage {
        name: message?.name,
        correlation_key: correlation_key?,
        message_id: message_id?,
        time_to_live: time_to_live?,
    }))))
}

/// An attribute that may be missing; `None` if there is a finding.
fn attribute(cx: &mut Context<'_, '_>, publish: NodeId, name: &str) -> Option<Option<Text>> {
    match cx.document.attribute(publish, name).map(str::trim).filter(|value| !value.is_empty()) {
        None => Some(None),
        Some(value) => cx.text(value, &format!("attribute '{name}' of zeebe:publishMessage")).map(Some),
    }
}

fn check_time(cx: &mut Context<'_, '_>, text: Option<Text>) -> Option<Option<Text>> {
    if let Some(Text::Static(time)) = &text
        && !time.parse::<i64>().is_ok_and(|time| time >= 0)
        && let Err(error) = Interval::parse(time)
    {
        cx.problem(format!("attribute 'timeToLive' of zeebe:publishMessage: {error}"));
        return None;
    }
    Some(text)
}
