//! Latencies as they were counted, so that several measurements can be put together without a loss.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Histograms of high dynamic range, as pairs of microseconds and how often they were seen, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histograms {
    /// Latencies of requests.
    pub request: Vec<(u64, u64)>,
    /// Latencies of whole instances.
    pub execution: Vec<(u64, u64)>,
}

impl Histograms {
    pub(crate) fn of(request: &Histogram<u64>, execution: &Histogram<u64>) -> Self {
        let pairs = |histogram: &Histogram<u64>| {
            let steps = histogram.iter_recorded();
            steps.map(|step| (step.value_iterated_to(), step.count_since_last_iteration())).collect()
        };
        Self { request: pairs(request), execution: pairs(execution) }
    }
}
