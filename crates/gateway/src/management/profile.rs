//! A CPU flame graph of the running process.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use tokio::sync::Semaphore;

use super::problem::Problem;

/// How long is looked when nobody says.
const SECONDS_DEFAULT: u64 = 10;
/// How long may be looked.
const SECONDS_MAX: u64 = 60;
/// Samples per second of CPU time. Not a round number, so that it does not beat with timers.
const FREQUENCY_HERTZ: i32 = 199;

/// The picture of a process that did nothing: no samples were taken.
const IDLE: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"40\">\
    <text x=\"10\" y=\"25\" font-family=\"monospace\">no samples: the process used no CPU</text></svg>\n";

/// Allows one profile at a time: the sampling signal belongs to the process.
#[derive(Clone)]
pub(super) struct Profiler(Arc<Semaphore>);

impl Default for Profiler {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

/// `GET /actuator/profile?seconds=N`.
pub(super) async fn profile(
    State(profiler): State<Profiler>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let seconds = seconds(query.as_deref().unwrap_or(""))?;
    let turn = profiler.0.try_acquire_owned().map_err(|_| {
        Problem::new(StatusCode::CONFLICT, "A profile is being taken already; ask again when it is done")
    })?;
    let taken = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        take(Duration::from_secs(seconds))
    });
    let svg = taken
        .await
        .map_err(|error| error.to_string())
        .and_then(|taken| taken.map_err(|error| error.to_string()))
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("No profile: {error}")))?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response())
}

fn seconds(query: &str) -> Result<u64, Problem> {
    let mut seconds = SECONDS_DEFAULT;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        seconds = match pair.split_once('=') {
            Some(("seconds", value)) => value.parse().ok().filter(|s| (1..=SECONDS_MAX).contains(s)),
            _ => None,
        }
        .ok_or_else(|| {
            let detail = format!("Expected 'seconds' from 1 to {SECONDS_MAX}, but the query was '{pair}'");
            Problem::new(StatusCode::BAD_REQUEST, detail)
        })?;
    }
    Ok(seconds)
}

fn take(duration: Duration) -> Result<Vec<u8>, pprof::Error> {
    // Unwinding inside these can deadlock; what they do is seen at their callers.
    let guard = pprof::ProfilerGuardBuilder::default()
        .frequency(FREQUENCY_HERTZ)
        .blocklist(&["libc", "libgcc", "pthread", "vdso"])
        .build()?;
    std::thread::sleep(duration);
    let report = guard.report().build()?;
    let mut svg = Vec::new();
    report.flamegraph(&mut svg)?;
    if svg.is_empty() {
        svg.extend_from_slice(IDLE);
    }
    Ok(svg)
}
