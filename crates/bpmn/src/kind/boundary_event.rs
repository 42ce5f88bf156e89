//! Boundary events.

use super::check::Check;
use super::element::Kind;
use super::{compensation, duplicate};
use crate::catalogue::is_true;
use crate::context::Context;
use crate::event::{Definition, Place, handler, required_definition, trigger};
use crate::graph::{Boundary, ElementIndex, ElementKind, ElementType, EventType, Trigger};
use crate::problem::excerpt;

pub(super) const KIND: Kind = Kind::node("boundaryEvent", ElementType::BoundaryEvent, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let attached_to = attached_to(cx);
    let interrupting = cx.attribute("cancelActivity").is_none_or(is_true);
    let definition = required_definition(cx)?;
    let around_others = attached_to.is_some_and(|host| {
        let kind = cx.outline.elements[host as usize].kind;
        kind.is_none_or(|kind| kind.is_scope || kind.element_type == ElementType::CallActivity)
    });
    let place = Place::Boundary { interrupting, around_others: around_others || attached_to.is_none() };
    let (trigger, event_type) = match definition {
        Definition::Compensation(_) => (handler(cx)?, EventType::Compensation),
        Definition::Cancel => (Trigger::Cancel, EventType::Cancel),
        other => trigger(cx, other, place)?,
    };
    let boundary = Boundary { attached_to: attached_to?, interrupting, trigger };
    Some((ElementKind::Boundary(boundary), event_type))
}

fn attached_to(cx: &mut Context<'_, '_>) -> Option<ElementIndex> {
    let Some(reference) = cx.attribute("attachedToRef") else {
        cx.problem("must be attached to an activity");
        return None;
    };
    let scope = cx.draft().scope;
    let found = cx.outline.by_id.get(reference).copied().filter(|&index| {
        let draft = &cx.outline.elements[index as usize];
        draft.scope == scope && draft.kind.is_none_or(|kind| kind.is_activity)
    });
    if found.is_none() {
        let reference = excerpt(reference);
        cx.problem(format!(
            "attachedToRef refers to '{reference}', which is not an activity in the scope of this event"
        ));
    }
    found
}

fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    if !check.process.element(index).incoming.is_empty() {
        check.problem(index, "a boundary event cannot have incoming sequence flows");
    }
    let ElementKind::Boundary(boundary) = &check.process.element(index).kind else { return };
    compensation::check_boundary(check, index, boundary);
    let siblings = &check.process.element(boundary.attached_to).boundary_events;
    // Once per activity, at its first boundary event.
    if siblings.first() == Some(&index) {
        for duplicate in duplicate::find(check.process, siblings) {
            let (verb, what) = (duplicate.verb, duplicate.trigger);
            check.problem(duplicate.event, format!("another boundary event of the activity {verb} {what}"));
        }
    }
}
