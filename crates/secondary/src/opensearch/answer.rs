//! Answers of the store, as writers and readers take them.

use opensearch::{Answer, ClientError, StatusCode};
use search::StoreError;
use serde_json::Value as Json;

/// The error of a missing answer for readers.
pub(super) fn unanswered(error: ClientError) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

/// The body of a good answer.
pub(super) fn expect(answer: &Answer) -> Result<Json, StoreError> {
    if !answer.status.is_success() {
        return Err(StoreError::Unavailable(answer.reason()));
    }
    answer.json().map_err(unanswered)
}

/// The body of an answer; `None` if there is no such thing.
pub(super) fn found(answer: &Answer) -> Result<Option<Json>, StoreError> {
    if answer.status == StatusCode::NOT_FOUND { Ok(None) } else { expect(answer).map(Some) }
}
