//! The handler of `baton work`: a command for each job, in a process group of its own, so that Ctrl-C reaches the
//! worker alone.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ::client::{Job, Outcome};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// Exit code that throws a BPMN error.
const THROWS: i32 = 100;
/// Largest result of a handler, bytes.
const OUTPUT_BYTES_MAX: usize = 4 << 20;
/// Lines of the standard error output that become the message of a failed job, and their bytes.
const MESSAGE_LINES: usize = 10;
const MESSAGE_BYTES_MAX: usize = 4096;
/// A process that a handler has left behind may hold its output open so long.
const LEFT_BEHIND_GRACE: Duration = Duration::from_millis(500);

/// A command that handles jobs.
pub(super) struct Handler {
    pub(super) command: String,
    pub(super) time_limit: Option<Duration>,
    pub(super) kill: CancellationToken,
}

/// How a handler ended.
#[derive(Debug)]
pub(super) enum HandlerEnd {
    Exited {
        status: ExitStatus,
        output: Vec<u8>,
        errors: Vec<u8>,
    },
    /// It ran longer than this.
    OutOfTime(Duration),
    /// The worker was told to kill it.
    Killed,
    /// It could not be run.
    Unstarted(std::io::Error),
}

/// Kills a process group when it is dropped before the handler has ended.
struct HandlerGroup(Option<Pid>);

impl Drop for HandlerGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Handler {
    /// Runs the command for a job. Dropped before its end, it is killed.
    pub(super) async fn run(&self, job: &Job) -> HandlerEnd {
        let mut child = match self.start(job) {
            Ok(child) => child,
            Err(error) => return HandlerEnd::Unstarted(error),
        };
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let mut group = HandlerGroup(pid);
        let limit = self.time_limit.unwrap_or(Duration::MAX);
        let end = tokio::select! {
            end = finish(&mut child, job.variables.as_bytes()) => end,
            () = tokio::time::sleep(limit) => return HandlerEnd::OutOfTime(limit),
            () = self.kill.cancelled() => return HandlerEnd::Killed,
        };
        group.0 = None;
        end
    }

    fn start(&self, job: &Job) -> std::io::Result<Child> {
        Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .env("JOB_KEY", job.key.to_string())
            .env("JOB_TYPE", &job.job_type)
            .env("JOB_RETRIES", job.retries.to_string())
            .env("JOB_HEADERS", &job.custom_headers)
            .env("JOB_ELEMENT_ID", &job.element_id)
            .env("JOB_PROCESS_ID", &job.process_definition_id)
            .env("JOB_PROCESS_INSTANCE_KEY", job.process_instance_key.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

/// Feeds a handler, reads from it, and waits for its end.
async fn finish(child: &mut Child, variables: &[u8]) -> HandlerEnd {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (output, errors) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A handler need not read its input.
            let _ = stdin.write_all(variables).await;
        }
    };
    let pipes = async {
        tokio::join!(
            feed,
            read(stdout, |part| {
                let mut output = output.lock();
                let room = (OUTPUT_BYTES_MAX + 1).saturating_sub(output.len());
                output.extend_from_slice(&part[..part.len().min(room)]);
            }),
            read(stderr, |part| {
                // People watch what a handler says.
                let _ = std::io::stderr().write_all(part);
                let mut errors = errors.lock();
                errors.extend_from_slice(part);
                let surplus = errors.len().saturating_sub(MESSAGE_BYTES_MAX);
                errors.drain(..surplus);
            })
        )
    };
    let mut pipes = std::pin::pin!(pipes);
    let status = tokio::select! {
        status = child.wait() => {
            let _ = tokio::time::timeout(LEFT_BEHIND_GRACE, pipes.as_mut()).await;
            status
        }
        _ = pipes.as_mut() => child.wait().await,
    };
    match status {
        Ok(status) => HandlerEnd::Exited {
            status,
            output: std::mem::take(&mut *output.lock()),
            errors: std::mem::take(&mut *errors.lock()),
        },
        Err(error) => HandlerEnd::Unstarted(error),
    }
}

/// Reads to the end, part by part.
async fn read(pipe: Option<impl AsyncRead + Unpin>, mut take: impl FnMut(&[u8])) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = [0; 8192];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        take(&buffer[..read]);
    }
}

/// The outcome of a job whose handler ended so; `retries` are those that it has.
pub(super) fn outcome(end: HandlerEnd, retries: i32, backoff: Duration) -> Outcome {
    let failed = |message: String| Outcome::Fail { retries: (retries - 1).max(0), message, backoff };
    match end {
        HandlerEnd::OutOfTime(limit) => failed(format!("the handler ran longer than {limit:?}")),
        // No fault of the job: others may have it at once.
        HandlerEnd::Killed => {
            Outcome::Fail { retries, message: "the worker was stopped".to_owned(), backoff: Duration::ZERO }
        }
        HandlerEnd::Unstarted(error) => failed(format!("the handler cannot be run: {error}")),
        HandlerEnd::Exited { output, .. } if output.len() > OUTPUT_BYTES_MAX => {
            failed(format!("the handler's output is larger than {OUTPUT_BYTES_MAX} bytes"))
        }
        HandlerEnd::Exited { status, output, errors } => match status.code() {
            Some(0) => match result(&output) {
                Ok(variables) => Outcome::Complete(variables),
                Err(reason) => failed(format!("the handler's output is not a JSON object: {reason}")),
            },
            Some(THROWS) => match ThrownError::read(&output) {
                Some(ThrownError { error_code, error_message, variables }) => Outcome::Error {
                    code: error_code,
                    message: error_message.unwrap_or_else(|| tail(&errors)),
                    variables: variables.map(|variables| variables.get().to_owned()),
                },
                None => failed(format!("exit code {THROWS}, but the standard output names no error code")),
            },
            code => {
                let said = tail(&errors);
                failed(match (said.is_empty(), code) {
                    (false, _) => said,
                    (true, Some(code)) => format!("the handler ended with exit code {code}"),
                    (true, None) => {
                        let signal = status.signal().unwrap_or_default();
                        format!("the handler was ended by signal {signal}")
                    }
                })
            }
        },
    }
}

/// The variables of a result.
fn result(output: &[u8]) -> Result<Option<String>, String> {
    let text = std::str::from_utf8(output).map_err(|error| error.to_string())?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    serde_json::from_str::<Map<String, Value>>(text).map_err(|error| error.to_string())?;
    Ok(Some(text.to_owned()))
}

/// A BPMN error as a handler writes it: its code alone, or a JSON object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThrownError {
    error_code: String,
    error_message: Option<String>,
    variables: Option<Box<RawValue>>,
}

impl ThrownError {
    fn read(output: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(output).ok()?.trim();
        if text.starts_with('{') {
            return serde_json::from_str(text).ok();
        }
        let error_code = text.lines().next()?.trim().to_owned();
        (!error_code.is_empty()).then_some(Self { error_code, error_message: None, variables: None })
    }
}

/// The last lines that were said.
fn tail(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<_> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(MESSAGE_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32, output: &str, errors: &str) -> Outcome {
        let status = ExitStatus::from_raw(code << 8);
        let end = HandlerEnd::Exited { status, output: output.into(), errors: errors.into() };
        outcome(end, 3, Duration::from_secs(1))
    }

    fn failed(message: &str) -> Outcome {
        Outcome::Fail { retries: 2, message: message.to_owned(), backoff: Duration::from_secs(1) }
    }

    #[test]
    fn exit_codes_are_outcomes() {
        assert_eq!(ended(0, " \n", "noise"), Outcome::Complete(None));
        assert_eq!(ended(0, "{\"a\": 1.10}\n", ""), Outcome::Complete(Some("{\"a\": 1.10}\n".to_owned())));
        let Outcome::Fail { retries: 2, message, .. } = ended(0, "hello", "") else { panic!("no object") };
        assert!(message.starts_with("the handler's output is not a JSON object: "), "{message}");
        assert_eq!(ended(1, "", ""), failed("the handler ended with exit code 1"));
        let many = (1..=12).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        let last: Vec<_> = (3..=12).map(|line| format!("line {line}")).collect();
        assert_eq!(ended(7, "{}", &many), failed(&last.join("\n")));
        let killed = HandlerEnd::Exited { status: ExitStatus::from_raw(9), output: vec![], errors: vec![] };
        assert_eq!(outcome(killed, 3, Duration::from_secs(1)), failed("the handler was ended by signal 9"));
        assert_eq!(
            outcome(HandlerEnd::OutOfTime(Duration::from_secs(2)), 0, Duration::ZERO),
            Outcome::Fail {
                retries: 0,
                message: "the handler ran longer than 2s".to_owned(),
                backoff: Duration::ZERO
            }
        );
        let Outcome::Fail { retries: 3, .. } = outcome(HandlerEnd::Killed, 3, Duration::MAX) else {
            panic!("a job that is given back keeps its retries")
        };
    }

    #[test]
    fn errors_have_a_code() {
        let error = |code: &str, message: &str, variables: Option<&str>| Outcome::Error {
            code: code.to_owned(),
            message: message.to_owned(),
            variables: variables.map(str::to_owned),
        };
        assert_eq!(ended(100, "SOLD_OUT\n", "why\n"), error("SOLD_OUT", "why", None));
        let object = r#"{"errorCode": "E", "errorMessage": "m", "variables": {"x":1.0}}"#;
        assert_eq!(ended(100, object, "why"), error("E", "m", Some(r#"{"x":1.0}"#)));
        for nameless in ["", "{}", "{\"errorCode\": 1}"] {
            assert_eq!(
                ended(100, nameless, ""),
                failed("exit code 100, but the standard output names no error code"),
                "{nameless}"
            );
        }
    }
}
