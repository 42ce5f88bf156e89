//! The network between brokers: a proxy in front of each broker's port for others, which can hold bytes back.
//!
//! As in a network that is cut, bytes wait on both sides, and a new connection is neither taken nor refused.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use transport::{Duplex, PeerSecret, pass_on, stand_between};

use crate::cluster::BROKERS;

/// Bytes of a first frame at most.
const FIRST_BYTES_MAX: usize = 64 * 1024;

/// For each pair of brokers, whether bytes from the first to the second are held back.
type Cuts = [[bool; BROKERS as usize]; BROKERS as usize];

pub(crate) struct Network {
    cuts: watch::Sender<Cuts>,
    held: Arc<AtomicU64>,
    _proxies: JoinSet<()>,
}

impl Network {
    /// Goes between the ports that brokers are told and those that they listen on.
    pub(crate) async fn begin(ports: impl IntoIterator<Item = (u16, u16)>, secret: &PeerSecret) -> Self {
        let (cuts, _) = watch::channel(Cuts::default());
        let held = Arc::new(AtomicU64::new(0));
        let mut proxies = JoinSet::new();
        for (broker, (told, listens)) in ports.into_iter().enumerate() {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, told)).await.unwrap();
            let link = Link { cuts: cuts.subscribe(), held: Arc::clone(&held), secret: secret.clone() };
            proxies.spawn(proxy(listener, broker, listens, link));
        }
        Self { cuts, held, _proxies: proxies }
    }

    /// Holds back what one broker sends to another.
    pub(crate) fn cut(&self, from: u16, to: u16) {
        self.cuts.send_modify(|cuts| cuts[usize::from(from)][usize::from(to)] = true);
    }

    pub(crate) fn mend(&self) {
        self.cuts.send_replace(Cuts::default());
    }

    /// How often something was held back.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }
}

#[derive(Clone)]
struct Link {
    cuts: watch::Receiver<Cuts>,
    held: Arc<AtomicU64>,
    /// The proxy knows it, so that it can tell who connects.
    secret: PeerSecret,
}

impl Link {
    /// Waits until bytes may pass.
    async fn pass(&mut self, from: usize, to: usize) -> io::Result<()> {
        if self.cuts.borrow()[from][to] {
            self.held.fetch_add(1, Ordering::Relaxed);
        }
        let passes = self.cuts.wait_for(|cuts| !cuts[from][to]).await;
        passes.map(drop).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

async fn proxy(listener: TcpListener, to: usize, port: u16, link: Link) {
    let mut connections = JoinSet::new();
    loop {
        let (near, _) = listener.accept().await.unwrap();
        connections.spawn(connection(near, to, port, link.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(near: TcpStream, to: usize, port: u16, mut link: Link) -> io::Result<()> {
    near.set_nodelay(true)?;
    let mut near = stand_between(Box::new(near), &link.secret).await?;
    let mut first = Vec::new();
    let from = loop {
        if let Some(from) = transport::read_sender(&first) {
            break from as usize;
        }
        if near.read_buf(&mut first).await? == 0 || first.len() > FIRST_BYTES_MAX {
            return Ok(());
        }
    };
    link.pass(from, to).await?;
    // A broker that has introduced itself says nothing more before it is answered.
    let has_given_up = near.read_u8().now_or_never().is_some();
    if has_given_up {
        return Ok(());
    }
    let far = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    far.set_nodelay(true)?;
    let mut far = pass_on(Box::new(far), &link.secret).await?;
    far.write_all(&first).await?;
    far.flush().await?;
    let ((near_in, near_out), (far_in, far_out)) = (split(near), split(far));
    let back = link.clone();
    tokio::try_join!(forward(near_in, far_out, from, to, link), forward(far_in, near_out, to, from, back))?;
    Ok(())
}

/// Hands on bytes, the end included.
async fn forward(
    mut source: ReadHalf<Box<dyn Duplex>>,
    mut sink: WriteHalf<Box<dyn Duplex>>,
    from: usize,
    to: usize,
    mut link: Link,
) -> io::Result<()> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let size = source.read(&mut bytes).await?;
        link.pass(from, to).await?;
        if size == 0 {
            return sink.shutdown().await;
        }
        sink.write_all(&bytes[..size]).await?;
        sink.flush().await?;
    }
}
