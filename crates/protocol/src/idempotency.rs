//! Idempotency keys: a client that sends a command again with the same key gets the first answer.

use minicbor::{Decode, Encode};

/// An idempotency key and the command it was given for, as hashes: the log and the state have nothing of their lengths.
/// They are of a kind that nobody finds a second text for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Idempotency {
    /// Hash of the principal and its key.
    #[n(0)]
    pub key: [u64; 2],
    /// Hash of the request.
    #[n(1)]
    pub fingerprint: [u64; 2],
}
