//! Reading what one wrote: how the answer to a command tells what position the log had, over REST and gRPC alike.
//!
//! The value is a partition, a colon and a position, as in `1:2345`; with several partitions, several of these with
//! commas between them. A search that names it waits until secondary storage shows it.

use std::fmt::Write as _;
use std::time::Duration;

use broker_api::Positions;
use http::{HeaderMap, HeaderName, HeaderValue};
use protocol::PartitionId;

/// Header with the position of a command's last record. The name of the header, and of the metadata of gRPC.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("baton-position");

/// Header with the age in milliseconds of the oldest record that a search should show and does not.
pub(crate) const LAG: HeaderName = HeaderName::from_static("baton-lag");

/// Header with spans of records that secondary storage lacks for good: positions after the first number, up to the
/// second one.
pub(crate) const GAP: HeaderName = HeaderName::from_static("baton-gap");

/// Writes spans of missing records as `after-upto`, with commas between them.
pub(crate) fn write_gaps(gaps: &[(u64, u64)], headers: &mut HeaderMap) {
    let gaps: Vec<_> = gaps.iter().map(|(after, upto)| format!("{after}-{upto}")).collect();
    if !gaps.is_empty() {
        headers.insert(GAP, HeaderValue::from_str(&gaps.join(",")).expect("digits, hyphens and commas"));
    }
}

/// Writes the lag of a search. At least a millisecond.
pub(crate) fn write_lag(lag: Duration, headers: &mut HeaderMap) {
    let milliseconds = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX);
    headers.insert(LAG, HeaderValue::from(milliseconds.max(1)));
}

/// Writes positions to the headers of an answer, if there are any.
pub(crate) fn write(positions: &Positions, headers: &mut HeaderMap) {
    if !positions.is_empty() {
        headers.insert(POSITION, value(positions));
    }
}

fn value(positions: &Positions) -> HeaderValue {
    let mut text = String::new();
    for (partition, position) in positions.iter() {
        let separator = if text.is_empty() { "" } else { "," };
        write!(text, "{separator}{partition}:{position}").expect("writing to memory does not fail");
    }
    HeaderValue::from_str(&text).expect("digits, colons and commas")
}

/// Reads positions back; `None` if they are none.
pub(crate) fn parse(value: &HeaderValue) -> Option<Vec<(PartitionId, u64)>> {
    let read = |text: &str| {
        let (partition, position) = text.split_once(':')?;
        Some((partition.trim().parse().ok()?, position.trim().parse().ok()?))
    };
    value.to_str().ok()?.split(',').map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back() {
        let mut positions = Positions::at(1, 2345);
        assert_eq!(value(&positions), "1:2345");
        positions.reach(3, 7);
        positions.reach(1, 5);
        positions.reach(2, 0);
        assert_eq!(value(&positions), "1:2345,3:7");
        assert_eq!(parse(&value(&positions)), Some(vec![(1, 2345), (3, 7)]));
        assert_eq!(parse(&HeaderValue::from_static("1 : 2, 3:4")), Some(vec![(1, 2), (3, 4)]));
        for bad in ["", "1", ":", "a:1", "1:-2", "1:99999999999999999999", "1:2,", ",1:2", "1:2;3:4"] {
            assert_eq!(parse(&HeaderValue::from_static(bad)), None, "{bad}");
        }
    }

    #[test]
    fn no_position_is_not_told() {
        let mut headers = HeaderMap::new();
        write(&Positions::at(1, 0), &mut headers);
        assert!(headers.is_empty());
    }
}
