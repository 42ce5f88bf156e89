//! Stands between the server and a store, and makes the store slow, deaf or absent.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;

/// Treatment of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They pass.
    Pass,
    /// Those with the marker wait first.
    Delay(Duration),
    /// None passes, and none is refused.
    Hang,
    /// Connections break, and new ones do, too.
    Refuse,
}

/// Where the store is.
#[derive(Debug, Clone)]
enum Target {
    Unix(PathBuf),
    Tcp(String),
}

/// A proxy at work, as long as this lives.
pub(crate) struct Proxy {
    mode: watch::Sender<Mode>,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// Between a socket and another one. A request that has `marker` in it is what [`Mode::Delay`] means.
    pub(crate) fn unix(socket: &Path, target: PathBuf, marker: &'static [u8]) -> Self {
        let listener = UnixListener::bind(socket).unwrap();
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o777)).unwrap();
        let target = Target::Unix(target);
        let (mode, watched) = watch::channel(Mode::Pass);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, target.clone(), watched.clone(), marker));
            }
        });
        Self { mode, task }
    }

    /// Between a free port and an address; returns the address to connect to. See [`Self::unix`] for `marker`.
    pub(crate) async fn tcp(target: String, marker: &'static [u8]) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let target = Target::Tcp(target);
        let (mode, watched) = watch::channel(Mode::Pass);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, target.clone(), watched.clone(), marker));
            }
        });
        (Self { mode, task }, address)
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.mode.send_replace(Mode::Refuse);
        self.task.abort();
    }
}

async fn serve(
    client: impl AsyncRead + AsyncWrite + Unpin + 'static,
    target: Target,
    mode: watch::Receiver<Mode>,
    marker: &'static [u8],
) {
    if *mode.borrow() == Mode::Refuse {
        return;
    }
    match target {
        Target::Unix(path) => {
            if let Ok(store) = UnixStream::connect(path).await {
                join(client, store, mode, marker).await;
            }
        }
        Target::Tcp(address) => {
            if let Ok(store) = TcpStream::connect(address).await {
                let _ = store.set_nodelay(true);
                join(client, store, mode, marker).await;
            }
        }
    }
}

async fn join(
    client: impl AsyncRead + AsyncWrite + Unpin,
    store: impl AsyncRead + AsyncWrite + Unpin,
    mode: watch::Receiver<Mode>,
    marker: &'static [u8],
) {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_store, mut to_store) = tokio::io::split(store);
    let mut broken = mode.clone();
    let there = Arc::new(mode);
    tokio::select! {
        () = pass(&mut from_client, &mut to_store, &there, Some(marker)) => {}
        () = pass(&mut from_store, &mut to_client, &there, None) => {}
        _ = broken.wait_for(|mode| *mode == Mode::Refuse) => {}
    }
}

async fn pass(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mode: &watch::Receiver<Mode>,
    marker: Option<&[u8]>,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let bytes = &buffer[..read];
        let marker = marker.filter(|marker| !marker.is_empty());
        let is_marked = marker.is_some_and(|marker| bytes.windows(marker.len()).any(|part| part == marker));
        let now = *mode.borrow();
        match now {
            Mode::Delay(delay) if is_marked => tokio::time::sleep(delay).await,
            Mode::Hang if mode.clone().wait_for(|mode| *mode != Mode::Hang).await.is_err() => return,
            _ => {}
        }
        if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}
