//! Ending a connection so that the client can read the last answer.
//!
//! A socket that is closed while bytes of the client are unread, or still come, resets the connection, and the
//! reset can overtake the answer (RFC 9112 §9.6). So the server's half is closed first, and what still comes is
//! thrown away until the client has closed, too.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

/// Time for which bytes of a client that still sends are read.
const LINGER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a silent client may take to close its half.
const QUIET_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes thrown away at a time.
const WASTE_BYTES: usize = 8 * 1024;

/// Closes. `hurried`, only what has arrived already is thrown away.
pub(crate) async fn close(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), hurried: bool) {
    let (all, quiet) =
        if hurried { (QUIET_TIMEOUT, Duration::ZERO) } else { (LINGER_TIMEOUT, QUIET_TIMEOUT) };
    let ending = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        let mut waste = vec![0; WASTE_BYTES];
        while let Ok(Ok(1..)) = timeout(quiet, stream.read(&mut waste)).await {}
    };
    // Over time, the client has had its chance.
    let _ = timeout(all, ending).await;
}
