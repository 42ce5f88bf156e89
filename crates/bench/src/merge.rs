//! Several measurements put together.

use hdrhistogram::Histogram;

use crate::histograms::Histograms;
use crate::latency::{Latency, histogram};
use crate::report::Report;

/// Several measurements as one: counts add up, rates add up if the measurements ran at the same time.
///
/// Quantiles are those of all requests together, not means of quantiles. Figures of the server are those of the first
/// report, since all of them may be of the same server; there are no seconds.
pub fn merge(reports: &[Report], at_the_same_time: bool) -> Option<Report> {
    let (first, rest) = reports.split_first()?;
    let mut all = first.clone();
    let (mut request, mut execution) = (read(&first.histograms.request), read(&first.histograms.execution));
    for report in rest {
        let same = "all histograms have the same bounds";
        request.add(read(&report.histograms.request)).expect(same);
        execution.add(read(&report.histograms.execution)).expect(same);
        all.created += report.created;
        all.completed += report.completed;
        all.unfinished += report.unfinished;
        all.setup.measured_ms += report.setup.measured_ms;
        all.created_per_second += report.created_per_second;
        all.completed_per_second += report.completed_per_second;
        for (to, from) in [(&mut all.failures, &report.failures), (&mut all.rejections, &report.rejections)] {
            for (kind, count) in from {
                *to.entry(kind.clone()).or_default() += count;
            }
        }
    }
    let seconds = all.setup.measured_ms as f64 / 1000.0;
    if at_the_same_time {
        all.setup.measured_ms = reports.iter().map(|report| report.setup.measured_ms).max()?;
    } else {
        all.created_per_second = all.created as f64 / seconds;
        all.completed_per_second = all.completed as f64 / seconds;
    }
    all.title = format!("{} measurements together", reports.len());
    all.request_latency = Latency::of(&request);
    all.execution_latency = Latency::of(&execution);
    all.histograms = Histograms::of(&request, &execution);
    all.series.clear();
    Some(all)
}

fn read(pairs: &[(u64, u64)]) -> Histogram<u64> {
    let mut whole = histogram();
    for (micros, count) in pairs {
        whole.saturating_record_n(*micros, *count);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::sample;

    fn report(micros: u64) -> Report {
        let mut values = histogram();
        for value in 1..=1000 {
            values.record(value * micros).unwrap();
        }
        let histograms = Histograms::of(&values, &histogram());
        Report { histograms, ..sample("part", micros) }
    }

    #[test]
    fn merged_quantiles_are_those_of_all() {
        // Half of the requests takes up to 10 ms, the other half up to 1 s.
        let merged = merge(&[report(10), report(1000)], true).unwrap();
        let latency = merged.request_latency.unwrap();
        assert_eq!(latency.count, 2000);
        assert!((9_900..=11_000).contains(&latency.p50_micros), "{latency:?}");
        assert!((970_000..=990_000).contains(&latency.p99_micros), "{latency:?}");
        assert_eq!((merged.created, merged.setup.measured_ms), (6000, 20_000));
        assert!((merged.created_per_second - 300.0).abs() < 1e-9);
        let after = merge(&[report(10), report(1000)], false).unwrap();
        assert!((after.created_per_second - 150.0).abs() < 1e-9 && after.setup.measured_ms == 40_000);
        assert_eq!(merge(&[], true), None);
    }

    #[test]
    fn nothing_is_lost_on_the_way_through_json() {
        let one = report(10);
        let read: Report = serde_json::from_str(&one.json()).unwrap();
        assert_eq!(read.histograms, one.histograms);
        let merged = merge(&[read], true).unwrap();
        assert_eq!(merged.request_latency.unwrap().p99_micros, one.request_latency.unwrap().p99_micros);
    }
}
