//! A limit of CPU for a process: by a control group where one may be made, otherwise by pauses.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinHandle;

use crate::watch::cpu_seconds;

/// The period in which a group may use its share, microseconds.
const PERIOD_MICROS: u32 = 100_000;
/// Time between two looks at a process that is paused, and credit that it may gather. The kernel counts CPU in steps
/// of ten milliseconds.
const PACE: Duration = Duration::from_millis(10);
const CREDIT_SECONDS_MAX: f64 = 0.1;

static GROUPS: AtomicU32 = AtomicU32::new(0);

/// A limit that is in force as long as this lives.
pub(crate) struct CpuLimit {
    kind: LimitKind,
    text: String,
}

enum LimitKind {
    Group(PathBuf),
    Pauses { process: u32, task: JoinHandle<()> },
}

impl CpuLimit {
    /// Limits a process with all its threads to a share of a core.
    pub(crate) fn begin(process: u32, cores: f64) -> Self {
        for (place, version) in [("/sys/fs/cgroup/cpu", 1), ("/sys/fs/cgroup", 2)] {
            if let Some(group) = group(Path::new(place), version, process, cores) {
                let text = format!("{cores} cores by a control group of version {version}");
                return Self { kind: LimitKind::Group(group), text };
            }
        }
        let task = tokio::spawn(pause(process, cores));
        let text = format!("{cores} cores by pauses (SIGSTOP): no control group may be made here");
        Self { kind: LimitKind::Pauses { process, task }, text }
    }

    /// How the process is limited.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl Drop for CpuLimit {
    fn drop(&mut self) {
        match &self.kind {
            LimitKind::Group(group) => {
                // A group must be empty before it goes.
                if let (Ok(members), Some(parent)) =
                    (fs::read_to_string(group.join("cgroup.procs")), group.parent())
                {
                    for member in members.lines() {
                        let _ = fs::write(parent.join("cgroup.procs"), member);
                    }
                }
                // One that cannot be removed is empty.
                let _ = fs::remove_dir(group);
            }
            LimitKind::Pauses { process, task } => {
                task.abort();
                signal(*process, Signal::CONT);
            }
        }
    }
}

/// Makes a group and puts the process in; `None` if that may not be.
fn group(place: &Path, version: u32, process: u32, cores: f64) -> Option<PathBuf> {
    let has_controller = match version {
        1 => place.join("cpu.cfs_quota_us").exists() || place.join("cpu.shares").exists(),
        _ => fs::read_to_string(place.join("cgroup.subtree_control"))
            .is_ok_and(|controllers| controllers.split_whitespace().any(|name| name == "cpu")),
    };
    if !has_controller {
        return None;
    }
    let number = GROUPS.fetch_add(1, Ordering::Relaxed);
    let group = place.join(format!("baton-lab-{}-{number}", std::process::id()));
    fs::create_dir(&group).ok()?;
    let quota = (f64::from(PERIOD_MICROS) * cores) as u32;
    let settings = match version {
        1 => vec![
            ("cpu.cfs_period_us", PERIOD_MICROS.to_string()),
            ("cpu.cfs_quota_us", quota.to_string()),
            ("cgroup.procs", process.to_string()),
        ],
        _ => vec![("cpu.max", format!("{quota} {PERIOD_MICROS}")), ("cgroup.procs", process.to_string())],
    };
    let done = settings.iter().all(|(name, value)| fs::write(group.join(name), value).is_ok());
    if !done {
        let _ = fs::remove_dir(&group);
        return None;
    }
    Some(group)
}

/// Stops a process whenever it has used more than its share, and lets it go on later.
async fn pause(process: u32, cores: f64) {
    let (mut before, mut since) = (cpu_seconds(process).unwrap_or(0.0), Instant::now());
    let (mut credit, mut is_stopped) = (CREDIT_SECONDS_MAX, false);
    loop {
        tokio::time::sleep(PACE).await;
        let (Some(used), now) = (cpu_seconds(process), Instant::now()) else { return };
        let earned = (now - since).as_secs_f64() * cores;
        credit = (credit + earned - (used - before)).min(CREDIT_SECONDS_MAX);
        (before, since) = (used, now);
        if (credit < 0.0) != is_stopped {
            is_stopped = credit < 0.0;
            signal(process, if is_stopped { Signal::STOP } else { Signal::CONT });
        }
    }
}

fn signal(process: u32, signal: Signal) {
    if let Some(process) = Pid::from_raw(process.cast_signed()) {
        // One that has ended needs no limit.
        let _ = kill_process(process, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// CPU by time of a busy process under a limit.
    async fn share(process: u32, limit: impl FnOnce() -> CpuLimit) -> f64 {
        let limit = limit();
        let (began, before) = (Instant::now(), cpu_seconds(process).unwrap());
        while cpu_seconds(process).unwrap() - before < 0.5 {
            tokio::time::sleep(PACE).await;
        }
        let share = (cpu_seconds(process).unwrap() - before) / began.elapsed().as_secs_f64();
        drop(limit);
        share
    }

    #[tokio::test]
    async fn a_busy_process_gets_its_share_and_no_more() {
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let process = child.id();
        let any = share(process, || CpuLimit::begin(process, 0.25)).await;
        let paused = share(process, || CpuLimit {
            kind: LimitKind::Pauses { process, task: tokio::spawn(pause(process, 0.25)) },
            text: String::new(),
        })
        .await;
        let group = format!("baton-lab-{}", std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        // Credit from before the limit comes on top.
        assert!(any < 0.4 && paused < 0.4, "{any} {paused}");
        for place in ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"] {
            let left = fs::read_dir(place).into_iter().flatten().flatten();
            let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&group));
            assert_eq!(left.count(), 0, "{place}");
        }
    }
}
