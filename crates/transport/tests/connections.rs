//! Two brokers in one process, over real sockets; and strangers at the port.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{
    BrokerIdentity, CallError, FRAME_BYTES_MAX, Lane, Parts, Peer, PeerService, PeerStatus, Refusal, Reply,
    Served, TransportOptions, pieces, serve,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn identity(broker: u32) -> BrokerIdentity {
    BrokerIdentity {
        cluster_id: "test".to_owned(),
        broker,
        directory: u64::from(broker) + 100,
        life: 1,
        engine_versions: (1, 2),
    }
}

/// Answers with the request, unless that asks for something else.
struct Echo {
    /// Requests that hang.
    hanging: Arc<AtomicU64>,
    /// Parts of a slow upload that may be taken.
    pace: Arc<Semaphore>,
    /// Requests whose work was dropped before its end.
    dropped: Arc<AtomicU64>,
}

struct Dropped(Arc<AtomicU64>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl PeerService for Echo {
    fn check(&self, from: &BrokerIdentity) -> Result<(), Refusal> {
        if from.directory == 0 {
            Err(Refusal::Stale("its directory was replaced".to_owned()))
        } else {
            Ok(())
        }
    }

    fn call(&self, _: &BrokerIdentity, _: Lane, request: Bytes) -> Reply {
        let dropped = Dropped(Arc::clone(&self.dropped));
        let hanging = Arc::clone(&self.hanging);
        Box::pin(async move {
            match &request[..] {
                b"fail" => Err("as asked".to_owned()),
                b"hang" => {
                    let _dropped = dropped;
                    hanging.fetch_add(1, Ordering::SeqCst);
                    std::future::pending().await
                }
                _ => Ok(request),
            }
        })
    }

    fn upload(&self, _: &BrokerIdentity, head: Bytes, mut parts: Parts) -> Reply {
        let pace = Arc::clone(&self.pace);
        Box::pin(async move {
            let (mut bytes, mut sum) = (0, 0_u64);
            while let Some(part) = parts.next().await? {
                bytes += part.len();
                sum = part.iter().fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
                if head == "enough" {
                    return Err("enough".to_owned());
                }
                if head == "slow" {
                    pace.acquire().await.unwrap().forget();
                }
            }
            Ok(format!("{bytes} {sum}").into())
        })
    }
}

struct Broker {
    address: SocketAddr,
    served: Arc<Served>,
    dropped: Arc<AtomicU64>,
    hanging: Arc<AtomicU64>,
    pace: Arc<Semaphore>,
    stop: Option<DropGuard>,
}

async fn broker(number: u32, options: TransportOptions) -> Broker {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    broker_on(listener, number, options)
}

fn broker_on(listener: TcpListener, number: u32, options: TransportOptions) -> Broker {
    let address = listener.local_addr().unwrap();
    let echo = Echo { hanging: Arc::default(), pace: Arc::new(Semaphore::new(0)), dropped: Arc::default() };
    let (served, stop) = (Arc::new(Served::default()), CancellationToken::new());
    let (dropped, hanging) = (Arc::clone(&echo.dropped), Arc::clone(&echo.hanging));
    let pace = Arc::clone(&echo.pace);
    tokio::spawn(serve(
        listener,
        identity(number),
        Arc::new(echo),
        options,
        Arc::clone(&served),
        stop.clone(),
    ));
    Broker { address, served, dropped, hanging, pace, stop: Some(stop.drop_guard()) }
}

fn peer(from: BrokerIdentity, to: &Broker, options: TransportOptions) -> Peer {
    Peer::new(from, 1, to.address.to_string(), options)
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::task::yield_now().await;
    }
}

async fn down(peer: &Peer) -> String {
    let mut status = peer.status();
    let down = status.wait_for(|status| matches!(status, PeerStatus::Down(_)));
    let down = tokio::time::timeout(PATIENCE, down).await.unwrap().unwrap();
    let PeerStatus::Down(reason) = &*down else { unreachable!() };
    reason.clone()
}

#[tokio::test]
async fn calls_of_all_sizes_and_lanes_are_answered() {
    for compresses in [false, true] {
        let options = TransportOptions { compresses, ..TransportOptions::default() };
        let other = broker(1, options.clone()).await;
        let peer = peer(identity(0), &other, options);
        let calls = [0, 1, 1000, 65_536, 65_537, 3_000_000].into_iter().flat_map(|size: usize| {
            Lane::ALL.map(|lane| (lane, Bytes::from((0..size).map(|at| (at / 7) as u8).collect::<Vec<_>>())))
        });
        let calls: Vec<_> = calls.collect();
        let answers = calls.iter().map(|(lane, request)| peer.call(*lane, request.clone()));
        let answers = futures::future::join_all(answers).await;
        for ((_, request), answer) in calls.iter().zip(answers) {
            assert!(answer.unwrap() == request);
        }
        assert_eq!(
            peer.call(Lane::Requests, "fail".into()).await,
            Err(CallError::Failed("as asked".to_owned()))
        );
        assert_eq!(other.served.brokers(), [identity(0)]);
    }
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_there() {
    let other = broker(1, TransportOptions::default()).await;
    let peer = peer(identity(0), &other, TransportOptions::default());
    peer.call(Lane::Requests, "ready".into()).await.unwrap();
    let call = tokio::time::timeout(Duration::from_millis(50), peer.call(Lane::Requests, "hang".into()));
    call.await.expect_err("it hangs");
    until("the work is dropped", || other.dropped.load(Ordering::SeqCst) > 1).await;
}

#[tokio::test]
async fn too_large_a_request_is_not_sent() {
    let options = TransportOptions { max_message_bytes: 100_000, ..TransportOptions::default() };
    let other = broker(1, options.clone()).await;
    let small = peer(identity(0), &other, options);
    let error = small.call(Lane::Requests, vec![0; 100_001].into()).await.unwrap_err();
    assert_eq!(error, CallError::TooLarge { bytes: 100_001, limit: 100_000 });
    // One with another limit is cut off, and told nothing but that.
    let large = peer(identity(2), &other, TransportOptions::default());
    let error = large.call(Lane::Requests, vec![0; 200_001].into()).await.unwrap_err();
    assert!(matches!(error, CallError::Lost(_)), "{error}");
    small.call(Lane::Requests, "still there".into()).await.unwrap();
}

#[tokio::test]
async fn files_arrive_whole_and_delay_no_heartbeat() {
    let other = broker(1, TransportOptions::default()).await;
    let peer = Arc::new(peer(identity(0), &other, TransportOptions::default()));
    for size in [0, 1, 65_536, 65_537, 5_000_000] {
        let file: Vec<u8> = (0..size).map(|at: usize| (at % 251) as u8).collect();
        let sum = file.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        let answer = peer.upload("file".into(), pieces(Cursor::new(file))).await.unwrap();
        assert_eq!(answer, format!("{size} {sum}"));
    }
    let file = vec![7; 64 * FRAME_BYTES_MAX];
    let file_parts = 64;
    let upload = {
        let peer = Arc::clone(&peer);
        tokio::spawn(async move { peer.upload("slow".into(), pieces(Cursor::new(file))).await })
    };
    for _ in 0..file_parts {
        peer.call(Lane::Consensus, "beat".into()).await.unwrap();
        assert!(!upload.is_finished(), "the file is on its way");
        other.pace.add_permits(1);
    }
    upload.await.unwrap().unwrap();
    let error = peer.upload("enough".into(), pieces(Cursor::new(vec![0; 10_000_000]))).await.unwrap_err();
    assert_eq!(error, CallError::Failed("enough".to_owned()));
}

#[tokio::test]
async fn the_wrong_broker_is_refused_with_the_reason_on_both_sides() {
    let other = broker(1, TransportOptions::default()).await;
    let cases = [
        (BrokerIdentity { cluster_id: "elsewhere".to_owned(), ..identity(0) }, "closed without an answer"),
        (identity(1), "two brokers have the number 1"),
        (BrokerIdentity { engine_versions: (3, 9), ..identity(0) }, "versions 3 to 9 of the engine"),
        (BrokerIdentity { directory: 0, ..identity(0) }, "its directory was replaced"),
    ];
    for (from, reason) in cases {
        let peer = peer(from, &other, TransportOptions::default());
        let told = down(&peer).await;
        assert!(told.contains(reason), "{told}");
        let error = peer.call(Lane::Requests, "x".into()).await.unwrap_err();
        assert!(matches!(&error, CallError::NotSent(why) if why.contains(reason)), "{error}");
    }
    let mixed_up = Peer::new(identity(0), 2, other.address.to_string(), TransportOptions::default());
    let told = down(&mixed_up).await;
    assert!(told.contains("asks for broker 2, this is broker 1"), "{told}");
    assert!(other.served.brokers().is_empty());
}

#[tokio::test]
async fn two_directories_of_one_number_are_told_apart_and_a_later_life_takes_over() {
    let other = broker(1, TransportOptions::default()).await;
    let first = peer(identity(0), &other, TransportOptions::default());
    first.call(Lane::Requests, "x".into()).await.unwrap();
    let copy = peer(BrokerIdentity { directory: 7, ..identity(0) }, &other, TransportOptions::default());
    assert!(down(&copy).await.contains("two brokers have the number 0"));
    drop(copy);
    let restarted = peer(BrokerIdentity { life: 2, ..identity(0) }, &other, TransportOptions::default());
    restarted.call(Lane::Requests, "x".into()).await.unwrap();
    assert!(down(&first).await.len() > 5, "the earlier life is cut off");
    drop(first);
    until("one is left", || other.served.brokers().iter().map(|broker| broker.life).eq([2])).await;
}

#[tokio::test]
async fn a_connection_that_breaks_is_made_again() {
    let mut other = broker(1, TransportOptions::default()).await;
    let peer = peer(identity(0), &other, TransportOptions::default());
    peer.call(Lane::Requests, "x".into()).await.unwrap();
    let lost = peer.call(Lane::Requests, "hang".into());
    let hanging = Arc::clone(&other.hanging);
    let ends = async {
        until("the request is there", || hanging.load(Ordering::SeqCst) == 1).await;
        drop(other.stop.take());
    };
    let (lost, ()) = tokio::join!(lost, ends);
    assert!(matches!(lost, Err(CallError::Lost(_))), "{lost:?}: it may have happened");
    down(&peer).await;
    let error = peer.call(Lane::Requests, "x".into()).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent(_)), "{error}: it has not happened");
    let address = other.address;
    let deadline = Instant::now() + PATIENCE;
    let listener = loop {
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        tokio::task::yield_now().await;
    };
    let _again = broker_on(listener, 1, TransportOptions::default());
    while peer.call(Lane::Requests, "x".into()).await.is_err() {
        assert!(Instant::now() < deadline, "it is not tried again");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn strangers_cost_nothing_and_take_no_places() {
    let other = broker(1, TransportOptions { max_handshakes: 4, ..TransportOptions::default() }).await;
    // They say nothing, or something else.
    let mut strangers = Vec::new();
    for number in 0..200 {
        let mut stream = TcpStream::connect(other.address).await.unwrap();
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: a-long-enough-head\r\n\r\n").await;
        }
        strangers.push(stream);
    }
    for stream in strangers.iter_mut().skip(20) {
        let mut byte = [0];
        let closed = tokio::time::timeout(PATIENCE, stream.read(&mut byte)).await.unwrap();
        assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    }
    drop(strangers);
    let peer = peer(identity(0), &other, TransportOptions::default());
    let deadline = Instant::now() + PATIENCE;
    while peer.call(Lane::Requests, "x".into()).await.is_err() {
        assert!(Instant::now() < deadline, "a broker finds no room");
        tokio::task::yield_now().await;
    }
}
