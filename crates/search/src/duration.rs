//! Durations as they are counted: in buckets of which each is at most a quarter wider than what begins it.

/// Durations are counted by the hour of their end.
pub const HOUR_MS: i64 = 3_600_000;

/// A part of the time that an element takes, or something that is counted beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// From its activation to its end.
    Total,
    /// From the creation of its job to the activation after which that ended.
    Wait,
    /// From that activation to the end of the job.
    Work,
    /// No length: how many instances of the process began in the hour.
    Begun,
    /// No length: how many of them ended.
    Ended,
    /// No length: how many incidents the element had.
    Incident,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Total, Self::Wait, Self::Work, Self::Begun, Self::Ended, Self::Incident];
    /// Kinds of durations that have a length.
    pub const LENGTHS: [Self; 3] = [Self::Total, Self::Wait, Self::Work];

    /// As rows have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Total => "TOTAL",
            Self::Wait => "WAIT",
            Self::Work => "WORK",
            Self::Begun => "BEGUN",
            Self::Ended => "ENDED",
            Self::Incident => "INCIDENT",
        }
    }
}

/// The bucket of a duration: one for each millisecond below 8, then four between a power of two and the next.
pub const fn bucket(duration_ms: i64) -> i64 {
    if duration_ms < 8 {
        return if duration_ms < 0 { 0 } else { duration_ms };
    }
    let exponent = 63 - duration_ms.leading_zeros() as i64;
    8 + (exponent - 3) * 4 + (duration_ms >> (exponent - 2) & 3)
}

/// How durations are spread over buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many there are.
    pub count: i64,
    /// Their sum.
    pub total_ms: i64,
    /// The longest.
    pub max_ms: i64,
    /// By bucket, in ascending order: how many, and their sum.
    buckets: Vec<(i64, i64, i64)>,
}

impl Spread {
    /// Adds those of a bucket.
    pub fn add(&mut self, bucket: i64, count: i64, total_ms: i64, max_ms: i64) {
        self.count += count;
        self.total_ms += total_ms;
        self.max_ms = self.max_ms.max(max_ms);
        match self.buckets.binary_search_by_key(&bucket, |(at, ..)| *at) {
            Ok(at) => {
                self.buckets[at].1 += count;
                self.buckets[at].2 += total_ms;
            }
            Err(at) => self.buckets.insert(at, (bucket, count, total_ms)),
        }
    }

    /// Their average; 0 if there are none.
    pub fn average_ms(&self) -> i64 {
        self.total_ms / self.count.max(1)
    }

    /// The duration that so many of a hundred do not exceed, by the nearest rank: the average of its bucket, which is
    /// exact where all that are in there are the same, and the longest of all at the end.
    pub fn percentile_ms(&self, percent: i64) -> i64 {
        let rank = (self.count * percent + 99) / 100;
        let mut before = 0;
        for (_, count, total_ms) in &self.buckets {
            before += count;
            if before >= rank && rank < self.count && *count > 0 {
                return total_ms / count;
            }
        }
        self.max_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(durations: impl IntoIterator<Item = i64>) -> Spread {
        let mut spread = Spread::default();
        durations.into_iter().for_each(|ms| spread.add(bucket(ms), 1, ms, ms));
        spread
    }

    #[test]
    fn buckets_are_in_order_and_at_most_a_quarter_wide() {
        let (mut begin, mut last) = (0, 0);
        for ms in 0..100_000 {
            let bucket = bucket(ms);
            assert!(bucket == last || bucket == last + 1, "{ms}");
            if bucket != last {
                (begin, last) = (ms, bucket);
            }
            assert!(ms - begin <= begin / 4, "{ms} is in the bucket from {begin} on");
        }
        assert_eq!(
            (bucket(-5), bucket(0), bucket(7), bucket(8), bucket(15), bucket(16)),
            (0, 0, 7, 8, 11, 12)
        );
        assert_eq!(bucket(i64::MAX), 8 + 59 * 4 + 3);
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let of = |durations: &[i64]| {
            let spread = spread(durations.iter().copied());
            let percentiles = [50, 95, 100].map(|percent| spread.percentile_ms(percent));
            (spread.count, percentiles, spread.max_ms, spread.total_ms, spread.average_ms())
        };
        assert_eq!(of(&[]), (0, [0; 3], 0, 0, 0));
        assert_eq!(of(&[7]), (1, [7; 3], 7, 7, 7));
        assert_eq!(of(&[4, 1, 3, 2]), (4, [2, 4, 4], 4, 10, 2));
        assert_eq!(of(&[1_000_003, 5]), (2, [5, 1_000_003, 1_000_003], 1_000_003, 1_000_008, 500_004));
    }

    #[test]
    fn percentiles_are_at_most_a_quarter_off() {
        let spread = spread((1..=10_000).rev());
        for (percent, exact) in [(50, 5_000_f64), (95, 9_500_f64), (99, 9_900_f64)] {
            let off = spread.percentile_ms(percent) as f64 / exact;
            assert!((0.8..1.25).contains(&off), "{percent}: {off}");
        }
    }
}
