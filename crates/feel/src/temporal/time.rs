//! Times of day.

use super::zone::write_offset;
use super::{NANOS_PER_SECOND, SECONDS_PER_DAY, Zone, digits};
use std::cmp::Ordering;
use std::fmt;

/// A time of day, local or with a zone.
#[derive(Clone, Debug)]
pub struct Time {
    nanos: u64,
    zone: Zone,
    /// Seconds east of UTC; zero for local.
    offset: i32,
}

const NANOS_PER_DAY: i128 = SECONDS_PER_DAY as i128 * NANOS_PER_SECOND as i128;

impl Time {
    /// The time, if the clock has it: hours to 23, minutes and seconds to 59.
    pub fn new(hour: i64, minute: i64, second: i64, nanosecond: u32, zone: Zone) -> Option<Self> {
        let valid = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && u64::from(nanosecond) < NANOS_PER_SECOND;
        let seconds = hour * 3600 + minute * 60 + second;
        valid.then(|| Self::at(seconds as u64 * NANOS_PER_SECOND + u64::from(nanosecond), zone, None))
    }

    /// Midnight.
    pub fn midnight(zone: Zone) -> Self {
        Self::at(0, zone, None)
    }

    /// With the offset that a region has at the moment of the time, if that is known.
    pub(super) fn at(nanos: u64, zone: Zone, offset: Option<i32>) -> Self {
        let offset = offset.unwrap_or_else(|| match &zone {
            Zone::Local => 0,
            Zone::Offset(offset) => *offset,
            Zone::Named(zone) => zone.standard_offset(),
        });
        Self { nanos, zone, offset }
    }

    /// Reads `T?HH:MM[:SS[.f]]` with `Z`, `±HH:MM` or `@Region` behind seconds.
    pub fn parse(text: &str) -> Option<Self> {
        let (nanos, has_seconds, rest) = parse_clock(text.strip_prefix('T').unwrap_or(text))?;
        let (zone, offset) = Zone::parse_suffix(rest)?;
        if offset.is_some() || (!has_seconds && !zone.is_local()) {
            return None;
        }
        Some(Self::at(nanos, zone, None))
    }

    /// The hour, 0 to 23.
    pub fn hour(&self) -> i64 {
        (self.nanos / NANOS_PER_SECOND / 3600) as i64
    }

    /// The minute, 0 to 59.
    pub fn minute(&self) -> i64 {
        (self.nanos / NANOS_PER_SECOND / 60 % 60) as i64
    }

    /// The second, 0 to 59.
    pub fn second(&self) -> i64 {
        (self.nanos / NANOS_PER_SECOND % 60) as i64
    }

    /// Nanoseconds since midnight.
    pub fn nanos_of_day(&self) -> u64 {
        self.nanos
    }

    /// The zone.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The offset in seconds; a region counts without daylight saving unless the date was known.
    pub fn offset_seconds(&self) -> Option<i32> {
        (!self.zone.is_local()).then_some(self.offset)
    }

    /// Nanoseconds since midnight in UTC, may be below zero or above a day.
    pub(crate) fn utc_nanos(&self) -> i128 {
        i128::from(self.nanos) - i128::from(self.offset) * i128::from(NANOS_PER_SECOND)
    }

    /// The time after a duration, around midnight if need be.
    #[must_use]
    pub(crate) fn plus_nanos(&self, nanos: i128) -> Self {
        let total = (i128::from(self.nanos) + nanos % NANOS_PER_DAY).rem_euclid(NANOS_PER_DAY);
        Self { nanos: total as u64, ..self.clone() }
    }

    /// Order of two times of which both or none have a zone.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        if self.zone.is_local() != other.zone.is_local() {
            return None;
        }
        Some(self.utc_nanos().cmp(&other.utc_nanos()))
    }

    /// The clock reading alone, as `jiff` knows it.
    pub fn to_civil(&self) -> Option<jiff::civil::Time> {
        civil_time(self.nanos)
    }

    /// The time as ISO 8601, with an offset for a region; seconds always.
    pub(crate) fn to_iso(&self) -> String {
        let zone = self.offset_seconds().map_or(Zone::Local, Zone::Offset);
        Self { nanos: self.nanos, zone, offset: self.offset }.to_string()
    }

    /// The form of a local time in variables: zero seconds are omitted.
    pub(crate) fn to_short(&self) -> String {
        if self.zone.is_local() && self.nanos.is_multiple_of(60 * NANOS_PER_SECOND) {
            format!("{:02}:{:02}", self.hour(), self.minute())
        } else {
            self.to_string()
        }
    }
}

pub(super) fn civil_time(nanos: u64) -> Option<jiff::civil::Time> {
    let seconds = nanos / NANOS_PER_SECOND;
    jiff::civil::Time::new(
        (seconds / 3600) as i8,
        (seconds / 60 % 60) as i8,
        (seconds % 60) as i8,
        (nanos % NANOS_PER_SECOND) as i32,
    )
    .ok()
}

/// Reads `HH:MM[:SS[.f]]`; gives nanoseconds of the day, whether there were seconds, and the rest.
pub(super) fn parse_clock(text: &str) -> Option<(u64, bool, &str)> {
    let (hour, rest) = digits(text, 2, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2, 2)?;
    let (second, nanos, has_seconds, rest) = match rest.strip_prefix(':') {
        None => (0, 0, false, rest),
        Some(rest) => {
            let (second, rest) = digits(rest, 2, 2)?;
            match rest.strip_prefix('.') {
                None => (second, 0, true, rest),
                Some(fraction) => {
                    let (value, rest) = digits(fraction, 1, 9)?;
                    let places = fraction.len() - rest.len();
                    (second, value * 10u64.pow(9 - places as u32), true, rest)
                }
            }
        }
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = hour * 3600 + minute * 60 + second;
    Some((seconds * NANOS_PER_SECOND + nanos, has_seconds, rest))
}

/// Writes `HH:MM:SS[.f]`.
pub(super) fn write_clock(formatter: &mut fmt::Formatter<'_>, nanos: u64) -> fmt::Result {
    let seconds = nanos / NANOS_PER_SECOND;
    write!(formatter, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    write_fraction(formatter, nanos % NANOS_PER_SECOND)
}

/// Writes a fraction of a second as `.f` without trailing zeros, nothing for zero.
pub(super) fn write_fraction(formatter: &mut impl fmt::Write, nanos: u64) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    let digits = format!("{nanos:09}");
    write!(formatter, ".{}", digits.trim_end_matches('0'))
}

impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_clock(formatter, self.nanos)?;
        match &self.zone {
            Zone::Local => Ok(()),
            Zone::Offset(offset) => write_offset(formatter, *offset),
            Zone::Named(zone) => write!(formatter, "@{}", zone.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["10:30:00", "10:30:00Z", "10:30:00-05:30", "23:59:59.125", "10:30:00@Europe/Berlin"] {
            assert_eq!(Time::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Time::parse("T10:30").unwrap().to_string(), "10:30:00");
        for bad in
            ["10", "24:00:00", "10:60", "10:30Z", "10:30:00@Nowhere/Land", "10:30:00+19:00", "10:30:00."]
        {
            assert!(Time::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn regions_count_without_daylight_saving_on_both_hemispheres() {
        assert_eq!(Time::parse("10:30:00@Europe/Berlin").unwrap().to_iso(), "10:30:00+01:00");
        assert_eq!(Time::parse("10:30:00@Australia/Sydney").unwrap().to_iso(), "10:30:00+10:00");
    }

    #[test]
    fn adding_wraps_around_midnight() {
        let time = Time::parse("23:30:00").unwrap();
        assert_eq!(time.plus_nanos(3_600 * 1_000_000_000).to_string(), "00:30:00");
        assert_eq!(time.plus_nanos(-86_400 * 1_000_000_000 * 3).to_string(), "23:30:00");
    }
}
