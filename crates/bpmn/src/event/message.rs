//! Messages that an event or a task waits for.

use crate::context::Context;
use crate::graph::MessageDefinition;
use crate::xml::NodeId;

/// Whether a correlation key is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyNeed {
    /// The message finds a waiting instance.
    Required,
    /// The message starts an instance.
    Optional,
}

/// The message that `messageRef` of a node (an event definition or a task) refers to.
fn referenced_message(cx: &mut Context<'_, '_>, node: NodeId) -> Option<NodeId> {
    let reference = cx.required(node, "messageRef")?;
    let found = local_name(reference).and_then(|id| cx.catalogue.messages.get(id)).copied();
    if found.is_none() {
        cx.problem(format!(
            "messageRef refers to '{}', which is no message",
            crate::problem::excerpt(reference)
        ));
    }
    found
}

/// The message that a node refers to, ready to wait for.
pub(crate) fn message(cx: &mut Context<'_, '_>, node: NodeId, key: KeyNeed) -> Option<MessageDefinition> {
    let message = referenced_message(cx, node)?;
    let document = cx.document;
    let id = document.attribute(message, "id").unwrap_or_default();
    let name = document.attribute(message, "name").filter(|name| !name.trim().is_empty());
    if name.is_none() {
        cx.problem(format!("the message '{id}' must have a name"));
    }
    let name = name.and_then(|name| cx.text(name, &format!("the name of message '{id}'")));
    let mut subscriptions = document
        .bpmn_children(message, "extensionElements")
        .flat_map(|container| document.zeebe_children(container, "subscription"));
    let subscription = subscriptions.next();
    if subscriptions.next().is_some() {
        cx.problem(format!("the message '{id}' must have at most one zeebe:subscription"));
    }
    let text = subscription
        .and_then(|node| document.attribute(node, "correlationKey"))
        .filter(|text| !text.trim().is_empty());
    let correlation_key = match text {
        Some(text) => Some(cx.expression(text, &format!("the correlation key of message '{id}'"))?),
        None if key == KeyNeed::Required => {
            cx.problem(format!("the message '{id}' must have a zeebe:subscription with a correlationKey"));
            return None;
        }
        None => None,
    };
    Some(MessageDefinition { name: name?, correlation_key })
}

/// References are qualified names; the prefix, if any, does not matter within one file.
pub(super) fn local_name(reference: &str) -> Option<&str> {
    reference.trim().rsplit(':').next()
}
