//! Requests over HTTP/1.0, which has neither keep-alive nor chunks: an answer ends with its connection.

use std::io;
use std::time::Duration;

use client::Address;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time limit for a page.
const PAGE_TIME_MAX: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read; the rest is cut off.
const ANSWER_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// An answer, whatever its status is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// Its status.
    pub status: u16,
    /// The line of the status, and the headers.
    pub head: String,
    /// Its body.
    pub body: String,
}

/// Asks with JSON, or with no body, on a connection of its own; an error if nobody answers in time.
pub async fn ask(
    address: &Address,
    method: &str,
    path: &str,
    body: &str,
    time_limit: Duration,
) -> io::Result<HttpAnswer> {
    let head = format!(
        "{method} {}{path} HTTP/1.0\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        address.base,
        address.authority(),
        body.len()
    );
    let exchange = async {
        let mut stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        stream.write_all((head + body).as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await?;
        io::Result::Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no answer in time");
    let answer = timeout(time_limit, exchange).await.map_err(late)??;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no answer: {answer:?}")))?;
    Ok(HttpAnswer { status, head: head.to_owned(), body: body.to_owned() })
}

/// The body of a page; `None` if it cannot be had.
pub async fn get(address: &Address, path: &str) -> Option<String> {
    let answer = ask(address, "GET", path, "", PAGE_TIME_MAX).await.ok()?;
    (200..300).contains(&answer.status).then_some(answer.body)
}
