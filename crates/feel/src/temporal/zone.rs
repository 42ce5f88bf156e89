//! Offsets and named time zones.

use super::digits;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The database compiled into the program; the machine's own is never read.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Offsets reach 18 hours to either side, as in ISO 8601 implementations at large.
const OFFSET_SECONDS_MAX: i64 = 18 * 3600;

/// A zone of the bundled time zone database.
#[derive(Debug)]
pub struct NamedZone {
    name: String,
    zone: TimeZone,
}

/// Relation of a time to UTC.
#[derive(Clone, Debug, Default)]
pub enum Zone {
    /// A local time, without a relation to UTC.
    #[default]
    Local,
    /// By a fixed offset in seconds, east is positive.
    Offset(i32),
    /// By the rules of a region.
    Named(Arc<NamedZone>),
}

impl NamedZone {
    /// The identifier, such as `Europe/Berlin`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rules.
    pub fn rules(&self) -> &TimeZone {
        &self.zone
    }

    /// The offset in seconds without daylight saving, for times that have no date.
    pub(crate) fn standard_offset(&self) -> i32 {
        // Northern summers and southern summers: one of two instants has no daylight saving.
        let january = jiff::Timestamp::constant(1_704_067_200, 0);
        let july = jiff::Timestamp::constant(1_719_792_000, 0);
        let winter = self.zone.to_offset_info(january);
        if winter.dst().is_dst() {
            self.zone.to_offset_info(july).offset().seconds()
        } else {
            winter.offset().seconds()
        }
    }
}

impl Zone {
    /// UTC.
    pub const UTC: Self = Self::Offset(0);

    /// Looks up `Z`, `±HH:MM`, or a region of the bundled database.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "Z" {
            return Some(Self::UTC);
        }
        if text.starts_with(['+', '-']) {
            let (offset, rest) = parse_offset(text)?;
            return rest.is_empty().then_some(Self::Offset(offset));
        }
        let zone = DATABASE.get(text).ok()?;
        // The database ignores case; names are printed as it writes them.
        let name = zone.iana_name().unwrap_or(text).to_owned();
        Some(Self::Named(Arc::new(NamedZone { name, zone })))
    }

    /// The identifier of a named zone.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(zone) => Some(&zone.name),
            _ => None,
        }
    }

    /// Whether there is no zone.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Local)
    }

    /// Reads the zone at the end of a time: `Z`, `±HH:MM`, `±HH:MM[Region]` or `@Region`;
    /// gives the zone and the offset written before a region.
    pub(super) fn parse_suffix(text: &str) -> Option<(Self, Option<i32>)> {
        if text.is_empty() {
            return Some((Self::Local, None));
        }
        if let Some(region) = text.strip_prefix('@') {
            return Some((Self::parse(region)?, None));
        }
        let (offset, rest) = match text.strip_prefix(['Z', 'z']) {
            Some(rest) => (0, rest),
            None => parse_offset(text)?,
        };
        if rest.is_empty() {
            return Some((Self::Offset(offset), None));
        }
        let region = rest.strip_prefix('[')?.strip_suffix(']')?;
        Some((Self::parse(region)?, Some(offset)))
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local, Self::Local) => true,
            (Self::Offset(left), Self::Offset(right)) => left == right,
            (Self::Named(left), Self::Named(right)) => left.name == right.name,
            _ => false,
        }
    }
}

fn parse_offset(text: &str) -> Option<(i32, &str)> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, rest) = digits(rest, 2, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(':')?, 2, 2)?;
    let (seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => digits(rest, 2, 2)?,
        None => (0, rest),
    };
    let total = (hours * 3600 + minutes * 60 + seconds) as i64;
    if minutes > 59 || seconds > 59 || total > OFFSET_SECONDS_MAX {
        return None;
    }
    Some(((sign * total) as i32, rest))
}

/// Writes an offset as `Z`, `±HH:MM` or `±HH:MM:SS`.
pub(super) fn write_offset(formatter: &mut fmt::Formatter<'_>, offset: i32) -> fmt::Result {
    if offset == 0 {
        return formatter.write_str("Z");
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let total = offset.unsigned_abs();
    write!(formatter, "{sign}{:02}:{:02}", total / 3600, total / 60 % 60)?;
    if !total.is_multiple_of(60) {
        write!(formatter, ":{:02}", total % 60)?;
    }
    Ok(())
}
