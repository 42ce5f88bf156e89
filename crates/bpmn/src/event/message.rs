//! Message subscriptions of events and tasks.

use crate::context::Context;
use crate::graph::MessageDefinition;
use crate::parsed::Parsed;
use crate::problem::excerpt;
use crate::xml::NodeId;

/// Whether a correlation key is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyNeed {
    /// The message is correlated to a waiting instance.
    Required,
    /// The message starts an instance.
    Optional,
}

/// The message that `messageRef` of a node (an event definition or a task) refers to, as a subscription.
pub(crate) fn message(cx: &mut Context<'_, '_>, node: NodeId, need: KeyNeed) -> Option<MessageDefinition> {
    let reference = cx.required(node, "messageRef")?;
    let Some(message) = local_name(reference).and_then(|id| cx.catalogue.messages.get(id)) else {
        cx.problem(format!("messageRef refers to '{}', which is not a message", excerpt(reference)));
        return None;
    };
    let id = excerpt(reference.trim());
    let name = match &message.name {
        Parsed::Valid(name) => Some(name.clone()),
        Parsed::Broken => None,
        Parsed::Absent => {
            cx.problem(format!("the message '{id}' must have a name"));
            None
        }
    };
    let correlation_key = match &message.correlation_key {
        Parsed::Valid(key) => Some(key.clone()),
        Parsed::Broken => return None,
        Parsed::Absent if need == KeyNeed::Required => {
            cx.problem(format!("the message '{id}' must have a zeebe:subscription with a correlationKey"));
            return None;
        }
        Parsed::Absent => None,
    };
    Some(MessageDefinition { name: name?, correlation_key })
}

/// References are qualified names; the prefix, if any, does not matter within one file.
pub(super) fn local_name(reference: &str) -> Option<&str> {
    reference.trim().rsplit(':').next()
}
