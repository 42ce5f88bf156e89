//! Ad-hoc sub-processes: activating elements inside, and the job that decides.

use bpmn::graph::{AdHoc, ElementIndex, ElementKind};
use feel::Expression;
use protocol::{
    ActivateElement, CompleteJob, Document, Intent, JobKind, JobListenerEventType, JobResult, Json, Key,
    Name, Rejection,
};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::{AdHocElement, Step};
use crate::definition::expression::Scope;
use crate::entity::{ElementInstance, ErrorType, Job, JobTerms, Phase};

/// Local variable that tells what may be activated.
pub(crate) const ELEMENTS: &str = "adHocSubProcessElements";
/// Elements that one step activates.
const ELEMENTS_PER_STEP: usize = 32;

/// Result of the worker of an ad-hoc sub-process.
pub(crate) struct Decision {
    elements: Vec<AdHocElement>,
    instructed: Vec<ActivateElement>,
    is_fulfilled: bool,
    cancel_remaining: bool,
}

/// The model of an ad-hoc sub-process.
pub(crate) fn definition(at: &ActiveElement) -> Option<&AdHoc> {
    match &at.element().kind {
        ElementKind::AdHoc(ad_hoc) => Some(ad_hoc),
        _ => None,
    }
}

/// The element with an ID, if it may be activated.
fn activity(at: &ActiveElement, id: &str) -> Option<ElementIndex> {
    definition(at)?.activities.iter().copied().find(|&index| *at.process.element(index).id == *id)
}

impl CommandContext<'_> {
    /// The elements of a list of IDs.
    pub(super) fn evaluate_activities(
        &self,
        at: &ActiveElement,
        expression: &Expression,
    ) -> Result<Vec<AdHocElement>, Failure> {
        let kind = ErrorType::ExtractValueError;
        let list = self
            .evaluate_list(expression, &Scope::of(at.key), kind)
            .map_err(|failure| failure.because(CANNOT_ACTIVATE))?;
        let (mut elements, mut unknown) = (Vec::with_capacity(list.len()), Vec::new());
        for item in &list {
            let Some(id) = item.as_str() else {
                let message = format!(
                    "{CANNOT_ACTIVATE} Expected result of the expression '{}' to be a list of strings, but it holds an item of type '{}'.",
                    expression.text(),
                    item.type_name()
                );
                return Err(Failure::incident(kind, message));
            };
            match activity(at, id) {
                Some(element) => elements.push(AdHocElement { element, variables: Document::empty() }),
                None => unknown.push(id),
            }
        }
        if unknown.is_empty() { Ok(elements) } else { Err(no_such_elements(&unknown)) }
    }

    /// The elements that somebody asks for.
    pub(super) fn find_activities(
        &self,
        at: &ActiveElement,
        wanted: &[ActivateElement],
    ) -> Result<Vec<AdHocElement>, Failure> {
        let (mut elements, mut unknown) = (Vec::with_capacity(wanted.len()), Vec::new());
        for one in wanted {
            match activity(at, &one.element_id) {
                Some(element) => elements.push(AdHocElement { element, variables: one.variables.clone() }),
                None => unknown.push(&*one.element_id),
            }
        }
        if unknown.is_empty() {
            self.refuse_elements_without_room(at.process_instance_key, &elements)?;
            return Ok(elements);
        }
        Err(Rejection::not_found(format!(
            "Expected to activate activities for ad-hoc sub-process with key '{}', but the given elements [{}] do not exist.",
            at.key,
            unknown.join(", ")
        ))
        .into())
    }

    /// Decides on elements to activate. They count from now on.
    pub(super) fn schedule_ad_hoc(
        &mut self,
        at: &ActiveElement,
        elements: Vec<AdHocElement>,
    ) -> Result<(), Failure> {
        let count = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return Ok(());
        }
        self.tables.element_instances.update(&at.key, |row| row.active_children += count)?;
        let mut elements = elements.into_iter().peekable();
        while elements.peek().is_some() {
            let elements = elements.by_ref().take(ELEMENTS_PER_STEP).collect();
            self.steps.push_back(Step::ActivateAdHoc { ad_hoc_key: at.key, elements });
        }
        Ok(())
    }

    /// Activates elements, each in a scope of its own.
    pub(super) fn activate_ad_hoc(
        &mut self,
        ad_hoc_key: Key,
        elements: Vec<AdHocElement>,
    ) -> Result<(), Failure> {
        let Some((at, row)) = self.at(ad_hoc_key)? else { return Ok(()) };
        let Some(ad_hoc) = definition(&at) else { return Ok(()) };
        if row.phase == Phase::Terminating || row.interrupted {
            return self.change_scope(ad_hoc_key, -(elements.len() as i64), 0);
        }
        for AdHocElement { element, variables } in elements {
            let row =
                ElementInstance::new(ad_hoc.inner, Phase::Activating, ad_hoc_key, at.process_instance_key);
            let Some(inner) = self.place(row)? else { return Ok(()) };
            self.begin_inner(&inner, element, variables)?;
        }
        Ok(())
    }

    /// Starts an element in the scope that was made for it, with its variables. Others may have taken the room for them
    /// since they were asked for: that is an incident of the scope.
    fn begin_inner(
        &mut self,
        inner: &ActiveElement,
        element: ElementIndex,
        variables: Document,
    ) -> Result<(), Failure> {
        let (instance_key, kind) = (inner.process_instance_key, ErrorType::ExtractValueError);
        match self.check_room(instance_key, &variables, |_, _| Ok(inner.key), kind) {
            Err(Failure::Incident { error_type, message }) => {
                let element_id = Name::from(&inner.process.element(element).id);
                let resume = Step::BeginAdHocInner { key: inner.key, element_id, variables };
                return Ok(self.raise(inner, error_type, &message, None, Some(resume))?);
            }
            other => other?,
        }
        self.set_locals(inner.key, inner.process_instance_key, &variables)?;
        self.make_output(inner)?;
        self.tables.element_instances.update(&inner.key, |row| row.phase = Phase::Activated)?;
        self.record_element(inner, Intent::ElementActivated);
        self.start_child(inner, element, None)
    }

    /// Starts an element in its scope again, after an incident. A migration may have taken the element from the model.
    pub(super) fn begin_inner_again(
        &mut self,
        inner: &ActiveElement,
        element_id: Name,
        variables: Document,
    ) -> Result<(), Failure> {
        let scope = self.at(inner.scope_key)?;
        if let Some(element) = scope.and_then(|(scope, _)| activity(&scope, &element_id)) {
            return self.begin_inner(inner, element, variables);
        }
        let failure = no_such_elements(&[&*element_id]);
        let resume = Step::BeginAdHocInner { key: inner.key, element_id, variables };
        let kind = ErrorType::ExtractValueError;
        Ok(self.raise(inner, kind, failure.message(), None, Some(resume))?)
    }

    /// Makes the variable that an activation gives to the collection, so that one outside that has its name is not
    /// taken for it. One that is there stays.
    pub(super) fn make_output(&mut self, inner: &ActiveElement) -> Result<(), StateError> {
        let scope = &inner.process.element(inner.element().scope).kind;
        let ElementKind::AdHoc(ad_hoc) = scope else { return Ok(()) };
        let name = ad_hoc.output.as_ref().and_then(|output| output.element.as_path_root()).map(Name::from);
        if let Some(name) = name
            && !self.tables.variables.contains(&(inner.key, name.0.clone()))?
        {
            self.set_local(inner.key, inner.process_instance_key, &name, Json::null())?;
        }
        Ok(())
    }

    /// Creates the job that decides the next activations. The worker of its predecessor comes too late.
    pub(super) fn create_ad_hoc_job(&mut self, ad_hoc_key: Key) -> Result<(), Failure> {
        let Some((at, row)) = self.at(ad_hoc_key)? else { return Ok(()) };
        let Some(definition) = definition(&at).and_then(|ad_hoc| ad_hoc.job.as_ref()) else { return Ok(()) };
        let is_done = self.tables.loops.get(&ad_hoc_key)?.is_none_or(|state| state.is_done);
        if row.phase != Phase::Activated || row.interrupted || row.pending_event.is_some() || is_done {
            return Ok(());
        }
        self.cancel_ad_hoc_job(&at)?;
        match self.evaluate_job(&at, &definition.job_type, &definition.retries) {
            Ok(job) => self.insert_ad_hoc_job(&at, job),
            Err(Failure::Incident { error_type, message }) => {
                let resume = Step::CreateAdHocJob { ad_hoc_key };
                Ok(self.raise(&at, error_type, &message, None, Some(resume))?)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Creates the job of an ad-hoc sub-process that has none.
    pub(super) fn insert_ad_hoc_job(&mut self, at: &ActiveElement, job: JobTerms) -> Result<(), Failure> {
        self.create_listener_job(at, job, JobKind::AdHocSubProcess, JobListenerEventType::Unspecified)
    }

    /// Whether a scope is an ad-hoc sub-process whose worker decides on what runs next, so that it is not at its end
    /// when it is empty.
    pub(super) fn waits_for_decision(&mut self, key: Key, row: &ElementInstance) -> Result<bool, Failure> {
        if row.job_key.is_none() {
            return Ok(false);
        }
        Ok(self.at(key)?.is_some_and(|(at, _)| definition(&at).is_some()))
    }

    /// Lets nothing more begin inside an ad-hoc sub-process: what runs now ends it.
    pub fn finish_ad_hoc(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        if definition(at).is_none() {
            return Ok(());
        }
        self.tables.loops.update(&at.key, |state| state.is_done = true)?;
        self.cancel_ad_hoc_job(at)
    }

    /// Cancels the job of an ad-hoc sub-process, and the incident that it may have.
    pub(super) fn cancel_ad_hoc_job(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        self.clear_incident(at.key)?;
        let job_key = self.tables.element_instances.get(&at.key)?.and_then(|row| row.job_key);
        if let Some(job_key) = job_key {
            self.tables.element_instances.update(&at.key, |row| row.job_key = None)?;
            self.cancel_job(job_key)?;
        }
        Ok(())
    }

    /// A worker's result, if it is valid.
    pub fn ad_hoc_decision(
        &mut self,
        job_key: Key,
        job: &Job,
        complete: &CompleteJob,
    ) -> Result<(ActiveElement, Decision), Failure> {
        let Some((at, _)) = self.at(job.element_instance_key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to complete job with key '{job_key}', but its ad-hoc sub-process is not there"
            ))
            .into());
        };
        let Some(JobResult::AdHocSubProcess {
            activate_elements,
            is_completion_condition_fulfilled,
            is_cancel_remaining_instances,
        }) = complete.result.as_deref()
        else {
            let decision = Decision {
                elements: vec![],
                instructed: vec![],
                is_fulfilled: false,
                cancel_remaining: false,
            };
            return Ok((at, decision));
        };
        if *is_completion_condition_fulfilled && !activate_elements.is_empty() {
            return Err(Rejection::invalid_argument(format!(
                "Expected to complete job with key '{job_key}', but its result both fulfills the completion condition and activates elements"
            ))
            .into());
        }
        let decision = Decision {
            elements: self.find_activities(&at, activate_elements)?,
            instructed: activate_elements.clone(),
            is_fulfilled: *is_completion_condition_fulfilled,
            cancel_remaining: *is_cancel_remaining_instances,
        };
        Ok((at, decision))
    }

    /// The variables that an ad-hoc sub-process begins with, which its input mappings see.
    pub(super) fn ad_hoc_variables(&self, at: &ActiveElement) -> Result<Option<Document>, StateError> {
        let Some(ad_hoc) = definition(at) else { return Ok(None) };
        let collection = ad_hoc.output.as_ref().map(|output| &*output.variable);
        let mut variables = Document::empty();
        for name in [ELEMENTS].into_iter().chain(collection) {
            if let Some(value) = self.tables.local_variable(at.key, name)? {
                variables.set(Name::from(name), value);
            }
        }
        Ok(Some(variables))
    }

    /// Does what a worker has decided.
    pub fn decide_ad_hoc(
        &mut self,
        at: &ActiveElement,
        decision: Decision,
        variables: &Document,
    ) -> Result<(), Failure> {
        self.propagate(at.key, at.process_instance_key, variables)?;
        if !decision.is_fulfilled {
            return self.instruct_ad_hoc(
                at,
                &decision.instructed,
                decision.elements,
                decision.cancel_remaining,
            );
        }
        self.record_instruction(at, Intent::Completed, &[], decision.cancel_remaining);
        self.tables.loops.update(&at.key, |state| state.is_done = true)?;
        let is_empty = self.tables.element_instances.get(&at.key)?.is_none_or(|row| row.active_children == 0);
        if is_empty {
            self.steps.push_back(Step::Complete { key: at.key, variables: Document::empty() });
        } else if decision.cancel_remaining {
            self.interrupt_scope(at.key)?;
        }
        Ok(())
    }

    /// Activates elements, instead of what already runs or beside it.
    pub(super) fn instruct_ad_hoc(
        &mut self,
        at: &ActiveElement,
        instructed: &[ActivateElement],
        elements: Vec<AdHocElement>,
        cancel_remaining: bool,
    ) -> Result<(), Failure> {
        if instructed.is_empty() && !cancel_remaining {
            return Ok(());
        }
        self.record_instruction(at, Intent::Activated, instructed, cancel_remaining);
        if cancel_remaining {
            let until = self.next_key();
            self.steps.push_back(Step::TerminateOlder { scope_key: at.key, after: 0, until });
        }
        self.schedule_ad_hoc(at, elements)
    }
}

/// How the incident of a list of elements begins that cannot be activated.
const CANNOT_ACTIVATE: &str = "Failed to activate ad-hoc elements.";

/// The incident of a list of elements that cannot be activated.
pub(super) fn no_such_elements(ids: &[&str]) -> Failure {
    let message = format!(
        "{CANNOT_ACTIVATE} No BPMN elements found with ids: {}.",
        ids.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ")
    );
    Failure::incident(ErrorType::ExtractValueError, message)
}
