//! Signals: broadcast to all subscriptions of their name.

use super::message::local_name;
use crate::context::Context;
use crate::graph::Text;
use crate::parsed::Parsed;
use crate::problem::excerpt;
use crate::xml::NodeId;

/// The name of the signal that a definition refers to.
pub(crate) fn signal(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Text> {
    let reference = cx.required(definition, "signalRef")?;
    let Some(name) = local_name(reference).and_then(|id| cx.catalogue.signals.get(id)) else {
        cx.problem(format!("signalRef refers to '{}', which is not a signal", excerpt(reference)));
        return None;
    };
    match name {
        Parsed::Valid(name) => Some(name.clone()),
        Parsed::Broken => None,
        Parsed::Absent => {
            cx.problem(format!("the signal '{}' must have a name", excerpt(reference.trim())));
            None
        }
    }
}
