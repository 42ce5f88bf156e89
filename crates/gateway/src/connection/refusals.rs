//! Counts of what was refused, told in one line of the log at a time.
//!
//! A line for each refusal would let anybody fill the log, so the first refusal starts an interval, and its end
//! tells the counts.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

use super::metric_definitions::refused;

/// Interval between two log lines at the least.
const SUMMARY_INTERVAL: Duration = Duration::from_mins(1);

macro_rules! reasons {
    ($($reason:ident: $text:literal;)*) => {
        /// Reasons why a request or a connection was refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Reason { $($reason,)* }

        /// As the line tells them, in the order of the variants.
        const TEXTS: &[&str] = &[$($text,)*];
    };
}

reasons! {
    Invalid: "invalid";
    Unauthenticated: "unauthenticated";
    Forbidden: "forbidden";
    NotFound: "not found";
    MethodNotAllowed: "method not allowed";
    NotAcceptable: "not acceptable";
    Timeout: "too slow";
    TooLarge: "too large";
    UnsupportedMediaType: "unsupported media type";
    Unavailable: "unavailable";
    Unimplemented: "unimplemented";
    Handshake: "no TLS";
    Silent: "silent connection";
    SlowReader: "slow reader";
    Address: "connections of one address";
    Places: "no free place";
    Descriptors: "no file descriptor";
    Budget: "bytes on their way";
    Malformed: "malformed";
}

impl Reason {
    /// Of an answer over HTTP/1.1. Other statuses are no refusals, or the fault of the server.
    pub(crate) fn of_status(status: StatusCode) -> Option<Self> {
        Some(match status {
            StatusCode::BAD_REQUEST => Self::Invalid,
            StatusCode::UNAUTHORIZED => Self::Unauthenticated,
            StatusCode::FORBIDDEN => Self::Forbidden,
            StatusCode::NOT_FOUND => Self::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Self::MethodNotAllowed,
            StatusCode::NOT_ACCEPTABLE => Self::NotAcceptable,
            StatusCode::REQUEST_TIMEOUT => Self::Timeout,
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::UnsupportedMediaType,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Self::Unavailable,
            _ => return None,
        })
    }

    /// Of an answer over gRPC.
    pub(crate) fn of_code(code: tonic::Code) -> Option<Self> {
        use tonic::Code;
        Some(match code {
            Code::InvalidArgument => Self::Invalid,
            Code::Unauthenticated => Self::Unauthenticated,
            Code::PermissionDenied => Self::Forbidden,
            Code::NotFound => Self::NotFound,
            Code::ResourceExhausted => Self::Unavailable,
            Code::Unimplemented => Self::Unimplemented,
            _ => return None,
        })
    }
}

/// The counts since the last line.
#[derive(Debug)]
pub(crate) struct Refusals {
    counts: [AtomicU64; TEXTS.len()],
    /// Whether a line is due at the end of an interval.
    is_due: AtomicBool,
    interval: Duration,
}

impl Default for Refusals {
    fn default() -> Self {
        Self::told_every(SUMMARY_INTERVAL)
    }
}

impl Refusals {
    /// New ones, told once in an interval.
    pub(crate) fn told_every(interval: Duration) -> Self {
        let counts = std::array::from_fn(|_| AtomicU64::new(0));
        Self { counts, is_due: AtomicBool::new(false), interval }
    }

    pub(crate) fn note(self: &Arc<Self>, reason: Reason) {
        self.counts[reason as usize].fetch_add(1, Ordering::Relaxed);
        refused(TEXTS[reason as usize]);
        if self.is_due.load(Ordering::Relaxed) || self.is_due.swap(true, Ordering::AcqRel) {
            return;
        }
        let refusals = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(refusals.interval).await;
            // Cleared first: what is counted from here on starts the next interval.
            refusals.is_due.store(false, Ordering::Release);
            let counts = refusals.take();
            if !counts.is_empty() {
                tracing::info!(%counts, "refused in the last {} s", refusals.interval.as_secs());
            }
        });
    }

    fn take(&self) -> String {
        let mut line = String::new();
        for (text, count) in TEXTS.iter().zip(&self.counts) {
            let count = count.swap(0, Ordering::AcqRel);
            if count > 0 {
                let separator = if line.is_empty() { "" } else { ", " };
                write!(line, "{separator}{text} {count}").expect("writing to memory does not fail");
            }
        }
        line
    }
}
