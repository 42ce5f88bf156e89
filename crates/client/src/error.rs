//! Errors of requests, in terms a caller can act on.

#![expect(missing_docs, reason = "names say what is held")]

use std::time::Duration;

use serde::Deserialize;

use crate::ConnectFault;

/// The header, or the entry of the metadata, with the stable name of the reason of a refusal.
pub(crate) const PROBLEM_CODE: &str = "baton-problem";

/// A request that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be used.
    #[error("invalid address '{address}': {reason}")]
    Address {
        /// As the user wrote it.
        address: String,
        reason: &'static str,
    },
    #[error("cannot connect to {address}: {reason}")]
    Connect { address: String, fault: ConnectFault, reason: String },
    /// The connection broke after the request was sent: whether it took effect is unknown.
    #[error("connection to {address} broke: {reason}")]
    Broken { address: String, fault: ConnectFault, reason: String },
    /// No answer in time: whether the request took effect is unknown.
    #[error("no answer from {address} within {} ms", after.as_millis())]
    Timeout {
        address: String,
        /// How long was waited.
        after: Duration,
    },
    /// The server refused a REST request (RFC 9457 problem).
    #[error("{}", problem_text(*status, title, detail))]
    Problem {
        status: u16,
        /// The reason's stable name, such as `NOT_FOUND`.
        title: String,
        /// A sentence for people.
        detail: String,
        /// The reason's stable name of a Baton server, such as `DISK_FULL`, which is finer than the title; else empty.
        code: String,
    },
    /// The server refused a gRPC request.
    #[error("{code:?}: {message}")]
    Grpc {
        code: tonic::Code,
        /// A sentence for people.
        message: String,
        /// As in [`Self::Problem`].
        problem: String,
    },
    /// The server answered something this client cannot read.
    #[error("unreadable answer to {operation}: {reason}")]
    Decode {
        /// The operation asked for.
        operation: &'static str,
        /// The fault of the answer.
        reason: String,
    },
}

impl Error {
    /// Whether the server (or something before it) is overloaded, so that the same request may succeed later.
    ///
    /// REST signals it as 429, as 503 with `RESOURCE_EXHAUSTED` in the title, or as a 500 whose detail has that word.
    pub fn is_resource_exhausted(&self) -> bool {
        match self {
            Self::Problem { status: 429, .. } => true,
            Self::Problem { status: 503, title, .. } => title.contains("RESOURCE_EXHAUSTED"),
            Self::Problem { status: 500, detail, .. } => detail.contains("RESOURCE_EXHAUSTED"),
            Self::Grpc { code, .. } => *code == tonic::Code::ResourceExhausted,
            _ => false,
        }
    }

    /// Whether a disk of the server has no room.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Problem { code, .. } | Self::Grpc { problem: code, .. } => code == "DISK_FULL",
            Self::Address { .. }
            | Self::Connect { .. }
            | Self::Broken { .. }
            | Self::Timeout { .. }
            | Self::Decode { .. } => false,
        }
    }

    /// Whether the server wants to know who asks, or does not believe it.
    pub fn is_unauthenticated(&self) -> bool {
        match self {
            Self::Problem { status, .. } => *status == 401,
            Self::Grpc { code, .. } => *code == tonic::Code::Unauthenticated,
            _ => false,
        }
    }

    /// Whether the addressed thing does not exist (any more).
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::Problem { status, .. } => *status == 404,
            Self::Grpc { code, .. } => *code == tonic::Code::NotFound,
            _ => false,
        }
    }

    /// Whether the addressed thing is in a state that does not allow the request.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Problem { status, .. } => *status == 409,
            Self::Grpc { code, .. } => *code == tonic::Code::FailedPrecondition,
            _ => false,
        }
    }

    /// Whether the server gave up waiting, as it was told to.
    pub fn is_deadline_exceeded(&self) -> bool {
        match self {
            Self::Problem { status, .. } => *status == 504,
            Self::Grpc { code, .. } => *code == tonic::Code::DeadlineExceeded,
            _ => false,
        }
    }

    /// Whether a later try of an idempotent request is worth it: overload, no connection, no leader, no answer.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Broken { .. } | Self::Timeout { .. } => true,
            Self::Problem { status, .. } => matches!(status, 502..=504) || self.is_resource_exhausted(),
            Self::Grpc { code, .. } => {
                matches!(code, tonic::Code::Unavailable | tonic::Code::DeadlineExceeded)
                    || self.is_resource_exhausted()
            }
            _ => false,
        }
    }

    /// Whether the request may have taken effect all the same: no answer, no readable one, or one of somebody who had
    /// none either.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Broken { .. } | Self::Timeout { .. } | Self::Decode { .. } => true,
            Self::Problem { status, .. } => *status >= 500 && !self.is_resource_exhausted(),
            Self::Grpc { code, .. } => matches!(
                code,
                tonic::Code::Unknown
                    | tonic::Code::Cancelled
                    | tonic::Code::DeadlineExceeded
                    | tonic::Code::Internal
                    | tonic::Code::Unavailable
                    | tonic::Code::Aborted
            ),
            Self::Address { .. } | Self::Connect { .. } => false,
        }
    }

    /// A short stable name for counting errors, the same for the same cause over both protocols where it can be.
    pub fn kind(&self) -> String {
        match self {
            Self::Address { .. } => "ADDRESS".to_owned(),
            Self::Connect { .. } => "CONNECT".to_owned(),
            Self::Broken { .. } => "BROKEN_CONNECTION".to_owned(),
            Self::Timeout { .. } => "TIMEOUT".to_owned(),
            Self::Problem { status, title, .. } if title.is_empty() => format!("HTTP_{status}"),
            Self::Problem { title, .. } => title.clone(),
            Self::Grpc { code, .. } => screaming(&format!("{code:?}")),
            Self::Decode { .. } => "UNREADABLE_ANSWER".to_owned(),
        }
    }

    /// The error for a REST answer that is not a success.
    pub(crate) fn from_problem(status: u16, code: Option<&str>, body: &[u8]) -> Self {
        let code = code.unwrap_or_default().to_owned();
        #[derive(Deserialize)]
        struct Problem {
            #[serde(default)]
            title: String,
            #[serde(default)]
            detail: String,
        }
        // An answer without a problem document comes from a program between client and server: show its beginning.
        const EXCERPT_CHARS_MAX: usize = 200;
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) => Self::Problem { status, title: problem.title, detail: problem.detail, code },
            Err(_) => Self::Problem {
                status,
                title: String::new(),
                detail: String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS_MAX).collect(),
                code,
            },
        }
    }
}

/// Answers without a title are those of other programs.
fn problem_text(status: u16, title: &str, detail: &str) -> String {
    match (title, detail) {
        ("", "") => format!("an empty answer with status {status}"),
        ("", detail) => format!("an answer with status {status} that begins with: {detail}"),
        (title, detail) => format!("{title} ({status}): {detail}"),
    }
}

impl From<tonic::Status> for Error {
    fn from(status: tonic::Status) -> Self {
        let problem = status.metadata().get(PROBLEM_CODE).and_then(|code| code.to_str().ok());
        Self::Grpc {
            code: status.code(),
            message: status.message().to_owned(),
            problem: problem.unwrap_or_default().to_owned(),
        }
    }
}

fn screaming(camel: &str) -> String {
    let mut name = String::with_capacity(camel.len() + 4);
    for (index, letter) in camel.chars().enumerate() {
        if index > 0 && letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overload_has_many_faces() {
        let problem = |status, title: &str, detail: &str| Error::Problem {
            status,
            title: title.to_owned(),
            detail: detail.to_owned(),
            code: String::new(),
        };
        assert!(problem(503, "RESOURCE_EXHAUSTED", "").is_resource_exhausted());
        assert!(problem(429, "", "").is_resource_exhausted());
        assert!(problem(500, "INTERNAL", "got RESOURCE_EXHAUSTED").is_resource_exhausted());
        assert!(!problem(503, "UNAVAILABLE", "").is_resource_exhausted());
        assert!(Error::from(tonic::Status::resource_exhausted("")).is_resource_exhausted());
        assert!(!Error::from(tonic::Status::not_found("")).is_resource_exhausted());
    }

    #[test]
    fn a_lost_answer_leaves_it_open() {
        let problem = |status, title: &str| Error::Problem {
            status,
            title: title.to_owned(),
            detail: String::new(),
            code: String::new(),
        };
        let timeout = Error::Timeout { address: String::new(), after: Duration::ZERO };
        for open in [timeout, problem(504, ""), Error::from(tonic::Status::unavailable(""))] {
            assert!(open.is_open(), "{open}");
        }
        let refused = [problem(503, "RESOURCE_EXHAUSTED"), problem(400, "INVALID_ARGUMENT")];
        for told in refused.into_iter().chain([Error::from(tonic::Status::resource_exhausted(""))]) {
            assert!(!told.is_open(), "{told}");
        }
    }

    #[test]
    fn kinds_agree_between_protocols() {
        let rest = Error::from_problem(
            404,
            None,
            br#"{"type":"about:blank","title":"NOT_FOUND","status":404,"detail":"no"}"#,
        );
        let grpc = Error::from(tonic::Status::not_found("no"));
        assert_eq!(rest.kind(), "NOT_FOUND");
        assert_eq!(grpc.kind(), "NOT_FOUND");
        assert!(rest.is_not_found() && grpc.is_not_found());
    }

    #[test]
    fn a_page_of_a_proxy_is_shown_as_excerpt() {
        let error = Error::from_problem(502, None, b"<html>bad gateway</html>");
        assert_eq!(error.kind(), "HTTP_502");
        assert!(error.to_string().contains("bad gateway"));
        assert_eq!(Error::from_problem(404, None, b"").to_string(), "an empty answer with status 404");
        assert!(error.is_transient());
    }

    #[test]
    fn a_full_disk_is_told_by_its_code() {
        let body = br#"{"title":"RESOURCE_EXHAUSTED","status":503,"detail":"the disk is mentioned"}"#;
        assert!(Error::from_problem(503, Some("DISK_FULL"), body).is_disk_full());
        assert!(!Error::from_problem(503, Some("BUSY"), body).is_disk_full());
        assert!(!Error::from_problem(503, None, body).is_disk_full());
        let mut status = tonic::Status::resource_exhausted("the disk is mentioned");
        assert!(!Error::from(status.clone()).is_disk_full());
        status.metadata_mut().insert(PROBLEM_CODE, "DISK_FULL".parse().unwrap());
        assert!(Error::from(status).is_disk_full());
    }
}
