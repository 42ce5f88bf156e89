//! The partitions of one broker share its memory and its room: each gets an equal part of what is configured.

use partition::{ApplyWatch, PartitionOptions};
use protocol::{PartitionId, PartitionSettings};

use crate::options::Options;

/// An equal part of a budget, and no less than the smallest that anything works with.
const fn part(of: usize, parts: usize, least: usize) -> usize {
    let part = of / parts;
    // A budget may be configured below that.
    let least = if least < of { least } else { of };
    if part < least { least } else { part }
}

/// Bytes of a cache or a buffer at the least.
const BYTES_MIN: usize = 1 << 20;

impl Options {
    /// The options of a broker with so many partitions, each with its part of the budgets.
    #[must_use]
    pub fn with_partitions(mut self, count: PartitionId) -> Self {
        assert!(count > 0 && self.further.is_empty(), "budgets are divided once");
        if count == 1 {
            return self;
        }
        divide(&mut self.partition, usize::from(count));
        self.partition.partitions = PartitionSettings { count, of_messages: count };
        let first = self.partition.number;
        let further = (1..count).map(|after| {
            let number = first + after;
            let apply_watch = ApplyWatch::new(number, self.partition.apply_watch.limit());
            PartitionOptions { number, apply_watch, ..self.partition.clone() }
        });
        self.further = further.collect();
        self
    }

    /// The options of each partition, in the order of their numbers.
    pub fn partitions(&self) -> impl Iterator<Item = &PartitionOptions> {
        std::iter::once(&self.partition).chain(&self.further)
    }

    /// How many partitions there are.
    pub fn partitions_count(&self) -> PartitionId {
        1 + self.further.len() as PartitionId
    }
}

fn divide(options: &mut PartitionOptions, parts: usize) {
    let bytes = |of: usize| part(of, parts, BYTES_MIN);
    let state = &mut options.state;
    state.page_cache_bytes = bytes(state.page_cache_bytes);
    state.value_cache_bytes = bytes(state.value_cache_bytes as usize) as u64;
    state.flush_bytes = bytes(state.flush_bytes);
    options.log.cached_bytes_per_group = part(options.log.cached_bytes_per_group, parts, BYTES_MIN >> 4);
    options.log_kept_bytes = bytes(options.log_kept_bytes as usize) as u64;
    let stream = &mut options.export.stream;
    stream.memory_bytes = bytes(stream.memory_bytes);
    stream.spill_max_bytes = bytes(stream.spill_max_bytes as usize) as u64;
    let flow = &mut options.flow_control;
    flow.max_limit = part(flow.max_limit, parts, flow.min_limit);
    flow.initial_limit = flow.initial_limit.min(flow.max_limit);
    flow.max_waiting = part(flow.max_waiting, parts, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_together_take_what_one_takes_alone() {
        let alone = Options::new("data");
        for count in [1, 3, 12] {
            let several = Options::new("data").with_partitions(count);
            assert_eq!(several.partitions_count(), count);
            let numbers: Vec<_> = several.partitions().map(|partition| partition.number).collect();
            assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
            let sum = |of: fn(&PartitionOptions) -> usize| several.partitions().map(of).sum::<usize>();
            let budgets: [fn(&PartitionOptions) -> usize; 5] = [
                |partition| partition.state.page_cache_bytes,
                |partition| partition.state.flush_bytes,
                |partition| partition.export.stream.memory_bytes,
                |partition| partition.flow_control.max_limit,
                |partition| partition.flow_control.max_waiting,
            ];
            for (at, of) in budgets.into_iter().enumerate() {
                let (whole, together) = (of(&alone.partition), sum(of));
                assert!(together <= whole && together * 10 > whole * 9, "budget {at}: {together} of {whole}");
            }
        }
    }

    #[test]
    fn a_small_part_still_works() {
        assert_eq!(part(1000, 3, 1), 333);
        assert_eq!(part(1000, 3, 500), 500);
        assert_eq!(part(2, 12, 1), 1);
        assert_eq!(part(2, 12, 5), 2, "no more than is configured");
        assert_eq!(part(0, 12, 5), 0);
    }
}
