//! A worker as the experiments see it: a process that is started, frozen, let go on, and tells its counts.

use lab::worker::Knobs;
use parking_lot::Mutex;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child as Process, Command};

/// Counters of a worker since its start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) polls: u64,
    /// Jobs by poll; the Java worker cannot tell.
    pub(crate) polled: u64,
    pub(crate) completed: u64,
    /// Completions that were refused, since the job was no longer there: work that was done twice.
    pub(crate) refused: u64,
    /// Completions that failed otherwise.
    pub(crate) failed: u64,
    /// Jobs for which there was no place in time.
    pub(crate) dropped: u64,
}

/// Counters by time.
#[derive(Debug, Default)]
pub(crate) struct Series(Vec<(Instant, Counts)>);

impl Series {
    /// The counts at a time: the last that were told until then.
    pub(crate) fn at(&self, time: Instant) -> Counts {
        let told = self.0.iter().take_while(|(told, _)| *told <= time).last();
        told.map_or_else(Counts::default, |(_, counts)| *counts)
    }
}

pub(crate) struct Child {
    process: Process,
    series: Arc<Mutex<Series>>,
}

impl Child {
    /// This program itself, or the Java worker that `EXPERIMENTS_JAVA` names with its arguments, separated by spaces.
    pub(crate) fn start(knobs: &Knobs, is_java: bool) -> Self {
        let mut command = if is_java {
            let line = std::env::var("EXPERIMENTS_JAVA").expect("it names the Java worker");
            let mut words = line.split_whitespace();
            let mut command = Command::new(words.next().expect("a program"));
            command.args(words);
            command
        } else {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.arg(crate::WORKER);
            command
        };
        command.args(knobs.arguments()).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        // A shell that ends lets stopped processes of its own group go on.
        command.process_group(0);
        let mut process = command.spawn().unwrap();
        let series = Arc::<Mutex<Series>>::default();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let told = Arc::clone(&series);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                told.lock().0.push((Instant::now(), counts(&line)));
            }
        });
        Self { process, series }
    }

    fn signal(&self, signal: Signal) {
        let id = self.process.id().expect("a worker does not end by itself");
        kill_process(Pid::from_raw(id.cast_signed()).unwrap(), signal).unwrap();
    }

    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    pub(crate) fn at(&self, time: Instant) -> Counts {
        self.series.lock().at(time)
    }

    pub(crate) fn now(&self) -> Counts {
        self.at(Instant::now())
    }

    /// How often it has told its counts.
    pub(crate) fn reports(&self) -> usize {
        self.series.lock().0.len()
    }

    /// Whether it has told anything.
    pub(crate) fn is_up(&self) -> bool {
        !self.series.lock().0.is_empty()
    }
}

fn counts(line: &str) -> Counts {
    let number = |name: &str| {
        let value = line.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {line:?}"))
    };
    Counts {
        polls: number("polls"),
        polled: number("polled"),
        completed: number("completed"),
        refused: number("refused"),
        failed: number("failed"),
        dropped: number("dropped"),
    }
}
