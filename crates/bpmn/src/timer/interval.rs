//! Durations: ISO 8601 `PnYnMnWnDTnHnMnS`.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

use super::{TimerError, trimmed};
use crate::problem::excerpt;

const MS_PER_SECOND: i64 = 1_000;
const MS_PER_MINUTE: i64 = 60 * MS_PER_SECOND;
const MS_PER_HOUR: i64 = 60 * MS_PER_MINUTE;
const MS_PER_DAY: i64 = 24 * MS_PER_HOUR;

/// A length of time with a calendar part, because a month has no fixed length. Any part may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Years and months, in months.
    pub months: i64,
    /// Weeks and days, in days.
    pub days: i64,
    /// Hours, minutes and seconds, in milliseconds.
    pub milliseconds: i64,
}

impl Interval {
    /// Reads `PnYnMnWnDTnHnMnS`. A sign may precede the whole or any number; only seconds may have a fraction, of
    /// which milliseconds count.
    pub fn parse(text: &str) -> Result<Self, TimerError> {
        let error = |cause: &str| TimerError::Duration { text: excerpt(text), cause: cause.to_owned() };
        let trimmed = trimmed(text).ok_or_else(|| error(super::TOO_LONG))?;
        Parser { rest: trimmed }.interval().map_err(error)
    }

    /// The instant that lies this interval after another, in UTC: months first (clamped to the length of the
    /// month), then days, then the rest. Saturates at the ends of what 64 bits hold.
    pub fn after(&self, from_ms: i64) -> i64 {
        let shifted = if self.months == 0 { from_ms } else { add_months(from_ms, self.months) };
        shifted.saturating_add(self.days.saturating_mul(MS_PER_DAY)).saturating_add(self.milliseconds)
    }
}

/// Calendar addition in UTC; saturates outside the years that the calendar knows.
fn add_months(from_ms: i64, months: i64) -> i64 {
    let saturated = if months > 0 { i64::MAX } else { i64::MIN };
    let shift = || -> Option<DateTime> {
        let from = Offset::UTC.to_datetime(Timestamp::from_millisecond(from_ms).ok()?);
        from.checked_add(Span::new().try_months(months).ok()?).ok()
    };
    match shift().map(|to| Offset::UTC.to_timestamp(to)) {
        Some(Ok(instant)) => instant.as_millisecond(),
        _ => saturated,
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn interval(mut self) -> Result<Interval, &'static str> {
        let negative = self.sign();
        if !self.eat('P') {
            return Err("it must start with P");
        }
        let mut interval = Interval::default();
        let date_units = self.part(&[('Y', 12), ('M', 1), ('W', 7), ('D', 1)], |unit, amount| {
            let sum = if matches!(unit, 'Y' | 'M') { &mut interval.months } else { &mut interval.days };
            *sum = sum.checked_add(amount)?;
            Some(())
        })?;
        let mut time_units = 0;
        if self.eat('T') {
            time_units =
                self.part(&[('H', MS_PER_HOUR), ('M', MS_PER_MINUTE), ('S', MS_PER_SECOND)], |_, amount| {
                    interval.milliseconds = interval.milliseconds.checked_add(amount)?;
                    Some(())
                })?;
            if time_units == 0 {
                return Err("the T must be followed by hours, minutes or seconds");
            }
        }
        if !self.rest.is_empty() {
            return Err("a unit is unknown, repeated or out of order");
        }
        if date_units + time_units == 0 {
            return Err("it has no number with a unit");
        }
        if negative {
            interval = Interval {
                months: -interval.months,
                days: interval.days.saturating_neg(),
                milliseconds: interval.milliseconds.saturating_neg(),
            };
        }
        Ok(interval)
    }

    /// Reads numbers with the given units in order; passes each amount, scaled, to `add`. Returns their number.
    fn part(
        &mut self,
        units: &[(char, i64)],
        mut add: impl FnMut(char, i64) -> Option<()>,
    ) -> Result<usize, &'static str> {
        const TOO_LARGE: &str = "a number is too large";
        let mut count = 0;
        let mut next_unit = 0;
        while !self.rest.is_empty() && !self.rest.starts_with('T') {
            let negative = self.sign();
            let whole = self.digits();
            let fraction = if self.eat('.') || self.eat(',') { Some(self.digits()) } else { None };
            let Some(unit) = self.rest.chars().next() else { return Err("a number has no unit") };
            let Some(found) = units[next_unit..].iter().position(|(name, _)| *name == unit) else {
                return Err("a unit is unknown, repeated or out of order");
            };
            self.rest = &self.rest[unit.len_utf8()..];
            let scale = units[next_unit + found].1;
            next_unit += found + 1;
            if whole.is_empty() {
                return Err("a number is missing");
            }
            let mut amount = whole.parse::<i64>().ok().and_then(|n| n.checked_mul(scale)).ok_or(TOO_LARGE)?;
            if let Some(fraction) = fraction {
                if unit != 'S' || fraction.is_empty() {
                    return Err("only seconds may have a fraction");
                }
                amount = amount.checked_add(milliseconds_of(fraction)).ok_or(TOO_LARGE)?;
            }
            add(unit, if negative { -amount } else { amount }).ok_or(TOO_LARGE)?;
            count += 1;
        }
        Ok(count)
    }

    fn sign(&mut self) -> bool {
        let negative = self.eat('-');
        if !negative {
            self.eat('+');
        }
        negative
    }

    fn eat(&mut self, expected: char) -> bool {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn digits<'b>(&mut self) -> &'b str
    where
        Self: 'b,
    {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits
    }
}

/// The first three digits of a fraction of a second.
fn milliseconds_of(fraction: &str) -> i64 {
    fraction.bytes().chain(*b"000").take(3).fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::parse_date;

    #[test]
    fn reads_durations() {
        let interval = |months, days, milliseconds| Interval { months, days, milliseconds };
        for (text, expected) in [
            ("PT1H", interval(0, 0, 3_600_000)),
            ("PT0S", interval(0, 0, 0)),
            (" PT15S ", interval(0, 0, 15_000)),
            ("PT0.25S", interval(0, 0, 250)),
            ("PT1,5S", interval(0, 0, 1_500)),
            ("PT0.0019S", interval(0, 0, 1)),
            ("P1Y2M3W4DT5H6M7S", interval(14, 25, 18_367_000)),
            ("P2W", interval(0, 14, 0)),
            ("P1M", interval(1, 0, 0)),
            ("PT36H", interval(0, 0, 129_600_000)),
            ("-P1DT1H", interval(0, -1, -3_600_000)),
            ("+PT1S", interval(0, 0, 1_000)),
            ("P-1DT-1S", interval(0, -1, -1_000)),
        ] {
            assert_eq!(Interval::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "1H",
            "PT1",
            "P1H",
            "PT1D",
            "PTH",
            "PT1M1H",
            "PT1H1H",
            "P1.5D",
            "PT1.S",
            "PT.5S",
            "PT1H x",
            "R3/PT1H",
            "PT99999999999999999999S",
            "PT9223372036854775807H",
            "P€",
            "--PT1H",
            "P1Y-",
        ] {
            assert!(Interval::parse(text).is_err(), "{text}");
        }
        assert!(Interval::parse(&format!("PT{}S", "1".repeat(5_000))).is_err());
    }

    #[test]
    fn adds_by_the_calendar() {
        for (from, interval, expected) in [
            ("2024-01-31T10:00:00Z", "P1M", "2024-02-29T10:00:00Z"),
            ("2023-01-31T10:00:00Z", "P1M", "2023-02-28T10:00:00Z"),
            ("2024-02-29T00:00:00Z", "P1Y", "2025-02-28T00:00:00Z"),
            ("2024-03-31T00:00:00Z", "-P1M", "2024-02-29T00:00:00Z"),
            ("2024-01-31T23:30:00Z", "P1M1DT1H", "2024-03-02T00:30:00Z"),
            ("2024-03-30T12:00:00Z", "P1D", "2024-03-31T12:00:00Z"),
            ("1969-12-31T00:00:00Z", "PT0.001S", "1969-12-31T00:00:00.001Z"),
        ] {
            let from = parse_date(from).unwrap();
            let after = Interval::parse(interval).unwrap().after(from);
            assert_eq!(after, parse_date(expected).unwrap(), "{interval}");
        }
    }

    #[test]
    fn saturates() {
        let years = |years: i64| Interval { months: years * 12, ..Interval::default() };
        assert_eq!(years(9_000).after(0), i64::MAX);
        assert_eq!(years(-90_000).after(0), i64::MIN);
        assert_eq!(Interval { days: i64::MAX, ..Interval::default() }.after(5), i64::MAX);
        assert_eq!(Interval { months: i64::MIN, days: 0, milliseconds: 0 }.after(i64::MAX), i64::MIN);
    }
}
