//! JSON of variables: checked without building values, read one level at a time, written from values.

mod read;
mod write;

pub(crate) use read::{find_entry, item_texts, read, read_entries, read_items};
pub(crate) use write::{write, write_within};

/// Largest document in bytes.
pub const SIZE_MAX: usize = 64 << 20;

/// The reason why FEEL refuses a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is not UTF-8 from this byte on.
    #[error("not UTF-8 at byte {0}")]
    Encoding(usize),
    /// The text is not JSON, or nested too deeply.
    #[error(transparent)]
    Syntax(#[from] ::json::Error),
    /// The text is longer than [`SIZE_MAX`].
    #[error("JSON of {0} bytes is larger than {SIZE_MAX}")]
    TooLarge(usize),
}

/// Checks that the bytes are one JSON document within the bounds. Returns its depth.
pub(crate) fn validate(bytes: &[u8]) -> Result<u16, JsonError> {
    if bytes.len() > SIZE_MAX {
        return Err(JsonError::TooLarge(bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError::Encoding(error.valid_up_to()))?;
    Ok(::json::depth(text)? as u16)
}

const _: () = assert!(::json::DEPTH_MAX <= u16::MAX as usize, "the depth of a value has 16 bits");
