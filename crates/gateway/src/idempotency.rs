//! `Idempotency-Key`: a request that is sent again with the same key gets the answer of the first one.

use auth::{Identity, Principal};
use protocol::Idempotency;
use sha2::{Digest, Sha256};

/// Name of the header, and of the metadata.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Characters of a key.
const MAX_CHARS: usize = 255;

/// Checks the keys of a request. An error is for people.
pub(crate) fn read<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> Result<Option<&'a [u8]>, String> {
    let Some(key) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(format!("header '{IDEMPOTENCY_KEY}': there is more than one"));
    }
    if key.is_empty() || key.len() > MAX_CHARS {
        let length = key.len();
        return Err(format!(
            "header '{IDEMPOTENCY_KEY}': has {length} characters, but 1 to {MAX_CHARS} are allowed"
        ));
    }
    if !key.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return Err(format!("header '{IDEMPOTENCY_KEY}': has characters that are not printable ASCII"));
    }
    Ok(Some(key))
}

/// The key of a principal for one of the commands of a request, counted from 0, with the request.
pub(crate) fn of<'a>(
    principal: Option<&Principal>,
    key: &[u8],
    command: u32,
    request: impl IntoIterator<Item = &'a [u8]>,
) -> Idempotency {
    let (kind, name) = match principal.map(|principal| &principal.identity) {
        None | Some(Identity::Anonymous) => (b"".as_slice(), ""),
        Some(Identity::User(name)) => (b"u".as_slice(), name.as_str()),
        Some(Identity::Client(name)) => (b"c".as_slice(), name.as_str()),
    };
    Idempotency {
        key: hash([kind, name.as_bytes(), key, &command.to_be_bytes()]),
        fingerprint: hash(request),
    }
}

/// The first half of a SHA-256 of parts, with their lengths.
fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u64; 2] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    let word = |at: usize| u64::from_be_bytes(std::array::from_fn(|index| hash[at + index]));
    [word(0), word(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_of_their_principal_and_requests_are_told_apart() {
        let known = |identity| Principal { identity, ..Principal::anonymous() };
        let user = |name: &str| known(Identity::User(name.to_owned()));
        let of = |principal: Option<&Principal>, key: &[u8], command, request: &[&[u8]]| {
            of(principal, key, command, request.iter().copied())
        };
        let first = of(Some(&user("ann")), b"k", 0, &[b"ab", b"c"]);
        assert_eq!(of(Some(&user("ann")), b"k", 0, &[b"ab", b"c"]), first);
        for other in [
            of(Some(&user("bob")), b"k", 0, &[b"ab", b"c"]),
            of(Some(&known(Identity::Client("ann".to_owned()))), b"k", 0, &[b"ab", b"c"]),
            of(None, b"k", 0, &[b"ab", b"c"]),
            of(Some(&user("ann")), b"l", 0, &[b"ab", b"c"]),
            of(Some(&user("ann")), b"k", 1, &[b"ab", b"c"]),
        ] {
            assert_ne!(other.key, first.key);
            assert_eq!(other.fingerprint, first.fingerprint);
        }
        let other = of(Some(&user("ann")), b"k", 0, &[b"a", b"bc"]);
        assert_eq!(other.key, first.key);
        assert_ne!(other.fingerprint, first.fingerprint);
    }

    #[test]
    fn keys_that_nobody_means_are_refused() {
        let read = |keys: &[&'static str]| read(keys.iter().map(|key| key.as_bytes()));
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["a-1"]), Ok(Some(b"a-1".as_slice())));
        let long: &'static str = "x".repeat(256).leak();
        for (keys, reason) in [
            (vec![""], "has 0 characters"),
            (vec![long], "has 256 characters"),
            (vec!["a", "a"], "more than one"),
        ] {
            assert!(read(&keys).unwrap_err().contains(reason), "{keys:?}");
        }
        assert!(super::read([b"\xff".as_slice()].into_iter()).unwrap_err().contains("printable"));
    }
}
