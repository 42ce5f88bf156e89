//! Body of a multi-instance activity: an instance of the activity for each item of a list.

use bpmn::graph::OutputCollection;
use protocol::{Document, Json, Name};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::{ErrorType, Leave, Loop, Phase};
use crate::process::looping::marker;

pub(super) struct MultiInstanceBody;

impl Behavior for MultiInstanceBody {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let Some(marker) = marker(at) else { return Ok(Next::Wait) };
        let items =
            work.evaluate_list(&marker.input_collection, &Scope::of(at.key), ErrorType::ExtractValueError)?;
        let bytes = work.check_items(&items)?;
        work.check_room_for_items(at.process_instance_key, bytes)?;
        work.subscribe_to_events(at)?;
        work.record_collection(at, &items);
        let size = work.store_items(at.key, &items);
        work.tables.loops.insert(at.key, Loop { size, ..Loop::default() });
        if let Some(output) = &marker.output {
            work.begin_output_list(at, &Name::from(&output.variable), size)?;
        }
        work.count_items(at, bytes)?;
        if size == 0 {
            return Ok(Next::Complete(Document::empty()));
        }
        // All of them count from now on; of a sequence only the one at work.
        let children = if marker.is_sequential { 1 } else { size };
        work.tables.element_instances.update(&at.key, |row| row.active_children = children)?;
        work.steps.push_back(Step::SpawnLoop { body_key: at.key });
        Ok(Next::Wait)
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        if let Some(output) = marker(at).and_then(|marker| marker.output.as_ref()) {
            let name = Name::from(&output.variable);
            if let Some(list) = work.output_list(at.key, &name)? {
                work.hand_over_output_list(at, &name, &list)?;
                return Ok(Leave::All);
            }
            let is_empty = work.tables.loops.get(&at.key)?.is_none_or(|state| state.size == 0);
            let list = if is_empty { Json::from_valid("[]") } else { work.gathered_outputs(at.key)? };
            let list: Document = [(name, list)].into_iter().collect();
            let kind = ErrorType::ExtractValueError;
            work.check_room(at.process_instance_key, &list, |_, _| Ok(at.key), kind)?;
            work.set_locals(at.key, at.process_instance_key, &list)?;
            work.check_room_above(at, at.scope_key, &list)?;
            work.propagate(at.scope_key, at.process_instance_key, &list)?;
        }
        Ok(Leave::All)
    }

    fn removed(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        work.end_loop(at.process_instance_key, at.key)
    }

    fn watches_children(&self) -> bool {
        true
    }

    fn child_completing(
        &self,
        work: &mut CommandContext,
        scope: &ActiveElement,
        child: &ActiveElement,
    ) -> Result<(), Failure> {
        let (Some(marker), Some(state)) = (marker(scope), work.tables.loops.get(&scope.key)?) else {
            return Ok(());
        };
        let row = work.tables.element_instances.get(&scope.key)?;
        if row.is_none_or(|row| row.phase != Phase::Activated || row.interrupted) {
            return Ok(());
        }
        if let Some(output) = &marker.output {
            collect(work, scope, child, output)?;
        }
        if work.is_loop_done(marker, &state, child)? {
            work.tables.loops.update(&scope.key, |state| state.is_done = true)?;
        }
        Ok(())
    }

    fn child_ended(
        &self,
        work: &mut CommandContext,
        scope: &ActiveElement,
        _child: &ActiveElement,
        completed: bool,
    ) -> Result<(), Failure> {
        let (Some(marker), Some(row)) = (marker(scope), work.tables.element_instances.get(&scope.key)?)
        else {
            return Ok(());
        };
        work.tables.loops.update(&scope.key, |state| {
            state.completed += u32::from(completed);
            state.terminated += u32::from(!completed);
        })?;
        let Some(state) = work.tables.loops.get(&scope.key)? else { return Ok(()) };
        if row.phase != Phase::Activated {
            return Ok(());
        }
        debug_assert!(row.active_children > 0, "the child that ends is still counted");
        let mut others = row.active_children.saturating_sub(1);
        if !row.interrupted {
            if state.is_done {
                if others > 0 {
                    work.interrupt_scope(scope.key)?;
                }
            } else if marker.is_sequential && completed && state.spawned < state.size {
                work.change_scope(scope.key, 1, 0)?;
                work.steps.push_back(Step::SpawnLoop { body_key: scope.key });
                others = 1;
            }
        }
        // If the last one is taken away from outside, all of it goes.
        if others == 0 && (completed || row.interrupted) {
            // Nothing of it is left to come.
            work.begin_gathering(scope)?;
        }
        Ok(())
    }
}

/// Puts the value of an instance that completes at its place in the output collection.
fn collect(
    work: &mut CommandContext,
    body: &ActiveElement,
    child: &ActiveElement,
    output: &OutputCollection,
) -> Result<(), Failure> {
    let value = work.evaluate(&output.element, &Scope::of(child.key), ErrorType::ExtractValueError)?;
    let what = format!("a value of the output collection '{}'", output.variable);
    let value = work.produce(&value, &what, ErrorType::ExtractValueError)?;
    work.check_collected(body.key, &value, &output.variable)?;
    let row = work.tables.element_instances.get(&child.key)?;
    let Some(place) = row.and_then(|row| row.loop_counter.checked_sub(1)) else { return Ok(()) };
    work.check_output_place(body.key, &output.variable, place)?;
    Ok(work.collect_output(body, &Name::from(&output.variable), place, &value)?)
}
