//! Body of an activity with a loop marker: the activity again and again, one at a time.

use bpmn::graph::{ElementKind, StandardLoop};
use protocol::{Document, Json, Name};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::{Leave, Loop, Phase};
use crate::process::looping::LOOP_COUNTER;

pub(super) struct StandardLoopBody;

fn marker(at: &ActiveElement) -> Option<&StandardLoop> {
    match &at.element().kind {
        ElementKind::Loop(marker) => Some(marker),
        _ => None,
    }
}

impl Behavior for StandardLoopBody {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let Some(marker) = marker(at) else { return Ok(Next::Wait) };
        let begins = match &marker.condition {
            Some(condition) if marker.test_before => {
                let first = [(Name::from(LOOP_COUNTER), Json::from_valid("1"))].into_iter().collect();
                work.evaluate_condition(condition, &Scope { extra: Some(&first), ..Scope::of(at.key) })?
            }
            _ => true,
        };
        work.subscribe_to_events(at)?;
        work.tables.loops.insert(at.key, Loop { spawned: u32::from(begins), ..Loop::default() });
        if !begins {
            return Ok(Next::Complete(Document::empty()));
        }
        work.tables.element_instances.update(&at.key, |row| row.active_children = 1)?;
        work.steps.push_back(Step::ActivateLoop { body_key: at.key, index: 0 });
        Ok(Next::Wait)
    }

    fn complete(
        &self,
        _work: &mut CommandContext,
        _at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
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
        let may_go_on = marker.maximum.is_none_or(|maximum| state.spawned < maximum);
        let goes_on = may_go_on
            && match &marker.condition {
                Some(condition) => work.evaluate_condition(condition, &Scope::of(child.key))?,
                None => true,
            };
        work.tables.loops.update(&scope.key, |state| state.is_done = !goes_on)?;
        Ok(())
    }

    fn child_ended(
        &self,
        work: &mut CommandContext,
        scope: &ActiveElement,
        _child: &ActiveElement,
        completed: bool,
    ) -> Result<(), Failure> {
        let Some(row) = work.tables.element_instances.get(&scope.key)? else { return Ok(()) };
        let Some(state) = work.tables.loops.get(&scope.key)? else { return Ok(()) };
        if !completed || state.is_done || row.phase != Phase::Activated || row.interrupted {
            return Ok(());
        }
        work.tables.loops.update(&scope.key, |state| state.spawned += 1)?;
        work.change_scope(scope.key, 1, 0)?;
        work.steps.push_back(Step::ActivateLoop { body_key: scope.key, index: state.spawned });
        Ok(())
    }
}
