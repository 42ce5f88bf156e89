//! Numbers and texts as bytes, little-endian.

use std::ops::Range;

use protocol::Name;
use xxhash_rust::xxh3::xxh3_64;

use super::PackError;

const CHECKSUM_BYTES: usize = 8;

pub(super) fn put_u32(out: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).expect("a pack is far smaller than 4 GiB");
    out.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn put_i64(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// Reads what was put.
pub(super) struct Input<'b> {
    bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> Input<'b> {
    pub(super) const fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'b [u8], PackError> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(PackError::Damaged("the pack is too short"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Takes the next bytes, and gives their place.
    pub fn place(&mut self, length: usize) -> Result<Range<usize>, PackError> {
        let at = self.at;
        self.take(length)?;
        Ok(at..at + length)
    }

    pub(super) fn u8(&mut self) -> Result<u8, PackError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u32(&mut self) -> Result<usize, PackError> {
        let bytes = self.take(4)?.try_into().expect("four bytes were taken");
        Ok(u32::from_le_bytes(bytes) as usize)
    }

    pub(super) fn i64(&mut self) -> Result<i64, PackError> {
        let bytes = self.take(8)?.try_into().expect("eight bytes were taken");
        Ok(i64::from_le_bytes(bytes))
    }

    pub(super) fn text(&mut self) -> Result<Name, PackError> {
        let length = self.u32()?;
        let text = std::str::from_utf8(self.take(length)?);
        text.map(Name::from).map_err(|_| PackError::Damaged("a text is not UTF-8"))
    }
}

/// A number of up to eight bytes.
pub(super) fn read_number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(number)
}

/// Bytes that a number takes.
pub(super) const fn width(number: u64) -> usize {
    (64 - number.leading_zeros() as usize).div_ceil(8)
}

/// A bit for each row.
pub(super) fn bits(rows: usize, is_set: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut bits = vec![0; rows.div_ceil(8)];
    for row in (0..rows).filter(|row| is_set(*row)) {
        bits[row / 8] |= 1 << (row % 8);
    }
    bits
}

pub(super) fn is_set(bits: &[u8], row: usize) -> bool {
    bits[row / 8] >> (row % 8) & 1 == 1
}

/// Adds the checksum of all bytes.
pub(super) fn seal(bytes: &mut Vec<u8>) {
    let checksum = xxh3_64(bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
}

/// The bytes before the checksum, if it is theirs.
pub(super) fn sealed(bytes: &[u8]) -> Result<&[u8], PackError> {
    let body = bytes.len().checked_sub(CHECKSUM_BYTES).ok_or(PackError::Damaged("bytes are missing"))?;
    let (body, checksum) = bytes.split_at(body);
    if xxh3_64(body) != read_number(checksum) {
        return Err(PackError::Damaged("the checksum is another"));
    }
    Ok(body)
}
