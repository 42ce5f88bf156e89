//! BPMN errors: thrown by an end event, caught at a boundary.

use super::message::local_name;
use crate::catalogue::Error;
use crate::context::Context;
use crate::graph::{Text, Trigger};
use crate::parsed::Parsed;
use crate::problem::excerpt;
use crate::xml::NodeId;

/// The code that an error end event throws.
pub(crate) fn thrown_code(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Text> {
    let reference = cx.required(definition, "errorRef")?;
    match &referenced(cx, reference)?.code {
        Parsed::Valid(code) => Some(code.clone()),
        Parsed::Broken => None,
        Parsed::Absent => {
            let id = excerpt(reference.trim());
            cx.problem(format!("the error '{id}' must have an errorCode to be thrown"));
            None
        }
    }
}

/// The trigger of an error boundary event: one code or, without a code, every error.
pub(super) fn caught_error(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Trigger> {
    let reference = cx.document.attribute(definition, "errorRef").filter(|id| !id.trim().is_empty());
    let Some(reference) = reference else { return Some(Trigger::Error(None)) };
    match &referenced(cx, reference)?.code {
        Parsed::Valid(Text::Static(code)) => Some(Trigger::Error(Some(code.clone()))),
        Parsed::Valid(Text::Expression(_)) => {
            let id = excerpt(reference.trim());
            cx.problem(format!("the code of error '{id}' must be static text to be caught"));
            None
        }
        Parsed::Broken => None,
        Parsed::Absent => Some(Trigger::Error(None)),
    }
}

fn referenced<'a>(cx: &mut Context<'a, '_>, reference: &str) -> Option<&'a Error> {
    let found = local_name(reference).and_then(|id| cx.catalogue.errors.get(id));
    if found.is_none() {
        cx.problem(format!("errorRef refers to '{}', which is not an error", excerpt(reference)));
    }
    found
}
