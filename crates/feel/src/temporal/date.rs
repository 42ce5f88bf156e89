//! Calendar dates of the proleptic Gregorian calendar, years -999,999,999 to 999,999,999.

use super::digits;
use std::fmt;

/// A date without time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Date {
    year: i32,
    month: u8,
    day: u8,
}

/// Years have at most nine digits (DMN 1.5 §10.3.2.3.5).
const YEAR_MAX: i64 = 999_999_999;

/// English names of the days, Monday first.
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// English names of the months.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Date {
    /// The date, if the calendar has it.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let valid = (-YEAR_MAX..=YEAR_MAX).contains(&year)
            && (1..=12).contains(&month)
            && day >= 1
            && day <= i64::from(month_length(year, month as u8));
        valid.then_some(Self { year: year as i32, month: month as u8, day: day as u8 })
    }

    /// Reads `-?YYYY-MM-DD`; a year of more than four digits has no leading zero.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, rest) = Self::parse_prefix(text)?;
        rest.is_empty().then_some(date)
    }

    pub(super) fn parse_prefix(text: &str) -> Option<(Self, &str)> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (year, rest) = digits(unsigned, 4, 9)?;
        if unsigned.len() - rest.len() > 4 && unsigned.starts_with('0') {
            return None;
        }
        let (month, rest) = digits(rest.strip_prefix('-')?, 2, 2)?;
        let (day, rest) = digits(rest.strip_prefix('-')?, 2, 2)?;
        let year = if negative { -(year as i64) } else { year as i64 };
        Some((Self::new(year, month as i64, day as i64)?, rest))
    }

    /// Days since 1970-01-01.
    pub fn epoch_days(self) -> i64 {
        // Counted in 400-year eras that begin on 1 March (Hinnant, "chrono-compatible low-level date algorithms").
        let month = i64::from(self.month);
        let year = i64::from(self.year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(self.day) - 1;
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
    }

    /// The date at a number of days after 1970-01-01.
    pub fn from_epoch_days(days: i64) -> Option<Self> {
        let shifted = days.checked_add(719_468)?;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era.checked_mul(400)?.checked_add(year_of_era)? + i64::from(month <= 2);
        Self::new(year, month, day)
    }

    /// The date a number of months later; the day is cut to the length of the month.
    pub fn plus_months(self, months: i64) -> Option<Self> {
        let total = (i64::from(self.year) * 12 + i64::from(self.month) - 1).checked_add(months)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        if !(-YEAR_MAX..=YEAR_MAX).contains(&year) {
            return None;
        }
        let day = i64::from(self.day).min(i64::from(month_length(year, month as u8)));
        Self::new(year, month, day)
    }

    /// The last day of this date's month.
    #[must_use]
    pub fn last_of_month(self) -> Self {
        Self { day: month_length(i64::from(self.year), self.month), ..self }
    }

    /// The year.
    pub fn year(self) -> i32 {
        self.year
    }

    /// The month, 1 to 12.
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, 1 to 31.
    pub fn day(self) -> u8 {
        self.day
    }

    /// The day of the week, Monday is 1.
    pub fn weekday(self) -> i64 {
        (self.epoch_days() + 3).rem_euclid(7) + 1
    }

    /// The English name of the day of the week.
    pub fn weekday_name(self) -> &'static str {
        DAYS[(self.weekday() - 1) as usize]
    }

    /// The English name of the month.
    pub fn month_name(self) -> &'static str {
        MONTHS[usize::from(self.month) - 1]
    }

    /// The day of the year, from 1.
    pub fn day_of_year(self) -> i64 {
        self.epoch_days() - Self { month: 1, day: 1, ..self }.epoch_days() + 1
    }

    /// The ISO 8601 week of the year.
    pub fn week_of_year(self) -> i64 {
        // The week belongs to the year that has its Thursday.
        let thursday = self.epoch_days() + 4 - self.weekday();
        Self::from_epoch_days(thursday).map_or(1, |date| (date.day_of_year() - 1) / 7 + 1)
    }

    /// The date as `jiff` knows it, if the year is within its -9999 to 9999.
    pub fn to_civil(self) -> Option<jiff::civil::Date> {
        jiff::civil::Date::new(i16::try_from(self.year).ok()?, self.month as i8, self.day as i8).ok()
    }
}

impl From<jiff::civil::Date> for Date {
    fn from(date: jiff::civil::Date) -> Self {
        Self { year: i32::from(date.year()), month: date.month() as u8, day: date.day() as u8 }
    }
}

fn month_length(year: i64, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.year < 0 { "-" } else { "" };
        write!(formatter, "{sign}{:04}-{:02}-{:02}", self.year.unsigned_abs(), self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoch_days_run_through_without_a_gap() {
        let start = Date::new(-401, 12, 31).map(Date::epoch_days).unwrap();
        let mut previous = Date::from_epoch_days(start).unwrap();
        for days in start + 1..start + 146_097 * 3 {
            let date = Date::from_epoch_days(days).unwrap();
            assert_eq!(date.epoch_days(), days);
            assert!(date > previous);
            previous = date;
        }
        assert_eq!(Date::parse("1970-01-01").unwrap().epoch_days(), 0);
    }

    #[test]
    fn text_is_strict() {
        for good in ["2024-02-29", "-0044-03-15", "999999999-12-31"] {
            assert_eq!(Date::parse(good).unwrap().to_string(), good);
        }
        for bad in ["2023-02-29", "2023-6-1", "02023-06-01", "1234567890-01-01", "2023-06-01x", ""] {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn weeks_belong_to_the_year_of_their_thursday() {
        for (text, week) in [("2005-01-01", 53), ("2003-12-29", 1), ("2005-01-03", 1), ("2019-09-17", 38)] {
            assert_eq!(Date::parse(text).unwrap().week_of_year(), week, "{text}");
        }
    }
}
