//! Evaluates a compiled model with variables. A request enters at [`decision`] or [`service`]. Fuel and depth are
//! those of FEEL, counted across all expressions.
//!
//! In the standard dialect a failing expression becomes null with a warning, as DMN requires; in Camunda's it ends
//! the evaluation.

mod boxed;
mod function;
mod hit_policy;
mod requirement;
mod scope;
mod table;

use crate::model::{Model, Target};
use crate::outcome::{EvaluatedDecision, Evaluation, FailedRule, Failure};
use feel::{Budget, Dialect, Environment, EvaluationError, Value, Variables, Warning, WarningKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Levels of depth of a boxed expression and of a decision, by their use of the stack.
const BOXED_LEVELS: u32 = 3;
const DECISION_LEVELS: u32 = 2;
/// Fuel that a decision costs beside its expressions.
const DECISION_FUEL: u64 = 10;

/// Ends an evaluation, or the part of it inside one expression.
#[derive(Debug)]
struct Stop(Box<Cause>);

#[derive(Debug)]
struct Cause {
    reason: String,
    rule: Option<FailedRule>,
    decision: Option<Arc<str>>,
    /// Whether it ends the evaluation in any dialect, as exhausted fuel does.
    fatal: bool,
}

impl Stop {
    fn new(reason: impl Into<String>) -> Self {
        Self(Box::new(Cause { reason: reason.into(), rule: None, decision: None, fatal: false }))
    }

    fn fatal(reason: impl Into<String>) -> Self {
        let mut stop = Self::new(reason);
        stop.0.fatal = true;
        stop
    }
}

type Step<T> = Result<T, Stop>;

/// State shared by all parts of an evaluation.
struct EvaluationState {
    budget: Budget,
    warnings: Vec<Warning>,
    /// Trail of the decisions evaluated so far, if requested.
    trail: Option<Vec<EvaluatedDecision>>,
    /// Number of decisions evaluated so far.
    evaluated: usize,
    /// Given or computed values of the elements of models; models by their addresses.
    known: BTreeMap<(usize, Target), Value>,
}

impl EvaluationState {
    fn new(budget: Budget, with_trail: bool) -> Self {
        Self {
            budget,
            warnings: Vec::new(),
            trail: with_trail.then(Vec::new),
            evaluated: 0,
            known: BTreeMap::new(),
        }
    }
}

/// An evaluation inside of one model.
struct Run<'a> {
    model: &'a Arc<Model>,
    environment: &'a Environment,
    variables: &'a dyn Variables,
    shared: &'a mut EvaluationState,
}

fn with_types(environment: &Environment, model: &Model) -> Option<Environment> {
    if model.types.by_name.is_empty() && model.types.imports.is_empty() && environment.types.is_none() {
        return None;
    }
    Some(Environment { types: Some(model.types.clone()), ..environment.clone() })
}

fn address(model: &Arc<Model>) -> usize {
    Arc::as_ptr(model).addr()
}

/// Evaluates a decision by its ID.
pub(crate) fn decision(
    model: &Arc<Model>,
    id: &str,
    variables: &dyn Variables,
    environment: &Environment,
    budget: &mut Budget,
) -> Result<Evaluation, Box<Failure>> {
    let given = Given { variables, environment, budget, with_trail: true };
    evaluate(model, id, given, |run| run.decision_by_id(id))
}

/// Evaluates a decision by its ID to its output alone, without the trail of evaluated decisions.
pub(crate) fn output(
    model: &Arc<Model>,
    id: &str,
    variables: &dyn Variables,
    environment: &Environment,
    budget: &mut Budget,
) -> Result<Value, Box<Failure>> {
    let given = Given { variables, environment, budget, with_trail: false };
    Ok(evaluate(model, id, given, |run| run.decision_by_id(id))?.output)
}

/// Evaluates a decision service by its ID.
pub(crate) fn service(
    model: &Arc<Model>,
    id: &str,
    variables: &dyn Variables,
    environment: &Environment,
) -> Result<Evaluation, Box<Failure>> {
    let budget = &mut Budget::new(environment);
    evaluate(model, id, Given { variables, environment, budget, with_trail: true }, |run| {
        let Some(Target::Service(place)) = run.model.find(id) else {
            return Err(Stop::new("no decision service found for this ID"));
        };
        let inputs = &run.model.services[place].input;
        let given: Vec<Option<Value>> =
            inputs.iter().map(|input| run.variables.get(run.model.name_of(*input))).collect();
        run.service(place, given, false)
    })
}

/// Calls a business knowledge model by its ID.
pub(crate) fn knowledge(
    model: &Arc<Model>,
    id: &str,
    arguments: &[Value],
    environment: &Environment,
) -> Result<Evaluation, Box<Failure>> {
    let budget = &mut Budget::new(environment);
    let given = Given { variables: &(), environment, budget, with_trail: true };
    evaluate(model, id, given, |run| match run.model.find(id) {
        Some(Target::Knowledge(place)) => run.knowledge(place, arguments),
        _ => Err(Stop::new("no business knowledge model found for this ID")),
    })
}

/// Inputs of an evaluation.
struct Given<'a> {
    variables: &'a dyn Variables,
    environment: &'a Environment,
    budget: &'a mut Budget,
    /// Whether the outcome has the trail of evaluated decisions. That costs no fuel.
    with_trail: bool,
}

fn evaluate(
    model: &Arc<Model>,
    id: &str,
    given: Given<'_>,
    action: impl FnOnce(&mut Run<'_>) -> Step<Value>,
) -> Result<Evaluation, Box<Failure>> {
    let Given { variables, environment, budget, with_trail } = given;
    let mut shared = EvaluationState::new(*budget, with_trail);
    let typed = with_types(environment, model);
    let environment = typed.as_ref().unwrap_or(environment);
    let mut run = Run { model, environment, variables, shared: &mut shared };
    let result = action(&mut run);
    let EvaluationState { warnings, trail, budget: left, .. } = shared;
    *budget = Budget { depth: budget.depth, ..left };
    let evaluated_decisions = trail.unwrap_or_default();
    match result {
        Ok(output) => Ok(Evaluation { output, evaluated_decisions, warnings }),
        Err(Stop(cause)) => Err(Box::new(Failure {
            decision_id: id.to_owned(),
            reason: cause.reason,
            failed_decision_id: cause.decision.map_or_else(|| id.to_owned(), |id| id.to_string()),
            failed_rule: cause.rule,
            evaluated_decisions,
            warnings,
        })),
    }
}

impl Run<'_> {
    fn decision_by_id(&mut self, id: &str) -> Step<Value> {
        match self.model.find(id) {
            Some(Target::Decision(place)) => self.decision(place),
            _ => Err(Stop::new("no decision found for this ID")),
        }
    }

    fn is_standard(&self) -> bool {
        self.environment.dialect == Dialect::Standard
    }

    /// Goes down some levels; every recursion comes through here.
    fn nested<T>(&mut self, levels: u32, action: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        let limit = self.environment.limits.depth;
        if self.shared.budget.depth + levels > limit {
            return Err(Stop::fatal(format!("the evaluation is nested deeper than {limit} levels")));
        }
        self.shared.budget.depth += levels;
        let result = action(self);
        self.shared.budget.depth -= levels;
        result
    }

    fn spend(&mut self, fuel: u64) -> Step<()> {
        if let Some(left) = self.shared.budget.fuel.checked_sub(fuel) {
            self.shared.budget.fuel = left;
            return Ok(());
        }
        self.shared.budget.fuel = 0;
        let limit = self.environment.limits.fuel;
        Err(Stop::fatal(format!("the evaluation takes more than {limit} steps")))
    }

    /// Takes bytes of memory for a constructed value.
    fn hold(&mut self, bytes: u64) -> Step<()> {
        if let Some(left) = self.shared.budget.bytes.checked_sub(bytes) {
            self.shared.budget.bytes = left;
            return Ok(());
        }
        self.shared.budget.bytes = 0;
        let limit = self.environment.limits.bytes;
        Err(Stop::fatal(format!("the values of the evaluation take more than {limit} bytes")))
    }

    fn warn(&mut self, kind: WarningKind, message: String) {
        if self.shared.warnings.len() < self.environment.limits.warnings {
            self.shared.warnings.push(Warning { kind, message });
        }
    }

    /// The outcome of an expression of FEEL.
    fn outcome(&mut self, outcome: Result<feel::Evaluation, EvaluationError>) -> Step<Value> {
        match outcome {
            Ok(evaluation) => {
                self.keep(evaluation.warnings);
                Ok(evaluation.value)
            }
            Err(error) => {
                self.keep(error.warnings);
                let stop = if self.shared.budget.is_spent() { Stop::fatal } else { Stop::new };
                Err(stop(error.message))
            }
        }
    }

    fn keep(&mut self, warnings: Vec<Warning>) {
        let room = self.environment.limits.warnings.saturating_sub(self.shared.warnings.len());
        self.shared.warnings.extend(warnings.into_iter().take(room));
    }

    /// In the standard dialect, turns a failure into null.
    fn soften(&mut self, result: Step<Value>) -> Step<Value> {
        match result {
            Err(Stop(cause)) if !cause.fatal && self.is_standard() => {
                self.warn(WarningKind::FunctionInvocationFailure, cause.reason);
                Ok(Value::Null)
            }
            result => result,
        }
    }

    /// A constructed value, unless it is too large.
    fn bounded(&mut self, value: Value) -> Step<Value> {
        self.hold(value.own_bytes())?;
        self.within_bounds(value)
    }

    /// A value whose bytes are counted elsewhere, unless it is too large.
    fn within_bounds(&self, value: Value) -> Step<Value> {
        if value.is_within_bounds() { Ok(value) } else { Err(Stop::fatal(feel::VALUE_EXCESS)) }
    }
}
