//! Accepting connections: bounded in number, one task each, until the server stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use auth::ServerTls;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::Connections;
use super::metric_definitions;
use super::peer::{Deadlines, Peer};
use super::places::{Admission, Limits, Place, Places};
use super::refusals::Reason;
use super::socket::Socket;

/// Pause of accepting when the system has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Interval at which connections are checked for time-outs.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// A port and its rules.
pub(crate) struct Port {
    /// For metrics and the log.
    pub(crate) name: &'static str,
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<Arc<ServerTls>>,
    pub(crate) limits: Limits,
    pub(crate) deadlines: Deadlines,
    pub(crate) connections: Connections,
    /// Time that open connections have at shutdown.
    pub(crate) grace: Duration,
}

impl Port {
    /// Accepts until `shutdown`, calls `stopping`, and waits for what is open. `drive` serves one connection to its
    /// end.
    pub(crate) async fn serve<F: Future<Output = ()> + Send + 'static>(
        self,
        shutdown: &CancellationToken,
        stopping: impl FnOnce(),
        drive: impl Fn(Socket, Arc<Peer>) -> F + Clone + Send + 'static,
    ) {
        let Self { name, listener, tls, limits, deadlines, connections, grace } = self;
        let places = Places::new(limits, deadlines, connections.clone());
        let open = metric_definitions::open(name);
        let transfer = metric_definitions::transfer();
        let mut tasks = JoinSet::new();
        let mut waiting: Option<(TcpStream, SocketAddr)> = None;
        let mut clock = interval(LOOK_INTERVAL);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let accepted = tokio::select! {
                () = shutdown.cancelled() => break,
                Some(ended) = tasks.join_next() => {
                    note_panic(name, ended);
                    continue;
                }
                _ = clock.tick() => {
                    places.sweep();
                    open.set(places.count() as f64);
                    transfer.set(connections.budget.used() as f64);
                    waiting.take().map(Ok)
                }
                () = places.freed.notified(), if waiting.is_some() => waiting.take().map(Ok),
                accepted = listener.accept(), if waiting.is_none() => Some(accepted),
            };
            let (stream, address) = match accepted {
                Some(Ok(accepted)) => accepted,
                Some(Err(error)) => {
                    pause(name, &error, &places).await;
                    continue;
                }
                None => continue,
            };
            match places.admit(address.ip()) {
                Admission::Granted(place) => {
                    let (tls, connections, drive) = (tls.clone(), connections.clone(), drive.clone());
                    tasks.spawn(run(name, stream, place, tls, connections, drive));
                }
                Admission::Refused => drop(stream),
                Admission::Wait => waiting = Some((stream, address)),
            }
        }
        drop((listener, waiting));
        stopping();
        let finish = async { while tasks.join_next().await.is_some() {} };
        if timeout(grace, finish).await.is_err() {
            tracing::info!(
                connections = tasks.len(),
                "{name} connections did not end in time and are cut off"
            );
            tasks.shutdown().await;
        }
        open.set(0.0);
    }
}

async fn pause(name: &str, error: &io::Error, places: &Places) {
    tracing::debug!(%error, "a {name} connection could not be accepted");
    places.make_room();
    sleep(ACCEPT_PAUSE).await;
}

fn note_panic(name: &str, ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a {name} connection ended by a panic");
    }
}

async fn run<F: Future<Output = ()>>(
    name: &'static str,
    stream: TcpStream,
    place: Place,
    tls: Option<Arc<ServerTls>>,
    connections: Connections,
    drive: impl FnOnce(Socket, Arc<Peer>) -> F,
) {
    let peer = Arc::clone(&place.peer);
    let connection = async move {
        // Fails on a socket that is closed already; serving it then ends by itself.
        let _ = stream.set_nodelay(true);
        let socket = match tls {
            None => Socket::plain(stream, Arc::clone(&peer)),
            Some(tls) => match tls.acceptor().accept(stream).await {
                Ok(stream) => Socket::encrypted(Box::new(stream), Arc::clone(&peer)),
                // Clients that speak something else or trust nobody are everyday life.
                Err(error) => {
                    tracing::debug!(%error, "a {name} connection has no TLS");
                    connections.refusals.note(Reason::Handshake);
                    return;
                }
            },
        };
        drive(socket, peer).await;
    };
    place.peer.run(connection).await;
}
