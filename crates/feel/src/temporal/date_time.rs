//! Dates with a time of day.

use super::time::{civil_time, parse_clock, write_clock};
use super::zone::write_offset;
use super::{Date, NANOS_PER_SECOND, NamedZone, SECONDS_PER_DAY, Time, Zone};
use jiff::tz::AmbiguousOffset;
use std::cmp::Ordering;
use std::fmt;

/// A date and time, local or with a zone.
#[derive(Clone, Debug)]
pub struct DateTime {
    date: Date,
    nanos: u64,
    zone: Zone,
    /// Seconds east of UTC at that moment; zero for local.
    offset: i32,
}

impl DateTime {
    /// A date at a time; the zone is the time's.
    pub fn new(date: Date, time: &Time) -> Option<Self> {
        Self::at(date, time.nanos_of_day(), time.zone().clone(), None)
    }

    fn at(date: Date, nanos: u64, zone: Zone, preferred: Option<i32>) -> Option<Self> {
        let offset = match &zone {
            Zone::Local => 0,
            Zone::Offset(offset) => *offset,
            Zone::Named(named) => return Self::in_region(date, nanos, named, &zone, preferred),
        };
        Some(Self { date, nanos, zone, offset })
    }

    /// Local times that a region skips move forward, those that it repeats take the first pass unless the text has
    /// the offset.
    fn in_region(
        date: Date,
        nanos: u64,
        named: &NamedZone,
        zone: &Zone,
        preferred: Option<i32>,
    ) -> Option<Self> {
        let civil = lookup_date(date)?.to_datetime(civil_time(nanos)?);
        let (offset, skip) = match named.rules().to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => (offset.seconds(), 0),
            AmbiguousOffset::Fold { before, after } => {
                let second = preferred == Some(after.seconds());
                (if second { after } else { before }.seconds(), 0)
            }
            AmbiguousOffset::Gap { before, after } => (after.seconds(), after.seconds() - before.seconds()),
        };
        let shifted = i128::from(nanos) + i128::from(skip) * i128::from(NANOS_PER_SECOND);
        let (days, nanos) = split_days(shifted);
        let date = Date::from_epoch_days(date.epoch_days().checked_add(days)?)?;
        Some(Self { date, nanos, zone: zone.clone(), offset })
    }

    /// The moment at nanoseconds after 1970-01-01T00:00Z, in a zone.
    pub fn from_epoch_nanos(nanos: i128, zone: Zone) -> Option<Self> {
        let offset = match &zone {
            Zone::Local => 0,
            Zone::Offset(offset) => *offset,
            Zone::Named(named) => {
                let seconds = i64::try_from(nanos.div_euclid(i128::from(NANOS_PER_SECOND))).ok()?;
                // Outside the range of the database, the rules of its last years go on.
                let second = seconds.clamp(-377_700_000_000, 253_400_000_000);
                let timestamp = jiff::Timestamp::from_second(second).ok()?;
                named.rules().to_offset(timestamp).seconds()
            }
        };
        let local = nanos.checked_add(i128::from(offset) * i128::from(NANOS_PER_SECOND))?;
        let (days, nanos) = split_days(local);
        Some(Self { date: Date::from_epoch_days(days)?, nanos, zone, offset })
    }

    /// Reads a date, `T`, a time, and `Z`, `±HH:MM`, `±HH:MM[Region]` or `@Region`;
    /// a bare date is its midnight.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, rest) = Date::parse_prefix(text)?;
        if rest.is_empty() {
            return Self::at(date, 0, Zone::Local, None);
        }
        let rest = rest.strip_prefix('T')?;
        let (date, nanos, rest) = if let Some(rest) = rest.strip_prefix("24:00") {
            // The end of a day is the start of the next (ISO 8601).
            let next = Date::from_epoch_days(date.epoch_days() + 1)?;
            (next, 0, rest.strip_prefix(":00").unwrap_or(rest))
        } else {
            let (nanos, _, rest) = parse_clock(rest)?;
            (date, nanos, rest)
        };
        let (zone, offset) = Zone::parse_suffix(rest)?;
        Self::at(date, nanos, zone, offset)
    }

    /// The date.
    pub fn date(&self) -> Date {
        self.date
    }

    /// The time of day with the zone, and with the offset of that moment.
    pub fn time(&self) -> Time {
        Time::at(self.nanos, self.zone.clone(), Some(self.offset))
    }

    /// The zone.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The offset in seconds at that moment, none for local.
    pub fn offset_seconds(&self) -> Option<i32> {
        (!self.zone.is_local()).then_some(self.offset)
    }

    /// Nanoseconds since 1970-01-01T00:00Z; a local one counts as UTC.
    pub fn epoch_nanos(&self) -> i128 {
        let seconds =
            i128::from(self.date.epoch_days()) * i128::from(SECONDS_PER_DAY) - i128::from(self.offset);
        seconds * i128::from(NANOS_PER_SECOND) + i128::from(self.nanos)
    }

    /// Keeps the date and time of day in another zone; the moment may differ. `None` if the result is out of range.
    pub fn with_zone(&self, zone: Zone) -> Option<Self> {
        Self::at(self.date, self.nanos, zone, None)
    }

    /// Keeps the moment in another zone; a local one just gets the zone. `None` if the result is out of range.
    pub fn in_zone(&self, zone: Zone) -> Option<Self> {
        if self.zone.is_local() {
            self.with_zone(zone)
        } else {
            Self::from_epoch_nanos(self.epoch_nanos(), zone)
        }
    }

    /// The moment after a duration.
    pub(crate) fn plus_nanos(&self, nanos: i128) -> Option<Self> {
        Self::from_epoch_nanos(self.epoch_nanos().checked_add(nanos)?, self.zone.clone())
    }

    /// Keeps the time of day, a number of months later. `None` if the result is out of range.
    pub(crate) fn plus_months(&self, months: i64) -> Option<Self> {
        Self::at(self.date.plus_months(months)?, self.nanos, self.zone.clone(), Some(self.offset))
    }

    /// Order of two of which both or none have a zone.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        if self.zone.is_local() != other.zone.is_local() {
            return None;
        }
        Some(self.epoch_nanos().cmp(&other.epoch_nanos()))
    }

    /// Whether date, time, and offset are the same; another zone's same moment is not.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.date == other.date && self.nanos == other.nanos && self.offset == other.offset
    }

    /// The moment as `jiff` knows it; `None` for local and outside its range.
    pub fn to_timestamp(&self) -> Option<jiff::Timestamp> {
        if self.zone.is_local() {
            return None;
        }
        jiff::Timestamp::from_nanosecond(self.epoch_nanos()).ok()
    }

    /// The local reading as `jiff` knows it; `None` outside its range.
    pub fn to_civil(&self) -> Option<jiff::civil::DateTime> {
        Some(self.date.to_civil()?.to_datetime(civil_time(self.nanos)?))
    }

    /// The moment with its zone as `jiff` knows it; `None` for local and outside its range.
    pub fn to_zoned(&self) -> Option<jiff::Zoned> {
        let zone = match &self.zone {
            Zone::Local => return None,
            Zone::Offset(offset) => jiff::tz::Offset::from_seconds(*offset).ok()?.to_time_zone(),
            Zone::Named(named) => named.rules().clone(),
        };
        Some(self.to_timestamp()?.to_zoned(zone))
    }

    /// ISO 8601 with seconds, an offset, and a region in brackets.
    pub(crate) fn to_iso(&self) -> String {
        IsoForm(self).to_string()
    }
}

/// A date that the zone database covers and that has the same place in the 400-year cycle.
fn lookup_date(date: Date) -> Option<jiff::civil::Date> {
    if (-9000..9000).contains(&date.year()) {
        return date.to_civil();
    }
    let year = 2000 + i64::from(date.year()).rem_euclid(400);
    Date::new(year, i64::from(date.month()), i64::from(date.day()))?.to_civil()
}

fn split_days(nanos: i128) -> (i64, u64) {
    let day = i128::from(SECONDS_PER_DAY) * i128::from(NANOS_PER_SECOND);
    let days = nanos.div_euclid(day).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    (days as i64, nanos.rem_euclid(day) as u64)
}

/// `string()` of a date and time: the zone as `Z`, offset, or `@Region`.
impl fmt::Display for DateTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}T", self.date)?;
        write_clock(formatter, self.nanos)?;
        match &self.zone {
            Zone::Local => Ok(()),
            Zone::Offset(offset) => write_offset(formatter, *offset),
            Zone::Named(zone) => write!(formatter, "@{}", zone.name()),
        }
    }
}

struct IsoForm<'a>(&'a DateTime);

impl fmt::Display for IsoForm<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        write!(formatter, "{}T", value.date)?;
        write_clock(formatter, value.nanos)?;
        match &value.zone {
            Zone::Local => Ok(()),
            Zone::Offset(offset) => write_offset(formatter, *offset),
            Zone::Named(zone) => {
                write_offset(formatter, value.offset)?;
                write!(formatter, "[{}]", zone.name())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> DateTime {
        DateTime::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn text_round_trips() {
        for text in [
            "2024-02-29T10:00:00",
            "2024-02-29T10:00:00.5Z",
            "12024-01-01T00:00:00-03:30",
            "2024-07-01T10:00:00@Europe/Berlin",
        ] {
            assert_eq!(parse(text).to_string(), text);
        }
        assert_eq!(
            parse("2024-07-01T10:00:00@Europe/Berlin").to_iso(),
            "2024-07-01T10:00:00+02:00[Europe/Berlin]"
        );
        assert_eq!(parse("2024-07-01").to_string(), "2024-07-01T00:00:00");
        assert!(DateTime::parse("2024-07-01 10:00:00").is_none());
    }

    #[test]
    fn daylight_saving_gaps_and_folds() {
        assert_eq!(
            parse("2024-03-31T02:30:00@Europe/Berlin").to_iso(),
            "2024-03-31T03:30:00+02:00[Europe/Berlin]"
        );
        assert_eq!(
            parse("2024-10-27T02:30:00@Europe/Berlin").to_iso(),
            "2024-10-27T02:30:00+02:00[Europe/Berlin]"
        );
        assert_eq!(
            parse("2024-10-27T02:30:00+01:00[Europe/Berlin]").to_iso(),
            "2024-10-27T02:30:00+01:00[Europe/Berlin]"
        );
        let before = parse("2024-03-30T12:00:00@Europe/Berlin");
        assert_eq!(
            before.plus_nanos(86_400 * 1_000_000_000).unwrap().to_string(),
            "2024-03-31T13:00:00@Europe/Berlin"
        );
        assert_eq!(before.plus_months(1).unwrap().to_string(), "2024-04-30T12:00:00@Europe/Berlin");
    }

    #[test]
    fn far_years_follow_the_cycle() {
        assert_eq!(
            parse("99999-07-01T10:00:00@Europe/Berlin").to_iso(),
            "99999-07-01T10:00:00+02:00[Europe/Berlin]"
        );
        assert!(parse("999999999-12-31T23:00:00").plus_nanos(i128::from(i64::MAX)).is_none());
    }
}
