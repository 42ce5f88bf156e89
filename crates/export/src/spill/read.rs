//! Reading segments back, frame by frame.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::frame::{self, HEADER_BYTES, Header, MAGIC};
use super::{Segment, SpillError};
use crate::batch::Chunk;

/// Where one exporter is in the spill.
#[derive(Debug, Default)]
pub(crate) struct SpillReader {
    open: Option<Open>,
    payload: Vec<u8>,
}

#[derive(Debug)]
struct Open {
    first: u64,
    file: File,
    offset: u64,
    ordinal: u64,
}

impl SpillReader {
    /// Forgets where it was.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// The next frame of a segment that has records after a position. There must be one.
    pub fn next(&mut self, segment: &Segment, position: u64) -> Result<Chunk, SpillError> {
        let chunk = self.find(segment, position);
        if chunk.is_err() {
            self.reset();
        }
        chunk
    }

    fn find(&mut self, segment: &Segment, position: u64) -> Result<Chunk, SpillError> {
        let open = match &mut self.open {
            Some(open) if open.first == segment.first => open,
            open => open.insert(Open {
                first: segment.first,
                file: File::open(&segment.path).map_err(SpillError::file(&segment.path))?,
                offset: MAGIC.len() as u64,
                ordinal: segment.ordinal,
            }),
        };
        let damaged = |offset| SpillError::Damaged { path: segment.path.to_path_buf(), offset };
        while open.offset < segment.bytes {
            let offset = open.offset;
            let mut bytes = [0; HEADER_BYTES];
            open.file.read_exact_at(&mut bytes, offset).map_err(SpillError::file(&segment.path))?;
            let header = Header::read(&bytes)
                .filter(|header| offset + header.frame_bytes() <= segment.bytes)
                .ok_or_else(|| damaged(offset))?;
            let ordinal = open.ordinal;
            open.offset += header.frame_bytes();
            open.ordinal += u64::from(header.count);
            if header.last <= position {
                continue;
            }
            self.payload.resize(header.payload_bytes as usize, 0);
            open.file
                .read_exact_at(&mut self.payload, offset + HEADER_BYTES as u64)
                .map_err(SpillError::file(&segment.path))?;
            if !frame::is_intact(&bytes, &self.payload) {
                return Err(damaged(offset));
            }
            let mut records = frame::records(&self.payload, header.count).map_err(|_| damaged(offset))?;
            let known = records.partition_point(|record| record.position <= position);
            records.drain(..known);
            let weight = self.payload.len();
            return Ok(Chunk::of_spill(records, ordinal + known as u64, header.appended_ms, weight));
        }
        Err(damaged(open.offset))
    }
}
