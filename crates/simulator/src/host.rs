//! One life of a broker: its threads, its disk, and the way to it for clients.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use broker::{Lives, Node, Options, Replica, StartError, Supervisor};
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::disk::{self, DiskFaults};
use crate::exclusive::Exclusive;
use crate::network::SimulatedNetwork;
use crate::scheduler::{self, Host};

/// Requests of clients that are on their way to a broker.
const REQUESTS: usize = 1024;

type Request = Box<dyn FnOnce(Arc<Node>) -> BoxFuture<'static, ()> + Send>;

/// How a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeEnd {
    /// The process is killed: what it wrote is there.
    Killed,
    /// The machine loses its power: what it did not sync is lost, in part or whole.
    PowerLost,
    /// The process is killed and its data directory is lost.
    DirectoryLost,
}

/// A broker that runs.
pub struct Life {
    /// Its number in the cluster.
    pub broker: u32,
    host: u32,
    directory: PathBuf,
    requests: mpsc::Sender<Request>,
    gone: CancellationToken,
    stops: CancellationToken,
    failure: Arc<Exclusive<Option<String>>>,
}

/// The beginning of a life.
pub struct Beginning<'a> {
    pub options: Options,
    pub brokers: &'a [u32],
    pub network: &'a SimulatedNetwork,
    pub faults: DiskFaults,
    pub clock_offset_ms: i64,
    /// Threads of its runtime; 1 saves time.
    pub workers: usize,
}

impl Life {
    /// Begins a life on the data directory of its options.
    pub fn begin(beginning: Beginning<'_>) -> Self {
        let Beginning { options, brokers, network, faults, clock_offset_ms, workers } = beginning;
        let (broker, directory) = (options.partition.node_id, options.partition.data_dir.clone());
        let clock_offset_ns = clock_offset_ms * 1_000_000;
        let host = scheduler::add_host(Host { clock_offset_ns, ..Host::default() });
        disk::add(host, &directory, faults);
        let brokers = brokers.iter().map(|number| (*number, SimulatedNetwork::address(*number))).collect();
        let lives = BrokerLives { options, brokers, network: network.clone() };
        let (requests, queue) = mpsc::channel(REQUESTS);
        let failure = Arc::new(Exclusive::new(None));
        let failed = Arc::clone(&failure);
        let stops = CancellationToken::new();
        let stopped = stops.clone();
        let run = move || {
            let mut builder = match workers {
                1 => tokio::runtime::Builder::new_current_thread(),
                _ => tokio::runtime::Builder::new_multi_thread(),
            };
            let runtime = builder.worker_threads(workers).enable_time().build();
            let runtime = runtime.expect("a runtime without sockets needs nothing");
            let error = runtime.block_on(serve(lives, queue, stopped));
            failed.with(|failed| *failed = Some(error));
        };
        scheduler::next_thread_is_of(host);
        let thread = std::thread::Builder::new().name(format!("broker-{broker}")).spawn(run);
        thread.expect("there is room for a thread");
        Self { broker, host, directory, requests, gone: CancellationToken::new(), stops, failure }
    }

    /// Why it did not start, or ended by itself.
    pub fn failure(&self) -> Option<String> {
        self.failure.with(|failure| failure.clone())
    }

    /// Has the broker do something. `None` if it ended before it answered.
    pub fn call<T, F, W>(&self, work: W) -> impl Future<Output = Option<T>> + Send + use<T, F, W>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
        W: FnOnce(Arc<Node>) -> F + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let request: Request = Box::new(move |node| {
            Box::pin(async move {
                let mut reply = reply;
                // A client that has gone away ends its request, also before it begins.
                tokio::select! {
                    biased;
                    () = reply.closed() => {}
                    answer = work(node) => drop(reply.send(answer)),
                }
            })
        });
        let sent = !self.gone.is_cancelled() && self.requests.try_send(request).is_ok();
        let gone = self.gone.clone();
        async move {
            if !sent {
                return None;
            }
            tokio::select! {
                biased;
                () = gone.cancelled() => None,
                answer = answer => answer.ok(),
            }
        }
    }

    /// Has it stop in order, which is its failure once it is done.
    pub fn stop(&self) {
        self.stops.cancel();
    }

    /// Holds all of its threads up, or lets them go on.
    pub fn hold_up(&self, is_held_up: bool) {
        scheduler::change_host(self.host, |host| host.is_held_up = is_held_up);
    }

    /// Moves its wall clock.
    pub fn set_clock(&self, offset_ms: i64) {
        scheduler::change_host(self.host, |host| host.clock_offset_ns = offset_ms * 1_000_000);
    }

    /// Changes the faults of its disk.
    pub fn change_disk(&self, change: impl FnOnce(&mut DiskFaults)) {
        disk::change(self.host, change);
    }

    /// Ends it, between two instructions of each of its threads. Its files go to another directory: the old ones stay
    /// open and locked.
    pub fn end(&self, how: LifeEnd, network: &SimulatedNetwork, next: &Path) -> std::io::Result<()> {
        scheduler::change_host(self.host, |host| host.is_dead = true);
        network.leave(self.broker, how == LifeEnd::PowerLost);
        self.gone.cancel();
        if how == LifeEnd::PowerLost {
            disk::lose_power(self.host)?;
        }
        if how != LifeEnd::DirectoryLost {
            disk::copy(&self.directory, next)?;
            keep_place(&self.directory.join("log"), &next.join("log"))?;
        }
        std::fs::remove_dir_all(&self.directory)
    }
}

/// Has the copy of a directory take the place of the directory: a broker that is started again finds its log where it
/// was. Files that are still open are others.
fn keep_place(directory: &Path, copy: &Path) -> std::io::Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    for file in std::fs::read_dir(copy)? {
        let file = file?;
        std::fs::rename(file.path(), directory.join(file.file_name()))?;
    }
    std::fs::remove_dir(copy)?;
    std::fs::rename(directory, copy)
}

/// The lives of a broker until its process is killed.
struct BrokerLives {
    options: Options,
    brokers: BTreeMap<u32, String>,
    network: SimulatedNetwork,
}

impl Lives for BrokerLives {
    fn begin(&self) -> BoxFuture<'_, Result<Arc<Node>, StartError>> {
        let attachment = self.network.attach(self.options.partition.node_id);
        let replica = Replica { brokers: self.brokers.clone(), attachment };
        Box::pin(Node::start_replica(self.options.clone(), replica)).boxed()
    }

    fn end(&self, _: &str) {}
}

/// Serves clients until it is stopped; returns why it does not any more.
async fn serve(
    lives: BrokerLives,
    mut requests: mpsc::Receiver<Request>,
    stops: CancellationToken,
) -> String {
    let supervisor = match Supervisor::start(lives).await {
        Ok(supervisor) => supervisor,
        Err(error) => return error.to_string(),
    };
    while let Some(Some(request)) = stops.run_until_cancelled(requests.recv()).await {
        // Between two lives, a client gets no answer.
        if let Ok(node) = supervisor.node() {
            tokio::spawn(request(node));
        }
    }
    supervisor.shutdown().await;
    "it was stopped".to_owned()
}
