//! `zeebe:publishMessage`: a message that the engine publishes itself.

use super::job;
use crate::context::Context;
use crate::event::{KeyNeed, message};
use crate::graph::{ElementKind, PublishedMessage, Text, Throw};
use crate::timer::Interval;
use crate::xml::NodeId;

/// Implementation of an element that sends a message: a job, or the publication by the engine. `reference` is the
/// node that refers to the message.
pub(crate) fn job_or_publish(cx: &mut Context<'_, '_>, reference: NodeId) -> Option<ElementKind> {
    match cx.extension("publishMessage") {
        Some(publish) if cx.extension("taskDefinition").is_none() => read(cx, reference, publish),
        _ => Some(ElementKind::Job(job(cx, &["publishMessage"])?)),
    }
}

/// The model is refused; the finding is reported.
struct Refused;

fn read(cx: &mut Context<'_, '_>, reference: NodeId, publish: NodeId) -> Option<ElementKind> {
    let message = message(cx, reference, KeyNeed::Optional);
    let correlation_key = attribute(cx, publish, "correlationKey");
    let message_id = attribute(cx, publish, "messageId");
    let time_to_live = attribute(cx, publish, "timeToLive").and_then(|text| check_time(cx, text));
    Some(ElementKind::Throw(Throw::Message(Box::new(PublishedMessage {
        name: message?.name,
        correlation_key: correlation_key.ok()?,
        message_id: message_id.ok()?,
        time_to_live: time_to_live.ok()?,
    }))))
}

/// An attribute that may be missing.
fn attribute(cx: &mut Context<'_, '_>, publish: NodeId, name: &str) -> Result<Option<Text>, Refused> {
    match cx.document.attribute(publish, name).map(str::trim).filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(value) => {
            let what = format!("attribute '{name}' of zeebe:publishMessage");
            cx.text(value, &what).map(Some).ok_or(Refused)
        }
    }
}

fn check_time(cx: &mut Context<'_, '_>, text: Option<Text>) -> Result<Option<Text>, Refused> {
    if let Some(Text::Static(time)) = &text
        && !time.parse::<i64>().is_ok_and(|time| time >= 0)
        && let Err(error) = Interval::parse(time)
    {
        cx.problem(format!("attribute 'timeToLive' of zeebe:publishMessage: {error}"));
        return Err(Refused);
    }
    Ok(text)
}
