//! Functions that are run outside of any expression, and built-in functions as values.

use super::evaluator::Evaluator;
use crate::builtins::{self, BuiltinId};
use crate::environment::{Budget, Environment, Variables};
use crate::value::{Function, Value};
use crate::{Evaluation, EvaluationError};
use std::sync::Arc;

impl Function {
    /// Runs the function with one value for each parameter, outside of any expression.
    pub fn invoke(
        &self,
        arguments: &[Value],
        variables: &dyn Variables,
        environment: &Environment,
        budget: &mut Budget,
    ) -> Result<Evaluation, EvaluationError> {
        let mut evaluator = Evaluator::new(variables, environment, None).within(budget);
        let result = evaluator.run_function(self, arguments);
        *budget = Budget { depth: budget.depth, ..evaluator.budget() };
        result
    }
}

/// A built-in function as a value; none if it takes any number of arguments.
pub(super) fn builtin_value(id: BuiltinId) -> Option<Function> {
    let signature = builtins::get(id).signatures.iter().find(|signature| !signature.variadic)?;
    let parameters = signature.parameters.iter().map(|name| Arc::from(*name)).collect();
    Some(Function::builtin(id, parameters))
}
