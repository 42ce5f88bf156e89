//! Errors that stop a measurement.

#![expect(missing_docs, reason = "names say what is held")]

use std::path::PathBuf;

/// A measurement that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused something that must work before anything can be measured.
    #[error("{action}: {source}")]
    Request { action: &'static str, source: client::Error },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// The process model cannot be used.
    #[error("model {name}: {reason}")]
    Model {
        /// Built-in name or file.
        name: String,
        reason: String,
    },
    /// The options contradict each other or the documents given.
    #[error("{0}")]
    Options(String),
    /// A server process could not be started or ended early.
    #[error("{program}: {reason}")]
    Server { program: String, reason: String },
}

impl Error {
    pub(crate) fn request(action: &'static str) -> impl FnOnce(client::Error) -> Self {
        move |source| Self::Request { action, source }
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
