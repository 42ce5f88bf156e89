//! Calls and uploads, as both sides see them.

use bytes::{Bytes, BytesMut};
use thiserror::Error;
use tokio::sync::mpsc;

use crate::frame::{Frame, FrameKind, Lane};
use crate::writer::Outgoing;

/// Parts of an upload that are under way at once.
pub(crate) const WINDOW: usize = 8;

/// The reason why a call has no answer.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum CallError {
    /// The other broker has seen nothing of the request.
    #[error("the request was not sent: {0}")]
    NotSent(String),
    /// The other broker may have acted on the request.
    #[error("the answer was lost: {0}")]
    Lost(String),
    /// The other broker says why it has no answer.
    #[error("{0}")]
    Failed(String),
    /// A message above the limit.
    #[error("the request has {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// Bytes of the request.
        bytes: usize,
        /// The limit of [`TransportOptions::max_message_bytes`](crate::TransportOptions).
        limit: usize,
    },
}

/// A message of which frames have come.
#[derive(Debug, Default)]
pub(crate) struct Partial(BytesMut);

impl Partial {
    /// Adds a frame. Gives the message if that was its last one.
    pub fn add(&mut self, frame: &Frame, limit: usize) -> Result<Option<Bytes>, String> {
        if self.0.is_empty() && frame.is_last {
            return Ok(Some(frame.payload.clone()));
        }
        let bytes = self.0.len() + frame.payload.len();
        if bytes > limit {
            return Err(format!("a message of more than {limit} bytes, which is the limit"));
        }
        self.0.extend_from_slice(&frame.payload);
        Ok(frame.is_last.then(|| std::mem::take(&mut self.0).freeze()))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// The bytes of an upload, as they come.
#[derive(Debug)]
pub struct Parts {
    /// Bytes, and whether they are the last ones.
    received: mpsc::Receiver<(Bytes, bool)>,
    outgoing: Outgoing,
    call: u64,
    has_ended: bool,
}

/// The end of [`Parts`] that the connection fills.
pub(crate) type PartSender = mpsc::Sender<(Bytes, bool)>;

impl Parts {
    pub(crate) fn new(outgoing: Outgoing, call: u64) -> (PartSender, Self) {
        let (sender, received) = mpsc::channel(WINDOW);
        (sender, Self { received, outgoing, call, has_ended: false })
    }

    /// The next bytes; `None` at the end of the file. An error: the connection ended before.
    pub async fn next(&mut self) -> Result<Option<Bytes>, String> {
        if self.has_ended {
            return Ok(None);
        }
        let part = self.received.recv().await;
        let (bytes, is_last) = part.ok_or_else(|| "the upload was cut short".to_owned())?;
        self.has_ended = is_last;
        // Without a connection, the next part is an error.
        let _ = self.outgoing.send(Frame::new(FrameKind::Credit, Lane::Bulk, self.call, Bytes::new())).await;
        Ok(Some(bytes))
    }
}
