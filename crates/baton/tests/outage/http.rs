//! Requests by hand: the status counts as much as the answer.

use std::io;
use std::time::Duration;

use bench::HttpAnswer;
use client::Address;
use serde_json::Value;

/// Longer than any time limit of the server.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server's answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of a header, whose name is in lower case.
    #[allow(dead_code, reason = "not all suites that share this look at headers")]
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        headers.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// The answer, which must be a good one.
    pub(crate) fn good(self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }
}

/// Asks; an error if nobody answers.
pub(crate) async fn ask(address: &str, method: &str, path: &str, body: Option<&Value>) -> io::Result<Answer> {
    send(address, method, path, &body.map(Value::to_string).unwrap_or_default()).await
}

/// Asks with a body as it stands.
pub(crate) async fn send(address: &str, method: &str, path: &str, body: &str) -> io::Result<Answer> {
    let address = Address::parse(address, 0).expect("the address of a server");
    match bench::ask(&address, method, path, body, PATIENCE).await {
        Err(error) if error.kind() == io::ErrorKind::TimedOut => panic!("an answer comes in time: {error}"),
        asked => asked.map(|HttpAnswer { status, head, body }| Answer { status, head, body }),
    }
}
