//! Compensation, thrown by an event and caught at the boundary of an activity with a handler; cancellation of a
//! transaction.

use crate::catalogue::is_true;
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, Trigger};
use crate::problem::excerpt;
use crate::xml::NodeId;

/// A throw or end event that compensates everything in its scope, or one activity of it.
pub(crate) fn compensate(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<ElementKind> {
    if cx.document.attribute(definition, "waitForCompletion").is_some_and(|value| !is_true(value)) {
        cx.problem("a compensation event must wait for completion: waitForCompletion must be true");
        return None;
    }
    let reference = cx.document.attribute(definition, "activityRef").filter(|id| !id.trim().is_empty());
    let Some(reference) = reference else { return Some(ElementKind::Compensate { activity: None }) };
    let reference = reference.trim();
    let found = cx.outline.by_id.get(reference).copied();
    let activity =
        found.filter(|&index| cx.outline.elements[index as usize].kind.is_some_and(|kind| kind.is_activity));
    let reference = excerpt(reference);
    match activity {
        None => cx.problem(format!("activityRef refers to '{reference}', which is not an activity")),
        Some(index) if !scopes_of(cx).contains(&cx.outline.elements[index as usize].scope) => {
            cx.problem(format!("activityRef refers to '{reference}', which is not in the scope of this event"));
        }
        Some(index) if !can_be_compensated(cx, index) => cx.problem(format!(
            "activityRef refers to '{reference}', which is neither a sub-process nor has a compensation boundary event"
        )),
        Some(_) => return Some(ElementKind::Compensate { activity }),
    }
    None
}

/// The scope of the event and, if that is an event sub-process, the one around it.
fn scopes_of(cx: &Context<'_, '_>) -> Vec<ElementIndex> {
    let mut scope = cx.draft().scope;
    let mut scopes = vec![scope];
    while cx
        .document
        .attribute(cx.outline.elements[scope as usize].node, "triggeredByEvent")
        .is_some_and(is_true)
    {
        scope = cx.outline.elements[scope as usize].scope;
        scopes.push(scope);
    }
    scopes
}

fn can_be_compensated(cx: &Context<'_, '_>, activity: ElementIndex) -> bool {
    let outline = cx.outline;
    let draft = &outline.elements[activity as usize];
    let id = cx.document.attribute(draft.node, "id");
    draft.kind.is_some_and(|kind| kind.is_scope)
        || outline.elements[draft.scope as usize].children.iter().any(|&child| {
            let node = outline.elements[child as usize].node;
            cx.document.attribute(node, "attachedToRef") == id
                && cx.document.bpmn_children(node, "compensateEventDefinition").next().is_some()
        })
}

/// The trigger of the start event of a compensation event sub-process. The event sub-process is the handler of the
/// sub-process around it.
pub(super) fn own_handler(cx: &mut Context<'_, '_>) -> Option<Trigger> {
    let handler = cx.draft().scope;
    let around = cx.outline.elements[handler as usize].scope;
    // A process and an event sub-process are not compensated.
    if cx.outline.elements[around as usize].kind.is_none_or(|kind| !kind.is_activity) {
        cx.problem("a compensation event sub-process must be in a sub-process or transaction");
        return None;
    }
    Some(Trigger::Compensation { handler })
}

/// The trigger of a compensation boundary event; its handler is at the other end of its association.
pub(crate) fn handler(cx: &mut Context<'_, '_>) -> Option<Trigger> {
    let id = cx.attribute("id").unwrap_or_default();
    let targets = cx.outline.associations.get(id).map_or(&[][..], Vec::as_slice);
    let [target] = targets else {
        let count = targets.len();
        cx.problem(format!(
            "a compensation boundary event must have exactly one association to its handler, but has {count}"
        ));
        return None;
    };
    let scope = cx.draft().scope;
    let handler = cx.outline.by_id.get(target).copied().filter(|&index| {
        let draft = &cx.outline.elements[index as usize];
        draft.scope == scope
            && draft.kind.is_none_or(|kind| kind.is_activity)
            && cx.document.attribute(draft.node, "isForCompensation").is_some_and(is_true)
    });
    if handler.is_none() {
        let target = excerpt(target);
        cx.problem(format!(
            "the association leads to '{target}', which is not an activity marked isForCompensation in the scope of this event"
        ));
    }
    handler.map(|handler| Trigger::Compensation { handler })
}
