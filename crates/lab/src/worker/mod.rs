//! Job workers in processes of their own: started, frozen, killed, and their counts read.

mod knobs;
mod process;

pub use knobs::Knobs;
pub use process::run;

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::error::LabError;
use crate::until::until;

/// How long a worker may take until it tells its counts: a virtual machine has to get warm.
const UP_MAX: Duration = Duration::from_secs(60);

/// Which worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum WorkerChoice {
    /// One in a process of its own that behaves like the Java client's.
    Lab,
    /// The official Java client.
    Java,
    /// The Node client.
    Node,
}

/// How a worker is started.
#[derive(Debug, Clone)]
pub(crate) enum WorkerKind {
    /// This program itself.
    Lab,
    /// A command line: of the Java client's worker, of the Node client's.
    Real(Vec<String>),
}

impl WorkerKind {
    pub(crate) fn of(choice: WorkerChoice) -> Result<Self, LabError> {
        let (variable, program, what) = match choice {
            WorkerChoice::Lab => return Ok(Self::Lab),
            WorkerChoice::Java => ("LAB_JAVA_WORKER", "java", "a JDK"),
            WorkerChoice::Node => ("LAB_NODE_WORKER", "node", "Node.js"),
        };
        let line = std::env::var(variable).ok().filter(|line| !line.trim().is_empty());
        let line = line.ok_or_else(|| {
            LabError::Environment(format!("{variable} is not set: it is the command line of the worker"))
        })?;
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let found = std::process::Command::new(&words[0])
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match found {
            Ok(_) => Ok(Self::Real(words)),
            Err(error) => Err(LabError::Environment(format!(
                "{what} is needed for --worker {program}: {}: {error}",
                words[0]
            ))),
        }
    }
}

/// Counters of a worker since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct WorkerCounts {
    pub(crate) polls: f64,
    /// Jobs by poll; real workers cannot tell.
    pub(crate) polled: f64,
    pub(crate) completed: f64,
    /// Completions that were refused, since the job was no longer there: work that was done twice.
    pub(crate) refused: f64,
    /// Completions that failed otherwise.
    pub(crate) failed: f64,
    /// Jobs for which there was no place in time.
    pub(crate) dropped: f64,
}

impl WorkerCounts {
    fn read(line: &str) -> Self {
        let number = |name: &str| {
            let value = line.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
        };
        Self {
            polls: number("polls"),
            polled: number("polled"),
            completed: number("completed"),
            refused: number("refused"),
            failed: number("failed"),
            dropped: number("dropped"),
        }
    }
}

/// A worker that runs.
pub(crate) struct Worker {
    child: Child,
    series: Arc<Mutex<Vec<(Instant, WorkerCounts)>>>,
}

impl Worker {
    pub(crate) fn start(kind: &WorkerKind, knobs: &Knobs) -> Result<Self, LabError> {
        let mut command = match kind {
            WorkerKind::Real(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
            WorkerKind::Lab => {
                let own = std::env::current_exe();
                let own = own.map_err(|error| LabError::environment("find this program", error))?;
                let mut command = Command::new(own);
                command.args(["lab", "worker"]);
                command
            }
        };
        command.args(knobs.arguments()).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        // A shell that ends lets stopped processes of its own group go on.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| LabError::environment("start a worker", error))?;
        let output = child.stdout.take().expect("its output is a pipe");
        let series = Arc::<Mutex<Vec<_>>>::default();
        let told = Arc::clone(&series);
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                told.lock().push((Instant::now(), WorkerCounts::read(&line)));
            }
        });
        Ok(Self { child, series })
    }

    /// Waits until it tells its counts.
    pub(crate) async fn up(&self) -> Result<(), LabError> {
        let is_up = async || !self.series.lock().is_empty();
        match until(UP_MAX, is_up).await {
            Some(_) => Ok(()),
            None => Err(LabError::Environment("a worker does not start".to_owned())),
        }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    fn signal(&self, signal: Signal) -> Result<(), LabError> {
        let process = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let process = process.ok_or_else(|| LabError::System("a worker has ended by itself".to_owned()))?;
        kill_process(process, signal).map_err(|error| LabError::environment("signal a worker", error))
    }

    /// Stops it where it is, as a long pause of its virtual machine would.
    pub(crate) fn freeze(&self) -> Result<(), LabError> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn thaw(&self) -> Result<(), LabError> {
        self.signal(Signal::CONT)
    }

    /// Ends it without a warning, jobs in its hands.
    pub(crate) async fn kill(mut self) -> Result<(), LabError> {
        self.child.kill().await.map_err(|error| LabError::environment("kill a worker", error))
    }

    /// The counts at a time: the last that were told until then.
    pub(crate) fn at(&self, time: Instant) -> WorkerCounts {
        let series = self.series.lock();
        let told = series.iter().take_while(|(told, _)| *told <= time).last();
        told.map_or_else(WorkerCounts::default, |(_, counts)| *counts)
    }

    /// Pause between two reports within a time; nineteen of twenty were at most so long.
    pub(crate) fn pause(&self, since: Instant, until: Instant) -> Duration {
        let series = self.series.lock();
        let times = series.iter().map(|(told, _)| *told).filter(|told| (since..=until).contains(told));
        let times: Vec<Instant> = times.collect();
        let mut pauses: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        pauses.sort();
        let place = (pauses.len() * 19 / 20).min(pauses.len().saturating_sub(1));
        pauses.get(place).copied().unwrap_or(until - since)
    }

    pub(crate) fn now(&self) -> WorkerCounts {
        self.at(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_unknown_ones_are_zero() {
        let counts = WorkerCounts::read("streamed=3 polls=2 completed=40 refused=1 failed=0");
        assert_eq!((counts.polls, counts.completed, counts.refused, counts.dropped), (2.0, 40.0, 1.0, 0.0));
    }

    #[test]
    fn knobs_return_from_the_command_line() {
        let knobs = Knobs {
            rest: "127.0.0.1:1".to_owned(),
            grpc: "127.0.0.1:2".to_owned(),
            job_type: "a".to_owned(),
            threads: 3,
            capacity: 4,
            timeout: Duration::from_secs(5),
            work: (Duration::from_millis(6), Duration::from_millis(7)),
            streams: true,
            window_bytes: 8,
            prefers_rest: false,
        };
        assert_eq!(Knobs::parse(&knobs.arguments()).unwrap().arguments(), knobs.arguments());
        assert!(Knobs::parse(&["rest=a".to_owned()]).unwrap_err().contains("grpc is missing"));
    }
}
