//! Complex gateway (BPMN 2.0.2 §13.4.5). It splits like an inclusive one. Its join has two phases, each an instance of
//! the element:
//!
//! 1. *Waiting for start*: begins with the first token. When the activation condition holds, it takes a token from each
//!    flow that has one and leaves by the flows whose condition holds, or by the default flow.
//! 2. *Waiting for reset*: waits for a token on each of the other flows, unless none can come any more, as an
//!    inclusive join does. Then it takes these tokens and leaves by the flows whose condition holds now. A flow
//!    without a condition and the default flow belong to the first phase only, so that "two of three" needs no
//!    condition to go on once.
//!
//! Its expressions see `activationCount` (tokens that wait at it), the same for each incoming flow under the flow's ID,
//! and `waitingForStart`.

use bpmn::graph::{ElementIndex, ElementKind, FlowIndex};
use protocol::{Document, Json, Key, Name};

use super::flows::no_flow_taken;
use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::rows_of_model;
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::{ComplexJoin, Leave, Phase};

pub(super) struct Complex;

impl Behavior for Complex {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let place = (at.scope_key, at.index);
        let state = work.tables.complex_joins.get(&place)?;
        let Some(state) = state.filter(|state| state.instance_key == 0 || state.instance_key == at.key)
        else {
            // No token waits for it: it only splits, or somebody has activated it by hand.
            return Ok(Next::Complete(Document::empty()));
        };
        work.tables.complex_joins.update(&place, |state| state.instance_key = at.key)?;
        if state.is_resetting {
            work.request_join_check(at.scope_key)?;
            return Ok(Next::Wait);
        }
        if work.is_activated(at)? {
            work.tables.complex_joins.update(&place, |state| state.is_done = true)?;
            return Ok(Next::Complete(Document::empty()));
        }
        Ok(Next::Wait)
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        let place = (at.scope_key, at.index);
        let state = work.tables.complex_joins.get(&place)?.filter(|state| state.instance_key == at.key);
        let is_resetting = state.as_ref().is_some_and(|state| state.is_resetting);
        let flows = work.chosen_flows(at, is_resetting)?;
        if let Some(state) = state {
            work.take_complex_tokens(at, &state)?;
        }
        Ok(Leave::Some(flows))
    }

    fn removed(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        let place = (at.scope_key, at.index);
        let state = work.tables.complex_joins.get(&place)?;
        if state.is_some_and(|state| state.instance_key == at.key) {
            // Terminated alone: its tokens go with it.
            work.tables.complex_joins.delete(&place);
            let mut dropped = 0;
            for (flow, count) in work.tokens_at(at)? {
                dropped += i64::from(count);
                work.tables.join_tokens.delete(&(at.scope_key, at.index, flow));
            }
            work.change_scope(at.scope_key, 0, -dropped)?;
        }
        Ok(())
    }

    fn completed(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        let place = (at.scope_key, at.index);
        if work.tables.complex_joins.get(&place)?.is_some_and(|state| state.is_due) {
            work.tables.complex_joins.update(&place, |state| state.is_due = false)?;
            work.begin_phase(at.process_instance_key, at.scope_key, at.index)?;
        }
        Ok(())
    }
}

impl CommandContext<'_> {
    /// A token has come to a complex gateway that joins.
    pub(in crate::process) fn token_at_complex(
        &mut self,
        scope_key: Key,
        gateway: ElementIndex,
    ) -> Result<(), Failure> {
        let place = (scope_key, gateway);
        match self.tables.complex_joins.get(&place)? {
            Some(state) if state.instance_key != 0 => {
                self.steps.push_back(Step::CheckComplex { key: state.instance_key });
                Ok(())
            }
            // Its instance is on its way.
            Some(_) => Ok(()),
            None => {
                let Some(scope) = self.tables.element_instances.get(&scope_key)? else { return Ok(()) };
                self.tables.complex_joins.insert(place, ComplexJoin::default());
                self.begin_phase(scope.process_instance_key, scope_key, gateway)
            }
        }
    }

    fn begin_phase(
        &mut self,
        process_instance_key: Key,
        scope_key: Key,
        element: ElementIndex,
    ) -> Result<(), Failure> {
        self.change_scope(scope_key, 1, 0)?;
        self.steps.push_back(Step::Activate { process_instance_key, element, scope_key, trigger: None });
        Ok(())
    }

    /// Looks whether a complex gateway that waits for its start goes on, after a token has come.
    pub(in crate::process) fn check_complex(&mut self, key: Key) -> Result<(), Failure> {
        let Some((at, row)) = self.at(key)? else { return Ok(()) };
        let place = (at.scope_key, at.index);
        let Some(state) = self.tables.complex_joins.get(&place)? else { return Ok(()) };
        let is_meant = state.instance_key == key && row.phase == Phase::Activated && !state.is_done;
        if !is_meant || self.tables.incident_by_owner.contains(&key)? {
            return Ok(());
        }
        if state.is_resetting {
            return Ok(self.request_join_check(at.scope_key)?);
        }
        match self.is_activated(&at) {
            Ok(true) => self.end_phase(place, key),
            Ok(false) => Ok(()),
            Err(Failure::Incident { error_type, message }) => {
                Ok(self.raise(&at, error_type, &message, None, Some(Step::CheckComplex { key }))?)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Lets a complex gateway go on.
    pub(in crate::process) fn end_phase(
        &mut self,
        place: (Key, ElementIndex),
        instance_key: Key,
    ) -> Result<(), Failure> {
        self.tables.complex_joins.update(&place, |state| state.is_done = true)?;
        self.steps.push_back(Step::Complete { key: instance_key, variables: Document::empty() });
        Ok(())
    }

    fn is_activated(&self, at: &ActiveElement) -> Result<bool, Failure> {
        let ElementKind::Complex { activation: Some(condition), .. } = &at.element().kind else {
            return Ok(true);
        };
        let counts = self.counts(at, true)?;
        self.evaluate_condition(condition, &Scope { extra: Some(&counts), ..Scope::of(at.key) })
    }

    /// Context of its expressions besides variables.
    fn counts(&self, at: &ActiveElement, waiting_for_start: bool) -> Result<Document, Failure> {
        let mut counts = Document::empty();
        let tokens = self.tokens_at(at)?;
        let number = |count: u32| Json::from_valid(count.to_string());
        for &flow in &at.element().incoming {
            let count = tokens.iter().find(|(other, _)| *other == flow).map_or(0, |(_, count)| *count);
            counts.set(Name::from(&at.process.flow(flow).id), number(count));
        }
        counts.set(Name::from("activationCount"), number(tokens.iter().map(|(_, count)| count).sum()));
        counts.set(Name::from("waitingForStart"), Json::from_valid(waiting_for_start.to_string()));
        Ok(counts)
    }

    fn tokens_at(&self, at: &ActiveElement) -> Result<Vec<(FlowIndex, u32)>, Failure> {
        let range = (at.scope_key, at.index, 0)..(at.scope_key, at.index + 1, 0);
        let rows = rows_of_model(&self.tables.join_tokens, range)?;
        Ok(rows.into_iter().map(|((_, _, flow), count)| (flow, *count)).collect())
    }

    fn chosen_flows(&self, at: &ActiveElement, is_resetting: bool) -> Result<Vec<FlowIndex>, Failure> {
        let ElementKind::Complex { default, .. } = at.element().kind else { return Ok(Vec::new()) };
        let outgoing = &at.element().outgoing;
        let counts = self.counts(at, !is_resetting)?;
        let scope = Scope { extra: Some(&counts), ..Scope::of(at.key) };
        let mut flows = Vec::new();
        for &flow in outgoing {
            let is_meant = !is_resetting || at.process.flow(flow).condition.is_some();
            if is_meant && self.takes(at, flow, &scope)? {
                flows.push(flow);
            }
        }
        if flows.is_empty() && !is_resetting && !outgoing.is_empty() {
            flows.push(default.ok_or_else(no_flow_taken)?);
        }
        Ok(flows)
    }

    /// Takes the tokens of one phase and notes which phase is next.
    fn take_complex_tokens(&mut self, at: &ActiveElement, state: &ComplexJoin) -> Result<(), Failure> {
        let place = (at.scope_key, at.index);
        let mut taken = state.taken.clone();
        let mut used = 0;
        let mut left = 0;
        for (flow, count) in self.tokens_at(at)? {
            left += count;
            if !taken.contains(&flow) {
                taken.push(flow);
                self.use_token(at.scope_key, at.index, flow)?;
                used += 1;
            }
        }
        let element = at.element();
        let resets = taken.len() < element.incoming.len()
            || element.outgoing.iter().any(|&flow| at.process.flow(flow).condition.is_some());
        let next = if !state.is_resetting && resets {
            Some(ComplexJoin { taken, is_resetting: true, is_due: true, ..ComplexJoin::default() })
        } else if left > used {
            Some(ComplexJoin { is_due: true, ..ComplexJoin::default() })
        } else {
            None
        };
        match next {
            Some(next) => self.tables.complex_joins.put(place, next),
            None => self.tables.complex_joins.delete(&place),
        }
        self.change_scope(at.scope_key, 0, -i64::from(used))
    }
}
