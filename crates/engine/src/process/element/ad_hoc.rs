//! Ad-hoc sub-process: what runs inside is decided by a list, by a job worker, or from outside.

use bpmn::graph::ElementKind;
use protocol::{Document, Json, Name};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::{ErrorType, Leave, Loop, Phase};
use crate::process::ad_hoc::{ELEMENTS, definition};
use crate::process::collection::with_value;

pub(super) struct AdHocSubProcess;

impl AdHocSubProcess {
    /// Waits for events, with nothing collected yet.
    fn open(work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        work.subscribe_to_events(at)?;
        work.tables.loops.insert(at.key, Loop::default());
        Ok(())
    }
}

impl Behavior for AdHocSubProcess {
    fn prepare(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        let Some(ad_hoc) = definition(at) else { return Ok(()) };
        let elements = Json::from_valid(ad_hoc.elements_json.to_string());
        // The model decides how large it is.
        let kind = ErrorType::ExtractValueError;
        work.check_produced(&elements, &format_args!("variable '{ELEMENTS}'"), kind)?;
        let elements = [(Name::from(ELEMENTS), elements)].into_iter().collect();
        work.check_room(at.process_instance_key, &elements, |_, _| Ok(at.key), kind)?;
        work.set_locals(at.key, at.process_instance_key, &elements)?;
        if let Some(output) = &ad_hoc.output {
            work.set_local(
                at.key,
                at.process_instance_key,
                &Name::from(&output.variable),
                Json::from_valid("[]"),
            )?;
        }
        Ok(())
    }

    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let Some(ad_hoc) = definition(at) else { return Ok(Next::Wait) };
        let mut activated = Vec::new();
        let mut job = None;
        match (&ad_hoc.job, &ad_hoc.active_elements) {
            (Some(definition), _) => {
                job = Some(work.evaluate_job(at, &definition.job_type, &definition.retries)?);
            }
            (None, Some(expression)) => activated = work.evaluate_activities(at, expression)?,
            (None, None) => {}
        }
        Self::open(work, at)?;
        if let Some(job) = job {
            work.insert_ad_hoc_job(at, job)?;
        }
        work.schedule_ad_hoc(at, activated)?;
        Ok(Next::Wait)
    }

    fn enter(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        self.prepare(work, at)?;
        Self::open(work, at)
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        // Its variables stay inside unless output mappings take them out; what was collected goes out.
        if let Some(output) = definition(at).and_then(|ad_hoc| ad_hoc.output.as_ref()) {
            let name = Name::from(&output.variable);
            if let Some(list) = work.close_collection(at.key, at.process_instance_key, &name)? {
                let list = [(name, list)].into_iter().collect();
                work.check_room_above(at, at.scope_key, &list)?;
                work.propagate(at.scope_key, at.process_instance_key, &list)?;
            }
        }
        if !at.element().outputs.is_empty() {
            work.apply_outputs(at, &Document::empty())?;
        }
        Ok(Leave::All)
    }

    fn leaving(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        work.cancel_ad_hoc_job(at)
    }

    fn removed(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        work.end_loop(at.process_instance_key, at.key)
    }

    fn completes_when_empty(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<bool, Failure> {
        let Some(ad_hoc) = definition(at) else { return Ok(true) };
        let row = work.tables.element_instances.get(&at.key)?;
        let is_done = work.tables.loops.get(&at.key)?.is_some_and(|state| state.is_done);
        let decides_itself = ad_hoc.job.is_none() && ad_hoc.completion_condition.is_none();
        let completes = is_done || decides_itself || row.is_some_and(|row| row.interrupted);
        // Nothing may be activated any more.
        work.tables.loops.update(&at.key, |state| state.is_done |= completes)?;
        Ok(completes)
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
        let Some(ad_hoc) = definition(scope) else { return Ok(()) };
        let Some(row) = work.tables.element_instances.get(&scope.key)? else { return Ok(()) };
        // An event sub-process counts even if it has ended everything else.
        let is_event = matches!(child.element().kind, ElementKind::EventSubProcess { .. });
        if row.phase != Phase::Activated || (row.interrupted && !is_event) {
            return Ok(());
        }
        let collected = match &ad_hoc.output {
            // One that undoes what was done here gives nothing.
            Some(output) if !child.element().is_for_compensation => {
                work.check_collection(scope.key, &output.variable)?;
                let kind = ErrorType::ExtractValueError;
                let value = work.evaluate(&output.element, &Scope::of(child.key), kind)?;
                let what = format!("a value of the output collection '{}'", output.variable);
                let value = work.produce(&value, &what, kind)?;
                work.check_collected(scope.key, &value, &output.variable)?;
                Some((Name::from(&output.variable), value))
            }
            _ => None,
        };
        let is_done = work.tables.loops.get(&scope.key)?.is_some_and(|state| state.is_done);
        let fulfilled = match &ad_hoc.completion_condition {
            Some(condition) if ad_hoc.job.is_none() && !is_done && !row.interrupted => {
                // Nothing is appended before all of this has succeeded, for it may be tried again.
                let mut extra = Document::empty();
                if let Some((name, value)) = &collected
                    && condition.variables().contains(&name.0)
                {
                    let list = work.tables.local_variable(scope.key, name)?.unwrap_or_else(Json::null);
                    extra.set(name.clone(), with_value(&list, value));
                }
                let view = Scope { extra: Some(&extra), ..Scope::of(scope.key) };
                work.evaluate_condition(condition, &view)
                    .map_err(|failure| failure.because("Failed to evaluate completion condition."))?
            }
            _ => false,
        };
        if let Some((name, value)) = &collected {
            work.append(scope.key, scope.process_instance_key, name, value)?;
            work.count_collected(scope.key, None, value)?;
        }
        if fulfilled {
            work.record_instruction(scope, protocol::Intent::Completed, &[], ad_hoc.cancel_remaining);
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
        let Some(ad_hoc) = definition(scope) else { return Ok(()) };
        let Some(row) = work.tables.element_instances.get(&scope.key)? else { return Ok(()) };
        if row.phase != Phase::Activated || row.interrupted || !completed {
            return Ok(());
        }
        let is_done = work.tables.loops.get(&scope.key)?.is_some_and(|state| state.is_done);
        if is_done {
            if ad_hoc.job.is_none() && ad_hoc.cancel_remaining && row.active_children > 1 {
                work.interrupt_scope(scope.key)?;
            }
        } else if ad_hoc.job.is_some() {
            work.steps.push_back(Step::CreateAdHocJob { ad_hoc_key: scope.key });
        }
        Ok(())
    }
}

/// The scope of one activation inside an ad-hoc sub-process.
pub(super) struct AdHocInner;

impl Behavior for AdHocInner {
    fn activate(
        &self,
        _work: &mut CommandContext,
        _at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        // `CommandContext::activate_ad_hoc` starts what is inside.
        Ok(Next::Wait)
    }

    fn enter(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        Ok(work.make_output(at)?)
    }

    fn complete(
        &self,
        _work: &mut CommandContext,
        _at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        Ok(Leave::All)
    }
}
