//! Long texts: compressed blocks beside the pack, found by a hash or by their row.

use std::ops::Range;

use protocol::Name;
use search::model::ColumnId;
use xxhash_rust::xxh3::xxh3_64;

use super::PackError;
use super::bytes::{Input, bits, put_u32};

/// Rows of a block.
const BLOCK_ROWS: usize = 64;
/// Bits of the filter for each row.
const FILTER_BITS: usize = 10;
const FILTER_PROBES: u64 = 5;

/// Where the texts beside a pack are read from.
pub(crate) trait TextSource {
    /// Bytes of the texts of a column.
    fn read(&self, column: ColumnId, range: Range<usize>) -> Result<Vec<u8>, PackError>;

    /// The filter of a column.
    fn filter(&self, column: ColumnId) -> Result<Vec<u8>, PackError>;
}

/// A column of many different texts.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) nulls: Option<Range<usize>>,
    /// Four bytes for each row: the hash of its text.
    pub(super) hashes: usize,
    blocks: Vec<Block>,
}

/// A block of texts of successive rows.
#[derive(Debug)]
struct Block {
    place: Range<usize>,
    checksum: u32,
}

/// The texts of one block.
pub(super) struct OpenBlock {
    number: usize,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl OpenBlock {
    pub(super) fn has(&self, row: usize) -> bool {
        row / BLOCK_ROWS == self.number
    }

    pub(super) fn text(&self, row: usize) -> Result<&str, PackError> {
        let at = row % BLOCK_ROWS;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let text = self.ends.get(at).and_then(|end| self.bytes.get(start..*end));
        let text = text.ok_or(PackError::Damaged("a block of texts is too short"))?;
        std::str::from_utf8(text).map_err(|_| PackError::Damaged("a text is not UTF-8"))
    }
}

impl Texts {
    pub(super) fn read(input: &mut Input<'_>, rows: usize) -> Result<Self, PackError> {
        let nulls = match input.u8()? {
            0 => None,
            _ => Some(input.place(rows.div_ceil(8))?),
        };
        let hashes = input.place(rows * 4)?.start;
        let (mut blocks, mut start) = (Vec::new(), 0_usize);
        for _ in 0..rows.div_ceil(BLOCK_ROWS) {
            let length = input.u32()?;
            let checksum = input.u32()? as u32;
            let end = start.saturating_add(length);
            blocks.push(Block { place: start..end, checksum });
            start = end;
        }
        Ok(Self { nulls, hashes, blocks })
    }

    pub(super) fn open(
        &self,
        column: ColumnId,
        row: usize,
        rows: usize,
        source: &dyn TextSource,
    ) -> Result<OpenBlock, PackError> {
        let number = row / BLOCK_ROWS;
        let block = &self.blocks[number];
        let packed = source.read(column, block.place.clone())?;
        if checksum(&packed) != block.checksum {
            return Err(PackError::Damaged("a block of texts has another checksum"));
        }
        let bytes = lz4_flex::decompress_size_prepended(&packed)
            .map_err(|_| PackError::Damaged("a block of texts cannot be decompressed"))?;
        let mut input = Input::new(&bytes);
        let count = (rows - number * BLOCK_ROWS).min(BLOCK_ROWS);
        let mut end = 4 * count;
        let mut ends = Vec::with_capacity(count);
        for _ in 0..count {
            end += input.u32()?;
            ends.push(end - 4 * count);
        }
        Ok(OpenBlock { number, ends, bytes: bytes[4 * count..].to_vec() })
    }
}

/// Writes a column of texts: its description to one place, the texts to another.
pub(super) fn put(texts: &[Option<&Name>], out: &mut Vec<u8>, beside: &mut Vec<u8>) {
    let nulls = texts.iter().any(Option::is_none);
    out.push(u8::from(nulls));
    if nulls {
        out.extend(bits(texts.len(), |row| texts[row].is_none()));
    }
    for text in texts {
        out.extend_from_slice(&text.map_or(0, |text| hash(text)).to_le_bytes());
    }
    let mut plain = Vec::new();
    for block in texts.chunks(BLOCK_ROWS) {
        plain.clear();
        for text in block {
            put_u32(&mut plain, text.map_or(0, |text| text.len()));
        }
        for text in block.iter().flatten() {
            plain.extend_from_slice(text.as_bytes());
        }
        let packed = lz4_flex::compress_prepend_size(&plain);
        put_u32(out, packed.len());
        out.extend_from_slice(&checksum(&packed).to_le_bytes());
        beside.extend_from_slice(&packed);
    }
}

/// The hash of a text, by which rows are told apart before their texts are read.
pub(super) fn hash(text: &str) -> u32 {
    xxh3_64(text.as_bytes()) as u32
}

fn checksum(bytes: &[u8]) -> u32 {
    (xxh3_64(bytes) >> 32) as u32
}

/// Bits that tell most texts that a column does not have.
pub(super) fn filter(texts: &[Option<&Name>]) -> Vec<u8> {
    let mut filter = vec![0_u8; (texts.len() * FILTER_BITS).div_ceil(8).max(8)];
    for text in texts.iter().flatten() {
        for bit in probes(text, filter.len()) {
            filter[bit / 8] |= 1 << (bit % 8);
        }
    }
    filter
}

/// Whether a column with this filter may have a text.
pub(super) fn may_have(filter: &[u8], text: &str) -> bool {
    if filter.is_empty() {
        return true;
    }
    probes(text, filter.len()).all(|bit| filter[bit / 8] >> (bit % 8) & 1 == 1)
}

fn probes(text: &str, length: usize) -> impl Iterator<Item = usize> {
    let hash = xxh3_64(text.as_bytes());
    let step = hash.rotate_left(32) | 1;
    (0..FILTER_PROBES)
        .map(move |probe| (hash.wrapping_add(probe.wrapping_mul(step)) % (length as u64 * 8)) as usize)
}
