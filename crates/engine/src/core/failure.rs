//! How a command or a step can fail.

use protocol::{Rejection, RejectionType};
use state::StateError;

use crate::entity::ErrorType;

/// Why a batch could not be applied: the replica must stop.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// State could be neither read nor written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The batch asks for behaviour that this release does not know.
    #[error("the log asks for engine version {0}, which this release does not know")]
    UnknownVersion(u16),
}

/// Reasons why a command or a step failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// State failed; everything stops.
    State(StateError),
    /// The command is refused.
    Rejected(Rejection),
    /// The element needs an operator: an incident is raised.
    Incident { error_type: ErrorType, message: String },
    /// The step takes more fuel than there is for it in this batch. Another has it.
    PutOff,
}

impl Failure {
    pub(crate) fn incident(error_type: ErrorType, message: impl Into<String>) -> Self {
        Self::Incident { error_type, message: message.into() }
    }

    /// Message of an incident.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Incident { message, .. } => message,
            _ => "",
        }
    }

    /// An incident tells first what has failed.
    pub(crate) fn because(self, what: &str) -> Self {
        match self {
            Self::Incident { error_type, message } => Self::incident(error_type, format!("{what} {message}")),
            other => other,
        }
    }

    /// As an answer to a command. An incident cannot reach it: steps turn incidents into rows.
    pub(crate) fn into_rejection(self) -> Rejection {
        match self {
            Self::Rejected(rejection) => rejection,
            Self::Incident { message, .. } => Rejection::new(RejectionType::InvalidState, message),
            Self::PutOff => Rejection::new(RejectionType::ProcessingError, "the step was not put off"),
            Self::State(error) => Rejection::new(RejectionType::ProcessingError, error.to_string()),
        }
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}
