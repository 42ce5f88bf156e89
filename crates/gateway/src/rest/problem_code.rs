//! Codes of problems: stable names for programs, in the header `Baton-Problem`, since texts are for people.
//!
//! The body of a problem has the members that the release has, and no more; its title is coarser than a code.

use std::fmt;

use auth::Reason;
use http::{HeaderName, HeaderValue, StatusCode};
use protocol::RejectionType;

/// Has the code of a problem.
pub(crate) const PROBLEM_CODE: HeaderName = HeaderName::from_static(PROBLEM_CODE_NAME);
/// Its name, also in the metadata of gRPC.
pub(crate) const PROBLEM_CODE_NAME: &str = "baton-problem";

macro_rules! codes {
    ($($code:ident $name:literal $status:ident $title:literal $meaning:literal;)*) => {
        /// Why a request has no answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Code { $($code,)* }

        impl Code {
            /// All of them, by status.
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$code,)*];

            /// The name that clients compare.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Self::$code => StatusCode::$status,)* }
            }

            /// The title of the problem, as clients of the compatible system expect it.
            pub(crate) const fn title(self) -> &'static str {
                match self { $(Self::$code => $title,)* }
            }

            /// A line for the documentation.
            #[cfg(test)]
            pub(crate) const fn meaning(self) -> &'static str {
                match self { $(Self::$code => $meaning,)* }
            }
        }
    };
}

codes! {
    InvalidArgument "INVALID_ARGUMENT" BAD_REQUEST "INVALID_ARGUMENT" "the request is wrong; the detail names the member";
    Unauthenticated "UNAUTHENTICATED" UNAUTHORIZED "Unauthorized" "credentials are missing or not accepted, or the session has ended";
    Forbidden "FORBIDDEN" FORBIDDEN "FORBIDDEN" "a permission or a tenant is missing, or nobody may do it";
    HostNotAllowed "HOST_NOT_ALLOWED" FORBIDDEN "FORBIDDEN" "the host that the request names is not in `security.allowed_hosts`";
    CrossSite "CROSS_SITE" FORBIDDEN "FORBIDDEN" "a page of another site made a browser send the request";
    CsrfToken "CSRF_TOKEN" FORBIDDEN "FORBIDDEN" "the CSRF token of the session is missing or wrong";
    NoSecondaryStorage "NO_SECONDARY_STORAGE" FORBIDDEN "FORBIDDEN" "the operation reads secondary storage, and none is configured";
    NotFound "NOT_FOUND" NOT_FOUND "NOT_FOUND" "there is no such thing";
    UnknownPath "UNKNOWN_PATH" NOT_FOUND "NOT_FOUND" "no operation has this path";
    MethodNotAllowed "METHOD_NOT_ALLOWED" METHOD_NOT_ALLOWED "METHOD_NOT_ALLOWED" "the path has other methods, which `Allow` names";
    NotAcceptable "NOT_ACCEPTABLE" NOT_ACCEPTABLE "NOT_ACCEPTABLE" "`Accept` excludes the type of the answer";
    RequestTimeout "REQUEST_TIMEOUT" REQUEST_TIMEOUT "REQUEST_TIMEOUT" "the body did not arrive in time";
    AlreadyExists "ALREADY_EXISTS" CONFLICT "ALREADY_EXISTS" "there is one of that name already";
    InvalidState "INVALID_STATE" CONFLICT "INVALID_STATE" "the state of the subject does not allow it";
    ContentTooLarge "CONTENT_TOO_LARGE" PAYLOAD_TOO_LARGE "CONTENT_TOO_LARGE" "the request is larger than a limit allows";
    ExceededBatchRecordSize "EXCEEDED_BATCH_RECORD_SIZE" PAYLOAD_TOO_LARGE "EXCEEDED_BATCH_RECORD_SIZE" "the variables are larger than a limit allows";
    UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" UNSUPPORTED_MEDIA_TYPE "UNSUPPORTED_MEDIA_TYPE" "the type or the encoding of the body is none of the operation";
    IdempotencyKeyReused "IDEMPOTENCY_KEY_REUSED" UNPROCESSABLE_ENTITY "IDEMPOTENCY_KEY_REUSED" "the idempotency key is that of another command";
    TooManyPasswords "TOO_MANY_PASSWORDS" TOO_MANY_REQUESTS "RESOURCE_EXHAUSTED" "too many wrong passwords for the user name; `Retry-After` has the seconds";
    Internal "INTERNAL" INTERNAL_SERVER_ERROR "INTERNAL" "a fault of the server";
    ProcessingError "PROCESSING_ERROR" INTERNAL_SERVER_ERROR "PROCESSING_ERROR" "the engine failed at the command; the instance is banned";
    NotImplemented "NOT_IMPLEMENTED" NOT_IMPLEMENTED "NOT_IMPLEMENTED" "the operation, or a part of the request, is not served";
    ResourceExhausted "RESOURCE_EXHAUSTED" SERVICE_UNAVAILABLE "RESOURCE_EXHAUSTED" "the server takes no more now; try again later";
    DiskFull "DISK_FULL" SERVICE_UNAVAILABLE "RESOURCE_EXHAUSTED" "a disk of the server is full but for its reserve (`data.min_free_bytes`)";
    Unavailable "UNAVAILABLE" SERVICE_UNAVAILABLE "UNAVAILABLE" "the server starts, stops, or has no leader";
    StorageUnavailable "STORAGE_UNAVAILABLE" SERVICE_UNAVAILABLE "UNAVAILABLE" "secondary storage does not answer";
    DocumentsUnavailable "DOCUMENTS_UNAVAILABLE" SERVICE_UNAVAILABLE "UNAVAILABLE" "the document store does not answer";
    DeadlineExceeded "DEADLINE_EXCEEDED" GATEWAY_TIMEOUT "DEADLINE_EXCEEDED" "no answer in time; a command may still take effect";
    StorageTooSlow "STORAGE_TOO_SLOW" GATEWAY_TIMEOUT "DEADLINE_EXCEEDED" "secondary storage took too long for the search";
    StorageBehind "STORAGE_BEHIND" GATEWAY_TIMEOUT "DEADLINE_EXCEEDED" "secondary storage did not show the position of `Baton-Await-Position` in time";
}

impl Code {
    /// The value of the header.
    pub(crate) const fn header(self) -> HeaderValue {
        HeaderValue::from_static(self.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<RejectionType> for Code {
    fn from(kind: RejectionType) -> Self {
        match kind {
            RejectionType::InvalidArgument => Self::InvalidArgument,
            RejectionType::NotFound => Self::NotFound,
            RejectionType::AlreadyExists => Self::AlreadyExists,
            RejectionType::InvalidState => Self::InvalidState,
            RejectionType::ProcessingError => Self::ProcessingError,
            RejectionType::ExceededBatchRecordSize => Self::ExceededBatchRecordSize,
            RejectionType::Forbidden => Self::Forbidden,
            RejectionType::IdempotencyKeyReused => Self::IdempotencyKeyReused,
            RejectionType::ResourceExhausted => Self::ResourceExhausted,
        }
    }
}

impl From<Reason> for Code {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Missing
            | Reason::Malformed(_)
            | Reason::Scheme(_)
            | Reason::Credentials
            | Reason::Token(_)
            | Reason::Session => Self::Unauthenticated,
            Reason::CrossSite => Self::CrossSite,
            Reason::CsrfToken => Self::CsrfToken,
            Reason::Resting { .. } => Self::TooManyPasswords,
            Reason::Busy | Reason::UsersUnavailable | Reason::IssuerUnavailable => Self::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
# Problems over REST

A request that has no answer gets problem details (RFC 9457), with the members of the compatible system:

```json
{\"type\": \"about:blank\", \"title\": \"NOT_FOUND\", \"status\": 404, \"detail\": \"…\", \"instance\": \"/v2/jobs/1\"}
```

`detail` is for people, and its words may change. Programs compare the code in the header `Baton-Problem`, which is
finer than the title; codes stay as they are, and more may come. A test of the gateway writes this page
(`UPDATE_EXPECT=1 cargo test -p gateway problem_code`).

| code | status | title | meaning |
|---|---|---|---|
";

    #[test]
    fn the_page_has_every_code() {
        let mut page = HEAD.to_owned();
        for code in Code::ALL {
            let (status, title, meaning) = (code.status().as_u16(), code.title(), code.meaning());
            page += &format!("| `{code}` | {status} | `{title}` | {meaning} |\n");
        }
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/problems.md");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), page);
    }

    /// Clients depend on these. One that is missing here is added; none is changed.
    #[test]
    fn codes_are_stable() {
        let names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(
            names,
            [
                "INVALID_ARGUMENT",
                "UNAUTHENTICATED",
                "FORBIDDEN",
                "HOST_NOT_ALLOWED",
                "CROSS_SITE",
                "CSRF_TOKEN",
                "NO_SECONDARY_STORAGE",
                "NOT_FOUND",
                "UNKNOWN_PATH",
                "METHOD_NOT_ALLOWED",
                "NOT_ACCEPTABLE",
                "REQUEST_TIMEOUT",
                "ALREADY_EXISTS",
                "INVALID_STATE",
                "CONTENT_TOO_LARGE",
                "EXCEEDED_BATCH_RECORD_SIZE",
                "UNSUPPORTED_MEDIA_TYPE",
                "IDEMPOTENCY_KEY_REUSED",
                "TOO_MANY_PASSWORDS",
                "INTERNAL",
                "PROCESSING_ERROR",
                "NOT_IMPLEMENTED",
                "RESOURCE_EXHAUSTED",
                "DISK_FULL",
                "UNAVAILABLE",
                "STORAGE_UNAVAILABLE",
                "DOCUMENTS_UNAVAILABLE",
                "DEADLINE_EXCEEDED",
                "STORAGE_TOO_SLOW",
                "STORAGE_BEHIND",
            ]
        );
    }

    #[test]
    fn the_status_of_a_refusal_is_that_of_its_reason() {
        for reason in [
            Reason::Missing,
            Reason::Malformed(""),
            Reason::Scheme(""),
            Reason::Credentials,
            Reason::Token(auth::TokenFault::Expired),
            Reason::Session,
            Reason::CrossSite,
            Reason::CsrfToken,
            Reason::Busy,
            Reason::Resting { seconds: 1 },
            Reason::UsersUnavailable,
            Reason::IssuerUnavailable,
        ] {
            assert_eq!(Code::from(reason).status(), reason.status(), "{reason}");
        }
    }
}
