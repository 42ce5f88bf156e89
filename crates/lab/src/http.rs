//! Requests by hand: the status counts as much as the answer.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::error::LabError;

/// Longer than any time limit of the server.
const PATIENCE: Duration = Duration::from_secs(180);

/// An answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The answer, which must be a good one.
    pub(crate) fn good(self, action: &str) -> Result<Self, LabError> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(LabError::system(action, format_args!("status {}: {}", self.status, self.body)))
    }
}

/// Asks, on a connection of its own; an error if nobody answers.
pub(crate) async fn ask(
    address: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Answered, LabError> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let action = format!("{method} {path}");
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all((head + &body).as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = tokio::time::timeout(PATIENCE, exchange)
        .await
        .map_err(|_| LabError::system(&action, "no answer in time"))?
        .map_err(|error| LabError::system(&action, error))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| LabError::system(&action, format_args!("no answer: {answer:?}")))?;
    Ok(Answered { status, body: body.to_owned() })
}
