//! Stand-alone evaluation of expressions, outside of the log.

use std::time::Duration;

use protocol::{Document, Rejection};

use crate::api::{ExpressionResult, SubmitError};
use crate::clock::now_ms;

struct Given(Document);

impl feel::Variables for Given {
    fn get(&self, name: &str) -> Option<feel::Value> {
        feel::Value::from_json(self.0.get(name)?.as_bytes().clone()).ok()
    }
}

/// Evaluates on a thread that may block, since an expression may take its time.
pub(crate) async fn evaluate(
    expression: String,
    variables: Document,
    timeout: Duration,
) -> Result<ExpressionResult, SubmitError> {
    let work = tokio::task::spawn_blocking(move || {
        let text = expression.strip_prefix('=').unwrap_or(&expression);
        let invalid = |reason: String| {
            SubmitError::Rejected(Rejection::invalid_argument(format!(
                "Failed to evaluate expression '{expression}': {reason}"
            )))
        };
        let parsed = feel::Expression::parse(text).map_err(|error| invalid(error.to_string()))?;
        let now_ms = now_ms();
        let environment = feel::Environment { now_ms, seed: now_ms as u64, ..feel::Environment::default() };
        let evaluation =
            parsed.evaluate(&Given(variables), &environment).map_err(|error| invalid(error.message))?;
        let mut json = Vec::new();
        evaluation.value.to_json(&mut json);
        let result_json =
            String::from_utf8(json).map_err(|error| SubmitError::Internal(error.to_string()))?;
        let warnings = evaluation.warnings.into_iter().map(|warning| warning.message).collect();
        Ok(ExpressionResult { result_json, warnings })
    });
    match tokio::time::timeout(timeout, work).await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => Err(SubmitError::Internal(format!("the evaluation failed: {error}"))),
        Err(_) => Err(SubmitError::Rejected(Rejection::invalid_argument(format!(
            "Expected to evaluate expression but timed out after {} ms",
            timeout.as_millis()
        )))),
    }
}
