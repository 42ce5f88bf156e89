//! The one line on the standard output that says the server is ready.

use std::fmt;
use std::str::FromStr;

use crate::output;

/// The ready message. Addresses are `host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadyLine {
    pub(crate) rest: String,
    pub(crate) grpc: String,
    pub(crate) management: String,
    /// URL of the web application, if it is there.
    pub(crate) web: Option<String>,
    /// Data directory.
    pub(crate) data: String,
    /// Since the program was started.
    pub(crate) milliseconds: u128,
}

impl ReadyLine {
    /// Logs it with the ports that are open, and prints it.
    pub(super) fn print(&self, open: &OpenPorts) {
        let Self { rest, grpc, management, milliseconds, .. } = self;
        let note = open.of_this_machine();
        tracing::info!(rest, grpc, management, milliseconds, "ready{note}");
        // The server serves, whether or not anybody can be told.
        if let Err(failure) = output::line(self) {
            tracing::warn!("{}", failure.message());
        }
    }
}

/// Ports that ask for no credentials.
pub(super) struct OpenPorts {
    /// Their names and addresses.
    pub(super) names: Vec<String>,
    /// Whether others than programs of this machine reach one.
    pub(super) are_reached: bool,
}

impl OpenPorts {
    /// Warns if others than programs of this machine reach one.
    pub(super) fn warn(&self) {
        if self.are_reached {
            tracing::warn!(
                "ports without authentication: {}: everybody who reaches them has all permissions; \
                 security.authentication.method changes that",
                self.names.join(", ")
            );
        }
    }

    /// A note for the line of the start, if only programs of this machine reach them: the default is no reason to
    /// worry.
    fn of_this_machine(&self) -> String {
        if self.are_reached || self.names.is_empty() {
            return String::new();
        }
        let names = self.names.join(", ");
        format!("; ports without authentication: {names}: every program of this machine has all permissions")
    }
}

impl fmt::Display for ReadyLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rest, grpc, management, web, data, milliseconds } = self;
        write!(f, "baton ready in {milliseconds} ms, rest={rest} grpc={grpc} management={management}")?;
        if let Some(web) = web {
            write!(f, " web={web}")?;
        }
        write!(f, " data={data}")
    }
}

impl FromStr for ReadyLine {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("'{line}' does not say that it is ready");
        let after = |name: &str| line.split_once(name).map(|(_, rest)| rest).ok_or_else(wrong);
        let word = |name| after(name).map(|rest| rest.split(' ').next().unwrap_or(rest).to_owned());
        Ok(Self {
            rest: word(" rest=")?,
            grpc: word(" grpc=")?,
            management: word(" management=")?,
            web: line
                .split_once(" data=")
                .and_then(|(head, _)| head.split_once(" web="))
                .map(|(_, web)| web.to_owned()),
            data: after(" data=")?.to_owned(),
            milliseconds: word("ready in ")?.parse().map_err(|_| wrong())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_can_be_read_back() {
        let mut line = ReadyLine {
            rest: "127.0.0.1:1".to_owned(),
            grpc: "[::1]:2".to_owned(),
            management: "0.0.0.0:3".to_owned(),
            web: Some("http://127.0.0.1:1/".to_owned()),
            data: "/my data".to_owned(),
            milliseconds: 12,
        };
        assert_eq!(line.to_string().parse(), Ok(line.clone()));
        line.web = None;
        assert_eq!(line.to_string().parse(), Ok(line));
        assert!("INFO starting".parse::<ReadyLine>().is_err());
    }
}
