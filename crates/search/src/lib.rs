//! The search interface: the rows that secondary storage holds, and the questions that it answers.
//!
//! Rows are described once (`model`), and so are questions (`query`). Crate `secondary` writes and finds them; this
//! crate knows no store.

mod changes;
mod condition;
mod cursor;
mod duration;
pub mod model;
mod progress;
mod query;
mod reader;
mod value;
mod wholeness;
pub mod wire;

pub use changes::{Changes, Flush, Flushed, List, Touch};
pub use condition::{Operand, Test};
pub use cursor::{decode as decode_cursor, encode as encode_cursor};
pub use duration::{HOUR_MS, Measure, Spread, bucket};
pub use progress::Progress;
pub use query::{
    Aggregate, EntityRef, Filter, Found, Latest, Position, Question, Related, Row, Search, Sort, Statistics,
    row_bytes,
};
pub use reader::{PAGE_BYTES_MAX, Reader, StoreError};
pub use value::Value;
pub use wholeness::{Filling, Gap, Lacking, StoreState, Wholeness};

/// The exporter that feeds secondary storage, by its ID.
pub const EXPORTER_ID: &str = "secondary-storage";
