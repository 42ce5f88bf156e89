//! Requests that the client library has no methods for.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A broker that stands still does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks and returns the status and the body. Headers end with a line break each.
pub(crate) async fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<(u16, String)> {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let exchange = async {
        let mut connection = TcpStream::connect(address).await?;
        connection.write_all((head + body).as_bytes()).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        parse(&answer).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    };
    timeout(PATIENCE, exchange).await?
}

/// `None` if the end is missing.
fn parse(answer: &str) -> Option<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.split(' ').next()?.parse().ok()?;
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.is_none_or(|length: usize| length == body.len()).then(|| (status, body.to_owned()))
}
