//! The meaning of timer texts: dates, durations and cycles.
//!
//! Pure functions over UTC milliseconds; the current time is always an argument. Used at deployment to check static
//! texts and by the engine to compute due dates, so that both agree.

#![expect(missing_docs, reason = "names say what is held")]

mod cron;
mod cycle;
mod date;
mod interval;

pub use cycle::Cycle;
pub use date::parse_date;
pub use interval::Interval;

/// Longest timer text that is parsed, in bytes.
const MAX_TEXT_BYTES: usize = 512;
const TOO_LONG: &str = "it is longer than 512 bytes";

/// A timer text that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimerError {
    /// Not an ISO 8601 date and time with an offset.
    #[error("'{text}' is not a date and time with an offset such as 2030-10-01T12:00:00Z: {cause}")]
    Date { text: String, cause: String },
    /// Not an ISO 8601 duration.
    #[error("'{text}' is not a duration such as PT1H30M or P1DT12H: {cause}")]
    Duration { text: String, cause: String },
    /// Neither a repeating interval nor a cron expression.
    #[error(
        "'{text}' is neither a repeating interval such as R3/PT1H nor a cron expression of six fields: {cause}"
    )]
    Cycle { text: String, cause: String },
}

/// The text without surrounding blanks, or `None` if it is too long to be a timer.
fn trimmed(text: &str) -> Option<&str> {
    let text = text.trim();
    (text.len() <= MAX_TEXT_BYTES).then_some(text)
}
