//! Errors of SQLite, as readers and writers tell them.

use rusqlite::{Error, ErrorCode};
use search::StoreError;

/// How SQLite says that tables or columns are not there.
const MISSING: [&str; 2] = ["no such table", "no such column"];

/// The error of the store. Statements are made of names of the schema, so an error of their text is one of their shape
/// or size, unless the schema is not there.
pub(super) fn failed(error: Error) -> StoreError {
    let is_of_query = match error.sqlite_error_code() {
        Some(ErrorCode::Unknown) => {
            let text = error.to_string();
            !MISSING.iter().any(|missing| text.contains(missing))
        }
        Some(code) => matches!(
            code,
            ErrorCode::TooBig
                | ErrorCode::ConstraintViolation
                | ErrorCode::OutOfMemory
                | ErrorCode::ParameterOutOfRange
                | ErrorCode::TypeMismatch
                | ErrorCode::ApiMisuse
        ),
        // Of the library, about parameters and types of values.
        None => true,
    };
    match error.sqlite_error_code() {
        _ if is_of_query => StoreError::Query(error.to_string()),
        Some(ErrorCode::OperationInterrupted) => StoreError::too_slow(),
        Some(ErrorCode::NotADatabase | ErrorCode::SchemaChanged) => StoreError::Schema(error.to_string()),
        _ => StoreError::Unavailable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn error(code: i32, text: &str) -> Error {
        Error::SqliteFailure(ffi::Error::new(code), Some(text.to_owned()))
    }

    #[test]
    fn only_the_store_itself_is_away() {
        let of_query = [
            (ffi::SQLITE_ERROR, "Expression tree is too large (maximum depth 1000)"),
            (ffi::SQLITE_ERROR, "too many SQL variables"),
            (ffi::SQLITE_ERROR, "parser stack overflow"),
            (ffi::SQLITE_ERROR, "LIKE or GLOB pattern too complex"),
            (ffi::SQLITE_ERROR, "malformed JSON"),
            (ffi::SQLITE_TOOBIG, "string or blob too big"),
            (ffi::SQLITE_NOMEM, "out of memory"),
            (ffi::SQLITE_RANGE, "column index out of range"),
        ];
        for (code, text) in of_query {
            let told = failed(error(code, text));
            assert!(matches!(&told, StoreError::Query(reason) if reason.contains(text)), "{told:?}");
        }
        assert!(matches!(failed(Error::InvalidParameterCount(1, 2)), StoreError::Query(_)));
        let of_store = [
            (ffi::SQLITE_ERROR, "no such table: job"),
            (ffi::SQLITE_ERROR, "no such column: t0.state"),
            (ffi::SQLITE_BUSY, "database is locked"),
            (ffi::SQLITE_IOERR, "disk I/O error"),
            (ffi::SQLITE_CANTOPEN, "unable to open database file"),
            (ffi::SQLITE_CORRUPT, "database disk image is malformed"),
            (ffi::SQLITE_FULL, "database or disk is full"),
        ];
        for (code, text) in of_store {
            let told = failed(error(code, text));
            assert!(matches!(told, StoreError::Unavailable(_)), "{told:?}");
        }
        assert!(matches!(failed(error(ffi::SQLITE_NOTADB, "")), StoreError::Schema(_)));
        assert!(matches!(failed(error(ffi::SQLITE_INTERRUPT, "")), StoreError::TooSlow(_)));
    }
}
