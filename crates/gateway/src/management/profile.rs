//! A CPU profile of the running process: a flame graph, or stacks for other tools.
//!
//! Samples are taken here, names are found elsewhere: the program is started once more for that ([`Renderer`]), so that
//! what symbols take in memory ends with it.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use sampler::{Format, Samples, Sampling};
use tokio::sync::Semaphore;

use super::problem::Problem;

/// How long is looked when nobody says.
const SECONDS_DEFAULT: u64 = 10;
/// How long may be looked.
const SECONDS_MAX: u64 = 60;
/// Samples per second of CPU time. Not a round number, so that it does not beat with timers.
const FREQUENCY_HERTZ: u32 = 199;
/// The largest picture, in bytes.
const PICTURE_BYTES_MAX: u64 = 8 << 20;
/// How much is repeated of why there is no picture.
const REASON_BYTES_MAX: u64 = 1000;

/// The program that makes a picture of samples. It reads them from its standard input, writes to its standard
/// output, is told the format by its last argument, and must end by itself.
#[derive(Debug, Clone)]
pub struct Renderer {
    /// Its file.
    pub program: PathBuf,
    /// Its arguments but the last.
    pub arguments: Vec<OsString>,
}

/// Allows one profile at a time: the sampling signal belongs to the process.
#[derive(Clone)]
pub(super) struct Profiler(Arc<Semaphore>);

impl Default for Profiler {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

#[derive(Debug, PartialEq)]
struct Wish {
    seconds: u64,
    format: Format,
}

/// `GET /actuator/profile?seconds=N&format=svg|collapsed`.
pub(super) async fn profile(
    State(profiler): State<Profiler>,
    State(renderer): State<Renderer>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let Wish { seconds, format } = wish(query.as_deref().unwrap_or(""))?;
    let turn = profiler.0.try_acquire_owned().map_err(|_| {
        Problem::new(StatusCode::CONFLICT, "A profile is being taken already; ask again when it is done")
    })?;
    let taken = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        take(seconds, format, &renderer)
    });
    let picture = taken
        .await
        .map_err(|error| error.to_string())
        .and_then(|taken| taken.map_err(|error| error.to_string()))
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("No profile: {error}")))?;
    let media_type = match format {
        Format::Svg => "image/svg+xml",
        Format::Collapsed => "text/plain; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, media_type)], picture).into_response())
}

fn wish(query: &str) -> Result<Wish, Problem> {
    let mut wish = Wish { seconds: SECONDS_DEFAULT, format: Format::Svg };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let is_known = match pair.split_once('=') {
            Some(("seconds", value)) => value
                .parse()
                .ok()
                .filter(|seconds| (1..=SECONDS_MAX).contains(seconds))
                .map(|seconds| wish.seconds = seconds),
            Some(("format", value)) => value.parse().ok().map(|format| wish.format = format),
            _ => None,
        };
        if is_known.is_none() {
            let detail = format!(
                "Expected 'seconds' from 1 to {SECONDS_MAX} and 'format' svg or collapsed, but the query has '{pair}'"
            );
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
    }
    Ok(wish)
}

fn take(seconds: u64, format: Format, renderer: &Renderer) -> io::Result<Vec<u8>> {
    let sampling = Sampling::start(FREQUENCY_HERTZ, seconds)?;
    std::thread::sleep(Duration::from_secs(seconds));
    render(&sampling.stop(), format, renderer)
}

/// Has a picture made of samples.
fn render(samples: &Samples, format: Format, renderer: &Renderer) -> io::Result<Vec<u8>> {
    let mut child = Command::new(&renderer.program)
        .args(&renderer.arguments)
        .arg(format.as_str())
        // Secrets may be there.
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // It writes once it has read everything, so this cannot wait for each other.
    let told = match child.stdin.take() {
        Some(stdin) => {
            let mut stdin = BufWriter::new(stdin);
            samples.write(&mut stdin).and_then(|()| stdin.flush())
        }
        None => Ok(()),
    };
    let mut picture = Vec::new();
    let read = match child.stdout.take() {
        Some(stdout) => stdout.take(PICTURE_BYTES_MAX + 1).read_to_end(&mut picture),
        None => Ok(0),
    };
    let mut reason = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(REASON_BYTES_MAX).read_to_string(&mut reason);
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("symbol lookup failed: {status}: {}", reason.trim())));
    }
    told?;
    read?;
    if picture.len() as u64 > PICTURE_BYTES_MAX {
        return Err(io::Error::other(format!("it is larger than {PICTURE_BYTES_MAX} bytes")));
    }
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_understood_or_refused() {
        assert_eq!(wish("").ok(), Some(Wish { seconds: SECONDS_DEFAULT, format: Format::Svg }));
        let both = wish("format=collapsed&seconds=3").ok();
        assert_eq!(both, Some(Wish { seconds: 3, format: Format::Collapsed }));
        for wrong in ["seconds=0", "seconds=61", "seconds=x", "minutes=1", "format=pdf", "format"] {
            assert!(wish(wrong).is_err(), "{wrong}");
        }
    }
}
