//! Memory of the program, and its probes, all the while.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::http;
use crate::metric::metric;

const LOOK_PACE: Duration = Duration::from_millis(20);
const PROBE_PACE: Duration = Duration::from_millis(200);
/// A program that takes more is killed, for the sake of the machine; its figures tell.
const GUARD_BYTES: u64 = 3 * 1024 * 1024 * 1024;

/// Observations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Peak {
    pub(crate) resident_bytes: u64,
    /// The longest that a probe took to be answered.
    pub(crate) probe: Duration,
    pub(crate) banned: u64,
}

pub(crate) struct Watch {
    stop: (oneshot::Sender<()>, oneshot::Sender<()>),
    memory: JoinHandle<u64>,
    probes: JoinHandle<(Duration, u64)>,
}

impl Watch {
    pub(crate) fn start(process: i32, management: &str) -> Self {
        let (stop_memory, mut stopped) = oneshot::channel();
        let memory = tokio::spawn(async move {
            let mut peak = 0;
            while stopped.try_recv().is_err() {
                let bytes = resident_bytes(process).unwrap_or(0);
                peak = peak.max(bytes);
                if bytes > GUARD_BYTES {
                    _ = kill_process(Pid::from_raw(process).unwrap(), Signal::KILL);
                }
                tokio::time::sleep(LOOK_PACE).await;
            }
            peak
        });
        let (stop_probes, mut stopped) = oneshot::channel();
        let management = management.to_owned();
        let probes = tokio::spawn(async move {
            let (mut longest, mut banned) = (Duration::ZERO, 0);
            while stopped.try_recv().is_err() {
                let began = Instant::now();
                // Its status is no matter here, only that it comes.
                if http::ask(&management, "GET", "/actuator/health/liveness", None).await.is_ok() {
                    longest = longest.max(began.elapsed());
                }
                if let Ok(answer) = http::ask(&management, "GET", "/actuator/prometheus", None).await {
                    banned = metric(&answer.body, "zeebe_banned_instances_total", "");
                }
                tokio::time::sleep(PROBE_PACE).await;
            }
            (longest, banned)
        });
        Self { stop: (stop_memory, stop_probes), memory, probes }
    }

    pub(crate) async fn end(self) -> Peak {
        _ = self.stop.0.send(());
        _ = self.stop.1.send(());
        let (probe, banned) = self.probes.await.unwrap_or((http::PATIENCE, 0));
        Peak { resident_bytes: self.memory.await.unwrap(), probe, banned }
    }
}

/// Memory of a process now.
pub(crate) fn resident_bytes(process: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
