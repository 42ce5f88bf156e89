//! Reading what one wrote: a command's answer tells the position of its last record, and a later request may wait until
//! secondary storage shows it.

use http::{HeaderName, HeaderValue, StatusCode};
use protocol::{FIRST_PARTITION, PartitionId};

use super::problem::Failure;
use super::query::Storage;

/// Tells how far a command came: partition, colon, position.
pub(super) const POSITION: HeaderName = HeaderName::from_static("baton-position");
/// Asks to wait for such a position.
pub(super) const AWAIT_POSITION: HeaderName = HeaderName::from_static("baton-await-position");

/// A position as a header has it.
pub(super) fn value(position: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("{FIRST_PARTITION}:{position}")).expect("digits and a colon")
}

fn parse(value: &HeaderValue) -> Option<(PartitionId, u64)> {
    let (partition, position) = value.to_str().ok()?.split_once(':')?;
    Some((partition.trim().parse().ok()?, position.trim().parse().ok()?))
}

/// Waits until secondary storage shows a position.
pub(super) async fn wait(storage: &Storage, wanted: &HeaderValue) -> Result<(), Failure> {
    let (partition, position) = parse(wanted).ok_or_else(|| {
        Failure::invalid("baton-await-position: expected a partition, a colon and a position, as in 1:2345")
    })?;
    if partition != FIRST_PARTITION {
        // Nothing will ever be shown of it.
        return Err(Failure::invalid(format!("baton-await-position: there is no partition {partition}")));
    }
    if storage.progress.wait(partition, position, storage.wait_max).await {
        return Ok(());
    }
    let detail = format!(
        "Expected secondary storage to show position {position} of partition {partition} within {} ms, but it is at {}",
        storage.wait_max.as_millis(),
        storage.progress.position(partition)
    );
    Err(Failure::new(StatusCode::GATEWAY_TIMEOUT, "DEADLINE_EXCEEDED", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_comes_back() {
        assert_eq!(parse(&value(2345)), Some((1, 2345)));
        for bad in ["", "1", ":", "a:1", "1:-2", "1:99999999999999999999"] {
            assert_eq!(parse(&HeaderValue::from_static(bad)), None, "{bad}");
        }
    }
}
