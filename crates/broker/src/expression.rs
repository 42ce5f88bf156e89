//! Stand-alone evaluation of expressions, outside of the log.

use std::sync::Arc;
use std::time::Duration;

use engine::WorkLimits;
use protocol::{Document, Rejection};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use broker_api::{ExpressionResult, SubmitError};

struct Given(Document);

impl feel::Variables for Given {
    fn get(&self, name: &str) -> Option<feel::Value> {
        feel::Value::from_json(self.0.get(name)?.as_bytes().clone()).ok()
    }
}

/// Evaluates on threads that may block, since an expression may take its time.
pub(crate) struct Evaluations {
    /// Taken until an evaluation really ends, which may be after its time: nothing can stop it before its limits do.
    turns: Arc<Semaphore>,
    max_at_once: usize,
    limits: WorkLimits,
}

impl Evaluations {
    /// Evaluations within the limits that steps have. So many run at once, each on a thread of its own and with memory
    /// of its own; further ones wait for their turn within their time.
    pub fn new(max_at_once: usize, limits: WorkLimits) -> Self {
        Self { turns: Arc::new(Semaphore::new(max_at_once)), max_at_once, limits }
    }

    pub async fn evaluate(
        &self,
        expression: String,
        variables: Document,
        now_ms: i64,
        timeout: Duration,
    ) -> Result<ExpressionResult, SubmitError> {
        let deadline = Instant::now() + timeout;
        let turn = timeout_at(deadline, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            return Err(SubmitError::ResourceExhausted(format!(
                "Expected to evaluate the expression, but {} others are under way (limits.max_evaluations_at_once) and none ended within {} ms",
                self.max_at_once,
                timeout.as_millis()
            )));
        };
        let limits = self.limits;
        let work = tokio::task::spawn_blocking(move || {
            let result = evaluate(&expression, variables, now_ms, &limits);
            drop(turn);
            result
        });
        match timeout_at(deadline, work).await {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => Err(SubmitError::Internal(format!("the evaluation failed: {error}"))),
            Err(_) => Err(SubmitError::Rejected(Rejection::invalid_argument(format!(
                "Expected to evaluate expression but timed out after {} ms",
                timeout.as_millis()
            )))),
        }
    }
}

/// Characters of an expression that an error repeats.
const ECHO_CHARS_MAX: usize = 1000;

fn evaluate(
    expression: &str,
    variables: Document,
    now_ms: i64,
    limits: &WorkLimits,
) -> Result<ExpressionResult, SubmitError> {
    let text = expression.strip_prefix('=').unwrap_or(expression);
    let invalid = |reason: String| {
        let echo = match expression.char_indices().nth(ECHO_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &expression[..end]),
            None => expression.to_owned(),
        };
        SubmitError::Rejected(Rejection::invalid_argument(format!(
            "Failed to evaluate expression '{echo}': {reason}"
        )))
    };
    let parsed = feel::Expression::parse(text).map_err(|error| invalid(error.to_string()))?;
    let (fuel, bytes) = (limits.max_fuel_per_step, limits.max_evaluation_bytes);
    let limits_of_it = feel::Limits { fuel, bytes, ..feel::Limits::default() };
    let environment = feel::Environment {
        now_ms,
        seed: now_ms as u64,
        limits: limits_of_it,
        ..feel::Environment::default()
    };
    let mut budget = feel::Budget::new(&environment);
    let evaluation =
        parsed.evaluate_within(None, &Given(variables), &environment, &mut budget).map_err(|error| {
            let setting = match budget {
                feel::Budget { bytes: 0, .. } => " (limits.max_evaluation_bytes)",
                feel::Budget { fuel: 0, .. } => " (limits.max_fuel_per_step)",
                _ => "",
            };
            invalid(format!("{}{setting}", error.message))
        })?;
    let most = limits.max_variable_bytes;
    let json = evaluation.value.to_json_within(most);
    let json = json.ok_or_else(|| {
        invalid(format!("the result is larger than {most} bytes (limits.max_variable_bytes)"))
    })?;
    let result_json = String::from_utf8(json).map_err(|error| SubmitError::Internal(error.to_string()))?;
    let warnings = evaluation.warnings.into_iter().map(|warning| warning.message).collect();
    Ok(ExpressionResult { result_json, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(expression: &str) -> String {
        match evaluate(expression, Document::empty(), 0, &WorkLimits::default()) {
            Err(SubmitError::Rejected(rejection)) => rejection.reason,
            other => panic!("{:?}", other.map(|found| found.result_json.len())),
        }
    }

    #[test]
    fn an_evaluation_has_the_memory_of_a_step() {
        let found = reason("=count(for i in 1..9 return count(for j in 1..100000 return 1))");
        assert!(found.ends_with("more than 1500000 steps (limits.max_fuel_per_step)"), "{found}");
        let found = reason("=for i in 1..2000 return {a: [i], b: [i], c: for j in 1..200 return [j]}");
        assert!(found.ends_with("more than 33554432 bytes (limits.max_evaluation_bytes)"), "{found}");
    }

    #[test]
    fn an_evaluation_has_the_limits_of_a_step() {
        let found = reason("=count(for i in 1..2400000 return 1)");
        assert!(found.contains("more than 1500000 steps"), "{found}");
        let found = reason("=for i in 1..30 return if i = 1 then [1] else [partial[-1], partial[-1]]");
        assert!(found.contains("limits.max_variable_bytes") || found.contains("too large"), "{found}");
        let found =
            reason("=for i in 1..20 return if i = 1 then [\"0123456789\"] else [partial[-1], partial[-1]]");
        assert!(found.contains("limits.max_variable_bytes"), "{found}");
    }
}
