//! How a command fails: what, where, what to do, and an exit code that scripts can tell apart.

use std::fmt::Display;
use std::process::ExitCode;

/// The server refused, or something went wrong here.
const REFUSED: u8 = 1;
/// The command line or the configuration is wrong; also what clap exits with.
const USAGE: u8 = 2;
/// Nobody answers at the address.
const UNREACHABLE: u8 = 3;

/// A command that could not do what was asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// Something went wrong.
    pub(crate) fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), hint: None, code: REFUSED }
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { code: USAGE, ..Self::new(message) }
    }

    /// With what the user may do about it.
    pub(crate) fn hint(self, hint: impl Display) -> Self {
        Self { hint: Some(hint.to_string()), ..self }
    }

    /// After something that was done.
    pub(crate) fn after(self, done: impl Display) -> Self {
        Self { message: format!("{done} {}", self.message), ..self }
    }

    /// A request that did not succeed; `action` is what was tried, such as `deploy order.bpmn`.
    pub(crate) fn request(action: impl Display, error: &client::Error) -> Self {
        use client::Error as E;
        let failure = Self::new(format!("cannot {action}: {error}"));
        match error {
            E::Connect { reason, .. } if reason.contains("certificate") => {
                Self { code: UNREACHABLE, ..failure }.hint(
                    "--authorities names the authorities that sign the server's certificate; that certificate must not be an authority itself (CA:FALSE)",
                )
            }
            E::Connect { .. } => Self { code: UNREACHABLE, ..failure }.hint(
                "is a server running there? Start one with `baton start`, or name another address (see --help)",
            ),
            E::Broken { .. } | E::Timeout { .. } => Self { code: UNREACHABLE, ..failure }
                .hint("whether the request took effect is not known; look before you repeat it"),
            E::Address { .. } => Self { code: USAGE, ..failure },
            error if error.is_unauthenticated() => failure
                .hint("give credentials: --username with the password in BATON_PASSWORD, or a token in BATON_TOKEN"),
            error if error.is_resource_exhausted() && error.to_string().contains("disk") => {
                failure.hint("make room on the disk of the server's data, or lower data.min_free_bytes")
            }
            error if error.is_resource_exhausted() => failure.hint("the server is busy; try again later"),
            _ => failure,
        }
    }

    /// The failure.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Advice to the user.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The exit code.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_can_tell_failures_apart() {
        let address = "localhost:1".to_owned();
        let connect = client::Error::Connect { address, reason: "refused".to_owned() };
        let failure = Failure::request("deploy a.bpmn", &connect);
        assert_eq!(failure.code, UNREACHABLE);
        assert!(failure.message.starts_with("cannot deploy a.bpmn: "), "{failure:?}");
        assert!(failure.hint.is_some());
        let hint = |error: &client::Error| Failure::request("search", error).hint.unwrap_or_default();
        let reason = "invalid peer certificate: UnknownIssuer".to_owned();
        let untrusted = client::Error::Connect { address: "localhost:1".to_owned(), reason };
        assert!(hint(&untrusted).contains("--authorities"));
        let exhausted = |detail: &str| client::Error::Problem {
            status: 503,
            title: "RESOURCE_EXHAUSTED".to_owned(),
            detail: detail.to_owned(),
        };
        assert!(hint(&exhausted("the disk has only 5 bytes left")).contains("make room"));
        assert!(hint(&exhausted("too many requests")).contains("busy"));
        let refused =
            client::Error::Problem { status: 404, title: "NOT_FOUND".to_owned(), detail: "none".to_owned() };
        assert_eq!(Failure::request("run p", &refused).code, REFUSED);
        assert_eq!(Failure::usage("wrong").code, USAGE);
    }
}
