//! JSON text (RFC 8259) without a tree: one grammar, one bound of nesting, and two walks over it.
//!
//! A [`Cursor`] checks the text as it goes. A [`Scanner`] goes over text that was checked before. Neither recurses nor
//! copies.

mod canonical;
mod cursor;
mod grammar;
mod scanner;
mod string;

pub use canonical::{PLAIN_DIGITS_MAX, canonical, write_number};
pub use cursor::{Cursor, Literal, Token};
pub use grammar::depth;
pub use scanner::Scanner;
pub use string::{unescape, write_string};

/// Levels of arrays and objects in a value, at most: as many as expressions compare and write on a small stack.
pub const DEPTH_MAX: usize = 500;

const _: () = assert!(DEPTH_MAX == 500, "the reason of an error names it");

/// Text that is not JSON within [`DEPTH_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {at}")]
pub struct Error {
    /// For people.
    pub reason: &'static str,
    /// Bytes from the start of the text.
    pub at: usize,
}

impl Error {
    const TOO_DEEP: &'static str = "nested deeper than 500 levels";

    /// Whether the text is nested deeper than [`DEPTH_MAX`].
    pub fn is_too_deep(&self) -> bool {
        self.reason == Self::TOO_DEEP
    }
}
