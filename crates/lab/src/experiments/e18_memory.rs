//! E18: memory over time.

use bench::Options;
use client::Protocol;

use super::parts::{STANDARD_RATE, every_job_is_done_once};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::{Limit, PlotKind};
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E18",
    title: "Memory over time",
    hypothesis: "A broker needs less than 256 MiB under the standard load, and does not grow.",
    set_up: "One broker with the embedded secondary storage.",
    steady_state: "The standard load over gRPC, ten minutes in full size; `--scale 6` makes it an hour. A third of it in \
        quick size.",
    action: "None.",
    measurement: "Resident memory once a second: the largest, and the slope over the second half.",
    reference: "Some 2 to 3 GiB of a limit of 12 GiB.",
    seconds: (32, 610),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const MIB: f64 = 1024.0 * 1024.0;
const MOST: f64 = 256.0 * MIB;
/// Growth a minute in the second half.
const SLOPE_MAX: f64 = 3.0 * MIB;
/// A shorter run shows how caches fill, not whether memory grows.
const SLOPE_LENGTH_MIN: std::time::Duration = std::time::Duration::from_mins(5);
/// Caches fill in the first minute; only what is far beyond that is seen in seconds.
const SLOPE_QUICK_MAX: f64 = 25.0 * MIB;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    lab.published(PlotKind::Memory, "2 GiB", 2048.0);
    lab.phase("the standard load");
    let options = Options {
        rate: Some(lab.pick(50.0, STANDARD_RATE)),
        duration: crate::load::UNTIL_ENDED,
        ..lab.load_options(&server, Protocol::Grpc)
    };
    let load = lab.load("load", options);
    let began = std::time::Instant::now();
    let length = lab.seconds(30.0, 600.0);
    let mut samples = Vec::new();
    while began.elapsed() < length {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        samples.push((began.elapsed().as_secs_f64(), server.resident_bytes()));
    }
    let report = lab.end(load).await?;
    let most = samples.iter().map(|(_, bytes)| *bytes).fold(0.0, f64::max);
    lab.expect_fact("resident memory at the most", Unit::Bytes, Limit::AtMost(MOST), most);
    let slope = slope(&samples[samples.len() / 2..]) * 60.0;
    let limit = Limit::AtMost(lab.pick(SLOPE_QUICK_MAX, SLOPE_MAX));
    if lab.is_quick() || length >= SLOPE_LENGTH_MIN {
        lab.expect("growth of a minute, second half", Unit::Bytes, limit, slope);
    } else {
        lab.tell("growth of a minute, second half", Unit::Bytes, slope);
        lab.note("growth is not judged in less than five minutes: caches fill meanwhile.");
    }
    lab.tell("instances ended", Unit::PerSecond, report.completed_per_second);
    every_job_is_done_once(lab, &server, report.unfinished).await?;
    server.stop().await
}

/// The slope of a line through the samples (least squares), a second.
fn slope(samples: &[(f64, f64)]) -> f64 {
    let count = samples.len().max(1) as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| samples.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|sample| sample.0), mean(|sample| sample.1));
    let above = samples.iter().map(|sample| (sample.0 - x) * (sample.1 - y)).sum::<f64>();
    let below = samples.iter().map(|sample| (sample.0 - x).powi(2)).sum::<f64>();
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_has_its_slope() {
        let samples: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 5.0 + 2.0 * f64::from(x))).collect();
        assert!((super::slope(&samples) - 2.0).abs() < 1e-9);
        assert!(super::slope(&[]).abs() < 1e-9);
    }
}
