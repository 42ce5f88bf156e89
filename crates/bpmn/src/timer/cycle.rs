//! Cycles: repeating intervals and cron expressions.

use super::cron::Cron;
use super::{Interval, TimerError, parse_date, trimmed};
use crate::problem::excerpt;

/// A timer that fires again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// Number of repetitions; `None` is unlimited.
    pub repetitions: Option<u32>,
    schedule: Schedule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Schedule {
    Interval { start_ms: Option<i64>, interval: Interval },
    Cron(Box<Cron>),
}

impl Cycle {
    /// Reads `R3/PT1H`, `R/PT1H` and `R-1/PT1H` (without end), `R3/<date and time>/P1D`, or a cron expression of six
    /// fields (second, minute, hour, day of month, month, day of week) or one of its macros, in UTC.
    pub fn parse(text: &str) -> Result<Self, TimerError> {
        let error = |cause: String| TimerError::Cycle { text: excerpt(text), cause };
        let trimmed = trimmed(text).ok_or_else(|| error(super::TOO_LONG.to_owned()))?;
        let Some(rest) = trimmed.strip_prefix('R') else {
            let cron = Cron::parse(trimmed).map_err(error)?;
            return Ok(Self { repetitions: None, schedule: Schedule::Cron(Box::new(cron)) });
        };
        let (count, rest) = rest
            .split_once('/')
            .ok_or_else(|| error("an interval must follow the repetitions".to_owned()))?;
        let repetitions = match count {
            "" | "-1" => None,
            count if count.bytes().all(|digit| digit.is_ascii_digit()) => {
                Some(count.parse().map_err(|_| error("the number of repetitions is too large".to_owned()))?)
            }
            _ => return Err(error("the repetitions must be a number".to_owned())),
        };
        // A zone name may hold a slash, a duration cannot.
        let (start_ms, interval) = match rest.rsplit_once('/') {
            None => (None, rest),
            Some((start, interval)) => {
                (Some(parse_date(start).map_err(|cause| error(cause.to_string()))?), interval)
            }
        };
        let interval = Interval::parse(interval).map_err(|cause| error(cause.to_string()))?;
        // Otherwise an unlimited cycle would fire without a pause.
        if interval.after(0) <= 0 {
            return Err(error("the interval must be longer than zero".to_owned()));
        }
        Ok(Self { repetitions, schedule: Schedule::Interval { start_ms, interval } })
    }

    /// When it fires first, seen from `now_ms`: at its start (at once if that has passed), or one interval from now.
    /// `None` if it never does.
    pub fn first(&self, now_ms: i64) -> Option<i64> {
        match &self.schedule {
            _ if self.repetitions == Some(0) => None,
            Schedule::Interval { start_ms: Some(start_ms), .. } => Some(now_ms.max(*start_ms)),
            Schedule::Interval { start_ms: None, interval } => Some(interval.after(now_ms)),
            Schedule::Cron(cron) => cron.next(now_ms),
        }
    }

    /// When it fires next after having been due at `previous_due_ms`: one interval later, so that lateness does not
    /// add up, but not before `now_ms`; missed times are not made up for. The caller counts the repetitions.
    pub fn next(&self, previous_due_ms: i64, now_ms: i64) -> Option<i64> {
        match &self.schedule {
            Schedule::Interval { interval, .. } => Some(interval.after(previous_due_ms).max(now_ms)),
            Schedule::Cron(cron) => cron.next(previous_due_ms.max(now_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_000;

    #[test]
    fn reads_cycles() {
        let hour = 3_600_000;
        for (text, repetitions, first) in [
            ("R3/PT1H", Some(3), Some(NOW + hour)),
            ("R/PT1H", None, Some(NOW + hour)),
            ("R-1/PT1H", None, Some(NOW + hour)),
            ("R0/PT1H", Some(0), None),
            ("R3/2030-01-01T00:00:00Z/P1D", Some(3), Some(1_893_456_000_000)),
            ("R3/2030-01-01T01:00:00+01:00[Europe/Berlin]/P1D", Some(3), Some(1_893_456_000_000)),
            ("R/2000-01-01T00:00:00Z/P1D", None, Some(NOW)),
            // 2023-11-14T22:13:20Z
            ("@daily", None, Some(NOW + 6_400_000)),
            ("*/30 * * * * *", None, Some(NOW + 10_000)),
        ] {
            let cycle = Cycle::parse(text).unwrap();
            assert_eq!((cycle.repetitions, cycle.first(NOW)), (repetitions, first), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_cycle() {
        for text in [
            "",
            "R",
            "R3",
            "R3/",
            "R3PT1H",
            "Rx/PT1H",
            "R-2/PT1H",
            "R99999999999/PT1H",
            "R+1/PT1H",
            "PT1H",
            "R3/PT0S",
            "R/-PT1H",
            "R3/tomorrow/P1D",
            "R3/2030-01-01T00:00:00/P1D",
            "R3/PT1H/2030-01-01T00:00:00Z",
            "* * * * *",
            "* * * * * * *",
        ] {
            assert!(Cycle::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn goes_on_without_drift_and_without_making_up() {
        let cycle = Cycle::parse("R/PT10S").unwrap();
        assert_eq!(cycle.next(NOW, NOW + 300), Some(NOW + 10_000));
        assert_eq!(cycle.next(NOW, NOW + 60_000), Some(NOW + 60_000));
        let started = Cycle::parse("R/2030-01-01T00:00:00Z/P1M").unwrap();
        let first = started.first(NOW).unwrap();
        assert_eq!(started.next(first, first + 5), Some(first + 31 * 86_400_000));
        let cron = Cycle::parse("@hourly").unwrap();
        let first = cron.first(NOW).unwrap();
        assert_eq!(cron.next(first, first + 7), Some(first + 3_600_000));
        assert_eq!(cron.next(first, first + 2 * 3_600_000 + 1), Some(first + 3 * 3_600_000));
    }
}
