//! Which gRPC status a refused request gets.

use auth::Refusal;
use broker_api::SubmitError;
use protocol::{Rejection, RejectionType};
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};

use crate::rest::problem_code::{Code as ProblemCode, PROBLEM_CODE_NAME};

/// The status of a command that has no answer. `command` is the name clients know it by, such as `CREATE`.
pub(super) fn of_submit(command: &str, error: SubmitError) -> Status {
    match error {
        SubmitError::Rejected(rejection) => of_rejection(command, &rejection),
        SubmitError::ResourceExhausted(text) => Status::resource_exhausted(text),
        // Operators do something about this one, so it has its code, as over REST.
        SubmitError::DiskFull(text) => {
            let mut status = Status::resource_exhausted(text);
            let code = MetadataValue::from_static(ProblemCode::DiskFull.as_str());
            status.metadata_mut().insert(PROBLEM_CODE_NAME, code);
            status
        }
        // Clients try RESOURCE_EXHAUSTED again by themselves.
        SubmitError::TooLarge(text) => Status::invalid_argument(text),
        SubmitError::Unavailable(text) => Status::unavailable(text),
        SubmitError::Timeout(text) => Status::deadline_exceeded(text),
        SubmitError::Internal(text) => Status::internal(text),
    }
}

/// The status of a rejected command, worded as users of the compatible API know it.
pub(super) fn of_rejection(command: &str, rejection: &Rejection) -> Status {
    let code = match rejection.kind {
        // A result that is too large is too large again on a retry: a caller must change the input.
        RejectionType::InvalidArgument
        | RejectionType::ExceededBatchRecordSize
        | RejectionType::IdempotencyKeyReused => Code::InvalidArgument,
        RejectionType::NotFound => Code::NotFound,
        RejectionType::Forbidden => Code::PermissionDenied,
        RejectionType::AlreadyExists => Code::AlreadyExists,
        RejectionType::InvalidState => Code::FailedPrecondition,
        RejectionType::ResourceExhausted => Code::ResourceExhausted,
        RejectionType::ProcessingError => Code::Internal,
    };
    let message =
        format!("Command '{command}' rejected with code '{}': {}", rejection.kind, rejection.reason);
    Status::new(code, message)
}

/// The status of a caller that is not let in.
pub(super) fn of_refusal(refusal: &Refusal) -> Status {
    let text = refusal.to_string();
    match refusal.reason.status() {
        401 => Status::unauthenticated(text),
        403 => Status::permission_denied(text),
        429 => Status::resource_exhausted(text),
        _ => Status::unavailable(text),
    }
}

/// A request whose field is wrong.
pub(super) fn wrong_field(field: &str, expectation: &str, found: impl std::fmt::Display) -> Status {
    Status::invalid_argument(format!("Expected '{field}' to be {expectation}, but it was {found}"))
}

/// The answer did not fit the command: a fault of this broker.
pub(super) fn unexpected_response(command: &str) -> Status {
    Status::internal(format!("Command '{command}' got a response of the wrong type"))
}

/// The server goes down: clients come back later or go elsewhere.
pub(super) fn stopping() -> Status {
    Status::unavailable("The gateway is shutting down")
}

/// The name of a code in metrics.
pub(super) const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_its_code() {
        let code = |error| {
            let status = of_submit("CREATE", error);
            assert_eq!(status.code(), Code::ResourceExhausted);
            status.metadata().get("baton-problem").map(|code| code.to_str().unwrap().to_owned())
        };
        assert_eq!(code(SubmitError::DiskFull("no room".into())).as_deref(), Some("DISK_FULL"));
        assert_eq!(code(SubmitError::ResourceExhausted("busy".into())), None);
    }
}
