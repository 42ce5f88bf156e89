//! Snapshots over connections that break, with a receiver that reads the whole file.

use std::sync::atomic::AtomicBool;

use replication::PeerRequest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{PeerService, Reply, Served, TransportOptions, serve};

use super::*;
use crate::peer_request::RequestKind;
use crate::peers::ReplicaGroups;

const PATIENCE: Duration = Duration::from_secs(60);
const FAST: u64 = 1 << 40;
/// The head of the request that a snapshot belongs to.
const REQUEST: &[u8] = include_bytes!("../../../../fuzz/corpus/peer/snapshot.cbor");

fn identity(broker: u32) -> BrokerIdentity {
    BrokerIdentity {
        cluster_id: "transfer".to_owned(),
        broker,
        directory: u64::from(broker) + 10,
        life: 1,
        engine_versions: (1, 1),
    }
}

/// Answers with the content of the file.
struct Target(SnapshotReceiver);

impl PeerService for Target {
    fn call(&self, from: &BrokerIdentity, _: Lane, request: Bytes) -> Reply {
        Box::pin(std::future::ready(self.0.received(from, request)))
    }

    fn upload(&self, from: &BrokerIdentity, head: Bytes, parts: Parts) -> Reply {
        let (receiver, from) = (self.0.clone(), from.clone());
        Box::pin(async move {
            let received = receiver.receive(&from, head, parts).await?;
            assert_eq!((received.group, &received.head[..]), (1, REQUEST));
            std::fs::read(&received.path).map(Bytes::from).map_err(|error| error.to_string())
        })
    }
}

struct Fixture {
    directory: tempfile::TempDir,
    address: String,
    _stop: DropGuard,
}

impl Fixture {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("target")).unwrap();
        let target = Target(SnapshotReceiver::new(directory.path().join("target")));
        Self::with(directory, Arc::new(target)).await
    }

    async fn with(directory: tempfile::TempDir, service: Arc<dyn PeerService>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, served, options) =
            (CancellationToken::new(), Arc::new(Served::default()), TransportOptions::default());
        tokio::spawn(serve(listener, identity(1), service, options, served, stop.clone()));
        Self { directory, address, _stop: stop.drop_guard() }
    }

    fn peer(&self, address: &str) -> Peer {
        Peer::new(identity(0), 1, address.to_owned(), TransportOptions::default())
    }

    fn sender(&self, bytes_per_second: u64) -> SnapshotSender {
        SnapshotSender::new(self.directory.path().to_owned(), bytes_per_second)
    }

    /// A snapshot with this content.
    fn body(&self, name: &str, content: &[u8]) -> SnapshotBody {
        let path = self.directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        let request = PeerRequest::from_message(&Bytes::from_static(REQUEST), Some(path)).unwrap();
        request.into_message().snapshot.unwrap()
    }

    fn left_over(&self) -> usize {
        std::fs::read_dir(self.directory.path().join("target")).unwrap().count()
    }
}

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

/// A proxy that breaks each of the first connections after so many bytes. Counts the bytes that go through.
async fn breaking_proxy(to: String, breaks: u32, after: u64) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        for connection in 0.. {
            let (near, _) = listener.accept().await.unwrap();
            let (mut from, mut back) = near.into_split();
            let (mut answers, mut there) = TcpStream::connect(&to).await.unwrap().into_split();
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                let forward = async {
                    let (mut bytes, mut of_this) = (vec![0; 16 * 1024], 0);
                    while let Ok(read @ 1..) = from.read(&mut bytes).await {
                        of_this += read as u64;
                        counted.fetch_add(read as u64, Ordering::SeqCst);
                        let is_over = connection < breaks && of_this > after;
                        if is_over || there.write_all(&bytes[..read]).await.is_err() {
                            return;
                        }
                    }
                };
                tokio::select! {
                    () = forward => {}
                    _ = tokio::io::copy(&mut answers, &mut back) => {}
                }
            });
        }
    });
    (address, count)
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("not in time")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_goes_on_where_it_was_after_lost_connections() {
    let fixture = Fixture::new().await;
    let content = content(8 << 20);
    let (address, count) = breaking_proxy(fixture.address.clone(), 2, 3 << 20).await;
    let (peer, sender) = (fixture.peer(&address), fixture.sender(FAST));
    let body = fixture.body("snapshot", &content);
    let answer = in_time(sender.send(&peer, (1, 1), &Bytes::from_static(REQUEST), body)).await.unwrap();
    assert!(answer == content, "the file is another one");
    let forwarded = count.load(Ordering::SeqCst);
    // Of each connection that broke, what was under way goes again.
    let again = 2 * (2 << 20);
    assert!(
        forwarded > content.len() as u64 && forwarded < content.len() as u64 + again,
        "{forwarded} bytes"
    );
    assert_eq!(fixture.left_over(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_is_no_faster_than_it_may_be_and_others_have_their_turn_after_it() {
    let fixture = Fixture::new().await;
    let content = content(2 << 20);
    let (peer, sender) = (fixture.peer(&fixture.address), Arc::new(fixture.sender(4 << 20)));
    let (first, second) = (fixture.body("first", &content), fixture.body("second", &content));
    let head = Bytes::from_static(REQUEST);
    let began = Instant::now();
    let is_over = AtomicBool::new(false);
    let sending = async {
        let sent = in_time(sender.send(&peer, (1, 1), &head, first)).await;
        is_over.store(true, Ordering::SeqCst);
        sent
    };
    let other = async {
        tokio::task::yield_now().await;
        let refused = sender.send(&peer, (1, 1), &head, second).await.unwrap_err();
        assert!(refused.contains("under way to another broker"), "{refused}");
        assert!(!is_over.load(Ordering::SeqCst), "it has waited");
    };
    let (sent, ()) = tokio::join!(sending, other);
    assert!(sent.unwrap() == content);
    assert!(began.elapsed() > Duration::from_millis(400), "half a second's bytes in {:?}", began.elapsed());
    let second = fixture.body("second", &content);
    in_time(sender.send(&peer, (1, 1), &head, second)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snapshots_that_are_not_as_announced_are_refused() {
    let fixture = Fixture::new().await;
    let peer = fixture.peer(&fixture.address);
    let head = Bytes::from_static(REQUEST);
    let announced = Announced { group: 1, replica: 1, transfer: 7, offset: 0, total: 1000 };
    let send = async |announced: Announced, bytes: usize| {
        let pieces = transport::pieces(std::io::Cursor::new(content(bytes)));
        let sent = in_time(peer.upload(announced.message(&head), pieces)).await;
        sent.map(drop).map_err(|error| error.to_string())
    };
    send(announced, 1000).await.unwrap();
    for (announced, bytes, reason) in [
        (announced, 999, "a snapshot of 999 bytes, it was to have 1000"),
        (announced, 70_000, "more than the 1000 bytes"),
        (Announced { offset: 10, ..announced }, 990, UNKNOWN),
        (Announced { total: u64::MAX / 4, ..announced }, 1000, "bytes free, the snapshot needs"),
    ] {
        let refused = send(announced, bytes).await.unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
    let garbage = peer.upload(RequestKind::Snapshot.with(&[1]), transport::pieces(std::io::empty())).await;
    assert_eq!(garbage, Err(CallError::Failed("a snapshot of unknown kind".to_owned())));
    let asked = peer.call(Lane::Requests, RequestKind::SnapshotReceived.alone()).await;
    assert!(matches!(asked, Err(CallError::Failed(_))), "{asked:?}");
    assert_eq!(fixture.left_over(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_of_a_group_that_is_not_here_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let groups = ReplicaGroups::new(directory.path().to_owned());
    let fixture = Fixture::with(directory, Arc::new(groups)).await;
    let (peer, sender) = (fixture.peer(&fixture.address), fixture.sender(FAST));
    let body = fixture.body("snapshot", &content(1000));
    let refused = in_time(sender.send(&peer, (9, 1), &Bytes::from_static(REQUEST), body)).await.unwrap_err();
    assert_eq!(refused, "there is no group 9 here");
}

#[test]
fn a_message_of_a_part_is_read_as_it_was_written() {
    let announced = Announced { group: 1, replica: 1, transfer: 2, offset: 3, total: 4 };
    let head = Bytes::from_static(b"head");
    assert_eq!(Announced::read(announced.message(&head)), Ok((announced, head)));
}
