//! Counts of commands and records, kept by the partition's thread around the engine: plain numbers behind a lock that
//! nobody else takes for more than a look each second. They are no part of the state.

use protocol::{Intent, Record, ValueType};

/// Counts since the broker has started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Entries that were applied as the leader.
    pub committed: u64,
    /// Commands that were run as the leader.
    pub processed: u64,
    /// Commands that were left out: they came too late, or were set aside.
    pub skipped: u64,
    /// Records that were written as the leader.
    pub written: u64,
    /// Records that were made again: at the start, or because another broker leads.
    pub replayed: u64,
    /// Position of the last one.
    pub replayed_position: Option<u64>,
    /// Records that were written as the leader and that somebody wants, by the numbers of value type and intent.
    appended: Vec<Vec<u64>>,
}

/// Figures of one entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Applied {
    pub commands: usize,
    /// Commands beside them that were left out.
    pub skipped: usize,
    /// Positions that the engine gave to records.
    pub records: u64,
    /// Position of the last record.
    pub position: u64,
}

impl Applied {
    /// An entry that is applied after a position.
    pub fn after(position: u64) -> Self {
        Self { commands: 0, skipped: 0, records: 0, position }
    }

    /// Notes a position that the engine has given.
    pub fn note_position(&mut self, position: u64) {
        self.records = position.saturating_sub(self.position);
        self.position = position;
    }
}

impl Tally {
    /// Counts an entry that the leader applied. `records` are those that somebody wants.
    pub fn processed(&mut self, applied: Applied, records: &[Record]) {
        self.committed += 1;
        self.processed += applied.commands as u64;
        self.skipped += applied.skipped as u64;
        self.written += applied.records;
        for record in records {
            let (row, column) = (record.value.value_type().number().into(), record.intent.number().into());
            *cell(cell(&mut self.appended, row), column) += 1;
        }
    }

    /// Counts an entry that was applied again, or while another broker leads.
    pub fn replayed(&mut self, applied: Applied) {
        self.replayed += applied.records;
        self.replayed_position = Some(applied.position);
    }

    /// How many records of a value type and an intent were written, as far as there are any.
    pub fn appended(&self) -> impl Iterator<Item = (ValueType, Intent, u64)> {
        self.appended.iter().enumerate().flat_map(|(row, counts)| {
            counts.iter().enumerate().filter(|(_, count)| **count > 0).filter_map(move |(column, count)| {
                let value_type = ValueType::from_number(u8::try_from(row).ok()?)?;
                let intent = Intent::from_number(u8::try_from(column).ok()?)?;
                Some((value_type, intent, *count))
            })
        })
    }
}

/// A place in a list that grows as far as it is used.
fn cell<T: Default + Clone>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    &mut list[at]
}

#[cfg(test)]
mod tests {
    use protocol::testing;

    use super::*;

    fn applied(commands: usize, records: u64, position: u64) -> Applied {
        Applied { commands, skipped: 1, records, position }
    }

    #[test]
    fn records_of_the_leader_are_counted_by_what_they_are_and_others_by_number() {
        let records = [testing::instance(1, 5), testing::variable(2, 3), testing::instance(3, 6)];
        let mut tally = Tally::default();
        tally.processed(applied(2, 9, 10), &records);
        tally.processed(applied(3, 5, 15), &records[..1]);
        tally.replayed(applied(4, 6, 21));
        let counts = (tally.committed, tally.processed, tally.skipped, tally.written);
        assert_eq!(counts, (2, 5, 2, 14));
        assert_eq!((tally.replayed, tally.replayed_position), (6, Some(21)));
        let appended: Vec<_> = tally.appended().collect();
        assert_eq!(appended.iter().map(|(_, _, count)| count).sum::<u64>(), records.len() as u64 + 1);
        let first = (records[0].value.value_type(), records[0].intent);
        let same = records.iter().filter(|record| (record.value.value_type(), record.intent) == first);
        let count = appended.iter().find(|(value_type, intent, _)| (*value_type, *intent) == first);
        assert_eq!(count.unwrap().2, same.count() as u64 + 1);
    }
}
