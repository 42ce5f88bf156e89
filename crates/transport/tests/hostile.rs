//! Brokers and networks that do what they should not: two brokers with a proxy in between that parses their frames.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{
    BrokerIdentity, CallError, FRAME_BYTES_MAX, Lane, Parts, Peer, PeerService, Reply, Served,
    TransportOptions, pieces, serve,
};

const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a frame's head; the first four are the length of its payload.
const HEAD_BYTES: usize = 24;
/// Parts of an upload that are under way at once, and what else may be on its way.
const UNDER_WAY_MAX: u64 = 12 * FRAME_BYTES_MAX as u64;

fn identity(broker: u32) -> BrokerIdentity {
    BrokerIdentity {
        cluster_id: "test".to_owned(),
        broker,
        directory: u64::from(broker) + 100,
        life: 1,
        engine_versions: (1, 1),
    }
}

/// Echoes requests and counts them.
#[derive(Default)]
struct Counting {
    requests: Arc<AtomicU64>,
}

impl PeerService for Counting {
    fn call(&self, _: &BrokerIdentity, _: Lane, request: Bytes) -> Reply {
        self.requests.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(request) })
    }

    fn upload(&self, _: &BrokerIdentity, _: Bytes, mut parts: Parts) -> Reply {
        Box::pin(async move {
            let mut bytes = 0;
            while let Some(part) = parts.next().await? {
                bytes += part.len();
            }
            Ok(bytes.to_string().into())
        })
    }
}

struct Broker {
    address: SocketAddr,
    served: Arc<Served>,
    requests: Arc<AtomicU64>,
    _stop: DropGuard,
}

async fn broker(number: u32, options: TransportOptions) -> Broker {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (service, served, stop) =
        (Counting::default(), Arc::new(Served::default()), CancellationToken::new());
    let requests = Arc::clone(&service.requests);
    let (to, token) = (Arc::clone(&served), stop.clone());
    tokio::spawn(serve(listener, identity(number), Arc::new(service), options, to, token));
    Broker { address, served, requests, _stop: stop.drop_guard() }
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

async fn frame(from: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    let mut frame = vec![0; HEAD_BYTES];
    from.read_exact(&mut frame).await.ok()?;
    let length = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
    frame.resize(HEAD_BYTES + length, 0);
    from.read_exact(&mut frame[HEAD_BYTES..]).await.ok()?;
    Some(frame)
}

fn to(address: SocketAddr, from: u32, options: TransportOptions) -> Peer {
    Peer::new(identity(from), 1, address.to_string(), options)
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("not in time")
}

async fn until_answered(peer: &Peer) {
    let deadline = Instant::now() + PATIENCE;
    while peer.call(Lane::Requests, "again".into()).await.is_err() {
        assert!(Instant::now() < deadline, "the connection is not made again");
        tokio::task::yield_now().await;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    Cut,
    Flipped,
    Lost,
    Repeated,
    Reordered,
    TooLong,
}

/// Does harm to one frame, the second request of the first connection, and to those after it where it says so.
fn harmed(harm: Harm, mut frame: Vec<u8>, after: Option<Vec<u8>>) -> Vec<u8> {
    let after = after.unwrap_or_default();
    match harm {
        Harm::Cut => frame.truncate(frame.len() / 2),
        Harm::Flipped => *frame.last_mut().unwrap() ^= 1,
        Harm::Lost => return after,
        Harm::Repeated => return [frame.clone(), frame, after].concat(),
        Harm::Reordered => return [after, frame].concat(),
        Harm::TooLong => frame[..4].copy_from_slice(&(FRAME_BYTES_MAX as u32 + 1).to_le_bytes()),
    }
    frame
}

#[tokio::test]
async fn a_connection_on_which_frames_are_harmed_ends_and_nothing_is_done_twice() {
    for harm in [Harm::Cut, Harm::Flipped, Harm::Lost, Harm::Repeated, Harm::Reordered, Harm::TooLong] {
        let other = broker(1, TransportOptions::default()).await;
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let forward = move |mut from: OwnedReadHalf, mut there: OwnedWriteHalf| {
            let done = Arc::clone(&done);
            async move {
                let mut number = 0;
                while let Some(mut bytes) = frame(&mut from).await {
                    // The first is the handshake.
                    if number == 2 && !done.swap(true, Ordering::SeqCst) {
                        let after = match harm {
                            Harm::Lost | Harm::Repeated | Harm::Reordered => frame(&mut from).await,
                            _ => None,
                        };
                        bytes = harmed(harm, bytes, after);
                    }
                    number += 1;
                    if there.write_all(&bytes).await.is_err() || (harm == Harm::Cut && number == 3) {
                        return;
                    }
                }
            }
        };
        let peer = to(proxy(other.address, forward).await, 0, TransportOptions::default());
        in_time(peer.call(Lane::Requests, "first".into())).await.unwrap();
        let calls = ["second", "third"].map(|text| peer.call(Lane::Requests, text.into()));
        let mut answered = 0;
        for answer in in_time(futures::future::join_all(calls)).await {
            match answer {
                Ok(_) => answered += 1,
                Err(CallError::Lost(_) | CallError::NotSent(_)) => {}
                Err(other) => panic!("{harm:?}: {other}"),
            }
        }
        assert!(is_done.load(Ordering::SeqCst), "{harm:?}");
        assert!(answered < 2, "{harm:?}: it is not noticed");
        assert!(
            other.requests.load(Ordering::SeqCst) <= 2,
            "{harm:?}: a request is done twice, or out of order"
        );
        until_answered(&peer).await;
    }
}

#[tokio::test]
async fn a_peer_that_never_reads_fails_its_calls_in_time_and_delays_no_other() {
    let (deaf, fine) =
        (broker(1, TransportOptions::default()).await, broker(1, TransportOptions::default()).await);
    // It lets the handshake and one request through, reads nothing more, and goes on to send.
    let forward = |mut from: OwnedReadHalf, mut there: OwnedWriteHalf| async move {
        for _ in 0..2 {
            let Some(bytes) = frame(&mut from).await else { return };
            if there.write_all(&bytes).await.is_err() {
                return;
            }
        }
        std::future::pending::<()>().await;
    };
    let write_timeout = Duration::from_millis(500);
    let options = TransportOptions { write_timeout, silence: PATIENCE * 10, ..TransportOptions::default() };
    let deaf = to(proxy(deaf.address, forward).await, 0, options.clone());
    let fine = to(fine.address, 0, options);
    in_time(deaf.call(Lane::Requests, "first".into())).await.unwrap();
    let request = Bytes::from(vec![7; 16 * FRAME_BYTES_MAX]);
    // More than queue and sockets have room for.
    let calls = (0..64).map(|_| deaf.call(Lane::Requests, request.clone()));
    let calls = futures::future::join_all(calls);
    let others = async {
        for _ in 0..100 {
            in_time(fine.call(Lane::Consensus, "beat".into())).await.unwrap();
        }
        Instant::now()
    };
    let ended = async { (in_time(calls).await, Instant::now()) };
    let ((answers, calls_ended), others_ended) = tokio::join!(ended, others);
    assert!(others_ended < calls_ended, "other peers wait for it");
    for answer in answers {
        let error = answer.unwrap_err();
        assert!(matches!(&error, CallError::Lost(_)), "{error}: it may have happened");
    }
}

#[tokio::test]
async fn a_broker_that_never_reads_its_answers_is_cut_off() {
    let write_timeout = Duration::from_millis(500);
    let options = TransportOptions { write_timeout, silence: PATIENCE * 10, ..TransportOptions::default() };
    let other = broker(1, options).await;
    // The proxy never reads what comes back.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let there = other.address;
    tokio::spawn(async move {
        let (near, _) = listener.accept().await.unwrap();
        let (mut from, mut back) = near.into_split();
        let (mut answers, mut out) = TcpStream::connect(there).await.unwrap().into_split();
        let welcome = async {
            let bytes = frame(&mut answers).await.unwrap();
            back.write_all(&bytes).await.unwrap();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = tokio::io::copy(&mut from, &mut out) => {}
            () = welcome => {}
        }
    });
    let deaf = to(address, 0, TransportOptions { silence: PATIENCE * 10, ..TransportOptions::default() });
    let fine = to(other.address, 2, TransportOptions::default());
    let request = Bytes::from(vec![7; 16 * FRAME_BYTES_MAX]);
    let calls = futures::future::join_all((0..64).map(|_| deaf.call(Lane::Requests, request.clone())));
    let cut_off = async {
        let deadline = Instant::now() + PATIENCE;
        while other.served.brokers().iter().all(|broker| broker.broker != 0) {
            assert!(Instant::now() < deadline, "it does not come in");
            tokio::task::yield_now().await;
        }
        while other.served.brokers().iter().any(|broker| broker.broker == 0) {
            in_time(fine.call(Lane::Consensus, "beat".into())).await.unwrap();
            assert!(Instant::now() < deadline, "it is not cut off");
        }
    };
    let calls = async {
        let answered = calls.await.into_iter().flatten().count();
        assert_eq!(answered, 0, "answers that nobody reads");
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = calls => {}
        () = cut_off => {}
    }
}

#[tokio::test]
async fn an_upload_over_a_slow_connection_delays_no_heartbeat() {
    let other = broker(1, TransportOptions::default()).await;
    let forwarded = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&forwarded);
    let forward = move |mut from: OwnedReadHalf, mut there: OwnedWriteHalf| {
        let count = Arc::clone(&count);
        async move {
            let mut bytes = vec![0; 16 * 1024];
            // The connection is slow.
            let mut ticks = tokio::time::interval(Duration::from_millis(1));
            while let Ok(read @ 1..) = from.read(&mut bytes).await {
                ticks.tick().await;
                if there.write_all(&bytes[..read]).await.is_err() {
                    return;
                }
                count.fetch_add(read as u64, Ordering::SeqCst);
            }
        }
    };
    let peer = Arc::new(to(proxy(other.address, forward).await, 0, TransportOptions::default()));
    let file_bytes = 16 << 20;
    let upload = {
        let peer = Arc::clone(&peer);
        let file = vec![7; file_bytes];
        tokio::spawn(async move { peer.upload("file".into(), pieces(Cursor::new(file))).await })
    };
    let mut beats = 0;
    while forwarded.load(Ordering::SeqCst) < file_bytes as u64 / 2 {
        let before = forwarded.load(Ordering::SeqCst);
        in_time(peer.call(Lane::Consensus, "beat".into())).await.unwrap();
        let waited_for = forwarded.load(Ordering::SeqCst) - before;
        assert!(waited_for <= UNDER_WAY_MAX, "a heartbeat waits for {waited_for} bytes of the file");
        beats += 1;
    }
    assert!(!upload.is_finished() && beats >= 8, "{beats} heartbeats beside half of the file");
    assert_eq!(in_time(upload).await.unwrap().unwrap(), file_bytes.to_string());
}

#[tokio::test]
async fn a_thousand_strangers_who_come_again_keep_no_broker_out() {
    let other = broker(1, TransportOptions::default()).await;
    let stop = CancellationToken::new();
    let closed = Arc::new(AtomicU64::new(0));
    let strangers = (0..1000).map(|_| {
        let (stop, closed, address) = (stop.clone(), Arc::clone(&closed), other.address);
        tokio::spawn(stop.run_until_cancelled_owned(async move {
            let mut ticks = tokio::time::interval(Duration::from_millis(100));
            loop {
                // They say nothing; when they are cut off they come again, after a while.
                ticks.tick().await;
                if let Ok(mut stream) = TcpStream::connect(address).await {
                    let _ = stream.read_u8().await;
                    closed.fetch_add(1, Ordering::SeqCst);
                }
            }
        }))
    });
    let strangers: Vec<_> = strangers.collect();
    let deadline = Instant::now() + PATIENCE;
    while closed.load(Ordering::SeqCst) < 1000 {
        assert!(Instant::now() < deadline, "strangers stay");
        tokio::task::yield_now().await;
    }
    let peers = [0, 2, 3].map(|number| to(other.address, number, TransportOptions::default()));
    for peer in &peers {
        until_answered(peer).await;
    }
    assert_eq!(other.served.brokers().len(), peers.len(), "strangers take no places");
    stop.cancel();
    for stranger in strangers {
        in_time(stranger).await.unwrap();
    }
}

#[tokio::test]
async fn connections_of_brokers_have_a_limit() {
    let other = broker(1, TransportOptions { max_connections: 3, ..TransportOptions::default() }).await;
    let peers = [0, 2, 3].map(|number| to(other.address, number, TransportOptions::default()));
    for peer in &peers {
        until_answered(peer).await;
    }
    let further = to(other.address, 4, TransportOptions::default());
    let error = in_time(further.call(Lane::Requests, "x".into())).await.unwrap_err();
    assert!(error.to_string().contains("as many connections as it takes"), "{error}");
    drop(peers);
    until_answered(&further).await;
}
