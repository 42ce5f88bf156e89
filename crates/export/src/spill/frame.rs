//! One frame of a spill file: a few records, with their length and checksum.
//!
//! Layout, little-endian: payload length u32, number of records u32, first position u64, last position u64, time of
//! arrival u64 (Unix milliseconds), XXH3 of all before and the payload u64, payload (the records in CBOR, one after
//! the other).

use protocol::Record;
use xxhash_rust::xxh3::Xxh3;

/// How a spill file begins; the last character is the version of the format.
pub(super) const MAGIC: &[u8; 8] = b"BATSPIL1";
/// Bytes before the payload.
pub(super) const HEADER_BYTES: usize = 40;
/// Bytes without the checksum.
const CHECKED_BYTES: usize = 32;
/// A frame is closed when its payload has reached this size: what a reader holds at once.
const PAYLOAD_BYTES: usize = 256 * 1024;

/// Header before the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub payload_bytes: u32,
    pub count: u32,
    pub first: u64,
    pub last: u64,
    pub appended_ms: u64,
}

impl Header {
    /// Reads it; `None` if it cannot be one.
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let whole = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let header = Self {
            payload_bytes: half(0),
            count: half(4),
            first: whole(8),
            last: whole(16),
            appended_ms: whole(24),
        };
        (header.payload_bytes > 0 && header.count > 0 && header.first <= header.last).then_some(header)
    }

    /// Bytes of the whole frame.
    pub fn frame_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + u64::from(self.payload_bytes)
    }
}

fn checksum(head: &[u8], payload: &[u8]) -> [u8; 8] {
    let mut hash = Xxh3::new();
    hash.update(head);
    hash.update(payload);
    hash.digest().to_le_bytes()
}

/// Whether header and payload are as they were written.
pub(super) fn is_intact(header: &[u8; HEADER_BYTES], payload: &[u8]) -> bool {
    header[CHECKED_BYTES..] == checksum(&header[..CHECKED_BYTES], payload)
}

/// Appends records as frames.
pub(super) fn write(records: &[Record], appended_ms: u64, out: &mut Vec<u8>) {
    let mut rest = records;
    while !rest.is_empty() {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        let mut count = 0;
        for record in rest {
            minicbor::encode(record, &mut *out).expect("encoding to memory does not fail");
            count += 1;
            if out.len() - start - HEADER_BYTES >= PAYLOAD_BYTES {
                break;
            }
        }
        let (frame, later) = rest.split_at(count);
        rest = later;
        let payload_bytes = (out.len() - start - HEADER_BYTES) as u32;
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&payload_bytes.to_le_bytes());
        header[4..8].copy_from_slice(&(count as u32).to_le_bytes());
        header[8..16].copy_from_slice(&frame[0].position.to_le_bytes());
        header[16..24].copy_from_slice(&frame[count - 1].position.to_le_bytes());
        header[24..32].copy_from_slice(&appended_ms.to_le_bytes());
        let sum = checksum(&header[..CHECKED_BYTES], &out[start + HEADER_BYTES..]);
        header[CHECKED_BYTES..].copy_from_slice(&sum);
        out[start..start + HEADER_BYTES].copy_from_slice(&header);
    }
}

pub(super) fn records(payload: &[u8], count: u32) -> Result<Vec<Record>, minicbor::decode::Error> {
    let mut decoder = minicbor::Decoder::new(payload);
    // The payload is checked; the bound only keeps a wrong count from reserving more than there can be.
    let mut records = Vec::with_capacity((count as usize).min(payload.len()));
    for _ in 0..count {
        records.push(decoder.decode()?);
    }
    Ok(records)
}
