//! Records of partition 2.

use protocol::{Intent, Record, RecordValue, testing};

/// A variable of so many digits.
pub fn variable(position: u64, digits: usize) -> Record {
    record(position, Intent::Created, testing::variable(position, digits).value)
}

pub fn record(position: u64, intent: Intent, value: RecordValue) -> Record {
    Record { partition_id: 2, ..testing::record(position, intent, value) }
}
