//! Subscriptions of element instances: kept where the plan maps them, else closed; new ones of the target are opened.

use bpmn::Process;
use bpmn::graph::{ElementIndex, ElementKind};

use super::{Migration, Part, refused};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::Phase;

/// The catch events that an element waits for besides itself.
pub(super) fn attached_events(process: &Process, index: ElementIndex) -> Vec<ElementIndex> {
    let element = process.element(index);
    let mut events = element.boundary_events.clone();
    events.extend_from_slice(&element.event_starts);
    if matches!(element.kind, ElementKind::EventBased) {
        events.extend(element.outgoing.iter().map(|&flow| process.flow(flow).target));
    }
    events
}

impl CommandContext<'_> {
    /// Moves what an element instance waits for. `at` is its new place.
    pub(super) fn move_events(
        &mut self,
        migration: &Migration,
        part: &Part,
        at: &ActiveElement,
    ) -> Result<(), Failure> {
        let mapping = &migration.mapping;
        let source = part.row.element;
        if part.row.subscribed {
            self.migrate_awaited(at, |event| mapping.element(event))?;
        }
        if !matches!(part.row.phase, Phase::Activated | Phase::Completing) {
            return Ok(());
        }
        let kept: Vec<ElementIndex> = attached_events(&mapping.source, source)
            .into_iter()
            .filter_map(|event| mapping.element(event))
            .collect();
        // A scope that an interrupting event sub-process has ended is not ended by another.
        let is_interrupted = migration.interrupted.contains(&part.key);
        let new: Vec<ElementIndex> = attached_events(&mapping.target, at.index)
            .into_iter()
            .filter(|event| !kept.contains(event))
            .filter(|event| !(is_interrupted && at.element().event_starts.contains(event)))
            .collect();
        match self.subscribe(at, &new) {
            Err(Failure::Incident { message, .. }) => Err(refused(
                migration.process_instance_key,
                format_args!("the events of '{}' cannot be subscribed to: {message}", at.element().id),
            )),
            result => result,
        }
    }
}
