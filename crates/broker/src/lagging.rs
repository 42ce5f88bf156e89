//! Partitions that were waited for in vain.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use protocol::PartitionId;

/// Positions that a partition was waited for in vain: nobody else waits for the same.
#[derive(Debug, Default)]
pub(crate) struct Lagging(Mutex<BTreeMap<PartitionId, u64>>);

impl Lagging {
    pub fn is_given_up(&self, partition: PartitionId, wanted: u64) -> bool {
        self.0.lock().get(&partition).is_some_and(|given_up| *given_up >= wanted)
    }

    pub fn give_up(&self, partition: PartitionId, wanted: u64) {
        self.0.lock().insert(partition, wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_waited_for_once() {
        let lagging = Lagging::default();
        assert!(!lagging.is_given_up(2, 7));
        lagging.give_up(2, 7);
        assert!(lagging.is_given_up(2, 7) && lagging.is_given_up(2, 6));
        assert!(!lagging.is_given_up(2, 8), "there is more to wait for");
        assert!(!lagging.is_given_up(3, 7));
    }
}
