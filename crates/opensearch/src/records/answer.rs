//! Answers of the store as outcomes of an export.

use crate::client::{Answer, ClientError};
use export::ExportError;

/// An answer, which must be a good one.
pub(super) fn done(answer: Answer) -> Result<Answer, ExportError> {
    if answer.status.is_success() { Ok(answer) } else { Err(ExportError::Target(answer.reason())) }
}

pub(super) fn failed(error: ClientError) -> ExportError {
    ExportError::Target(error.to_string())
}
