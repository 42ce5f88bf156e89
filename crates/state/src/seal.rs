//! The checksum at the end of every stored value, over key and value.
//!
//! redb checks its pages when it repairs a file, not when it reads one. A row changed on disk must not become part of
//! a replica's state, so every row that is read is checked.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const SEAL_BYTES: usize = 4;

fn checksum(key: &[u8], value: &[u8]) -> [u8; SEAL_BYTES] {
    (xxh3_64_with_seed(value, xxh3_64(key)) as u32).to_le_bytes()
}

/// Puts the checksum after the value.
pub(crate) fn seal(key: &[u8], value: &mut Vec<u8>) {
    value.extend_from_slice(&checksum(key, value));
}

/// The value without its checksum; `None` if that does not match.
pub(crate) fn unseal<'a>(key: &[u8], stored: &'a [u8]) -> Option<&'a [u8]> {
    let (value, seal) = stored.split_last_chunk()?;
    (checksum(key, value) == *seal).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_row_is_noticed() {
        let mut stored = b"value".to_vec();
        seal(b"key", &mut stored);
        assert_eq!(unseal(b"key", &stored), Some(&b"value"[..]));
        assert_eq!(unseal(b"kez", &stored), None);
        for at in 0..stored.len() {
            let mut changed = stored.clone();
            changed[at] ^= 1;
            assert_eq!(unseal(b"key", &changed), None);
        }
        assert_eq!(unseal(b"key", &stored[..3]), None);

        let mut empty = Vec::new();
        seal(b"key", &mut empty);
        assert_eq!(unseal(b"key", &empty), Some(&b""[..]));
    }
}
