//! BPMN errors: thrown by an end event, caught at a boundary.

use std::sync::Arc;

use super::message::local_name;
use crate::context::Context;
use crate::graph::{Text, Trigger};
use crate::problem::excerpt;
use crate::xml::NodeId;

/// The code that an error end event throws.
pub(crate) fn thrown_code(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Text> {
    let reference = cx.required(definition, "errorRef")?;
    let (id, code) = referenced(cx, reference)?;
    if let Some(code) = code {
        return cx.text(code, &format!("the code of error '{id}'"));
    }
    cx.problem(format!("the error '{id}' must have an errorCode to be thrown"));
    None
}

/// What an error boundary event waits for: one code or, without a code, every error.
pub(crate) fn caught_error(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Trigger> {
    let reference = cx.document.attribute(definition, "errorRef").filter(|id| !id.trim().is_empty());
    let Some(reference) = reference else { return Some(Trigger::Error(None)) };
    let (id, code) = referenced(cx, reference)?;
    if code.is_some_and(|code| code.starts_with('=')) {
        cx.problem(format!("the code of error '{id}' must be static text to be caught"));
        return None;
    }
    Some(Trigger::Error(code.map(Arc::from)))
}

/// ID and code of the error that is referred to.
fn referenced<'a>(cx: &mut Context<'a, '_>, reference: &str) -> Option<(String, Option<&'a str>)> {
    let Some(&node) = local_name(reference).and_then(|id| cx.catalogue.errors.get(id)) else {
        cx.problem(format!("errorRef refers to '{}', which is no error", excerpt(reference)));
        return None;
    };
    let code = cx.document.attribute(node, "errorCode").filter(|code| !code.trim().is_empty());
    Some((excerpt(reference.trim()), code))
}
