//! The writing side of a connection: frames of three lanes, the most urgent first.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::frame::{FIRST_FRAME, FRAME_BYTES_MAX, Frame, FrameKind, Lane};

/// Frames of a lane that wait to be written.
const QUEUE: [usize; 3] = [256, 256, 16];
/// A connection without traffic says so after this time.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(2);

/// The other side is not there any more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closed;

/// Where frames go to be written.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing([mpsc::Sender<Frame>; 3]);

impl Outgoing {
    /// Waits for room in the lane.
    pub async fn send(&self, frame: Frame) -> Result<(), Closed> {
        self.0[frame.lane as usize].send(frame).await.map_err(|_| Closed)
    }

    /// Drops the frame if there is no room.
    pub fn send_if_room(&self, frame: Frame) {
        // A lost cancellation costs the work of an answer that nobody reads.
        let _ = self.0[frame.lane as usize].try_send(frame);
    }

    /// Sends a message frame by frame.
    pub async fn send_message(
        &self,
        kind: FrameKind,
        lane: Lane,
        call: u64,
        message: &Bytes,
    ) -> Result<(), Closed> {
        for frame in Frame::of_message(kind, lane, call, message) {
            self.send(frame).await?;
        }
        Ok(())
    }
}

/// Frames to be written.
pub(crate) struct Queues([mpsc::Receiver<Frame>; 3]);

pub(crate) fn queues() -> (Outgoing, Queues) {
    let [consensus, requests, bulk] = QUEUE.map(mpsc::channel);
    (Outgoing([consensus.0, requests.0, bulk.0]), Queues([consensus.1, requests.1, bulk.1]))
}

impl Queues {
    async fn next(&mut self) -> Option<Frame> {
        let [consensus, requests, bulk] = &mut self.0;
        tokio::select! {
            biased;
            Some(frame) = consensus.recv() => Some(frame),
            Some(frame) = requests.recv() => Some(frame),
            Some(frame) = bulk.recv() => Some(frame),
            else => None,
        }
    }

    fn next_urgent(&mut self) -> Option<Frame> {
        // Bulk is left out: more of it in one write would delay what comes meanwhile.
        self.0[..2].iter_mut().find_map(|lane| lane.try_recv().ok())
    }

    /// Writes until nobody sends any more, or an error.
    pub async fn write_to(
        mut self,
        mut stream: impl AsyncWrite + Unpin,
        compresses: bool,
        write_timeout: Duration,
    ) -> io::Result<()> {
        let mut bytes = BytesMut::new();
        let mut numbers = FIRST_FRAME..;
        let mut encode = |frame: &Frame, bytes: &mut BytesMut| {
            frame.encode(numbers.next().expect("they do not end"), compresses, bytes);
        };
        loop {
            match timeout(PING_INTERVAL, self.next()).await {
                Ok(Some(frame)) => encode(&frame, &mut bytes),
                Ok(None) => return stream.shutdown().await,
                Err(_) => {
                    encode(&Frame::new(FrameKind::Ping, Lane::Consensus, 0, Bytes::new()), &mut bytes);
                }
            }
            while bytes.len() < FRAME_BYTES_MAX
                && let Some(frame) = self.next_urgent()
            {
                encode(&frame, &mut bytes);
            }
            let written = timeout(write_timeout, async {
                stream.write_all(&bytes).await?;
                stream.flush().await
            });
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the other side does not read");
            written.await.map_err(late)??;
            bytes.clear();
        }
    }
}
