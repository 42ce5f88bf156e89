//! How a command fails: what, where, what to do, and an exit code that scripts can tell apart.

use std::fmt::Display;
use std::process::ExitCode;

use client::ConnectFault;

/// The server refused, or something went wrong here.
const REFUSED: u8 = 1;
/// The command line or the configuration is wrong; also what clap exits with.
const USAGE: u8 = 2;
/// No server answers at the address.
const UNREACHABLE: u8 = 3;

const UNKNOWN_OUTCOME: &str = "whether the request took effect is not known; look before you repeat it";

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
            E::Connect { fault: ConnectFault::NothingAnswers, .. } => Self { code: UNREACHABLE, ..failure }
                .hint(
                    "is a server running there? Start one with `baton start`, or name another address (see --help)",
                ),
            E::Connect { fault, reason, .. } => failure.of_fault(*fault, reason),
            E::Timeout { .. } => Self { code: UNREACHABLE, ..failure }.hint(UNKNOWN_OUTCOME),
            E::Broken { fault, reason, .. } => {
                let failure = failure.of_fault(*fault, reason);
                let is_closed = ["connection closed", "closed by the server", "broken pipe", "reset"]
                    .iter()
                    .any(|sign| reason.contains(sign));
                match failure.hint {
                    Some(_) => failure,
                    // Some servers with TLS say nothing to those without.
                    None if is_closed => failure
                        .hint(format!("{UNKNOWN_OUTCOME}; if the port speaks TLS, write https:// in the address")),
                    None => failure.hint(UNKNOWN_OUTCOME),
                }
            }
            E::Address { .. } => Self { code: USAGE, ..failure },
            error if error.is_unauthenticated() => failure.hint(
                "give credentials: --username with the password in BATON_PASSWORD, a token in BATON_TOKEN, or a profile",
            ),
            error if error.is_disk_full() => {
                failure.hint("make room on the disk of the server's data, or lower data.min_free_bytes")
            }
            error if error.is_resource_exhausted() => failure.hint("the server is busy; try again later"),
            E::Problem { title, .. } if title.is_empty() => {
                failure.hint("this is no answer of a Baton server: is the address that of another program, or of a proxy?")
            }
            _ => failure,
        }
    }

    /// With advice about a connection that somebody answered, but not as expected.
    fn of_fault(self, fault: ConnectFault, reason: &str) -> Self {
        match fault {
            ConnectFault::UntrustedCertificate => self.hint(
                "nobody who is trusted here has signed the server's certificate: name the PEM file of its authority, \
                 or of the certificate itself if it is signed by itself, with --authorities",
            ),
            ConnectFault::AuthorityCertificate => self.hint(
                "the server shows the certificate of an authority (CA:TRUE) as its own, which is not accepted: give it \
                 one with basicConstraints CA:FALSE, and name the signer's with --authorities",
            ),
            ConnectFault::OtherName => self
                .hint("the certificate is for other host names: use one of them in the address, or get one for this host"),
            ConnectFault::UnusableCertificate => {
                self.hint("the server's certificate has expired, is not valid yet or is damaged; --authorities does not help")
            }
            ConnectFault::NoTls => {
                self.hint("the port seems to speak no TLS: write http:// instead of https:// in the address")
            }
            ConnectFault::ClientCertificate => self.hint(
                "the server wants a certificate that it trusts: show one with --certificate-chain and --private-key",
            ),
            // Servers with TLS answer requests without it by a message of TLS.
            _ if ["invalid HTTP version", "frame with invalid size", "FRAME_SIZE_ERROR"]
                .iter()
                .any(|sign| reason.contains(sign)) =>
            {
                self.hint("the port seems to speak TLS: write https:// in the address")
            }
            _ => self,
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
        let connect = |fault, reason: &str| client::Error::Connect {
            address: "localhost:1".to_owned(),
            fault,
            reason: reason.to_owned(),
        };
        let failure = Failure::request("deploy a.bpmn", &connect(ConnectFault::NothingAnswers, "refused"));
        assert_eq!(failure.code, UNREACHABLE);
        assert!(failure.message.starts_with("cannot deploy a.bpmn: "), "{failure:?}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("is a server running there?")));
        for (fault, reason, advice) in [
            (ConnectFault::UntrustedCertificate, "", "--authorities"),
            (ConnectFault::AuthorityCertificate, "", "CA:FALSE"),
            (ConnectFault::OtherName, "", "host names"),
            (ConnectFault::NoTls, "", "http:// instead of https://"),
            (ConnectFault::ClientCertificate, "", "--certificate-chain"),
            (ConnectFault::Other, "invalid HTTP version parsed", "write https://"),
        ] {
            let failure = Failure::request("search", &connect(fault, reason));
            assert_eq!(failure.code, REFUSED, "somebody is there");
            assert!(failure.hint.is_some_and(|hint| hint.contains(advice)), "{fault:?}");
        }
        let hint = |error: &client::Error| Failure::request("search", error).hint.unwrap_or_default();
        let exhausted = |code: &str| client::Error::Problem {
            status: 503,
            title: "RESOURCE_EXHAUSTED".to_owned(),
            detail: "the disk is mentioned".to_owned(),
            code: code.to_owned(),
        };
        assert!(hint(&exhausted("DISK_FULL")).contains("make room"));
        assert!(hint(&exhausted("BUSY")).contains("busy"));
        let refused = client::Error::Problem {
            status: 404,
            title: "NOT_FOUND".to_owned(),
            detail: "none".to_owned(),
            code: "NOT_FOUND".to_owned(),
        };
        assert_eq!(Failure::request("run p", &refused).code, REFUSED);
        assert_eq!(Failure::usage("wrong").code, USAGE);
    }
}
