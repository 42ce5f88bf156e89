//! Latencies: how they are counted, and their quantiles.

#![expect(missing_docs, reason = "names say what is held")]

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Latencies are kept in microseconds with three significant digits, up to an hour.
const LATENCY_MICROS_MAX: u64 = 3_600_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Histogram of latencies in microseconds.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_MICROS_MAX, SIGNIFICANT_DIGITS).expect("the bounds are valid")
}

/// Quantiles of a latency, in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub count: u64,
    pub mean_micros: f64,
    pub min_micros: u64,
    pub p50_micros: u64,
    /// 90 of 100 are at most this.
    pub p90_micros: u64,
    /// 95 of 100 are at most this.
    pub p95_micros: u64,
    /// 99 of 100 are at most this.
    pub p99_micros: u64,
    /// 999 of 1000 are at most this.
    pub p999_micros: u64,
    pub max_micros: u64,
    /// Percentile and microseconds, ever finer towards 100.
    pub curve: Vec<(f64, u64)>,
}

impl Latency {
    /// The quantiles of `histogram`, which holds microseconds; none when it is empty.
    pub fn of(histogram: &Histogram<u64>) -> Option<Self> {
        const TICKS_PER_HALF_DISTANCE: u32 = 4;
        if histogram.is_empty() {
            return None;
        }
        let at = |quantile| histogram.value_at_quantile(quantile);
        let curve = histogram
            .iter_quantiles(TICKS_PER_HALF_DISTANCE)
            .map(|step| (step.quantile() * 100.0, step.value_iterated_to()))
            .collect();
        Some(Self {
            count: histogram.len(),
            mean_micros: histogram.mean(),
            min_micros: histogram.min(),
            p50_micros: at(0.5),
            p90_micros: at(0.9),
            p95_micros: at(0.95),
            p99_micros: at(0.99),
            p999_micros: at(0.999),
            max_micros: histogram.max(),
            curve,
        })
    }
}
