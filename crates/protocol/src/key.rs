//! Keys: 64-bit numbers, the upper 13 bits name the partition that made them.

/// Key of an entity. Fits a signed 64-bit integer, as clients expect.
pub type Key = u64;
/// Number of a partition, from 1.
pub type PartitionId = u16;

/// The partition that every cluster has.
pub const FIRST_PARTITION: PartitionId = 1;
const COUNTER_BITS: u32 = 51;

/// Makes a key from a partition and the value of its counter.
pub const fn compose_key(partition: PartitionId, counter: u64) -> Key {
    debug_assert!(counter >> COUNTER_BITS == 0, "the counter of a partition has 51 bits");
    ((partition as u64) << COUNTER_BITS) + counter
}

/// The partition whose counter made this key.
pub const fn partition_of(key: Key) -> PartitionId {
    (key >> COUNTER_BITS) as PartitionId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_of_partition_one_is_the_documented_one() {
        assert_eq!(compose_key(1, 1), 2_251_799_813_685_249);
        assert_eq!(partition_of(2_251_799_813_685_249), 1);
        assert_eq!(partition_of(compose_key(8191, 77)), 8191);
    }
}
