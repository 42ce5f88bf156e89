//! References to other definitions (binding type and version tag), and to forms.

use std::sync::Arc;

use crate::context::Context;
use crate::graph::{Binding, FormReference};
use crate::problem::excerpt;
use crate::xml::NodeId;

/// `bindingType` and `versionTag` of a reference to another definition.
pub(crate) fn binding(cx: &mut Context<'_, '_>, node: NodeId) -> Option<Binding> {
    match cx.document.attribute(node, "bindingType") {
        None | Some("latest") => Some(Binding::Latest),
        Some("deployment") => Some(Binding::Deployment),
        Some("versionTag") => {
            cx.required(node, "versionTag").map(|tag| Binding::VersionTag(Arc::from(tag.trim())))
        }
        Some(other) => {
            let part = cx.name_of(node);
            cx.problem(format!(
                "attribute 'bindingType' of {part} must be one of latest, deployment, versionTag, but is '{}'",
                excerpt(other)
            ));
            None
        }
    }
}

/// The form that a `zeebe:formDefinition` refers to by its ID.
pub(crate) fn form_reference(cx: &mut Context<'_, '_>, node: NodeId) -> Option<FormReference> {
    let id = cx
        .required(node, "formId")
        .and_then(|id| cx.text(id.trim(), "attribute 'formId' of zeebe:formDefinition"));
    let binding = binding(cx, node);
    Some(FormReference { id: id?, binding: binding? })
}
