//! Moments in requests: a date and time with offset, as Unix milliseconds.

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;

/// Reads a moment. Those of the last hours of the year 9999, which people write for "never", are the last that is
/// known.
pub(super) fn parse(text: &str) -> Option<i64> {
    let moment = text.parse::<Timestamp>().ok().or_else(|| is_never(text).then_some(Timestamp::MAX))?;
    Some(moment.as_millisecond())
}

/// Whether a text is a moment that comes after all that are known.
fn is_never(text: &str) -> bool {
    let Ok(pieces) = Pieces::parse(text) else { return false };
    pieces.to_numeric_offset().is_some() && pieces.time().is_some() && pieces.date().year() == 9999
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_an_offset_and_may_mean_never() {
        assert_eq!(parse("1970-01-01T01:00:00.5+01:00"), Some(500));
        let last = Some(Timestamp::MAX.as_millisecond());
        for never in
            ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999999+00:00", "9999-12-31T00:00:00-12:00"]
        {
            assert_eq!(parse(never), last, "{never}");
        }
        for wrong in
            ["9999-12-31T23:59:59", "9999-12-31", "9999-13-31T00:00:00Z", "10000-01-01T00:00:00Z", "soon", ""]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
