//! Static texts and expressions of a model.

use std::sync::Arc;

use feel::Expression;

use crate::graph::Text;
use crate::limits::Limits;
use crate::problem::excerpt;

/// A part of a root element that others may refer to.
#[derive(Debug)]
pub(crate) enum Parsed<T> {
    /// The model does not have it.
    Absent,
    /// It is invalid, which is reported at its own position.
    Broken,
    Valid(T),
}

impl<T> Parsed<T> {
    /// The result of parsing a part that is present; passes the reason on if it is invalid.
    pub(crate) fn from_result(parsed: Result<T, String>, report: impl FnOnce(String)) -> Self {
        match parsed {
            Ok(value) => Self::Valid(value),
            Err(reason) => {
                report(reason);
                Self::Broken
            }
        }
    }
}

/// Static text or, after `=`, an expression; the error names the place.
pub(crate) fn parse_text(value: &str, place: &str, limits: &Limits) -> Result<Text, String> {
    if value.starts_with('=') {
        return parse_expression(value, place).map(Text::Expression);
    }
    if value.len() > limits.max_name_chars {
        return Err(format!("{place} is longer than {} bytes", limits.max_name_chars));
    }
    Ok(Text::Static(Arc::from(value)))
}

/// An expression with its leading `=`; the error names the place, the position and the cause.
pub(crate) fn parse_expression(value: &str, place: &str) -> Result<Expression, String> {
    let Some(expression) = value.strip_prefix('=') else {
        return Err(format!(
            "{place} must be an expression that starts with '=', but is '{}'",
            excerpt(value)
        ));
    };
    Expression::parse(expression).map_err(|error| {
        format!(
            "{place} is not a valid expression: {} at line {}, column {} of '{}'",
            error.message,
            error.line,
            error.column,
            excerpt(expression.trim())
        )
    })
}
