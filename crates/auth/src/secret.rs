//! Random bytes, and hashes that only this process can compute.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

/// A keyed hash as it is used as a key of caches and maps.
pub(crate) type Digest = [u8; 32];

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// 256 random bits as text for cookies.
pub(crate) fn random_id() -> String {
    URL_SAFE_NO_PAD.encode(random::<32>())
}

/// A password of 128 random bits.
pub fn generated_password() -> String {
    URL_SAFE_NO_PAD.encode(random::<16>())
}

/// A key that lives as long as the process. Hashes made with it are worthless elsewhere, and
/// nobody outside can aim at a bucket of a map.
#[derive(Debug)]
pub(crate) struct ProcessKey(hmac::Key);

impl ProcessKey {
    pub fn random() -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &random::<32>()))
    }

    /// HMAC-SHA-256 of the parts, each behind its length, so that no two lists of parts are the same text.
    pub fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        context.sign().as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    /// A text only this process can make of `parts`.
    pub fn seal(&self, parts: &[&[u8]]) -> String {
        URL_SAFE_NO_PAD.encode(self.digest(parts))
    }

    /// Whether `seal` is that of `parts`. Takes the same time whatever is wrong with it.
    pub fn is_sealed(&self, parts: &[&[u8]], seal: &str) -> bool {
        // Hashing both once more makes the comparison independent of where they differ.
        self.digest(&[self.seal(parts).as_bytes()]) == self.digest(&[seal.as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let key = ProcessKey::random();
        assert_ne!(key.digest(&[b"ab", b"c"]), key.digest(&[b"a", b"bc"]));
        assert_eq!(key.digest(&[b"ab", b"c"]), key.digest(&[b"ab", b"c"]));
        assert_ne!(key.digest(&[b"ab"]), ProcessKey::random().digest(&[b"ab"]));
    }

    #[test]
    fn a_seal_is_of_its_parts() {
        let key = ProcessKey::random();
        let seal = key.seal(&[b"csrf", b"session"]);
        assert!(key.is_sealed(&[b"csrf", b"session"], &seal));
        assert!(!key.is_sealed(&[b"csrf", b"another"], &seal));
        assert!(!key.is_sealed(&[b"csrf", b"session"], ""));
    }
}
