//! Connections with a secret: brokers that know it, strangers that do not, and networks in between that listen and
//! change bytes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{
    BrokerIdentity, CallError, FRAME_BYTES_MAX, Lane, Parts, Peer, PeerSecret, PeerService, PeerStatus,
    Refusal, Reply, Served, TransportOptions, serve,
};

const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of each message of the proof.
const PROOF_BYTES: usize = 48;

fn identity(broker: u32) -> BrokerIdentity {
    BrokerIdentity {
        cluster_id: "a cluster that strangers do not know".to_owned(),
        broker,
        directory: u64::from(broker) + 100,
        life: 1,
        engine_versions: (1, 1),
    }
}

/// Echoes requests and keeps them.
#[derive(Default)]
struct Keeping(Arc<Mutex<Vec<Bytes>>>);

impl PeerService for Keeping {
    fn check(&self, from: &BrokerIdentity) -> Result<(), Refusal> {
        if from.broker > 3 { Err(Refusal::Unlisted { broker: from.broker }) } else { Ok(()) }
    }

    fn call(&self, _: &BrokerIdentity, _: Lane, request: Bytes) -> Reply {
        self.0.lock().push(request.clone());
        Box::pin(async move { Ok(request) })
    }

    fn upload(&self, _: &BrokerIdentity, _: Bytes, _: Parts) -> Reply {
        Box::pin(async { Err("no files here".to_owned()) })
    }
}

fn with_secret(of: &str) -> TransportOptions {
    let secret = PeerSecret::new(&of.repeat(32)).unwrap();
    TransportOptions { secret: Some(secret), ..TransportOptions::default() }
}

struct Broker {
    address: SocketAddr,
    served: Arc<Served>,
    requests: Arc<Mutex<Vec<Bytes>>>,
    _stop: DropGuard,
}

async fn broker(options: TransportOptions) -> Broker {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (service, served, stop) = (Keeping::default(), Arc::new(Served::default()), CancellationToken::new());
    let requests = Arc::clone(&service.0);
    let (to, token) = (Arc::clone(&served), stop.clone());
    tokio::spawn(serve(listener, identity(1), Arc::new(service), options, to, token));
    Broker { address, served, requests, _stop: stop.drop_guard() }
}

fn peer(from: u32, address: SocketAddr, options: TransportOptions) -> Peer {
    Peer::new(identity(from), 1, address.to_string(), options)
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("not in time")
}

async fn down(peer: &Peer) -> String {
    let mut status = peer.status();
    let down = in_time(status.wait_for(|status| matches!(status, PeerStatus::Down(_)))).await.unwrap();
    let PeerStatus::Down(reason) = &*down else { unreachable!() };
    reason.clone()
}

#[tokio::test]
async fn brokers_that_know_the_secret_talk_and_others_do_not() {
    let other = broker(with_secret("a")).await;
    let friend = peer(0, other.address, with_secret("a"));
    let large = Bytes::from(vec![7; 5 * FRAME_BYTES_MAX + 1]);
    for request in [Bytes::from("hello"), Bytes::new(), large] {
        assert_eq!(in_time(friend.call(Lane::Requests, request.clone())).await.unwrap(), request);
    }
    let requests = other.requests.lock().len();
    for options in [with_secret("b"), TransportOptions::default()] {
        let stranger = peer(2, other.address, options);
        let reason = down(&stranger).await;
        assert!(reason.contains("closed without an answer") && reason.contains("peers.secret"), "{reason}");
        let error = stranger.call(Lane::Requests, "hello".into()).await.unwrap_err();
        assert!(matches!(error, CallError::NotSent(_)), "{error}");
    }
    // One that knows it is told why it may not connect.
    let unlisted = peer(7, other.address, with_secret("a"));
    assert!(down(&unlisted).await.contains("have no number 7"));
    assert_eq!(other.served.brokers().len(), 1, "strangers take no places");
    assert_eq!(other.requests.lock().len(), requests);
}

#[tokio::test]
async fn a_broker_with_a_secret_is_not_deceived_by_one_without() {
    let plain = broker(TransportOptions::default()).await;
    let wary = peer(0, plain.address, with_secret("a"));
    assert!(down(&wary).await.contains("closed without an answer"));
    assert_eq!(plain.requests.lock().len(), 0);
}

/// The bytes that come back for some that a stranger sends, until the connection is closed.
async fn answer_to(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // It may be reset: not everything was read.
    let _ = in_time(stream.read_to_end(&mut answer)).await;
    answer
}

#[tokio::test]
async fn a_stranger_is_told_nothing_whatever_it_sends() {
    let other = broker(with_secret("a")).await;
    let hello: &[u8] = b"\x05\x00\x00\x00\x01\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00";
    let http: &[u8] = b"GET /actuator/cluster HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let tls = [&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3][..], &[0; 64]].concat();
    for bytes in [&[0; PROOF_BYTES][..], &[255; 1000], &tls, http, &hello.repeat(4), &[1], b""] {
        assert_eq!(answer_to(other.address, bytes).await, b"", "{bytes:?}");
    }
    assert!(other.served.brokers().is_empty());
}

/// A proxy to a broker: `forward` carries what goes there, the way back is as it should be.
async fn proxy<F, Fut>(to: SocketAddr, forward: F) -> SocketAddr
where
    F: Fn(OwnedReadHalf, OwnedWriteHalf) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (from, mut back) = near.into_split();
            let (mut answers, there) = TcpStream::connect(to).await.unwrap().into_split();
            // Either way may end first.
            tokio::spawn(async move { drop(tokio::io::copy(&mut answers, &mut back).await) });
            tokio::spawn(forward(from, there));
        }
    });
    address
}

/// The proof, then records with their lengths.
async fn record(from: &mut OwnedReadHalf, number: usize) -> Option<Vec<u8>> {
    if number == 0 {
        let mut proof = vec![0; PROOF_BYTES];
        from.read_exact(&mut proof).await.ok()?;
        return Some(proof);
    }
    let mut record = vec![0; 2];
    from.read_exact(&mut record).await.ok()?;
    let length = usize::from(u16::from_be_bytes([record[0], record[1]]));
    record.resize(2 + length, 0);
    from.read_exact(&mut record[2..]).await.ok()?;
    Some(record)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    Cut,
    Flipped,
    Lost,
    Repeated,
    Reordered,
    Forged,
}

fn harmed(harm: Harm, mut record: Vec<u8>, after: Option<Vec<u8>>) -> Vec<u8> {
    let after = after.unwrap_or_default();
    match harm {
        Harm::Cut => record.truncate(record.len() / 2),
        Harm::Flipped => *record.last_mut().unwrap() ^= 1,
        Harm::Lost => return after,
        Harm::Repeated => return [record.clone(), record, after].concat(),
        Harm::Reordered => return [after, record].concat(),
        Harm::Forged => return [vec![0, 40], vec![0; 40], record].concat(),
    }
    record
}

#[tokio::test]
async fn a_record_that_is_harmed_on_its_way_ends_the_connection_before_anything_is_done() {
    for harm in [Harm::Cut, Harm::Flipped, Harm::Lost, Harm::Repeated, Harm::Reordered, Harm::Forged] {
        let other = broker(with_secret("a")).await;
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let forward = move |mut from: OwnedReadHalf, mut there: OwnedWriteHalf| {
            let done = Arc::clone(&done);
            async move {
                let mut number = 0;
                while let Some(mut bytes) = record(&mut from, number).await {
                    // The first is the proof, the second the introduction, the third a request.
                    let is_it = number == 3 && !done.swap(true, Ordering::SeqCst);
                    if is_it {
                        let after = match harm {
                            Harm::Lost | Harm::Repeated | Harm::Reordered => record(&mut from, 4).await,
                            _ => None,
                        };
                        bytes = harmed(harm, bytes, after);
                    }
                    number += 1;
                    if there.write_all(&bytes).await.is_err() || (is_it && harm == Harm::Cut) {
                        return;
                    }
                }
            }
        };
        let near = peer(0, proxy(other.address, forward).await, with_secret("a"));
        in_time(near.call(Lane::Requests, "first".into())).await.unwrap();
        let deadline = Instant::now() + PATIENCE;
        let mut lost = 0;
        while !is_done.load(Ordering::SeqCst) {
            assert!(Instant::now() < deadline, "{harm:?}: nothing was harmed");
            let calls = ["second", "third"].map(|text| near.call(Lane::Requests, text.into()));
            for answer in in_time(futures::future::join_all(calls)).await {
                match answer {
                    Ok(_) => {}
                    Err(CallError::Lost(_) | CallError::NotSent(_)) => lost += 1,
                    Err(other) => panic!("{harm:?}: {other}"),
                }
            }
        }
        // One that was repeated came well the first time.
        assert!(lost > 0 || harm == Harm::Repeated, "{harm:?}: it is not noticed");
        let mut requests = other.requests.lock().clone();
        let sent = requests.len();
        requests.sort();
        requests.dedup();
        assert_eq!(requests.len(), sent, "{harm:?}: something is done twice");
        while in_time(near.call(Lane::Requests, "again".into())).await.is_err() {
            assert!(Instant::now() < deadline, "{harm:?}: the connection is not made again");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_conversation_that_was_overheard_cannot_be_repeated_or_read() {
    let other = broker(with_secret("a")).await;
    let overheard = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&overheard);
    let forward = move |mut from: OwnedReadHalf, mut there: OwnedWriteHalf| {
        let heard = Arc::clone(&heard);
        async move {
            let mut bytes = vec![0; FRAME_BYTES_MAX];
            while let Ok(read @ 1..) = from.read(&mut bytes).await {
                heard.lock().extend_from_slice(&bytes[..read]);
                if there.write_all(&bytes[..read]).await.is_err() {
                    return;
                }
            }
        }
    };
    let near = peer(0, proxy(other.address, forward).await, with_secret("a"));
    in_time(near.call(Lane::Requests, "a request that is nobody's business".into())).await.unwrap();
    drop(near);
    let requests = other.requests.lock().len();
    let deadline = Instant::now() + PATIENCE;
    while !other.served.brokers().is_empty() {
        assert!(Instant::now() < deadline, "it does not leave");
        tokio::task::yield_now().await;
    }
    let bytes = overheard.lock().clone();
    for secret in [&b"nobody's"[..], b"strangers"] {
        assert!(!bytes.windows(secret.len()).any(|of| of == secret), "it can be read");
    }
    let answer = answer_to(other.address, &bytes).await;
    assert_eq!(answer.len(), PROOF_BYTES, "the other half of a proof that only the two could use");
    assert_eq!(other.requests.lock().len(), requests, "nothing is done again");
    assert!(other.served.brokers().is_empty(), "it takes no place");
}
