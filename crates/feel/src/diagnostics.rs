//! What goes wrong: at parsing, during an evaluation, or beside its result.

use std::fmt;

/// Why a text is not FEEL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct ParseError {
    /// Where, in bytes from the start of the text.
    pub position: usize,
    /// Where, as a line from 1.
    pub line: usize,
    /// Where, as a column of that line from 1, in characters.
    pub column: usize,
    /// What was expected and what was found.
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

/// What an evaluation came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The result; null also for most failures, which the warnings then explain.
    pub value: crate::Value,
    /// What went wrong without ending the evaluation, in order.
    pub warnings: Vec<Warning>,
}

/// Something that made a part of an expression null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What kind of failure it was.
    pub kind: WarningKind,
    /// What happened.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}] {}", self.kind, self.message)
    }
}

/// Kinds of warnings; they print in capitals as the API shows them.
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

/// Why an evaluation has no result at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// What ended the evaluation.
    pub message: String,
    /// What went wrong before.
    pub warnings: Vec<Warning>,
}
