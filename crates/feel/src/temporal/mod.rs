//! Dates, times and durations of FEEL: years of up to nine digits, times with or without an offset or a named zone,
//! two kinds of duration. Zones come from the bundled database only, so that every replica computes the same. Nothing
//! here reads a clock.

mod date;
mod date_time;
mod duration;
mod time;
mod zone;

pub use date::Date;
pub use date_time::DateTime;
pub use time::Time;
pub use zone::{NamedZone, Zone};

pub(crate) use duration::{
    format_days_time, format_iso_hours, format_years_months, from_nanos as duration_from_nanos,
    parse_days_time, parse_years_months,
};

/// Nanoseconds of a second.
pub(crate) const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Seconds of a day without leap seconds.
pub(crate) const SECONDS_PER_DAY: i64 = 86_400;

/// Reads a run of ASCII digits of a length within bounds (at most 18); gives the value and the rest.
pub(crate) fn digits(text: &str, at_least: usize, at_most: usize) -> Option<(u64, &str)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    if count < at_least || count > at_most {
        return None;
    }
    let (head, rest) = text.split_at(count);
    let value = head.bytes().fold(0, |value: u64, digit| value * 10 + u64::from(digit - b'0'));
    Some((value, rest))
}
