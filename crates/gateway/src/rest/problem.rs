//! Failures, and the problem details (RFC 9457) that tell clients about them.

use std::borrow::Cow;

use auth::Refusal;
use broker_api::SubmitError;
use http::StatusCode;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::problem_code::Code;
use super::writer::{write_integer, write_text};

/// Characters that paths escape in a URI reference (RFC 3986 §3.3).
const NOT_IN_PATHS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'[')
    .add(b']')
    .add(b'#')
    .add(b'?');

/// Characters that are escaped in paths with percent signs that are no escapes.
const NOT_IN_PATHS_NOR_PERCENT: &AsciiSet = &NOT_IN_PATHS.add(b'%');

/// Reasons why a request is not valid, for people: one or more problems.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invalid(pub(crate) String);

/// A problem that a request is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// For programs.
    pub(crate) code: Code,
    /// For people.
    pub(crate) detail: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, detail: detail.into() }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.code.status()
    }

    pub(crate) const fn title(&self) -> &'static str {
        self.code.title()
    }

    /// 400.
    pub(crate) fn invalid(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidArgument, detail)
    }

    /// 404.
    pub(crate) fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::NotFound, detail)
    }

    /// 413 of a body, with its size if that is known.
    pub(crate) fn too_large(found_bytes: Option<u64>, limit_bytes: usize) -> Self {
        let found = found_bytes.map_or_else(|| "more".to_owned(), |bytes| bytes.to_string());
        let detail = format!(
            "request body: expected at most {limit_bytes} bytes, the limit of limits.max_message_bytes, but found {found}"
        );
        Self::new(Code::ContentTooLarge, detail)
    }

    /// 408 of a body.
    pub(crate) fn late() -> Self {
        let detail = "the request body did not arrive in time";
        Self::new(Code::RequestTimeout, detail)
    }

    /// 415.
    pub(crate) fn unsupported_media_type(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::UnsupportedMediaType, detail)
    }

    /// 500.
    pub(crate) fn internal(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Internal, detail)
    }

    /// 501.
    pub(crate) fn not_served(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::NotImplemented, detail)
    }

    pub(crate) fn refused(refusal: &Refusal) -> Self {
        Self::new(Code::from(refusal.reason), refusal.to_string())
    }

    /// The operation requires secondary storage.
    pub(crate) fn no_storage() -> Self {
        let detail = "this operation needs secondary storage, and none is configured";
        Self::new(Code::NoSecondaryStorage, detail)
    }

    /// Secondary storage does not answer in time.
    pub(crate) fn too_slow(reason: String) -> Self {
        Self::new(Code::StorageTooSlow, reason)
    }

    /// Secondary storage refuses the query. Its message is about its tables: for operators alone.
    pub(crate) fn too_complex() -> Self {
        Self::invalid("filter: exceeds the query limit of secondary storage; use fewer conditions")
    }

    /// Secondary storage cannot answer. Its message is about its tables and addresses: for operators alone.
    pub(crate) fn storage_away() -> Self {
        let detail = "secondary storage cannot answer now";
        Self::new(Code::StorageUnavailable, detail)
    }

    /// No broker answers that has a copy of secondary storage. The reasons of each are for operators alone.
    pub(crate) fn no_copy() -> Self {
        let detail = "secondary storage cannot answer now: no other broker has a copy of it that answers and is far enough";
        Self::new(Code::StorageUnavailable, detail)
    }

    /// The store of documents cannot answer. Its message is about addresses: for operators alone.
    pub(crate) fn documents_away() -> Self {
        let detail = "the document store cannot answer now";
        Self::new(Code::DocumentsUnavailable, detail)
    }

    /// The problem of a broker's refusal of `command`.
    pub(crate) fn submit(error: SubmitError, command: &str) -> Self {
        match error {
            SubmitError::Rejected(rejection) => {
                let code = Code::from(rejection.kind);
                let detail = format!("Command '{command}' rejected with code '{code}': {}", rejection.reason);
                Self::new(code, detail)
            }
            SubmitError::ResourceExhausted(detail) => Self::new(Code::ResourceExhausted, detail),
            SubmitError::DiskFull(detail) => Self::new(Code::DiskFull, detail),
            SubmitError::TooLarge(detail) => Self::new(Code::ContentTooLarge, detail),
            SubmitError::Unavailable(detail) => Self::new(Code::Unavailable, detail),
            SubmitError::Timeout(detail) => Self::new(Code::DeadlineExceeded, detail),
            SubmitError::Internal(detail) => Self::internal(detail),
        }
    }

    /// The problem of a broker's refusal of a query.
    pub(crate) fn read(error: SubmitError) -> Self {
        match error {
            SubmitError::Rejected(rejection) => Self {
                detail: rejection.reason.clone().into(),
                ..Self::submit(SubmitError::Rejected(rejection), "")
            },
            error => Self::submit(error, ""),
        }
    }

    /// The problem details. `path` is the path of the request.
    pub(crate) fn to_json(&self, path: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + self.detail.len() + path.len());
        out.extend_from_slice(br#"{"type":"about:blank","title":"#);
        write_text(self.title(), &mut out);
        out.extend_from_slice(br#","status":"#);
        write_integer(self.status().as_u16(), &mut out);
        out.extend_from_slice(br#","detail":"#);
        write_text(&self.detail, &mut out);
        out.extend_from_slice(br#","instance":"#);
        write_text(&uri_reference(path), &mut out);
        out.push(b'}');
        out
    }
}

/// The path as clients may parse it: odd characters escaped, escapes left alone unless they are none.
fn uri_reference(path: &str) -> Cow<'_, str> {
    let escapes = path.as_bytes().split(|&b| b == b'%').skip(1);
    let are_escapes = |mut rest: std::iter::Skip<_>| {
        rest.all(|after: &[u8]| after.len() >= 2 && after[..2].iter().all(u8::is_ascii_hexdigit))
    };
    let set = if are_escapes(escapes) { NOT_IN_PATHS } else { NOT_IN_PATHS_NOR_PERCENT };
    utf8_percent_encode(path, set).into()
}

impl From<Invalid> for Failure {
    fn from(Invalid(detail): Invalid) -> Self {
        Self::invalid(detail)
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Rejection, RejectionType};

    use super::*;

    #[test]
    fn all_members_are_there_and_the_instance_is_a_uri_reference() {
        let failure = Failure::not_found("no \"x\"");
        assert_eq!(
            String::from_utf8(failure.to_json("/v2/jobs/{ä}")).unwrap(),
            r#"{"type":"about:blank","title":"NOT_FOUND","status":404,"detail":"no \"x\"","instance":"/v2/jobs/%7B%C3%A4%7D"}"#
        );
    }

    #[test]
    fn every_refusal_has_its_status() {
        let rejected = |kind| SubmitError::Rejected(Rejection::new(kind, "r"));
        for (error, status, title) in [
            (rejected(RejectionType::InvalidArgument), 400, "INVALID_ARGUMENT"),
            (rejected(RejectionType::NotFound), 404, "NOT_FOUND"),
            (rejected(RejectionType::Forbidden), 403, "FORBIDDEN"),
            (rejected(RejectionType::AlreadyExists), 409, "ALREADY_EXISTS"),
            (rejected(RejectionType::InvalidState), 409, "INVALID_STATE"),
            (rejected(RejectionType::ProcessingError), 500, "PROCESSING_ERROR"),
            (rejected(RejectionType::ExceededBatchRecordSize), 413, "EXCEEDED_BATCH_RECORD_SIZE"),
            (SubmitError::ResourceExhausted("r".into()), 503, "RESOURCE_EXHAUSTED"),
            (SubmitError::DiskFull("r".into()), 503, "RESOURCE_EXHAUSTED"),
            (SubmitError::TooLarge("r".into()), 413, "CONTENT_TOO_LARGE"),
            (SubmitError::Unavailable("r".into()), 503, "UNAVAILABLE"),
            (SubmitError::Timeout("r".into()), 504, "DEADLINE_EXCEEDED"),
            (SubmitError::Internal("r".into()), 500, "INTERNAL"),
        ] {
            let failure = Failure::submit(error, "CREATE");
            assert_eq!((failure.status().as_u16(), failure.title()), (status, title));
        }
    }
}
