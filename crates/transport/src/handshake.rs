//! The first frames of a connection: who connects to whom, and whether the two understand each other.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use minicbor::{Decode, Encode};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::frame::{Frame, FrameKind, Lane, invalid};
use crate::text::shortened;

/// The version of the protocol that this release speaks.
pub const PROTOCOL_VERSION: u16 = 2;
/// The number by which a broker asks for whichever is at an address: it does not know the others yet.
pub const ANY_BROKER: u32 = u32::MAX;
/// Time for the whole handshake, the proof included.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of an introduction, and of the answer to it, at most.
const HELLO_BYTES_MAX: usize = 4 * 1024;

/// A broker as it introduces itself.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct BrokerIdentity {
    /// ID of the cluster.
    #[n(0)]
    pub cluster_id: String,
    /// Number of the broker in the cluster.
    #[n(1)]
    pub broker: u32,
    /// Number of the broker's data directory: given out once, never again.
    #[n(2)]
    pub directory: u64,
    /// Starts of the broker on that directory.
    #[n(3)]
    pub life: u64,
    /// Oldest and latest version of the engine that it can apply.
    #[n(4)]
    pub engine_versions: (u16, u16),
}

/// The reason why a broker does not talk to another.
#[derive(Debug, Clone, Error, PartialEq, Eq, Encode, Decode)]
#[expect(missing_docs, reason = "names say what is held")]
pub enum Refusal {
    #[error("it is of cluster '{}', this broker is of another one (cluster.id)", shortened(theirs))]
    #[n(0)]
    OtherCluster {
        #[n(1)]
        theirs: String,
    },
    #[error("it asks for broker {wanted}, this is broker {broker}; the addresses of the two may be mixed up")]
    #[n(1)]
    OtherBroker {
        #[n(0)]
        broker: u32,
        #[n(1)]
        wanted: u32,
    },
    #[error("two brokers have the number {broker}")]
    #[n(2)]
    DuplicateNumber {
        #[n(0)]
        broker: u32,
    },
    #[error("it speaks versions {from} to {to} of the protocol, this broker speaks {PROTOCOL_VERSION}")]
    #[n(3)]
    Protocol {
        #[n(0)]
        from: u16,
        #[n(1)]
        to: u16,
    },
    #[error(
        "it applies versions {from} to {to} of the engine, this broker {ours_from} to {ours_to}: they have none in common"
    )]
    #[n(4)]
    Engine {
        #[n(0)]
        from: u16,
        #[n(1)]
        to: u16,
        #[n(2)]
        ours_from: u16,
        #[n(3)]
        ours_to: u16,
    },
    #[error("{}", shortened(.0))]
    #[n(5)]
    Stale(#[n(0)] String),
    #[error("this broker has as many connections as it takes")]
    #[n(6)]
    Full,
    #[error("the brokers of the cluster (cluster.brokers) have no number {broker}")]
    #[n(7)]
    Unlisted {
        #[n(0)]
        broker: u32,
    },
}

#[derive(Debug, Encode, Decode)]
struct Hello {
    /// Oldest and latest version of the protocol that it speaks.
    #[n(0)]
    protocol: (u16, u16),
    #[n(1)]
    identity: BrokerIdentity,
    /// The broker that it wants to reach.
    #[n(2)]
    wanted: u32,
    /// Whether frames may be compressed.
    #[n(3)]
    compresses: bool,
}

#[derive(Debug, Encode, Decode)]
enum HelloAnswer {
    #[n(0)]
    Welcome {
        #[n(0)]
        protocol: u16,
        #[n(1)]
        identity: BrokerIdentity,
        #[n(2)]
        compresses: bool,
    },
    #[n(1)]
    Refused(#[n(0)] Refusal),
}

/// Decodes the messages of a handshake. For fuzzing.
#[doc(hidden)]
pub fn read_handshake(payload: &[u8]) -> bool {
    minicbor::decode::<Hello>(payload).is_ok() || minicbor::decode::<HelloAnswer>(payload).is_ok()
}

/// The number of the broker that connects, once its first frame is there as a whole. For proxies of tests.
#[doc(hidden)]
pub fn read_sender(bytes: &[u8]) -> Option<u32> {
    let mut stream = bytes;
    let hello: Hello = futures::executor::block_on(read(&mut stream)).ok()?;
    Some(hello.identity.broker)
}

/// A connection that both sides agreed on.
#[derive(Debug, Clone)]
pub(crate) struct Agreed {
    /// The other side.
    pub peer: BrokerIdentity,
    pub compresses: bool,
}

/// The reason why a handshake has failed.
#[derive(Debug, Error)]
pub(crate) enum HandshakeError {
    #[error("the handshake has failed: {0}")]
    Io(#[from] io::Error),
    /// The other side's certificate is not accepted, or what it says is not TLS.
    #[error("TLS: {0}")]
    Tls(io::Error),
    /// The other side does not know the secret of this one.
    #[error("the other side has not proved that it knows the secret of this cluster (peers.secret)")]
    Unproven,
    /// The other side says nothing to strangers.
    #[error(
        "the connection was closed without an answer: the other side takes this one for a stranger (its peers.secret, peers.tls, \
         cluster.id or cluster.brokers differ), or stops; its log may say more"
    )]
    Silent,
    /// The other side refuses.
    #[error("broker {0} refuses this one: {1}")]
    Refused(u32, Refusal),
    /// This side refuses.
    #[error("a broker is refused: {0}")]
    Refuses(Refusal),
}

impl HandshakeError {
    /// Tells a side that closes the connection instead of an answer from one that cannot be understood.
    pub fn of_answer(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::UnexpectedEof | Kind::ConnectionReset | Kind::BrokenPipe => Self::Silent,
            _ => Self::Io(error),
        }
    }

    /// Tells what TLS finds wrong from connections that break.
    pub fn of_tls(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::InvalidData { Self::Tls(error) } else { Self::Io(error) }
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), message: &impl Encode<()>) -> io::Result<()> {
    let payload = minicbor::to_vec(message).expect("encoding to memory does not fail");
    let mut bytes = BytesMut::new();
    Frame::new(FrameKind::Hello, Lane::Consensus, 0, payload.into()).encode(0, false, &mut bytes);
    stream.write_all(&bytes).await?;
    stream.flush().await
}

async fn read<T: for<'b> Decode<'b, ()>>(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<T> {
    let frame = Frame::read_up_to(stream, 0, HELLO_BYTES_MAX).await?;
    let frame = frame.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
    if frame.kind != FrameKind::Hello || !frame.is_last {
        return Err(invalid(format!("a frame of kind {:?} before the handshake", frame.kind)));
    }
    minicbor::decode(&frame.payload).map_err(|error| invalid(format!("a handshake: {error}")))
}

async fn in_time<T>(handshake: impl Future<Output = Result<T, HandshakeError>>) -> Result<T, HandshakeError> {
    match timeout(HANDSHAKE_TIMEOUT, handshake).await {
        Ok(result) => result,
        Err(_) => Err(HandshakeError::Io(io::ErrorKind::TimedOut.into())),
    }
}

/// Introduces this broker to the one that it has connected to.
pub(crate) async fn connect(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    identity: &BrokerIdentity,
    wanted: u32,
    compresses: bool,
) -> Result<Agreed, HandshakeError> {
    in_time(async {
        let protocol = (PROTOCOL_VERSION, PROTOCOL_VERSION);
        write(stream, &Hello { protocol, identity: identity.clone(), wanted, compresses }).await?;
        match read(stream).await.map_err(HandshakeError::of_answer)? {
            HelloAnswer::Refused(refusal) => Err(HandshakeError::Refused(wanted, refusal)),
            HelloAnswer::Welcome { protocol: PROTOCOL_VERSION, identity: peer, compresses: agrees } => {
                // The other side looks, too; here its certificate alone would not tell.
                let is_wanted = wanted == ANY_BROKER || peer.broker == wanted;
                if peer.cluster_id != identity.cluster_id || !is_wanted {
                    let answers = shortened(&format!("another broker answers: {peer:?}"));
                    return Err(HandshakeError::Io(invalid(answers)));
                }
                Ok(Agreed { peer, compresses: compresses && agrees })
            }
            HelloAnswer::Welcome { protocol, .. } => {
                Err(HandshakeError::Io(invalid(format!("an answer in version {protocol} of the protocol"))))
            }
        }
    })
    .await
}

/// The rules by which this broker takes another one.
pub(crate) struct Rules<K, E> {
    /// The other side has proved that it is of the cluster. A stranger gets no answer.
    pub is_proven: bool,
    pub compresses: bool,
    /// Whether such a broker may connect at all.
    pub knows: K,
    /// Lets it in.
    pub enter: E,
}

/// Answers a broker that has connected.
pub(crate) async fn accept<K, E>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    identity: &BrokerIdentity,
    rules: Rules<K, E>,
) -> Result<Agreed, HandshakeError>
where
    K: FnOnce(&BrokerIdentity) -> Result<(), Refusal>,
    E: FnOnce(&BrokerIdentity) -> Result<(), Refusal>,
{
    in_time(async {
        let hello: Hello = read(stream).await?;
        let known = is_of_cluster(&hello.identity, identity).and_then(|()| (rules.knows)(&hello.identity));
        let is_stranger = matches!(known, Err(Refusal::OtherCluster { .. } | Refusal::Unlisted { .. }));
        let is_told = rules.is_proven || !is_stranger;
        let entered =
            known.and_then(|()| judge(&hello, identity)).and_then(|()| (rules.enter)(&hello.identity));
        if let Err(refusal) = entered {
            if is_told {
                write(stream, &HelloAnswer::Refused(refusal.clone())).await?;
            }
            return Err(HandshakeError::Refuses(refusal));
        }
        let compresses = rules.compresses && hello.compresses;
        let welcome =
            HelloAnswer::Welcome { protocol: PROTOCOL_VERSION, identity: identity.clone(), compresses };
        write(stream, &welcome).await?;
        Ok(Agreed { peer: hello.identity, compresses })
    })
    .await
}

fn is_of_cluster(theirs: &BrokerIdentity, ours: &BrokerIdentity) -> Result<(), Refusal> {
    if theirs.cluster_id == ours.cluster_id {
        Ok(())
    } else {
        Err(Refusal::OtherCluster { theirs: theirs.cluster_id.clone() })
    }
}

fn judge(hello: &Hello, ours: &BrokerIdentity) -> Result<(), Refusal> {
    let (from, to) = hello.protocol;
    if !(from..=to).contains(&PROTOCOL_VERSION) {
        return Err(Refusal::Protocol { from, to });
    }
    let theirs = &hello.identity;
    if hello.wanted != ours.broker && hello.wanted != ANY_BROKER {
        return Err(Refusal::OtherBroker { broker: ours.broker, wanted: hello.wanted });
    }
    if theirs.broker == ours.broker {
        return Err(Refusal::DuplicateNumber { broker: ours.broker });
    }
    let ((from, to), (ours_from, ours_to)) = (theirs.engine_versions, ours.engine_versions);
    if to < ours_from || ours_to < from {
        return Err(Refusal::Engine { from, to, ours_from, ours_to });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Check<'a> = &'a dyn Fn(&BrokerIdentity) -> Result<(), Refusal>;

    fn identity(broker: u32) -> BrokerIdentity {
        BrokerIdentity {
            cluster_id: "test".to_owned(),
            broker,
            directory: u64::from(broker),
            life: 1,
            engine_versions: (1, 1),
        }
    }

    fn rules(is_proven: bool, knows: Check<'_>) -> Rules<Check<'_>, Check<'_>> {
        Rules { is_proven, compresses: false, knows, enter: &|_| Ok(()) }
    }

    #[tokio::test]
    async fn a_stranger_gets_no_answer_and_a_member_the_reason() {
        let unlisted = |of: &BrokerIdentity| Err(Refusal::Unlisted { broker: of.broker });
        let other = BrokerIdentity { cluster_id: "other".to_owned(), ..identity(0) };
        let from_other = Refusal::OtherCluster { theirs: "other".to_owned() };
        let cases: [(BrokerIdentity, Check<'_>, Refusal); 2] =
            [(other, &|_| Ok(()), from_other), (identity(7), &unlisted, Refusal::Unlisted { broker: 7 })];
        for (from, knows, expected) in cases {
            for is_proven in [false, true] {
                // A version that is not spoken here is no reason to say which one is.
                let hello = Hello { protocol: (9, 9), identity: from.clone(), wanted: 1, compresses: false };
                let (mut near, mut far) = tokio::io::duplex(4096);
                write(&mut near, &hello).await.unwrap();
                let refused = accept(&mut far, &identity(1), rules(is_proven, knows)).await.unwrap_err();
                assert!(
                    matches!(&refused, HandshakeError::Refuses(refusal) if *refusal == expected),
                    "{refused}"
                );
                drop(far);
                match read::<HelloAnswer>(&mut near).await {
                    Ok(HelloAnswer::Refused(refusal)) => assert!(is_proven && refusal == expected),
                    Err(error) => {
                        assert!(!is_proven && error.kind() == io::ErrorKind::UnexpectedEof, "{error}");
                    }
                    Ok(answer @ HelloAnswer::Welcome { .. }) => panic!("{answer:?}"),
                }
            }
        }
    }

    #[tokio::test]
    async fn an_introduction_takes_no_more_memory_than_one_needs() {
        let long = BrokerIdentity { cluster_id: "x".repeat(HELLO_BYTES_MAX), ..identity(0) };
        let hello = Hello { protocol: (2, 2), identity: long, wanted: 1, compresses: false };
        let (mut near, mut far) = tokio::io::duplex(2 * HELLO_BYTES_MAX);
        write(&mut near, &hello).await.unwrap();
        let refused = accept(&mut far, &identity(1), rules(false, &|_| Ok(()))).await.unwrap_err();
        assert!(matches!(refused, HandshakeError::Io(_)), "{refused}");
    }

    #[tokio::test]
    async fn another_version_of_the_protocol_is_refused_with_the_reason_on_both_sides() {
        let protocol = (PROTOCOL_VERSION + 1, PROTOCOL_VERSION + 3);
        let hello = Hello { protocol, identity: identity(0), wanted: 1, compresses: false };
        let (mut near, mut far) = tokio::io::duplex(4096);
        write(&mut near, &hello).await.unwrap();
        let refused = accept(&mut far, &identity(1), rules(true, &|_| Ok(()))).await.unwrap_err();
        let expected = Refusal::Protocol { from: protocol.0, to: protocol.1 };
        assert!(matches!(refused, HandshakeError::Refuses(refusal) if refusal == expected));
        match read::<HelloAnswer>(&mut near).await.unwrap() {
            HelloAnswer::Refused(refusal) => assert_eq!(refusal, expected),
            answer @ HelloAnswer::Welcome { .. } => panic!("{answer:?}"),
        }
        let mut first = BytesMut::new();
        let payload = minicbor::to_vec(&hello).unwrap().into();
        Frame::new(FrameKind::Hello, Lane::Consensus, 0, payload).encode(0, false, &mut first);
        assert_eq!(read_sender(&first), Some(0));
        assert_eq!(read_sender(&first[..first.len() - 1]), None);
        // A range that has this version in it is fine.
        let protocol = (0, PROTOCOL_VERSION + 3);
        let (mut near, mut far) = tokio::io::duplex(4096);
        write(&mut near, &Hello { protocol, ..hello }).await.unwrap();
        let agreed = accept(&mut far, &identity(1), rules(true, &|_| Ok(()))).await.unwrap();
        assert_eq!(agreed.peer, identity(0));
    }
}
