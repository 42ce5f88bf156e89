//! Random numbers, derived from a seed or from bytes.

/// A sequence of numbers (splitmix64) derived from its seed. A sequence from bytes begins with the bytes: each choice
/// takes one of them, so that a changed byte changes a choice.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
    /// Given choices, the next one last.
    given: Vec<u8>,
}

impl Random {
    /// Numbers that follow from a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, given: Vec::new() }
    }

    /// Numbers that follow from bytes. After them, numbers of a seed follow, which is the hash of the bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let seed =
            bytes.iter().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        Self { state: seed, given: bytes.iter().rev().copied().collect() }
    }

    /// The next number: any of 64 bits, or a byte that was given.
    #[expect(clippy::should_implement_trait, reason = "a sequence without an end needs no iterator")]
    pub fn next(&mut self) -> u64 {
        if let Some(byte) = self.given.pop() {
            return u64::from(byte);
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True with this probability, in percent.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A number from 1 to `end`; small ones are as likely as large ones, by their order of magnitude.
    pub fn magnitude(&mut self, end: u64) -> u64 {
        let bits = u64::from(end.ilog2()) + 1;
        let most = 1 << self.below(bits);
        (1 + self.below(most)).max(most / 2).min(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_first_choices() {
        let mut random = Random::of_bytes(&[3, 7]);
        assert_eq!((random.below(100), random.below(5)), (3, 2));
        let seed = (7 * 31 + 3) * 31 + 7;
        assert_eq!(random.next(), Random::new(seed).next());
    }

    #[test]
    fn magnitudes_stay_within_their_bound_and_reach_it() {
        let mut random = Random::new(1);
        let all: Vec<u64> = (0..2000).map(|_| random.magnitude(1000)).collect();
        assert!(all.iter().all(|number| (1..=1000).contains(number)));
        assert!(all.contains(&1) && all.iter().any(|number| *number > 500));
    }
}
