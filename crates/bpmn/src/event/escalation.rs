//! Escalations: thrown to the enclosing scopes, which need not catch them.

use super::message::local_name;
use crate::context::Context;
use crate::graph::{Text, Trigger};
use crate::parsed::Parsed;
use crate::problem::excerpt;
use crate::xml::NodeId;

/// The code that a throw or end event throws.
pub(crate) fn thrown_escalation(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Text> {
    let reference = cx.required(definition, "escalationRef")?;
    match referenced(cx, reference)? {
        Parsed::Valid(code) => Some(code.clone()),
        Parsed::Broken => None,
        Parsed::Absent => {
            let id = excerpt(reference.trim());
            cx.problem(format!("the escalation '{id}' must have an escalationCode to be thrown"));
            None
        }
    }
}

/// The trigger of a catch event: one code or, without a code, every escalation.
pub(super) fn caught_escalation(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Trigger> {
    let reference = cx.document.attribute(definition, "escalationRef").filter(|id| !id.trim().is_empty());
    let Some(reference) = reference else { return Some(Trigger::Escalation(None)) };
    match referenced(cx, reference)? {
        Parsed::Valid(Text::Static(code)) => Some(Trigger::Escalation(Some(code.clone()))),
        Parsed::Valid(Text::Expression(_)) => {
            let id = excerpt(reference.trim());
            cx.problem(format!("the code of escalation '{id}' must be static text to be caught"));
            None
        }
        Parsed::Broken => None,
        Parsed::Absent => Some(Trigger::Escalation(None)),
    }
}

fn referenced<'a>(cx: &mut Context<'a, '_>, reference: &str) -> Option<&'a Parsed<Text>> {
    let found = local_name(reference).and_then(|id| cx.catalogue.escalations.get(id));
    if found.is_none() {
        cx.problem(format!("escalationRef refers to '{}', which is not an escalation", excerpt(reference)));
    }
    found
}
