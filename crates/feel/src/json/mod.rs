//! JSON as variables carry it: checked without building anything, read one level at a time,
//! written from values.

mod read;
mod scan;
mod write;

pub(crate) use read::{find_entry, item_texts, read, read_entries, read_items};
pub(crate) use write::{write, write_string, write_within};

/// Deepest nesting of a document.
pub const DEPTH_MAX: usize = 500;
/// Largest document in bytes.
pub const SIZE_MAX: usize = 64 << 20;

/// Why a text is not JSON that we take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is not JSON at this byte.
    #[error("not JSON at byte {0}")]
    Syntax(usize),
    /// Arrays and objects are nested deeper than [`DEPTH_MAX`].
    #[error("JSON nested deeper than {DEPTH_MAX} levels at byte {0}")]
    TooDeep(usize),
    /// The text is longer than [`SIZE_MAX`].
    #[error("JSON of {0} bytes is larger than {SIZE_MAX}")]
    TooLarge(usize),
}

/// Checks that the bytes are one JSON document within the bounds. Gives its depth.
pub(crate) fn validate(bytes: &[u8]) -> Result<u16, JsonError> {
    if bytes.len() > SIZE_MAX {
        return Err(JsonError::TooLarge(bytes.len()));
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(JsonError::Syntax(error.valid_up_to()));
    }
    scan::validate(bytes)
}
