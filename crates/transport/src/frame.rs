//! Frames: the unit of a connection. A message is one frame or several, which those of other messages may come between.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use xxhash_rust::xxh3::Xxh3;

/// Bytes of the head of a frame.
pub(crate) const HEAD_BYTES: usize = 24;
/// Bytes of a frame's payload at most: how long a heartbeat waits for a snapshot.
pub const FRAME_BYTES_MAX: usize = 64 * 1024;
/// Number of the first frame after the handshake, in each direction.
pub(crate) const FIRST_FRAME: u64 = 1;
/// Payloads above this are worth compressing.
const COMPRESS_FROM: usize = 1024;

const COMPRESSED: u8 = 1;
const LAST: u8 = 2;

/// Kinds of frames. Their numbers are spoken between releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FrameKind {
    /// The first frame of the broker that connects, and the answer to it.
    Hello = 1,
    /// A part of a request.
    Request = 2,
    /// A part of the answer to a request.
    Response = 3,
    /// The answer that there is none, with the reason.
    Failure = 4,
    /// The sender no longer waits for the answer.
    Cancel = 5,
    /// A part of an upload was taken: another one may be sent.
    Credit = 6,
    /// Nothing to say.
    Ping = 7,
    /// The head of an upload, whose bytes follow.
    Upload = 8,
    /// Bytes of an upload.
    Part = 9,
}

impl FrameKind {
    const ALL: [Self; 9] = [
        Self::Hello,
        Self::Request,
        Self::Response,
        Self::Failure,
        Self::Cancel,
        Self::Credit,
        Self::Ping,
        Self::Upload,
        Self::Part,
    ];
}

/// Lanes of a connection: a frame waits for those of its own lane and of the lanes before it, and for no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Lane {
    /// Votes, heartbeats and entries of logs.
    Consensus = 0,
    /// Requests of clients that another broker answers.
    Requests = 1,
    /// Snapshots and other files.
    Bulk = 2,
}

impl Lane {
    /// All of them, the most urgent first.
    pub const ALL: [Self; 3] = [Self::Consensus, Self::Requests, Self::Bulk];
}

/// A frame without its payload's bytes on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub kind: FrameKind,
    pub lane: Lane,
    /// Number of the call, given by the broker that connected.
    pub call: u64,
    /// Whether the message ends with it.
    pub is_last: bool,
    pub payload: Bytes,
}

impl Frame {
    pub fn new(kind: FrameKind, lane: Lane, call: u64, payload: Bytes) -> Self {
        assert!(payload.len() <= FRAME_BYTES_MAX, "a frame of {} bytes", payload.len());
        Self { kind, lane, call, is_last: true, payload }
    }

    /// The frames of a message.
    pub fn of_message(kind: FrameKind, lane: Lane, call: u64, message: &Bytes) -> impl Iterator<Item = Self> {
        let message = message.clone();
        let parts = message.len().div_ceil(FRAME_BYTES_MAX).max(1);
        (0..parts).map(move |part| {
            let from = part * FRAME_BYTES_MAX;
            let payload = message.slice(from..message.len().min(from + FRAME_BYTES_MAX));
            Self { is_last: part + 1 == parts, ..Self::new(kind, lane, call, payload) }
        })
    }

    /// Appends the bytes on the wire. `number` is that of the frame on its connection: with it in the checksum, a frame
    /// that is repeated, left out or out of order is noticed.
    pub fn encode(&self, number: u64, compresses: bool, out: &mut BytesMut) {
        let compressed = (compresses && self.payload.len() >= COMPRESS_FROM)
            .then(|| lz4_flex::compress_prepend_size(&self.payload))
            .filter(|compressed| compressed.len() < self.payload.len() / 8 * 7);
        let payload = compressed.as_deref().unwrap_or(&self.payload);
        let mut head = [0; HEAD_BYTES];
        head[0..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        head[4] = self.kind as u8;
        head[5] = self.lane as u8;
        head[6] = if compressed.is_some() { COMPRESSED } else { 0 } | if self.is_last { LAST } else { 0 };
        head[8..16].copy_from_slice(&self.call.to_le_bytes());
        let checksum = checksum(number, &head[..16], payload);
        head[16..24].copy_from_slice(&checksum.to_le_bytes());
        out.extend_from_slice(&head);
        out.extend_from_slice(payload);
    }

    /// Reads the frame of a number. The end of the connection between two frames is `None`.
    pub async fn read(stream: &mut (impl AsyncRead + Unpin), number: u64) -> io::Result<Option<Self>> {
        Self::read_up_to(stream, number, FRAME_BYTES_MAX).await
    }

    /// Reads the frame of a number, whose payload has so many bytes at most.
    pub async fn read_up_to(
        stream: &mut (impl AsyncRead + Unpin),
        number: u64,
        limit: usize,
    ) -> io::Result<Option<Self>> {
        let mut head = [0; HEAD_BYTES];
        match stream.read(&mut head[..1]).await {
            Ok(0) => return Ok(None),
            // TLS without its farewell, as of a process that ends: checksums tell a frame that was cut.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => drop(read?),
        }
        stream.read_exact(&mut head[1..]).await?;
        let head = Head::parse(&head, limit)?;
        let mut payload = vec![0; head.length];
        stream.read_exact(&mut payload).await?;
        head.frame(number, payload.into()).map(Some)
    }
}

/// The parsed head of a frame.
struct Head {
    raw: [u8; 16],
    length: usize,
    kind: FrameKind,
    lane: Lane,
    flags: u8,
    call: u64,
    checksum: u64,
}

impl Head {
    fn parse(head: &[u8; HEAD_BYTES], limit: usize) -> io::Result<Self> {
        let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let length = u32::from_le_bytes(head[0..4].try_into().expect("four bytes")) as usize;
        if length > limit {
            return Err(invalid(format!("a frame of {length} bytes, the limit is {limit}")));
        }
        let kind = FrameKind::ALL.into_iter().find(|kind| *kind as u8 == head[4]);
        let lane = Lane::ALL.into_iter().find(|lane| *lane as u8 == head[5]);
        let (Some(kind), Some(lane)) = (kind, lane) else {
            return Err(invalid(format!("a frame of unknown kind {} on lane {}", head[4], head[5])));
        };
        if head[6] & !(COMPRESSED | LAST) != 0 || head[7] != 0 {
            return Err(invalid("a frame with unknown flags".to_owned()));
        }
        let raw = head[..16].try_into().expect("sixteen bytes");
        Ok(Self { raw, length, kind, lane, flags: head[6], call: number(8), checksum: number(16) })
    }

    fn frame(self, number: u64, payload: Bytes) -> io::Result<Frame> {
        if checksum(number, &self.raw, &payload) != self.checksum {
            return Err(invalid("a frame whose checksum is wrong, or that is out of order".to_owned()));
        }
        let payload = if self.flags & COMPRESSED == 0 { payload } else { decompress(&payload)? };
        let is_last = self.flags & LAST != 0;
        Ok(Frame { kind: self.kind, lane: self.lane, call: self.call, is_last, payload })
    }
}

fn decompress(payload: &[u8]) -> io::Result<Bytes> {
    let error =
        |error: &dyn std::fmt::Display| invalid(format!("a frame that cannot be decompressed: {error}"));
    let (size, compressed) = lz4_flex::block::uncompressed_size(payload).map_err(|reason| error(&reason))?;
    if size > FRAME_BYTES_MAX {
        return Err(invalid(format!("a frame of {size} bytes, the limit is {FRAME_BYTES_MAX}")));
    }
    let decompressed = lz4_flex::decompress(compressed, size).map_err(|reason| error(&reason))?;
    Ok(decompressed.into())
}

fn checksum(number: u64, head: &[u8], payload: &[u8]) -> u64 {
    let mut hasher = Xxh3::with_seed(number);
    hasher.update(head);
    hasher.update(payload);
    hasher.digest()
}

pub(crate) fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Reads all frames of some bytes, as a connection would. For fuzzing.
#[doc(hidden)]
pub fn read_all(bytes: &[u8]) -> io::Result<usize> {
    let mut stream = bytes;
    let mut frames = 0;
    futures::executor::block_on(async {
        while Frame::read(&mut stream, frames as u64).await?.is_some() {
            frames += 1;
        }
        Ok(frames)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame() -> impl Strategy<Value = Frame> {
        let payload = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..2000),
            (0..FRAME_BYTES_MAX, any::<u8>()).prop_map(|(size, byte)| vec![byte; size]),
        ];
        let kind = prop::sample::select(&FrameKind::ALL[..]);
        let lane = prop::sample::select(&Lane::ALL[..]);
        (kind, lane, any::<u64>(), any::<bool>(), payload).prop_map(|(kind, lane, call, is_last, payload)| {
            Frame { is_last, ..Frame::new(kind, lane, call, payload.into()) }
        })
    }

    fn read(mut bytes: &[u8]) -> io::Result<Option<Frame>> {
        futures::executor::block_on(Frame::read(&mut bytes, 7))
    }

    /// A stream that ends as TLS does when the other side says no farewell.
    struct Cut;

    impl AsyncRead for Cut {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            std::task::Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()))
        }
    }

    #[test]
    fn an_end_between_frames_is_no_error_without_a_farewell() {
        assert_eq!(futures::executor::block_on(Frame::read(&mut Cut, 7)).unwrap(), None);
        let mut bytes = BytesMut::new();
        Frame::new(FrameKind::Ping, Lane::Consensus, 0, Bytes::new()).encode(7, false, &mut bytes);
        let mut cut = tokio::io::AsyncReadExt::chain(&bytes[..20], Cut);
        let error = futures::executor::block_on(Frame::read(&mut cut, 7)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    proptest! {
        #[test]
        fn frames_survive_the_way(frame in frame(), compresses in any::<bool>()) {
            let mut bytes = BytesMut::new();
            frame.encode(7, compresses, &mut bytes);
            prop_assert_eq!(read(&bytes).unwrap().unwrap(), frame);
        }

        #[test]
        fn a_changed_byte_is_noticed(frame in frame(), compresses in any::<bool>(), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let mut bytes = BytesMut::new();
            frame.encode(7, compresses, &mut bytes);
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            prop_assert!(read(&bytes).is_err());
        }

        #[test]
        fn a_frame_in_the_place_of_another_is_noticed(frame in frame(), number in any::<u64>()) {
            prop_assume!(number != 7);
            let mut bytes = BytesMut::new();
            frame.encode(number, false, &mut bytes);
            prop_assert!(read(&bytes).is_err());
        }

        #[test]
        fn a_cut_frame_is_an_error(frame in frame(), at in any::<prop::sample::Index>()) {
            let mut bytes = BytesMut::new();
            frame.encode(7, false, &mut bytes);
            let at = at.index(bytes.len());
            let is_noticed = match read(&bytes[..at]) {
                Ok(frame) => at == 0 && frame.is_none(),
                Err(_) => at > 0,
            };
            prop_assert!(is_noticed);
        }

        #[test]
        fn messages_are_cut_into_frames_and_come_together_again(size in 0..3 * FRAME_BYTES_MAX) {
            let message = Bytes::from(vec![7; size]);
            let frames: Vec<Frame> = Frame::of_message(FrameKind::Request, Lane::Bulk, 1, &message).collect();
            let (last, others) = frames.split_last().unwrap();
            prop_assert!(last.is_last && others.iter().all(|frame| !frame.is_last));
            prop_assert_eq!(frames.iter().map(|frame| frame.payload.len()).sum::<usize>(), size);
        }
    }
}
