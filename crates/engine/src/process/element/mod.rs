//! Behaviours: what each kind of element does at each point of its life. One file each.
//!
//! To add one, write its file and its line in [`behavior`].

mod ad_hoc;
mod call_activity;
mod catch_event;
mod compensate;
mod complex;
mod decision;
mod end_event;
mod event_based;
mod exclusive;
mod flows;
mod inclusive;
mod job_task;
mod kind;
mod multi_instance;
mod pass_through;
mod process;
mod receive;
mod script;
mod standard_loop;
mod start_event;
mod sub_process;
mod throw;
mod user_task;

use bpmn::graph::ElementKind;

use kind::Behavior;
pub(crate) use kind::Next;

/// The behaviour of a kind.
pub(crate) fn behavior(kind: &ElementKind) -> &'static dyn Behavior {
    match kind {
        ElementKind::Process => &process::Process,
        ElementKind::SubProcess { .. } | ElementKind::EventSubProcess { .. } => &sub_process::SubProcess,
        ElementKind::StartEvent(_) => &start_event::StartEvent,
        ElementKind::IntermediateCatch(_) | ElementKind::Boundary(_) => &catch_event::CatchEvent,
        ElementKind::Compensate { .. } => &compensate::Compensate,
        ElementKind::Throw(_) => &throw::Throw,
        ElementKind::EndEvent(_) => &end_event::EndEvent,
        ElementKind::Job(_) => &job_task::JobTask,
        ElementKind::UserTask(_) => &user_task::UserTask,
        ElementKind::Receive(_) => &receive::Receive,
        ElementKind::Script { .. } => &script::Script,
        ElementKind::Decision(_) => &decision::Decision,
        ElementKind::PassThrough
        | ElementKind::IntermediateThrow
        | ElementKind::LinkCatch { .. }
        | ElementKind::Parallel => &pass_through::PassThrough,
        ElementKind::Call(_) => &call_activity::CallActivity,
        ElementKind::Exclusive { .. } => &exclusive::Exclusive,
        ElementKind::Complex { .. } => &complex::Complex,
        ElementKind::Inclusive { .. } => &inclusive::Inclusive,
        ElementKind::EventBased => &event_based::EventBased,
        ElementKind::AdHoc(_) => &ad_hoc::AdHocSubProcess,
        ElementKind::AdHocInner => &ad_hoc::AdHocInner,
        ElementKind::Loop(_) => &standard_loop::StandardLoopBody,
        ElementKind::MultiInstance(_) => &multi_instance::MultiInstanceBody,
    }
}
