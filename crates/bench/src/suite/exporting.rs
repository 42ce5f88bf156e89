//! How soon what happened can be found.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use client::CreateInstance;

use super::server::deployed;
use crate::Error;

const PROBE_BPMN: &str = include_str!("../../models/probe.bpmn");
/// One instance follows the other at this distance.
const INTERVAL: Duration = Duration::from_millis(50);
/// Interval between requests. It is the largest error of the measured time.
const ASK_INTERVAL: Duration = Duration::from_millis(2);
/// An instance that is not found within this time is given up.
const FOUND_MAX: Duration = Duration::from_mins(1);

/// Creates instances until told to stop, and looks for each: from the answer to the creation until a search finds
/// it, in microseconds, ascending.
pub(super) async fn times_until_found(address: String, stop: Arc<AtomicBool>) -> Result<Vec<f64>, Error> {
    let client = deployed(address, FOUND_MAX, "probe.bpmn", PROBE_BPMN).await?;
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let created = client.create_instance_key(&CreateInstance::latest("probe")).await;
        let key = created.map_err(Error::request("create a probe"))?;
        let begin = Instant::now();
        let request = format!(r#"{{"filter":{{"processInstanceKey":"{key}"}},"page":{{"limit":1}}}}"#);
        loop {
            let answer = client.search("process-instances", &request).await;
            if answer.map_err(Error::request("look for a probe"))?.json.contains("\"startDate\"") {
                break;
            }
            if begin.elapsed() > FOUND_MAX {
                return Err(Error::Options(format!("process instance {key} was not found in time")));
            }
            tokio::time::sleep(ASK_INTERVAL).await;
        }
        times.push(begin.elapsed().as_micros() as f64);
        tokio::time::sleep(INTERVAL).await;
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// The value below which `percent` of them are.
pub(super) fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((sorted.len() * percent / 100).min(last)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles() {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&times, 50), Some(51.0));
        assert_eq!(percentile(&times, 99), Some(100.0));
        assert_eq!(percentile(&[7.0], 99), Some(7.0));
        assert_eq!(percentile(&[], 99), None);
    }
}
