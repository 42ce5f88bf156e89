//! Cron expressions of six fields, evaluated in UTC.
//!
//! `second minute hour day-of-month month day-of-week`, each a list of values, ranges and steps. A day must match both
//! of its fields. Day of month also knows `L` (last day), `L-3`, `LW` (last weekday) and `15W` (nearest weekday); day
//! of week knows `5L` (last Friday) and `5#2` (second Friday), 0 and 7 being Sunday. Macros: `@yearly`, `@annually`,
//! `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`.

use jiff::civil::{Date, Weekday};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};

/// Horizon of the search for the next time, in years. February 29th on a given weekday comes at most 40 years later.
const MAX_YEARS: i16 = 50;

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const MACROS: [(&str, &str); 7] = [
    ("@yearly", "0 0 0 1 1 *"),
    ("@annually", "0 0 0 1 1 *"),
    ("@monthly", "0 0 0 1 * *"),
    ("@weekly", "0 0 0 * * 0"),
    ("@daily", "0 0 0 * * *"),
    ("@midnight", "0 0 0 * * *"),
    ("@hourly", "0 0 * * * *"),
];

/// A set of small numbers.
type Bits = u64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cron {
    seconds: Bits,
    minutes: Bits,
    hours: Bits,
    months: Bits,
    days: DaysOfMonth,
    weekdays: DaysOfWeek,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct DaysOfMonth {
    plain: Bits,
    /// Nearest weekday to these days.
    nearest_weekday: Bits,
    /// Numbers of days before the last day.
    before_last: Bits,
    last_weekday: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct DaysOfWeek {
    plain: Bits,
    /// Last such weekday of the month.
    last: Bits,
    /// The n-th such weekday of the month: index n - 1.
    nth: [Bits; 5],
}

/// Range and names of a field.
struct Field {
    name: &'static str,
    min: u8,
    max: u8,
    names: &'static [&'static str],
    /// The number of the first name.
    first_name: u8,
}

const SECOND: Field = Field { name: "second", min: 0, max: 59, names: &[], first_name: 0 };
const MINUTE: Field = Field { name: "minute", min: 0, max: 59, names: &[], first_name: 0 };
const HOUR: Field = Field { name: "hour", min: 0, max: 23, names: &[], first_name: 0 };
const DAY: Field = Field { name: "day of month", min: 1, max: 31, names: &[], first_name: 1 };
const MONTH: Field = Field { name: "month", min: 1, max: 12, names: &MONTHS, first_name: 1 };
const WEEKDAY: Field = Field { name: "day of week", min: 0, max: 7, names: &WEEKDAYS, first_name: 0 };

impl Cron {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = match MACROS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
            Some((_, expansion)) => expansion,
            None if text.starts_with('@') => return Err("the macro is unknown".to_owned()),
            None => text,
        };
        let upper = text.to_ascii_uppercase();
        let fields: Vec<&str> = upper.split_ascii_whitespace().collect();
        let &[second, minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(format!("it has {} fields", fields.len()));
        };
        let cron = Self {
            seconds: SECOND.bits(second)?,
            minutes: MINUTE.bits(minute)?,
            hours: HOUR.bits(hour)?,
            months: MONTH.bits(month)?,
            days: DaysOfMonth::parse(day)?,
            weekdays: DaysOfWeek::parse(weekday)?,
        };
        // The start does not matter: the horizon covers every combination of dates.
        cron.next(0).map(|_| cron).ok_or_else(|| "no date matches its fields".to_owned())
    }

    /// The first matching time strictly after another.
    pub(super) fn next(&self, after_ms: i64) -> Option<i64> {
        let first_second = after_ms.div_euclid(1_000) + 1;
        let start = Offset::UTC.to_datetime(Timestamp::from_second(first_second).ok()?);
        let mut date = start.date();
        let mut from = Some((start.hour(), start.minute(), start.second()));
        let last_year = date.year().saturating_add(MAX_YEARS);
        while date.year() <= last_year {
            if !has(self.months, date.month()) {
                date = date.first_of_month().checked_add(1.month()).ok()?;
                from = None;
                continue;
            }
            if self.days.matches(date)
                && self.weekdays.matches(date)
                && let Some((hour, minute, second)) = self.time_from(from.unwrap_or((0, 0, 0)))
            {
                let time = date.at(hour, minute, second, 0);
                return Offset::UTC.to_timestamp(time).ok().map(Timestamp::as_millisecond);
            }
            date = date.tomorrow().ok()?;
            from = None;
        }
        None
    }

    /// The first matching time of day that is not before another.
    fn time_from(&self, (hour, minute, second): (i8, i8, i8)) -> Option<(i8, i8, i8)> {
        let first = |bits| lowest(bits, 0);
        if has(self.hours, hour) {
            if has(self.minutes, minute)
                && let Some(second) = lowest(self.seconds, second)
            {
                return Some((hour, minute, second));
            }
            if let Some(minute) = lowest(self.minutes, minute + 1) {
                return Some((hour, minute, first(self.seconds)?));
            }
        }
        Some((lowest(self.hours, hour + 1)?, first(self.minutes)?, first(self.seconds)?))
    }
}

impl Field {
    fn bits(&self, text: &str) -> Result<Bits, String> {
        text.split(',').try_fold(0, |bits, item| Ok(bits | self.item(item)?))
    }

    /// One item of a list: `*`, `n`, `a-b`, each optionally with `/step`.
    fn item(&self, item: &str) -> Result<Bits, String> {
        let (range, step) = match item.split_once('/') {
            None => (item, None),
            Some((range, step)) => {
                let step = step.parse::<u8>().ok().filter(|step| *step > 0);
                (range, Some(step.ok_or_else(|| self.error(item))?))
            }
        };
        let any = range == "*" || (range == "?" && matches!(self.name, "day of month" | "day of week"));
        let (low, high) = if any {
            (self.min, self.max)
        } else if let Some((low, high)) = range.split_once('-') {
            let low = self.value(low)?;
            // A range may end on Sunday although Sunday is also the first day.
            let high = match self.value(high)? {
                0 if self.max == 7 && low > 0 => 7,
                high => high,
            };
            (low, high)
        } else {
            let value = self.value(range)?;
            (value, if step.is_some() { self.max } else { value })
        };
        if low > high {
            return Err(self.error(item));
        }
        Ok((low..=high).step_by(usize::from(step.unwrap_or(1))).fold(0, |bits, value| bits | 1 << value))
    }

    fn value(&self, text: &str) -> Result<u8, String> {
        if let Some(index) = self.names.iter().position(|name| *name == text) {
            return Ok(self.first_name + index as u8);
        }
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = if digits { text.parse::<u8>().ok() } else { None };
        value.filter(|value| (self.min..=self.max).contains(value)).ok_or_else(|| self.error(text))
    }

    fn error(&self, item: &str) -> String {
        format!("'{item}' is not a {}", self.name)
    }
}

impl DaysOfMonth {
    fn parse(text: &str) -> Result<Self, String> {
        let mut days = Self::default();
        for item in text.split(',') {
            if item == "LW" {
                days.last_weekday = true;
            } else if item == "L" {
                days.before_last |= 1;
            } else if let Some(before) = item.strip_prefix("L-") {
                // At most 30 days before the last one, of which only some months have that many.
                let before = before.parse::<u8>().ok().filter(|days| *days <= 30);
                days.before_last |= 1 << before.ok_or_else(|| DAY.error(item))?;
            } else if let Some(day) = item.strip_suffix('W') {
                days.nearest_weekday |= 1 << DAY.value(day)?;
            } else {
                days.plain |= DAY.item(item)?;
            }
        }
        Ok(days)
    }

    fn matches(&self, date: Date) -> bool {
        let (day, length) = (date.day(), date.days_in_month());
        has(self.plain, day)
            || has(self.before_last, length - day)
            || (self.last_weekday && day == last_weekday(date))
            || (self.nearest_weekday != 0 && self.matches_nearest_weekday(date))
    }

    /// Whether the day is a weekday and a wanted day is at most two days away without a nearer weekday.
    fn matches_nearest_weekday(&self, date: Date) -> bool {
        let (day, length) = (date.day(), date.days_in_month());
        ((day - 2).max(1)..=(day + 2).min(length))
            .filter(|wanted| has(self.nearest_weekday, *wanted))
            .any(|wanted| nearest_weekday(date, wanted) == day)
    }
}

impl DaysOfWeek {
    fn parse(text: &str) -> Result<Self, String> {
        let sunday_first = |bits: Bits| (bits | (bits >> 7 & 1)) & 0x7f;
        let mut days = Self::default();
        for item in text.split(',') {
            if let Some((weekday, nth)) = item.split_once('#') {
                let nth = nth.parse::<usize>().ok().filter(|nth| (1..=5).contains(nth));
                let nth = nth.ok_or_else(|| WEEKDAY.error(item))?;
                days.nth[nth - 1] |= sunday_first(1 << WEEKDAY.value(weekday)?);
            } else if let Some(weekday) = item.strip_suffix('L') {
                days.last |= sunday_first(1 << WEEKDAY.value(weekday)?);
            } else {
                days.plain |= sunday_first(WEEKDAY.item(item)?);
            }
        }
        Ok(days)
    }

    fn matches(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset();
        has(self.plain, weekday)
            || (has(self.last, weekday) && date.day() + 7 > date.days_in_month())
            || has(self.nth[(date.day() as usize - 1) / 7], weekday)
    }
}

/// The last Monday-to-Friday of the month of a date.
fn last_weekday(date: Date) -> i8 {
    nearest_weekday_from(date.last_of_month().weekday(), date.days_in_month(), date.days_in_month())
}

/// The Monday-to-Friday nearest to a day of the month of a date, within that month.
fn nearest_weekday(date: Date, wanted: i8) -> i8 {
    let ahead = i64::from(wanted - date.day());
    let weekday =
        if ahead >= 0 { date.weekday().wrapping_add(ahead) } else { date.weekday().wrapping_sub(-ahead) };
    nearest_weekday_from(weekday, wanted, date.days_in_month())
}

fn nearest_weekday_from(weekday: Weekday, day: i8, length: i8) -> i8 {
    match weekday {
        Weekday::Saturday if day == 1 => 3,
        Weekday::Saturday => day - 1,
        Weekday::Sunday if day == length => day - 2,
        Weekday::Sunday => day + 1,
        _ => day,
    }
}

fn has(bits: Bits, value: i8) -> bool {
    bits >> value & 1 == 1
}

/// The lowest member that is not below a value.
fn lowest(bits: Bits, from: i8) -> Option<i8> {
    let rest = bits >> from << from;
    (rest != 0).then(|| rest.trailing_zeros() as i8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::parse_date;

    #[test]
    fn finds_the_next_times() {
        // 2024-01-01 is a Monday.
        for (expression, after, expected) in [
            ("* * * * * *", "2024-01-01T00:00:00Z", ["2024-01-01T00:00:01Z", "2024-01-01T00:00:02Z"]),
            ("*/10 * * * * *", "2024-01-01T00:00:55Z", ["2024-01-01T00:01:00Z", "2024-01-01T00:01:10Z"]),
            ("5/20 * * * * *", "2024-01-01T00:00:00Z", ["2024-01-01T00:00:05Z", "2024-01-01T00:00:25Z"]),
            (
                "0 0 9-17 * * MON-FRI",
                "2024-01-05T16:30:00Z",
                ["2024-01-05T17:00:00Z", "2024-01-08T09:00:00Z"],
            ),
            ("0 30 8,20 * * *", "2024-01-01T08:30:00Z", ["2024-01-01T20:30:00Z", "2024-01-02T08:30:00Z"]),
            ("59 59 23 31 12 ?", "2024-01-01T00:00:00Z", ["2024-12-31T23:59:59Z", "2025-12-31T23:59:59Z"]),
            ("0 0 0 29 2 *", "2024-03-01T00:00:00Z", ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]),
            ("0 0 0 31 * *", "2024-01-31T00:00:00Z", ["2024-03-31T00:00:00Z", "2024-05-31T00:00:00Z"]),
            ("0 0 0 13 * FRI", "2024-01-01T00:00:00Z", ["2024-09-13T00:00:00Z", "2024-12-13T00:00:00Z"]),
            ("0 0 0 L * *", "2024-01-31T00:00:00Z", ["2024-02-29T00:00:00Z", "2024-03-31T00:00:00Z"]),
            ("0 0 0 L-3 * *", "2024-01-31T00:00:00Z", ["2024-02-26T00:00:00Z", "2024-03-28T00:00:00Z"]),
            ("0 0 0 LW * *", "2024-02-29T00:00:00Z", ["2024-03-29T00:00:00Z", "2024-04-30T00:00:00Z"]),
            ("0 0 0 1W * *", "2024-05-02T00:00:00Z", ["2024-06-03T00:00:00Z", "2024-07-01T00:00:00Z"]),
            ("0 0 0 15W * *", "2024-06-01T00:00:00Z", ["2024-06-14T00:00:00Z", "2024-07-15T00:00:00Z"]),
            ("0 0 0 30W 6 *", "2024-01-01T00:00:00Z", ["2024-06-28T00:00:00Z", "2025-06-30T00:00:00Z"]),
            ("0 0 0 ? * 5L", "2024-01-01T00:00:00Z", ["2024-01-26T00:00:00Z", "2024-02-23T00:00:00Z"]),
            ("0 0 0 ? * THUL", "2024-01-01T00:00:00Z", ["2024-01-25T00:00:00Z", "2024-02-29T00:00:00Z"]),
            ("0 0 0 ? * 5#2", "2024-01-01T00:00:00Z", ["2024-01-12T00:00:00Z", "2024-02-09T00:00:00Z"]),
            ("0 0 0 ? * MON#1", "2024-01-01T00:00:00Z", ["2024-02-05T00:00:00Z", "2024-03-04T00:00:00Z"]),
            ("0 0 0 ? * SUN#5", "2024-01-01T00:00:00Z", ["2024-03-31T00:00:00Z", "2024-06-30T00:00:00Z"]),
            ("0 0 0 ? * 7", "2024-01-01T00:00:00Z", ["2024-01-07T00:00:00Z", "2024-01-14T00:00:00Z"]),
            ("0 0 0 ? * SAT-SUN", "2024-01-01T00:00:00Z", ["2024-01-06T00:00:00Z", "2024-01-07T00:00:00Z"]),
            ("0 0 0 1 jan,Jul *", "2024-01-01T00:00:00Z", ["2024-07-01T00:00:00Z", "2025-01-01T00:00:00Z"]),
            ("@yearly", "2024-01-01T00:00:00Z", ["2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"]),
            ("@annually", "2024-01-01T00:00:00Z", ["2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"]),
            ("@monthly", "2024-01-01T00:00:00Z", ["2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"]),
            ("@weekly", "2024-01-01T00:00:00Z", ["2024-01-07T00:00:00Z", "2024-01-14T00:00:00Z"]),
            ("@daily", "2024-01-01T00:00:00Z", ["2024-01-02T00:00:00Z", "2024-01-03T00:00:00Z"]),
            ("@midnight", "2024-02-28T12:00:00Z", ["2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"]),
            ("@Hourly", "2024-01-01T00:30:00Z", ["2024-01-01T01:00:00Z", "2024-01-01T02:00:00Z"]),
            ("0 0 0 1 1 *", "1969-06-01T00:00:00.5Z", ["1970-01-01T00:00:00Z", "1971-01-01T00:00:00Z"]),
        ] {
            let cron = Cron::parse(expression).unwrap();
            let mut at = parse_date(after).unwrap();
            for expected in expected {
                at = cron.next(at).unwrap();
                assert_eq!(Timestamp::from_millisecond(at).unwrap().to_string(), expected, "{expression}");
            }
        }
    }

    #[test]
    fn refuses_what_is_not_an_expression() {
        for text in [
            "",
            "@reboot",
            "* * * * *",
            "* * * * * * *",
            "60 * * * * *",
            "* 60 * * * *",
            "* * 24 * * *",
            "* * * 0 * *",
            "* * * 32 * *",
            "* * * * 13 *",
            "* * * * * 8",
            "* * * * FOO *",
            "*/0 * * * * *",
            "*/x * * * * *",
            "5-1 * * * * *",
            "? * * * * *",
            "1,,2 * * * * *",
            "+1 * * * * *",
            "-1 * * * * *",
            "* * * L-31 * *",
            "* * * W * *",
            "* * * 40W * *",
            "* * * * * 5#0",
            "* * * * * 5#6",
            "* * * * * L",
            "* * * 5L * *",
            "0 0 0 30 2 *",
            "0 0 0 31 4,6,9,11 *",
            "é * * * * *",
        ] {
            assert!(Cron::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ends_at_the_end_of_the_calendar() {
        let cron = Cron::parse("@yearly").unwrap();
        assert_eq!(cron.next(i64::MAX), None);
        assert_eq!(cron.next(parse_date("9999-06-01T00:00:00Z").unwrap()), None);
    }
}
