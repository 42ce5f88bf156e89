//! Errors of a store of documents.

use std::io;

/// Why something cannot be done with a document.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such document, or no longer.
    #[error("document with id '{0}' not found")]
    NotFound(String),
    /// The ID is taken.
    #[error("document with id '{0}' exists already")]
    AlreadyExists(String),
    /// The content has more bytes than this.
    #[error("the document is larger than {0} bytes")]
    TooLarge(u64),
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The store has no room, and may have some later.
    #[error("the document store is full: {0}")]
    Full(String),
    /// The stored bytes differ from the uploaded ones.
    #[error("the content of document '{0}' is damaged")]
    Damaged(String),
    /// The store has something else in place of a description.
    #[error("the description of document '{0}' is damaged: {1}")]
    Garbled(String, String),
    /// The store failed.
    #[error("the document store failed: {0}")]
    Store(object_store::Error),
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        if tells_of_full_disk(&error) {
            return Self::Full(error.to_string());
        }
        Self::Store(error)
    }
}

pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Whether an error of a store comes of a disk without room.
fn tells_of_full_disk(error: &object_store::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<io::Error>().is_some_and(is_full) {
            return true;
        }
        next = error.source();
    }
    false
}
