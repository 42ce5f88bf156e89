//! How many bytes the entries of a log take, by estimate: in memory as they were appended, without compression and
//! the files' own needs. Runs of entries stand for each of them, which take the same within a run.

use std::collections::VecDeque;

/// A run ends once its entries take this much.
const RUN_BYTES: u64 = 1 << 20;

#[derive(Default)]
pub(crate) struct LogSize {
    /// Without gaps, oldest first.
    runs: VecDeque<EntryRun>,
}

struct EntryRun {
    first: u64,
    entries: u64,
    bytes: u64,
}

impl EntryRun {
    fn end(&self) -> u64 {
        self.first + self.entries
    }

    /// Bytes that some of the entries take.
    fn share(&self, entries: u64) -> u64 {
        (u128::from(self.bytes) * u128::from(entries) / u128::from(self.entries.max(1))) as u64
    }
}

impl LogSize {
    /// Some entries that take so much together; they follow those that are there.
    pub(crate) fn push(&mut self, first: u64, entries: u64, bytes: u64) {
        match self.runs.back_mut() {
            Some(run) if run.end() == first && run.bytes < RUN_BYTES => {
                run.entries += entries;
                run.bytes += bytes;
            }
            _ => self.runs.push_back(EntryRun { first, entries, bytes }),
        }
    }

    /// The entries from `since` on are gone.
    pub(crate) fn truncate(&mut self, since: u64) {
        while self.runs.pop_back_if(|run| run.first >= since).is_some() {}
        if let Some(run) = self.runs.back_mut()
            && run.end() > since
        {
            let left = since - run.first;
            (run.bytes, run.entries) = (run.share(left), left);
        }
    }

    /// The entries up to `upto` are gone.
    pub(crate) fn purge(&mut self, upto: u64) {
        while self.runs.pop_front_if(|run| run.end() <= upto + 1).is_some() {}
        if let Some(run) = self.runs.front_mut()
            && run.first <= upto
        {
            let left = run.end() - upto - 1;
            *run = EntryRun { first: upto + 1, entries: left, bytes: run.share(left) };
        }
    }

    /// The first of the newest entries that take at most `limit_bytes` together; the one after the last if none do.
    pub(crate) fn first_within(&self, limit_bytes: u64) -> u64 {
        let mut left = limit_bytes;
        for run in self.runs.iter().rev() {
            if run.bytes > left {
                let fit = u128::from(run.entries) * u128::from(left) / u128::from(run.bytes.max(1));
                return run.end() - fit as u64;
            }
            left -= run.bytes;
        }
        self.runs.front().map_or(0, |run| run.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entries_within_a_limit_are_found() {
        let mut size = LogSize::default();
        assert_eq!(size.first_within(10), 0);
        for index in 1..=100 {
            size.push(index, 1, RUN_BYTES / 4);
        }
        assert_eq!(size.first_within(0), 101);
        assert_eq!(size.first_within(RUN_BYTES / 4 * 10), 91);
        assert_eq!(size.first_within(RUN_BYTES / 4 * 10 + 1), 91);
        assert_eq!(size.first_within(u64::MAX), 1);
        size.purge(50);
        assert_eq!(size.first_within(u64::MAX), 51);
        size.truncate(90);
        assert_eq!(size.first_within(0), 90);
        assert_eq!(size.first_within(RUN_BYTES / 4 * 3), 87);
        size.push(90, 1, RUN_BYTES);
        assert_eq!(size.first_within(RUN_BYTES), 90);
        size.purge(500);
        assert_eq!(size.first_within(u64::MAX), 0);
    }
}
