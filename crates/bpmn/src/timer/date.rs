//! Points in time: ISO 8601 date and time with an offset and, optionally, a zone in brackets.

use std::sync::LazyLock;

use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZoneDatabase;

use super::{TimerError, trimmed};
use crate::problem::excerpt;

/// The bundled zones, never those of the machine: every replica must agree.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Reads `2019-10-01T12:00:00Z`, `…+02:00` or `…+02:00[Europe/Berlin]`; the result is in milliseconds since 1970.
///
/// Where offset and zone disagree the offset wins, as in RFC 9557's "prefer offset". The zone must exist.
pub fn parse_date(text: &str) -> Result<i64, TimerError> {
    let error = |cause: String| TimerError::Date { text: excerpt(text), cause };
    let trimmed = trimmed(text).ok_or_else(|| error(super::TOO_LONG.to_owned()))?;
    let pieces = Pieces::parse(trimmed).map_err(|cause| error(cause.to_string()))?;
    let time = pieces.time().ok_or_else(|| error("the time is missing".to_owned()))?;
    let offset = pieces.to_numeric_offset().ok_or_else(|| error("the offset is missing".to_owned()))?;
    if let Some(zone) = pieces.time_zone_annotation() {
        zone.to_time_zone_with(&ZONES).map_err(|cause| error(cause.to_string()))?;
    }
    let instant =
        offset.to_timestamp(pieces.date().to_datetime(time)).map_err(|cause| error(cause.to_string()))?;
    Ok(instant.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dates() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2019-10-01T12:00:00Z", 1_569_931_200_000),
            (" 2019-10-01T12:00:00Z\n", 1_569_931_200_000),
            ("2019-10-01T12:00Z", 1_569_931_200_000),
            ("2019-10-01T12:00:00.250Z", 1_569_931_200_250),
            ("2019-10-01T12:00:00+02:00", 1_569_924_000_000),
            ("2019-10-01T12:00:00+02:00[Europe/Berlin]", 1_569_924_000_000),
            // The offset wins over the zone.
            ("2019-10-01T12:00:00+05:00[Europe/Berlin]", 1_569_913_200_000),
            ("1969-12-31T23:59:59-00:00", -1_000),
        ] {
            assert_eq!(parse_date(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_point_in_time() {
        for text in [
            "",
            "tomorrow",
            "2019-10-01",
            "2019-10-01T12:00:00",
            "2019-10-01T12:00:00[Europe/Berlin]",
            "2019-13-01T12:00:00Z",
            "2019-02-29T12:00:00Z",
            "2019-10-01T12:00:00+02:00[Mars/Olympus]",
            "2019-10-01T12:00:00Z and more",
            "PT1H",
            "99999-01-01T00:00:00Z",
        ] {
            assert!(parse_date(text).is_err(), "{text}");
        }
        assert!(parse_date(&" 1".repeat(10_000)).is_err());
    }
}
