//! Evaluating expressions of a model against the variables of a scope.

use std::cell::RefCell;

use bpmn::graph::Text;
use feel::{Budget, Dialect, Environment, Expression, Value};
use protocol::{Document, Json, Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::cluster_variables;
use crate::entity::ErrorType;

/// The variables an expression sees: some that are not stored, then those of a scope and upward.
pub(crate) struct Scope<'a> {
    /// Its key; 0 is none.
    pub key: Key,
    pub extra: Option<&'a Document>,
    /// More that are not stored; `extra` hides them.
    pub below: Option<&'a Document>,
}

impl Scope<'_> {
    /// The variables of a scope.
    pub fn of(key: Key) -> Self {
        Self { key, extra: None, below: None }
    }
}

struct Lookup<'a, 'b> {
    work: &'a CommandContext<'b>,
    scope: &'a Scope<'a>,
    /// The interface of look-ups knows no errors, so one waits here.
    error: RefCell<Option<StateError>>,
}

impl feel::Variables for Lookup<'_, '_> {
    fn get(&self, name: &str) -> Option<Value> {
        let json = match seen_variable(self.work, self.scope, name) {
            Ok(json) => json?,
            Err(error) => {
                self.error.borrow_mut().get_or_insert(error);
                return None;
            }
        };
        self.work.meter.known().read(json.as_bytes())
    }
}

/// A variable as an expression sees it.
pub(crate) fn seen_variable(
    work: &CommandContext<'_>,
    scope: &Scope,
    name: &str,
) -> Result<Option<Json>, StateError> {
    let mut unstored = [scope.extra, scope.below].into_iter().flatten();
    let json = match unstored.find_map(|extra| extra.get(name)) {
        Some(json) => Some(json.clone()),
        None if scope.key == 0 => None,
        None => work.tables.visible_variable(scope.key, name)?,
    };
    match json {
        None if name == cluster_variables::ROOT => work.cluster_context(scope.key).map(Some),
        json => Ok(json),
    }
}

impl CommandContext<'_> {
    /// The context `camunda` of a scope; without a scope, that of the command's tenant.
    fn cluster_context(&self, scope_key: Key) -> Result<Json, StateError> {
        let row = self.tables.element_instances.get(&scope_key)?;
        let instance = match &row {
            Some(row) => self.tables.instances.get(&row.process_instance_key)?,
            None => None,
        };
        let tenant_id = match (&instance, &self.origin.tenant_id) {
            (Some(instance), _) => instance.tenant_id.clone(),
            (None, Some(tenant_id)) => tenant_id.clone(),
            (None, None) => Name::default_tenant(),
        };
        self.definitions.cluster_variables.get(self.tables, &tenant_id)
    }

    /// Evaluates an expression; a failure is an incident of this type.
    pub fn evaluate(
        &self,
        expression: &Expression,
        scope: &Scope,
        error_type: ErrorType,
    ) -> Result<Value, Failure> {
        Ok(self.evaluate_with_warnings(expression, scope, error_type)?.0)
    }

    /// Evaluates something against the variables of a scope, with what fuel there is.
    pub(super) fn with_variables<T>(
        &self,
        scope: &Scope,
        evaluate: impl FnOnce(&dyn feel::Variables, &Environment, &mut Budget) -> T,
    ) -> Result<T, StateError> {
        let lookup = Lookup { work: self, scope, error: RefCell::new(None) };
        let work = &self.options.work;
        let (fuel, bytes) = (work.max_fuel_per_step, work.max_evaluation_bytes);
        let limits = feel::Limits { fuel, bytes, ..feel::Limits::default() };
        let (now_ms, seed) = (self.now_ms(), self.meta.position);
        let environment = Environment { now_ms, seed, limits, dialect: DIALECT, ..Environment::default() };
        let mut budget = self.meter.budget(&environment);
        let result = evaluate(&lookup, &environment, &mut budget);
        self.meter.note(&budget);
        lookup.error.into_inner().map_or(Ok(result), Err)
    }

    pub fn evaluate_with_warnings(
        &self,
        expression: &Expression,
        scope: &Scope,
        error_type: ErrorType,
    ) -> Result<(Value, Vec<feel::Warning>), Failure> {
        let result = self.with_variables(scope, |variables, environment, budget| {
            expression.evaluate_within(None, variables, environment, budget)
        })?;
        match result {
            Ok(evaluation) => Ok((evaluation.value, evaluation.warnings)),
            Err(error) => {
                let error = self.name_limit(error);
                let message =
                    format!("failed to evaluate expression '{}': {}", expression.text(), error.message);
                Err(Failure::incident(error_type, with_warnings(message, &error.warnings)))
            }
        }
    }

    /// An expression that had too little fuel or memory is told by the limit of all those of its step.
    fn name_limit(&self, error: feel::EvaluationError) -> feel::EvaluationError {
        match self.meter.reached_limit(&self.options.work) {
            Some(message) => feel::EvaluationError { message, ..error },
            None => error,
        }
    }

    /// A boolean, or an incident.
    pub fn evaluate_condition(&self, expression: &Expression, scope: &Scope) -> Result<bool, Failure> {
        let kind = ErrorType::ExtractValueError;
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
        value.as_bool().ok_or_else(|| mismatch(expression, "'BOOLEAN'", &value, &warnings, kind))
    }

    /// A text that is static or evaluates to a string.
    pub fn evaluate_text(&self, text: &Text, scope: &Scope) -> Result<Name, Failure> {
        let expression = match text {
            Text::Static(text) => return Ok(Name::from(text)),
            Text::Expression(expression) => expression,
        };
        let kind = ErrorType::ExtractValueError;
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
        value
            .as_str()
            .map(Name::from)
            .ok_or_else(|| mismatch(expression, "'STRING'", &value, &warnings, kind))
    }

    /// A number that is static text or evaluates to a number; fractions are cut off.
    pub fn evaluate_integer(&self, text: &Text, scope: &Scope) -> Result<i64, Failure> {
        let kind = ErrorType::ExtractValueError;
        match text {
            Text::Static(text) => text.trim().parse().map_err(|_| {
                Failure::incident(kind, format!("Expected '{text}' to be an integer, but it is none."))
            }),
            Text::Expression(expression) => {
                let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
                match value.as_i64() {
                    Some(number) => Ok(number),
                    None if value.as_number().is_some_and(feel::Number::is_whole) => Err(Failure::incident(
                        kind,
                        format!(
                            "Expected result of the expression '{}' to be an integer of 64 bits, but it is larger.",
                            expression.text()
                        ),
                    )),
                    None if value.as_f64().is_some() => Err(Failure::incident(
                        kind,
                        format!(
                            "Expected result of the expression '{}' to be an integer, but was a decimal.",
                            expression.text()
                        ),
                    )),
                    None => Err(mismatch(expression, "'NUMBER'", &value, &warnings, kind)),
                }
            }
        }
    }
}

/// The dialect of the engine.
pub(crate) const DIALECT: Dialect = Dialect::Camunda;

/// The incident of a value of another type than the wanted one.
pub(crate) fn mismatch(
    expression: &Expression,
    wanted: &str,
    value: &Value,
    warnings: &[feel::Warning],
    error_type: ErrorType,
) -> Failure {
    let message = format!(
        "Expected result of the expression '{}' to be {wanted}, but was '{}'.",
        expression.text(),
        value.type_name()
    );
    Failure::incident(error_type, with_warnings(message, warnings))
}

/// A message, and below it the warnings of the evaluation.
pub(crate) fn with_warnings(mut message: String, warnings: &[feel::Warning]) -> String {
    if !warnings.is_empty() {
        message.push_str(" The evaluation reported the following warnings:");
        for warning in warnings {
            message.push_str(&format!("\n[{}] {}", warning.kind, warning.message));
        }
    }
    message
}

pub(crate) fn to_json(value: &feel::Value) -> Json {
    Json::from_written(value.to_json_in(DIALECT, usize::MAX).unwrap_or_default())
}
