//! Ad-hoc sub-process: what runs inside is decided by a list, by a job worker, or from outside.

use protocol::{Document, Json, Name};

use super::{Behavior, Leave, Next};
use crate::ad_hoc::definition;
use crate::entity::{ErrorType, Loop, Phase};
use crate::expression::Scope;
use crate::failure::Failure;
use crate::step::Step;
use crate::work::{At, Work};

/// Local variable that tells what may be activated.
const ELEMENTS: &str = "adHocSubProcessElements";

pub(super) struct AdHocSubProcess;

impl AdHocSubProcess {
    /// Waits for events, with nothing collected yet.
    fn open(&self, work: &mut Work, at: &At) -> Result<(), Failure> {
        work.subscribe_to_events(at)?;
        if let Some(output) = definition(at).and_then(|ad_hoc| ad_hoc.output.as_ref()) {
            let name = Name::from(&output.variable);
            work.set_local(at.key, &at.owner(), &name, Json::from_valid("[]"))?;
        }
        work.tables.loops.insert(at.key, Loop::default());
        Ok(())
    }
}

impl Behavior for AdHocSubProcess {
    fn activate(&self, work: &mut Work, at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        let Some(ad_hoc) = definition(at) else { return Ok(Next::Wait) };
        // The list of what to activate may be made of it. A second try sets the same.
        let elements = Json::from_valid(ad_hoc.elements_json.to_string());
        work.set_local(at.key, &at.owner(), &Name::from(ELEMENTS), elements)?;
        let mut activated = Vec::new();
        let mut job = None;
        match (&ad_hoc.job, &ad_hoc.active_elements) {
            (Some(definition), _) => {
                job = Some(work.evaluate_job(at, &definition.job_type, &definition.retries)?);
            }
            (None, Some(expression)) => activated = work.evaluate_activities(at, expression)?,
            (None, None) => {}
        }
        self.open(work, at)?;
        if let Some(job) = job {
            work.insert_ad_hoc_job(at, job)?;
        }
        work.schedule_ad_hoc(at, activated)?;
        Ok(Next::Wait)
    }

    fn enter(&self, work: &mut Work, at: &At) -> Result<(), Failure> {
        let Some(ad_hoc) = definition(at) else { return Ok(()) };
        self.open(work, at)?;
        let elements = Json::from_valid(ad_hoc.elements_json.to_string());
        work.set_local(at.key, &at.owner(), &Name::from(ELEMENTS), elements)?;
        Ok(())
    }

    fn complete(&self, work: &mut Work, at: &At, _variables: &Document) -> Result<Leave, Failure> {
        // Its variables stay inside unless output mappings take them out; what was collected goes out.
        if !at.element().outputs.is_empty() {
            work.apply_outputs(at, &Document::empty())?;
        }
        if let Some(output) = definition(at).and_then(|ad_hoc| ad_hoc.output.as_ref())
            && let Some(list) = work.tables.variables.get(&(at.key, output.variable.clone()))?
        {
            let list = [(Name::from(&output.variable), list.value.clone())].into_iter().collect();
            work.propagate(at.scope_key, &at.owner(), &list)?;
        }
        Ok(Leave::All)
    }

    fn leaving(&self, work: &mut Work, at: &At) -> Result<(), Failure> {
        work.cancel_ad_hoc_job(at)
    }

    fn removed(&self, work: &mut Work, at: &At) -> Result<(), Failure> {
        work.tables.loops.delete(&at.key);
        Ok(())
    }

    fn completes_when_empty(&self, work: &mut Work, at: &At) -> Result<bool, Failure> {
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

    fn child_completing(&self, work: &mut Work, scope: &At, child: &At) -> Result<(), Failure> {
        let Some(ad_hoc) = definition(scope) else { return Ok(()) };
        let Some(row) = work.tables.element_instances.get(&scope.key)? else { return Ok(()) };
        if row.phase != Phase::Activated || row.interrupted {
            return Ok(());
        }
        let collected = match &ad_hoc.output {
            Some(output) if child.index == ad_hoc.inner => Some(work.append_output(scope, child, output)?),
            _ => None,
        };
        let is_done = work.tables.loops.get(&scope.key)?.is_some_and(|state| state.is_done);
        let fulfilled = match &ad_hoc.completion_condition {
            Some(condition) if ad_hoc.job.is_none() && !is_done => {
                let view = Scope { extra: collected.as_ref(), ..Scope::of(scope.key) };
                work.evaluate_condition(condition, &view)?
            }
            _ => false,
        };
        for (name, list) in collected.iter().flat_map(Document::iter) {
            work.set_local(scope.key, &scope.owner(), name, list.clone())?;
        }
        if fulfilled {
            work.record_instruction(scope, protocol::Intent::Completed, &[], ad_hoc.cancel_remaining);
            work.tables.loops.update(&scope.key, |state| state.is_done = true)?;
        }
        Ok(())
    }

    fn child_ended(&self, work: &mut Work, scope: &At, _child: &At, completed: bool) -> Result<(), Failure> {
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
    fn activate(&self, _work: &mut Work, _at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        // `Work::activate_ad_hoc` starts what is inside.
        Ok(Next::Wait)
    }

    fn enter(&self, work: &mut Work, at: &At) -> Result<(), Failure> {
        work.tables.element_instances.update(&at.key, |row| row.keeps_variables = true)?;
        Ok(())
    }

    fn complete(&self, _work: &mut Work, _at: &At, _variables: &Document) -> Result<Leave, Failure> {
        Ok(Leave::All)
    }
}

/// The incident of a list of elements that cannot be activated.
pub(crate) fn no_such_elements(ids: &[&str]) -> Failure {
    let message = format!(
        "Failed to activate ad-hoc elements. No BPMN elements found with ids: {}.",
        ids.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ")
    );
    Failure::incident(ErrorType::ExtractValueError, message)
}
