//! Reasons for which the lab cannot say anything, or for which a row ends early.

/// An experiment that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Something here is not as the lab needs it: nothing is known about the system.
    #[error("{0}")]
    Environment(String),
    /// The system did not do what must work before anything can be measured: an expectation that failed.
    #[error("{0}")]
    System(String),
    /// The system refused a request for a reason that is none of load or slowness.
    #[error("{0}")]
    Refused(String),
    /// A part that this machine cannot do.
    #[error("{0}")]
    Impossible(String),
}

impl LabError {
    /// The surroundings are at fault.
    pub(crate) fn environment(action: &str, error: impl std::fmt::Display) -> Self {
        Self::Environment(format!("cannot {action}: {error}"))
    }

    /// The system refused something.
    pub(crate) fn system(action: &str, error: impl std::fmt::Display) -> Self {
        Self::System(format!("{action}: {error}"))
    }
}

impl From<bench::Error> for LabError {
    fn from(error: bench::Error) -> Self {
        match error {
            bench::Error::Request { .. } => Self::System(error.to_string()),
            other => Self::Environment(other.to_string()),
        }
    }
}

impl From<client::Error> for LabError {
    fn from(error: client::Error) -> Self {
        Self::System(error.to_string())
    }
}
