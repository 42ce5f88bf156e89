//! Luggage that a browser takes along to the issuer and brings back, sealed: nobody reads or makes it but this process.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};

use crate::secret::{random, random_id};

/// The longest time of a login at the issuer, in milliseconds.
pub(super) const LIFE_MS: u64 = 600_000;
/// Logins that are remembered after their end, the latest ones.
const ARRIVED_MAX: usize = 100_000;
/// The longest path to go to after it, in bytes. Browsers keep cookies of 4096.
const NEXT_BYTES_MAX: usize = 1500;

/// A login that is under way at the issuer.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Departure {
    /// Ties the answer to this browser (RFC 6749 §10.12).
    pub state: String,
    /// Ties the ID token to this login (OpenID Connect Core 1.0 §3.1.2.1).
    pub nonce: String,
    /// Ties the code to this server (RFC 7636).
    pub verifier: String,
    /// Where the issuer sends the browser back to.
    pub redirect_uri: String,
    /// The path of ours to go to then.
    pub next: String,
    /// When it is too late, Unix milliseconds.
    pub ends_ms: u64,
}

impl Departure {
    pub fn new(redirect_uri: String, next: &str, now_ms: u64) -> Self {
        Self {
            state: random_id(),
            nonce: random_id(),
            verifier: random_id(),
            redirect_uri,
            next: path_of_ours(next).to_owned(),
            ends_ms: now_ms + LIFE_MS,
        }
    }
}

/// The path, if no browser leaves our site by it; otherwise the root.
pub(crate) fn path_of_ours(next: &str) -> &str {
    // Browsers read a backslash as `/` and leave out tabs and line ends.
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_path = next.starts_with('/') && !next.starts_with("//");
    if is_plain && is_path && next.len() <= NEXT_BYTES_MAX { next } else { "/" }
}

/// Seals departures.
pub(super) struct Seal(LessSafeKey);

impl Seal {
    pub fn random() -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &random::<32>()).expect("the key has 32 bytes");
        Self(LessSafeKey::new(key))
    }

    pub fn close(&self, departure: &Departure) -> String {
        let mut bytes = serde_json::to_vec(departure).expect("texts and a number");
        let nonce: [u8; NONCE_LEN] = random();
        let aad = Aad::from(AAD);
        self.0
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut bytes)
            .expect("a departure is short");
        URL_SAFE_NO_PAD.encode([&nonce[..], &bytes].concat())
    }

    pub fn open(&self, text: &str) -> Option<Departure> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let plain = self.0.open_in_place(nonce, Aad::from(AAD), &mut sealed).ok()?;
        serde_json::from_slice(plain).ok()
    }
}

/// Logins that have come to their end: what a browser brings back counts once, whoever kept a copy of it.
#[derive(Debug, Default)]
pub(super) struct Arrived(Mutex<BTreeSet<(u64, String)>>);

impl Arrived {
    pub fn has(&self, state: &str, ends_ms: u64) -> bool {
        self.0.lock().contains(&(ends_ms, state.to_owned()))
    }

    /// Notes a login until it would have expired. `false`: it is noted already.
    pub fn note(&self, state: String, ends_ms: u64, now_ms: u64) -> bool {
        let mut known = self.0.lock();
        while known.first().is_some_and(|(ends_ms, _)| *ends_ms <= now_ms || known.len() >= ARRIVED_MAX) {
            known.pop_first();
        }
        known.insert((ends_ms, state))
    }
}

const AAD: &[u8] = b"departure";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_reads_or_changes_what_is_sealed() {
        let seal = Seal::random();
        let departure = Departure::new("https://b/sso-callback".to_owned(), "/operate?a=1", 5);
        let text = seal.close(&departure);
        assert_eq!(seal.open(&text), Some(Departure { ends_ms: 5 + LIFE_MS, ..departure }));
        assert_ne!(
            seal.close(&Departure::new(String::new(), "/", 5)),
            seal.close(&Departure::new(String::new(), "/", 5))
        );
        assert_eq!(Seal::random().open(&text), None);
        let mut bytes = text.into_bytes();
        let last = bytes.len() - 5;
        bytes[last] = if bytes[last] == b'A' { b'B' } else { b'A' };
        assert_eq!(seal.open(std::str::from_utf8(&bytes).unwrap()), None);
        assert_eq!(seal.open(""), None);
        assert_eq!(seal.open("AAAA"), None);
    }

    #[test]
    fn a_login_ends_once() {
        let arrived = Arrived::default();
        assert!(arrived.note("a".to_owned(), 10, 5) && !arrived.note("a".to_owned(), 10, 6));
        assert!(arrived.has("a", 10) && !arrived.has("b", 10));
        assert!(arrived.note("b".to_owned(), 20, 10));
        assert!(!arrived.has("a", 10), "it has expired by itself");
        for n in 0..ARRIVED_MAX {
            assert!(arrived.note(n.to_string(), 30, 10));
        }
        assert!(!arrived.has("b", 20) && arrived.has("1", 30));
    }

    #[test]
    fn next_is_a_path_of_ours() {
        for ours in ["/", "/operate/processes?active=true#x", "/tasklist/1", "/%2F%2Fevil", "/a//b"] {
            assert_eq!(path_of_ours(ours), ours);
        }
        let long = format!("/{}", "a".repeat(2000));
        for other in [
            "",
            "//evil",
            "/\\evil",
            "\\/evil",
            "https://evil",
            "evil",
            "/\t/evil",
            "/a b",
            "/ä",
            "/\n/evil",
            &long,
        ] {
            assert_eq!(path_of_ours(other), "/", "{other}");
        }
    }
}
