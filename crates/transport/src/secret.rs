//! The proof that both ends of a connection know the secret of their cluster, before either says who it is.
//!
//! It is the handshake `NNpsk0` of the Noise protocol framework. Its first message can be made by those alone who know
//! the secret, and so can its answer; both agree on keys for this connection, by which everything after is encrypted.
//! A stranger gets no answer. A first message that was overheard and is repeated gets one, which is noise to the
//! stranger, and leads no further: the introduction that follows is sealed with the new keys.

use std::fmt;
use std::io;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use snow::{Builder, HandshakeState};
use thiserror::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::Duplex;
use crate::frame::invalid;
use crate::handshake::HandshakeError;
use crate::sealed::Sealed;

/// Characters of a secret at least: a stranger who overhears a handshake can try secrets at leisure.
pub const SECRET_MIN: usize = 32;
/// Characters of a secret at most.
pub const SECRET_MAX: usize = 1024;

const PATTERN: &str = "Noise_NNpsk0_25519_AESGCM_SHA256";
/// Makes the key of a secret one for this purpose alone.
const PURPOSE: &[u8] = b"baton: brokers of a cluster, 1\0";
/// Bytes of each message of the handshake: a key, and the proof.
pub(crate) const PROOF_BYTES: usize = 32 + 16;

/// The reason why a text is no secret.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[error(
    "it has {0} characters; a secret of brokers has {SECRET_MIN} to {SECRET_MAX}, such as `openssl rand -hex 32` prints"
)]
pub struct SecretError(usize);

/// The secret that all brokers of a cluster know, and nobody else.
#[derive(Clone)]
pub struct PeerSecret(Arc<[u8; 32]>);

impl PeerSecret {
    /// The secret of a text; white space around it does not count.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        let length = text.chars().count();
        if !(SECRET_MIN..=SECRET_MAX).contains(&length) {
            return Err(SecretError(length));
        }
        let key = Sha256::new().chain_update(PURPOSE).chain_update(text).finalize();
        Ok(Self(Arc::new(key.into())))
    }

    fn builder(&self) -> Builder<'_> {
        let pattern = PATTERN.parse().expect("the pattern is one that exists");
        Builder::new(pattern).psk(0, &self.0).expect("the pattern has a key at this place")
    }
}

impl fmt::Debug for PeerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerSecret(hidden)")
    }
}

/// Writes the next message of a handshake.
async fn write(stream: &mut dyn Duplex, handshake: &mut HandshakeState) -> io::Result<()> {
    let mut proof = [0; PROOF_BYTES];
    let length = handshake.write_message(&[], &mut proof).map_err(|error| invalid(error.to_string()))?;
    assert_eq!(length, PROOF_BYTES, "all messages of this handshake have the same length");
    stream.write_all(&proof).await?;
    stream.flush().await
}

/// Reads the next message of a handshake.
async fn read(stream: &mut dyn Duplex, handshake: &mut HandshakeState) -> Result<(), HandshakeError> {
    let mut proof = [0; PROOF_BYTES];
    stream.read_exact(&mut proof).await?;
    let nothing = handshake.read_message(&proof, &mut []).map_err(|_| HandshakeError::Unproven)?;
    assert_eq!(nothing, 0, "the message has room for the proof alone");
    Ok(())
}

fn sealed(stream: Box<dyn Duplex>, handshake: HandshakeState) -> Box<dyn Duplex> {
    let keys = handshake.into_transport_mode().expect("both messages of the handshake are through");
    Box::new(Sealed::new(stream, keys))
}

/// Proves the secret to the side that was connected to, and has it prove it.
pub(crate) async fn prove(
    mut stream: Box<dyn Duplex>,
    secret: &PeerSecret,
) -> Result<Box<dyn Duplex>, HandshakeError> {
    let mut handshake = secret.builder().build_initiator().expect("all keys of the pattern are given");
    write(&mut *stream, &mut handshake).await?;
    match read(&mut *stream, &mut handshake).await {
        Ok(()) => Ok(sealed(stream, handshake)),
        Err(HandshakeError::Io(error)) => Err(HandshakeError::of_answer(error)),
        Err(error) => Err(error),
    }
}

/// Has the side that connected prove the secret, says nothing before, and proves it in turn.
pub(crate) async fn demand(
    mut stream: Box<dyn Duplex>,
    secret: &PeerSecret,
) -> Result<Box<dyn Duplex>, HandshakeError> {
    let mut handshake = secret.builder().build_responder().expect("all keys of the pattern are given");
    read(&mut *stream, &mut handshake).await?;
    write(&mut *stream, &mut handshake).await?;
    Ok(sealed(stream, handshake))
}

/// Both halves of the proof, for proxies of tests that know the secret: what it takes to stand between two brokers.
#[doc(hidden)]
pub async fn stand_between(near: Box<dyn Duplex>, secret: &PeerSecret) -> io::Result<Box<dyn Duplex>> {
    demand(near, secret).await.map_err(io::Error::other)
}

/// The other half: to the broker that is meant.
#[doc(hidden)]
pub async fn pass_on(far: Box<dyn Duplex>, secret: &PeerSecret) -> io::Result<Box<dyn Duplex>> {
    prove(far, secret).await.map_err(io::Error::other)
}

/// Takes bytes as a stranger's who connects, and as those that follow a proof. Returns what could be read. For fuzzing.
#[doc(hidden)]
pub fn read_sealed(bytes: &[u8]) -> usize {
    let secret = PeerSecret::new(&"x".repeat(SECRET_MIN)).expect("it is long enough");
    futures::executor::block_on(async {
        let (mut near, far) = tokio::io::duplex(bytes.len() + PROOF_BYTES);
        near.write_all(bytes).await.expect("there is room");
        drop(near);
        assert!(demand(Box::new(far), &secret).await.is_err(), "whoever does not know the secret is let in");
        let (mut near, far) = tokio::io::duplex(bytes.len() + 4 * PROOF_BYTES);
        let mut handshake = secret.builder().build_initiator().expect("all keys of the pattern are given");
        write(&mut near, &mut handshake).await.expect("there is room");
        let mut far = demand(Box::new(far), &secret).await.expect("the proof is right");
        near.write_all(bytes).await.expect("there is room");
        drop(near);
        let mut read = Vec::new();
        // The end of the stream between two records is no error.
        let _ = far.read_to_end(&mut read).await;
        assert!(read.is_empty(), "bytes that nobody sealed were read");
        read.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(of: char) -> PeerSecret {
        PeerSecret::new(&of.to_string().repeat(SECRET_MIN)).unwrap()
    }

    #[test]
    fn a_secret_is_long_enough_and_shown_nowhere() {
        let text = "0123456789abcdef0123456789abcdef";
        let secret = PeerSecret::new(text).unwrap();
        assert_eq!(secret.0, PeerSecret::new(&format!(" {text}\n")).unwrap().0);
        assert!(!format!("{secret:?}").contains("0123"));
        let short = PeerSecret::new(&text[1..]).unwrap_err();
        assert_eq!(short, SecretError(31));
        assert!(!short.to_string().contains(&text[1..]), "{short}");
        assert!(PeerSecret::new(&"x".repeat(SECRET_MAX + 1)).is_err());
    }

    #[tokio::test]
    async fn both_sides_prove_the_same_secret_and_then_talk() {
        let (near, far) = tokio::io::duplex(4096);
        let (one, other) = (secret('a'), secret('a'));
        let (near, far) = tokio::join!(prove(Box::new(near), &one), demand(Box::new(far), &other));
        let (mut near, mut far) = (near.unwrap(), far.unwrap());
        near.write_all(b"hello").await.unwrap();
        near.flush().await.unwrap();
        let mut hello = [0; 5];
        far.read_exact(&mut hello).await.unwrap();
        assert_eq!(&hello, b"hello");
    }

    #[tokio::test]
    async fn a_side_with_another_secret_is_told_nothing() {
        let (near, far) = tokio::io::duplex(4096);
        let (one, other) = (secret('a'), secret('b'));
        let far = async { demand(Box::new(far), &other).await.err() };
        let near = async { prove(Box::new(near), &one).await.err() };
        let (near, far) = tokio::join!(near, far);
        assert!(matches!(far, Some(HandshakeError::Unproven)), "{far:?}");
        assert!(matches!(near, Some(HandshakeError::Silent)), "{near:?}");
    }

    #[tokio::test]
    async fn whoever_answers_without_the_secret_is_noticed() {
        let (near, mut far) = tokio::io::duplex(4096);
        far.write_all(&[7; PROOF_BYTES]).await.unwrap();
        let one = secret('a');
        let error = prove(Box::new(near), &one).await.err();
        assert!(matches!(error, Some(HandshakeError::Unproven)), "{error:?}");
    }

    #[tokio::test]
    async fn a_handshake_that_was_overheard_opens_no_other_connection() {
        let secret = secret('a');
        let mut overheard = [0; PROOF_BYTES];
        let mut handshake = secret.builder().build_initiator().unwrap();
        handshake.write_message(&[], &mut overheard).unwrap();
        let (mut near, far) = tokio::io::duplex(4096);
        near.write_all(&overheard).await.unwrap();
        let mut far = demand(Box::new(far), &secret).await.unwrap();
        // The rest is sealed with keys that the one who repeats cannot know.
        near.write_all(&[0, 20]).await.unwrap();
        near.write_all(&overheard[..20]).await.unwrap();
        let error = far.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
