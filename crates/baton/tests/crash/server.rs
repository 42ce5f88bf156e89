//! The program under test, its data directory and its log.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// How long a start may take, recovery included.
const READY_MAX: Duration = Duration::from_secs(60);
/// The log engine cuts off the unused end of its last file, and says so.
const ANNOUNCED: &str = "Truncating log file due to broken batch";
/// How long a stop may take.
const STOP_MAX: Duration = Duration::from_secs(30);

/// Data that outlive the program.
pub(crate) struct Data {
    directory: tempfile::TempDir,
}

impl Drop for Data {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("the data is kept in {}", self.directory.path().display());
        }
    }
}

impl Data {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// The data directory of the program.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("server.log")
    }

    fn log_file(&self) -> File {
        OpenOptions::new().create(true).append(true).open(self.log()).unwrap()
    }

    /// Lines of the log with a text in them.
    #[allow(dead_code, reason = "the crash test wants none at all")]
    pub(crate) fn logged(&self, text: &str) -> usize {
        std::fs::read_to_string(self.log()).unwrap().lines().filter(|line| line.contains(text)).count()
    }

    /// No start may have warned of anything: a crash is nothing unusual.
    #[allow(dead_code, reason = "other tests break things that are worth a warning")]
    pub(crate) fn assert_quiet_log(&self) {
        let log = std::fs::read_to_string(self.log()).unwrap();
        let loud: Vec<_> = log
            .lines()
            .filter(|line| !line.contains(ANNOUNCED))
            .filter(|line| ["WARN", "ERROR", "panicked at"].iter().any(|word| line.contains(word)))
            .collect();
        assert!(loud.is_empty(), "{}", loud.join("\n"));
    }
}

/// The program as it was built with this test, or another build of it: `EXPERIMENTS_PROGRAM`.
fn program() -> OsString {
    let other = std::env::var_os("EXPERIMENTS_PROGRAM").filter(|path| !path.is_empty());
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_baton").into())
}

/// One life of the program.
pub(crate) struct Server {
    child: Child,
    ready: String,
    log: PathBuf,
}

impl Server {
    pub(crate) fn spawn(data: &Data, settings: &[String]) -> Self {
        let free = "127.0.0.1:0";
        let mut command = Command::new(program());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_"))
        {
            command.env_remove(name);
        }
        command
            .arg("start")
            .arg("--data-dir")
            .arg(data.path())
            .args(["--rest", free, "--grpc", free, "--management", free])
            .args(settings.iter().flat_map(|setting| ["--set", setting]))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(data.log_file())
            .kill_on_drop(true);
        Self { child: command.spawn().unwrap(), ready: String::new(), log: data.log() }
    }

    /// Waits until it says that it is ready.
    pub(crate) async fn ready(&mut self) {
        let output = self.child.stdout.as_mut().unwrap();
        let mut output = BufReader::new(output);
        let read = tokio::time::timeout(READY_MAX, output.read_line(&mut self.ready)).await;
        let ready = matches!(read, Ok(Ok(_))) && self.ready.starts_with("baton ready in ");
        assert!(ready, "not ready: {:?}\n{}", self.ready, std::fs::read_to_string(&self.log).unwrap());
    }

    pub(crate) fn address(&self, name: &str) -> &str {
        let (_, after) = self.ready.split_once(&format!(" {name}=")).unwrap();
        after.split_whitespace().next().unwrap()
    }

    /// Its process.
    #[allow(dead_code, reason = "the attacks look at its memory")]
    pub(crate) fn id(&self) -> i32 {
        self.child.id().expect("it has not ended by itself").cast_signed()
    }

    /// SIGKILL after a while.
    pub(crate) async fn kill_after(mut self, delay: Duration) {
        tokio::time::sleep(delay).await;
        let ended = self.child.try_wait().unwrap();
        assert!(
            ended.is_none(),
            "ended by itself: {ended:?}\n{}",
            std::fs::read_to_string(&self.log).unwrap()
        );
        self.child.kill().await.unwrap();
    }

    /// SIGTERM; it must end well.
    pub(crate) async fn stop(mut self) {
        let id = Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap();
        kill_process(id, Signal::TERM).unwrap();
        let status =
            tokio::time::timeout(STOP_MAX, self.child.wait()).await.expect("it stops in time").unwrap();
        assert!(status.success(), "{status}\n{}", std::fs::read_to_string(&self.log).unwrap());
    }
}
