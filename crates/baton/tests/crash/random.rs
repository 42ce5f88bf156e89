//! Choices that a seed repeats.

use std::time::{SystemTime, UNIX_EPOCH};

/// A number of the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().filter(|text| !text.is_empty()).map(|text| text.parse().unwrap())
}

/// `SplitMix64`.
pub(crate) struct Random(u64);

impl Random {
    /// Begins with `name_SEED` of the environment, or anew, and tells which.
    pub(crate) fn announced(name: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let seed = number(&format!("{name}_SEED")).unwrap_or(now.as_nanos() as u64);
        println!("{name}_SEED={seed}");
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound, which must not be zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A generator of its own for another task.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }
}
