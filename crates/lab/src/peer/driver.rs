//! A program that drives a peer with the peer's own client.
//!
//! It reads commands and writes answers, one JSON object a line: `{"ok": {…}}` or `{"error": "…"}`. Other lines are its
//! log. When nobody writes to it any more, it stops what it has started and ends.
//!
//! | command | members | answer |
//! |---|---|---|
//! | `start` | `directory` for its data | `process`, `version`, `readySeconds`, `notes` |
//! | `run` | `warmUpSeconds`, `seconds`, `concurrency` | `all`; of the window `perSecond`, `p50Seconds`, `p99Seconds` |
//! | `wait` | `count`, `concurrency` | `perSecond` |
//! | `stop` | | |
//!
//! `run` creates instances with one task, each of a lane after the end of the one before; a latency is that of a whole
//! instance. `wait` creates instances that wait for something that never comes.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::error::LabError;

/// Longest time of an answer beyond the time that the command itself asks for.
const ANSWER_MAX: Duration = Duration::from_secs(180);
/// Longest time for each instance that waits. A peer that syncs several times for one creates few in a second.
const WAITING_MAX: Duration = Duration::from_millis(50);

/// A driver that runs.
pub(super) struct Driver {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// A peer that has started.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Started {
    pub(super) process: u32,
    pub(super) version: String,
    pub(super) ready_seconds: f64,
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

/// A load that has ended.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Loaded {
    /// Instances, warm-up and end included.
    pub(super) all: f64,
    /// Instances that ended in the window.
    pub(super) per_second: f64,
    /// Of whole instances.
    pub(super) p50_seconds: Option<f64>,
    pub(super) p99_seconds: Option<f64>,
}

/// How fast instances that wait were created.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitingCreated {
    pub(super) per_second: f64,
}

/// A line of a driver.
#[derive(Debug, Deserialize)]
struct DriverAnswer {
    ok: Option<Value>,
    error: Option<String>,
}

impl Driver {
    /// Starts the program of a command line; its log goes to a file.
    pub(super) fn start(words: &[String], log: &Path) -> Result<Self, LabError> {
        let file = std::fs::File::create(log)
            .map_err(|error| LabError::environment(&format!("write {}", log.display()), error))?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(file);
        // With it end the processes that it has started.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| {
            LabError::environment(&format!("start the driver of the peer {}", words[0]), error)
        })?;
        let input = child.stdin.take().expect("its input is a pipe");
        let output = child.stdout.take().expect("its output is a pipe");
        Ok(Self { child, input, output: BufReader::new(output).lines() })
    }

    pub(super) async fn begin(&mut self, directory: &Path) -> Result<Started, LabError> {
        self.ask(json!({ "do": "start", "directory": directory }), Duration::ZERO).await
    }

    pub(super) async fn run(
        &mut self,
        warm_up: Duration,
        length: Duration,
        concurrency: usize,
    ) -> Result<Loaded, LabError> {
        let (warm_up_seconds, seconds) = (warm_up.as_secs_f64(), length.as_secs_f64());
        let command = json!({
            "do": "run", "warmUpSeconds": warm_up_seconds, "seconds": seconds, "concurrency": concurrency,
        });
        self.ask(command, warm_up + length).await
    }

    pub(super) async fn wait(&mut self, count: u32, concurrency: usize) -> Result<WaitingCreated, LabError> {
        let command = json!({ "do": "wait", "count": count, "concurrency": concurrency });
        self.ask(command, WAITING_MAX * count).await
    }

    pub(super) async fn stop(mut self) -> Result<(), LabError> {
        self.ask::<Value>(json!({ "do": "stop" }), Duration::ZERO).await.map(|_| ())
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &mut self,
        command: Value,
        length: Duration,
    ) -> Result<T, LabError> {
        let name = command["do"].as_str().unwrap_or_default().to_owned();
        let cannot = |reason: &dyn std::fmt::Display| {
            LabError::Environment(format!("the driver of the peer, {name}: {reason}"))
        };
        let line = format!("{command}\n");
        self.input.write_all(line.as_bytes()).await.map_err(|error| cannot(&error))?;
        let answer = tokio::time::timeout(ANSWER_MAX + length, self.answer()).await;
        let answer = answer.map_err(|_| cannot(&"no answer in time"))?.map_err(|error| cannot(&error))?;
        match answer {
            DriverAnswer { error: Some(error), .. } => Err(cannot(&error)),
            DriverAnswer { ok, .. } => {
                serde_json::from_value(ok.unwrap_or_default()).map_err(|error| cannot(&error))
            }
        }
    }

    async fn answer(&mut self) -> std::io::Result<DriverAnswer> {
        while let Some(line) = self.output.next_line().await? {
            if let Ok(answer @ (DriverAnswer { ok: Some(_), .. } | DriverAnswer { error: Some(_), .. })) =
                serde_json::from_str(&line)
            {
                return Ok(answer);
            }
        }
        Err(std::io::Error::other("it has ended; its log tells why"))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(group) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // A group that is gone needs no signal.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(script: &str) -> (Driver, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let words = ["sh", "-c", script].map(str::to_owned);
        (Driver::start(&words, &folder.path().join("log")).unwrap(), folder)
    }

    #[tokio::test]
    async fn answers_are_told_from_the_log() {
        let script = r#"read line; echo starting; echo '{"level": "info"}'
            echo '{"ok": {"process": 7, "version": "a 1", "readySeconds": 0.5}}'; read line; echo '{"error": "no disk"}'"#;
        let (mut driver, folder) = driver(script);
        let started = driver.begin(folder.path()).await.unwrap();
        assert_eq!((started.process, started.version.as_str()), (7, "a 1"));
        let error = driver.wait(1, 1).await.unwrap_err().to_string();
        assert!(error.contains("wait: no disk"), "{error}");
        let error = driver.wait(1, 1).await.unwrap_err().to_string();
        assert!(error.contains("the driver of the peer, wait: "), "{error}");
    }

    /// Driver in JavaScript whose instances take a time of their own.
    const LINES: &str = r"
        const { create, load, serve } = await import(process.argv[1]);
        let created = 0;
        await serve({
          start: ({ directory }) => ({ process: process.pid, version: directory, readySeconds: 0.5, notes: ['one'] }),
          run: (command) => load(command, () => new Promise((resolve) => setTimeout(resolve, 10))),
          wait: (command) => create(command, async () => { created += 1; }),
          stop: () => { throw new Error(`${created} were created`); },
        });
    ";

    #[tokio::test]
    async fn drivers_in_javascript_speak_these_lines() {
        let folder = tempfile::tempdir().unwrap();
        let lines = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/lines.mjs");
        let words = ["node", "--input-type=module", "-e", LINES, lines].map(str::to_owned);
        let mut driver = Driver::start(&words, &folder.path().join("log")).unwrap();
        let started = driver.begin(folder.path()).await.unwrap();
        assert_eq!((started.version.as_str(), started.notes.len()), (folder.path().to_str().unwrap(), 1));
        let (warm_up, length) = (Duration::from_millis(100), Duration::from_millis(200));
        let loaded = driver.run(warm_up, length, 4).await.unwrap();
        let counted = loaded.per_second * length.as_secs_f64();
        assert!(counted >= 1.0 && counted < loaded.all, "{loaded:?}");
        // Its timers count whole milliseconds.
        assert!(loaded.p50_seconds >= Some(0.009) && loaded.p99_seconds >= loaded.p50_seconds, "{loaded:?}");
        assert!(driver.wait(50, 8).await.unwrap().per_second > 50.0);
        let error = driver.stop().await.unwrap_err().to_string();
        assert!(error.contains("stop: 50 were created"), "{error}");
    }

    #[tokio::test]
    async fn nothing_of_it_is_left() {
        let (mut driver, folder) = driver(
            r#"sleep 1000 & read line; echo "{\"ok\": {\"process\": $!, \"version\": \"\", \"readySeconds\": 0}}"; wait"#,
        );
        let started = driver.begin(folder.path()).await.unwrap();
        let place = format!("/proc/{}/stat", started.process);
        assert!(Path::new(&place).exists());
        drop(driver);
        // One that has ended and that nobody has waited for is still there, as a zombie.
        let lives = || std::fs::read_to_string(&place).is_ok_and(|stat| !stat.contains(") Z "));
        while lives() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
