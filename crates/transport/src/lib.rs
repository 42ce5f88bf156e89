//! Connections between brokers: calls and uploads on three lanes, so that a snapshot never delays a heartbeat.
//!
//! A broker connects to each other one ([`Peer`]) and is connected to by each ([`serve`]). Both prove that they are of
//! the cluster, by certificates or by a secret (`secret`), before either says who it is. Then both introduce themselves
//! (`handshake`); a wrong cluster, a number that two brokers have, or versions that do not fit are refused with the
//! reason on both sides. A stranger gets no answer. Messages are cut into frames of 64 KiB with checksums (`frame`),
//! and the most urgent lane writes first (`writer`). An upload sends as much as the other side has room for.
//!
//! This crate does not know what messages mean.

mod call;
mod certificates;
mod complaints;
mod frame;
mod handshake;
mod network;
mod peer;
mod sealed;
mod secret;
mod serve;
mod text;
mod writer;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use call::{CallError, Parts};
pub use certificates::Certificates;
pub use frame::{FRAME_BYTES_MAX, Lane, read_all};
pub use handshake::{ANY_BROKER, BrokerIdentity, PROTOCOL_VERSION, Refusal, read_handshake, read_sender};
pub use network::{Attachment, Duplex, Listener, Network, Opening, Tcp};
pub use peer::{Peer, PeerStatus, Pieces, pieces};
pub use secret::{PeerSecret, SECRET_MAX, SECRET_MIN, SecretError, pass_on, read_sealed, stand_between};
pub use serve::{Served, serve};

/// The future of an answer: the bytes of a response, or the reason why there is none.
pub type Reply = Pin<Box<dyn Future<Output = Result<Bytes, String>> + Send>>;

/// Requests of other brokers end here.
pub trait PeerService: Send + Sync + 'static {
    /// Whether a broker may connect, beyond what the handshake looks at.
    fn check(&self, _from: &BrokerIdentity) -> Result<(), Refusal> {
        Ok(())
    }

    /// Answers a request. Dropped when nobody waits for the answer any more.
    fn call(&self, from: &BrokerIdentity, lane: Lane, request: Bytes) -> Reply;

    /// Takes a file with its head.
    fn upload(&self, from: &BrokerIdentity, head: Bytes, parts: Parts) -> Reply;
}

/// TransportOptions of connections.
#[derive(Clone)]
pub struct TransportOptions {
    /// Bytes of a message at most, but for uploads.
    pub max_message_bytes: usize,
    /// Compresses frames where both sides want it.
    pub compresses: bool,
    /// Connections of other brokers at most.
    pub max_connections: usize,
    /// Handshakes at once; a further connection takes the place of the one that has been at it for the longest time.
    pub max_handshakes: usize,
    /// Longest time between two attempts to connect.
    pub max_backoff: Duration,
    /// A connection is given up when it brings nothing for so long; the other side speaks every two seconds.
    pub silence: Duration,
    /// A connection is given up when the other side takes nothing of what is written for so long.
    pub write_timeout: Duration,
    /// TLS with certificates of both sides.
    pub certificates: Option<Certificates>,
    /// The secret that all brokers of the cluster know. With neither it nor certificates, everybody who can connect is
    /// believed, and nothing is encrypted.
    pub secret: Option<PeerSecret>,
    /// Leads to other brokers.
    pub network: Arc<dyn Network>,
}

impl TransportOptions {
    /// Whether connections begin with a proof.
    pub(crate) fn has_proof(&self) -> bool {
        self.certificates.is_some() || self.secret.is_some()
    }
}

impl Default for TransportOptions {
    fn default() -> Self {
        Self {
            max_message_bytes: 64 * 1024 * 1024,
            compresses: false,
            max_connections: 256,
            max_handshakes: 32,
            max_backoff: Duration::from_secs(1),
            silence: Duration::from_secs(8),
            write_timeout: Duration::from_secs(10),
            certificates: None,
            secret: None,
            network: Arc::new(Tcp),
        }
    }
}

/// Something that many tasks look at.
type Shared<T> = Arc<parking_lot::Mutex<T>>;
