//! Diagnostics: syntax errors, failures of an evaluation, and warnings beside its result.

use std::fmt;

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct ParseError {
    /// Position, in bytes from the start of the text.
    pub position: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column of that line, in characters from 1.
    pub column: usize,
    /// The expected and the found token.
    pub message: String,
}

impl ParseError {
    pub(crate) fn at(text: &str, position: usize, message: String) -> Self {
        let position = text.floor_char_boundary(position.min(text.len()));
        let before = &text[..position];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            position,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }
}

/// Outcome of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The result; null also for most failures, which the warnings then explain.
    pub value: crate::Value,
    /// Warnings, in order; they did not end the evaluation.
    pub warnings: Vec<Warning>,
}

/// A failure that made a part of an expression null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Kind of the failure.
    pub kind: WarningKind,
    /// The reason, as text.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}] {}", self.kind, self.message)
    }
}

/// Kinds of warnings; printed in capitals as in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// No variable of that name.
    NoVariableFound,
    /// The context has no such entry.
    NoContextEntryFound,
    /// The value has no such property.
    NoPropertyFound,
    /// An operand has the wrong type.
    InvalidType,
    /// Two values cannot be compared.
    NotComparable,
    /// No function of that name and parameters.
    NoFunctionFound,
    /// A function refused its arguments.
    FunctionInvocationFailure,
    /// An assertion did not hold.
    AssertFailure,
}

impl fmt::Display for WarningKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoVariableFound => "NO_VARIABLE_FOUND",
            Self::NoContextEntryFound => "NO_CONTEXT_ENTRY_FOUND",
            Self::NoPropertyFound => "NO_PROPERTY_FOUND",
            Self::InvalidType => "INVALID_TYPE",
            Self::NotComparable => "NOT_COMPARABLE",
            Self::NoFunctionFound => "NO_FUNCTION_FOUND",
            Self::FunctionInvocationFailure => "FUNCTION_INVOCATION_FAILURE",
            Self::AssertFailure => "ASSERT_FAILURE",
        })
    }
}

/// A failure that leaves an evaluation without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// The reason, as text.
    pub message: String,
    /// Warnings before the failure.
    pub warnings: Vec<Warning>,
}
