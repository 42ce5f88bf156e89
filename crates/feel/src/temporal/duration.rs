//! The texts of the two kinds of duration (DMN 1.5 §10.3.2.3.7 and .8).

use super::time::write_fraction;
use super::{NANOS_PER_SECOND, digits};
use jiff::SignedDuration;
use std::fmt::Write;

/// Digits of one component; more cannot be a sensible duration.
const COMPONENT_DIGITS_MAX: usize = 18;

/// Reads `-?P[nY][nM]` as months; each component may have a minus of its own.
pub(crate) fn parse_years_months(text: &str) -> Option<i64> {
    let (sign, rest) = sign(text);
    let rest = rest.strip_prefix('P')?;
    let (years, rest) = component(rest, 'Y');
    let (months, rest) = component(rest, 'M');
    if !rest.is_empty() || (years.is_none() && months.is_none()) {
        return None;
    }
    years.unwrap_or(0).checked_mul(12)?.checked_add(months.unwrap_or(0))?.checked_mul(sign)
}

/// Reads `-?P[nD][T[nH][nM][n[.f]S]]`; each component may have a minus of its own.
pub(crate) fn parse_days_time(text: &str) -> Option<SignedDuration> {
    let (sign, rest) = sign(text);
    let rest = rest.strip_prefix('P')?;
    let (days, rest) = component(rest, 'D');
    let mut seconds = days.unwrap_or(0).checked_mul(86_400)?;
    let mut nanos = 0i64;
    if let Some(rest) = rest.strip_prefix('T') {
        let (hours, rest) = component(rest, 'H');
        let (minutes, rest) = component(rest, 'M');
        seconds = seconds.checked_add(hours.unwrap_or(0).checked_mul(3600)?)?;
        seconds = seconds.checked_add(minutes.unwrap_or(0).checked_mul(60)?)?;
        if rest.is_empty() {
            hours.or(minutes)?;
        } else {
            let (whole, fraction) = seconds_component(rest)?;
            seconds = seconds.checked_add(whole)?;
            nanos = fraction;
        }
    } else if !rest.is_empty() || days.is_none() {
        return None;
    }
    let total = i128::from(seconds) * i128::from(NANOS_PER_SECOND) + i128::from(nanos);
    from_nanos(total * i128::from(sign))
}

/// The duration of so many nanoseconds, if it fits.
pub(crate) fn from_nanos(nanos: i128) -> Option<SignedDuration> {
    let seconds = i64::try_from(nanos / i128::from(NANOS_PER_SECOND)).ok()?;
    if seconds == i64::MIN {
        return None;
    }
    Some(SignedDuration::new(seconds, (nanos % i128::from(NANOS_PER_SECOND)) as i32))
}

fn sign(text: &str) -> (i64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    }
}

/// Reads `-?n<unit>` if it is there; gives the rest either way.
fn component(text: &str, unit: char) -> (Option<i64>, &str) {
    let (sign, unsigned) = sign(text);
    let Some((value, rest)) = digits(unsigned, 1, COMPONENT_DIGITS_MAX) else {
        return (None, text);
    };
    match rest.strip_prefix(unit) {
        Some(rest) => (Some(sign * value as i64), rest),
        None => (None, text),
    }
}

/// Reads `-?n[.f]S` to the end; gives seconds and nanoseconds.
fn seconds_component(text: &str) -> Option<(i64, i64)> {
    let (sign, unsigned) = sign(text);
    let (whole, rest) = digits(unsigned, 1, COMPONENT_DIGITS_MAX)?;
    let mut nanos = 0;
    let mut rest = rest;
    if let Some(fraction) = rest.strip_prefix('.') {
        let (value, after) = digits(fraction, 0, 9)?;
        nanos = value as i64 * 10i64.pow(9 - (fraction.len() - after.len()) as u32);
        rest = after;
    }
    (rest == "S").then_some((sign * whole as i64, sign * nanos))
}

/// Writes months as `P1Y2M`; zero is `P0Y`.
pub(crate) fn format_years_months(months: i64) -> String {
    if months == 0 {
        return "P0Y".to_owned();
    }
    let mut text = String::from(if months < 0 { "-P" } else { "P" });
    let total = months.unsigned_abs();
    // Writing to a String cannot fail.
    if total / 12 != 0 {
        let _ = write!(text, "{}Y", total / 12);
    }
    if !total.is_multiple_of(12) {
        let _ = write!(text, "{}M", total % 12);
    }
    text
}

/// Writes a duration as `P1DT2H3M4.5S`; zero is `P0D`.
pub(crate) fn format_days_time(duration: SignedDuration) -> String {
    if duration.is_zero() {
        return "P0D".to_owned();
    }
    let seconds = duration.as_secs().unsigned_abs();
    let mut text = String::from(if duration.is_negative() { "-P" } else { "P" });
    if seconds / 86_400 != 0 {
        let _ = write!(text, "{}D", seconds / 86_400);
    }
    write_clock(&mut text, seconds % 86_400, duration);
    text
}

/// Writes a duration in hours, minutes, and seconds, as `PT26H3M`; zero is `PT0S`.
pub(crate) fn format_iso_hours(duration: SignedDuration) -> String {
    if duration.is_zero() {
        return "PT0S".to_owned();
    }
    let mut text = String::from(if duration.is_negative() { "-P" } else { "P" });
    write_clock(&mut text, duration.as_secs().unsigned_abs(), duration);
    text
}

fn write_clock(text: &mut String, seconds: u64, duration: SignedDuration) {
    let nanos = u64::from(duration.subsec_nanos().unsigned_abs());
    if seconds == 0 && nanos == 0 {
        return;
    }
    text.push('T');
    if seconds / 3600 != 0 {
        let _ = write!(text, "{}H", seconds / 3600);
    }
    if !(seconds / 60).is_multiple_of(60) {
        let _ = write!(text, "{}M", seconds / 60 % 60);
    }
    if !seconds.is_multiple_of(60) || nanos != 0 {
        let _ = write!(text, "{}", seconds % 60);
        let _ = write_fraction(text, nanos);
        text.push('S');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_time_texts() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse_days_time(text).map(format_days_time).as_deref(), Some(expected), "{text}");
        };
        check("P1DT2H3M4S", "P1DT2H3M4S");
        check("PT36H", "P1DT12H");
        check("-PT0S", "P0D");
        check("PT-3M-4S", "-PT3M4S");
        check("PT0.5S", "PT0.5S");
        check("-PT0.5S", "-PT0.5S");
        for bad in ["P", "PT", "P1DT", "P1Y", "1D", "PT1S1M", "P1.5D", "PT999999999999999999999S"] {
            assert!(parse_days_time(bad).is_none(), "{bad}");
        }
        assert_eq!(parse_days_time("P1DT1H").map(format_iso_hours).as_deref(), Some("PT25H"));
    }

    #[test]
    fn years_and_months_texts() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                parse_years_months(text).map(format_years_months).as_deref(),
                Some(expected),
                "{text}"
            );
        };
        check("P1Y14M", "P2Y2M");
        check("-P1Y2M", "-P1Y2M");
        check("P-1Y-2M", "-P1Y2M");
        check("P0Y0M", "P0Y");
        for bad in ["P", "P1D", "P1M1Y", "PT1M", "1Y"] {
            assert!(parse_years_months(bad).is_none(), "{bad}");
        }
    }
}
