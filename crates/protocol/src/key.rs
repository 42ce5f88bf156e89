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

/// The partition that a text belongs to, of so many: where messages and subscriptions of a correlation key meet, and
/// where instances of a business ID are created. Other engines of this protocol use the same hash.
pub fn partition_of_text(text: &str, partitions: PartitionId) -> PartitionId {
    assert!(partitions > 0, "a cluster has a partition");
    let hash = text
        .bytes()
        // The reference adds signed bytes.
        .fold(0_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed())));
    let remainder = (hash % i32::from(partitions)).unsigned_abs();
    PartitionId::try_from(remainder).expect("a remainder is smaller than what it is of") + FIRST_PARTITION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_belongs_to_the_partition_that_others_find_it_on() {
        let of = |text: &str| [1, 3, 8].map(|partitions| partition_of_text(text, partitions));
        assert_eq!(of(""), [1, 1, 1]);
        // 97, 3,105 and 96,354.
        assert_eq!(of("a"), [1, 2, 2]);
        assert_eq!(of("ab"), [1, 1, 2]);
        assert_eq!(of("abc"), [1, 1, 3]);
        // -1,978: bytes beyond ASCII are less than nothing.
        assert_eq!(partition_of_text("\u{e9}", 100), 79);
    }

    #[test]
    fn texts_are_spread_evenly() {
        for partitions in 1..=24 {
            let of = |number: u32| partition_of_text(&format!("key-{number}-\u{fc}\u{1f600}"), partitions);
            let mut counts = vec![0; usize::from(partitions)];
            (0..10_000).for_each(|number| counts[usize::from(of(number) - 1)] += 1);
            let even = 10_000 / usize::from(partitions);
            assert!(counts.iter().all(|count| *count > even / 2), "{partitions}: {counts:?}");
        }
    }

    #[test]
    fn the_first_key_of_partition_one_is_the_documented_one() {
        assert_eq!(compose_key(1, 1), 2_251_799_813_685_249);
        assert_eq!(partition_of(2_251_799_813_685_249), 1);
        assert_eq!(partition_of(compose_key(8191, 77)), 8191);
    }
}
