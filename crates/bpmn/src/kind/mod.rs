//! The BPMN elements that can be executed: one file each, listed in [`KINDS`].
//!
//! A kind defines how its element is read into the graph (`read`) and which rules tie it to its neighbours (`check`,
//! run when the whole process is read). Elements that are not listed are refused by name.

mod ad_hoc_sub_process;
mod boundary_event;
mod business_rule_task;
mod call_activity;
mod check;
mod choice;
mod compensation;
mod complex_gateway;
mod duplicate;
mod element;
mod end_event;
mod event_based_gateway;
mod event_sub_process;
mod exclusive_gateway;
mod inclusive_gateway;
mod intermediate_catch_event;
mod intermediate_throw_event;
mod link;
mod multi_instance;
mod parallel_gateway;
mod pass_through_task;
mod process;
mod read_process;
mod receive_task;
mod script_task;
mod send_task;
mod service_task;
mod start_event;
mod sub_process;
mod user_task;

pub(crate) use multi_instance::wrap as wrap_loops;
pub(crate) use process::read_process;
pub(crate) use read_process::ReadProcess;

use crate::catalogue::is_true;
use crate::outline::Shape;
use crate::xml::{Document, NodeId};
use element::Kind;

/// Every element that can be executed.
static KINDS: [Kind; 22] = [
    start_event::KIND,
    end_event::KIND,
    intermediate_catch_event::KIND,
    intermediate_throw_event::KIND,
    boundary_event::KIND,
    service_task::KIND,
    send_task::KIND,
    receive_task::KIND,
    user_task::KIND,
    business_rule_task::KIND,
    script_task::KIND,
    pass_through_task::MANUAL,
    pass_through_task::UNDEFINED,
    call_activity::KIND,
    sub_process::KIND,
    sub_process::TRANSACTION,
    ad_hoc_sub_process::KIND,
    exclusive_gateway::KIND,
    inclusive_gateway::KIND,
    complex_gateway::KIND,
    parallel_gateway::KIND,
    event_based_gateway::KIND,
];

/// Elements of BPMN that the engine does not have yet.
const UNSUPPORTED: [(&str, &str); 2] =
    [("implicitThrowEvent", "implicit throw events"), ("subChoreography", "choreographies")];

/// The kind of a node, or the reason why it has none.
fn find(document: &Document<'_>, node: NodeId) -> Result<&'static Kind, String> {
    let name = document.node(node).name;
    if name == "subProcess" && document.attribute(node, "triggeredByEvent").is_some_and(is_true) {
        return Ok(&event_sub_process::KIND);
    }
    if let Some(kind) = KINDS.iter().find(|kind| kind.name == name) {
        return Ok(kind);
    }
    Err(match UNSUPPORTED.iter().find(|(unsupported, _)| *unsupported == name) {
        Some((_, what)) => format!("{what} are not supported yet"),
        None => "is not an element of a process".to_owned(),
    })
}

/// The shape of a node, or the reason why it has none.
pub(crate) fn shape(document: &Document<'_>, node: NodeId) -> Result<Shape, String> {
    find(document, node).map(|kind| Shape {
        element_type: kind.element_type,
        is_scope: kind.is_scope,
        is_activity: kind.is_activity,
    })
}
