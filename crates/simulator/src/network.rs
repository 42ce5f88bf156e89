//! A network in memory: connections between brokers that are late, break, or bring nothing in one direction.
//!
//! The bytes of one connection arrive in order, as over TCP; connections break, and what was under way on them is
//! lost. Messages of a connection that was made again overtake none of the old one, since that brings nothing more.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use transport::{Attachment, Duplex, Listener, Network, Opening};

use crate::exclusive::Exclusive;
use crate::random::Random;

/// Bytes under way in one direction of a connection.
const UNDER_WAY: usize = 256 * 1024;
/// An attempt to connect takes longer than any caller waits, when nothing answers.
const NO_ANSWER: Duration = Duration::from_secs(60);

/// One direction between two brokers.
#[derive(Debug, Clone)]
pub struct Link {
    /// Nothing arrives.
    pub is_cut: bool,
    /// Time on the way, from and to.
    pub delay: (Duration, Duration),
    /// A connection breaks once in so many writes; 0: never.
    pub breaks: u64,
}

impl Default for Link {
    fn default() -> Self {
        Self { is_cut: false, delay: (Duration::from_micros(50), Duration::from_micros(500)), breaks: 0 }
    }
}

struct Pipe {
    from: u32,
    to: u32,
    /// Bytes, each with the time at which they arrive.
    chunks: VecDeque<(Instant, Bytes)>,
    bytes: usize,
    last: Option<Instant>,
    is_closed: bool,
    is_broken: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Bytes and their fate arrive at both ends.
fn wake(pipe: &mut Pipe) -> [Option<Waker>; 2] {
    [pipe.reader.take(), pipe.writer.take()]
}

fn wake_all(wakers: impl IntoIterator<Item = Option<Waker>>) {
    for waker in wakers.into_iter().flatten() {
        waker.wake();
    }
}

type Half = Arc<Exclusive<Pipe>>;

#[derive(Default)]
struct Port {
    is_open: bool,
    /// Its machine is off: nothing answers.
    is_dark: bool,
    waiting: VecDeque<SimulatedStream>,
    waker: Option<Waker>,
}

struct Wires {
    links: BTreeMap<(u32, u32), Link>,
    ports: BTreeMap<u32, Port>,
    pipes: Vec<Half>,
    random: Random,
}

/// The network of all brokers.
#[derive(Clone)]
pub struct SimulatedNetwork(Arc<Exclusive<Wires>>);

impl SimulatedNetwork {
    /// A network between brokers of any number.
    pub fn new(random: Random) -> Self {
        let wires = Wires { links: BTreeMap::new(), ports: BTreeMap::new(), pipes: Vec::new(), random };
        Self(Arc::new(Exclusive::new(wires)))
    }

    /// The address of a broker.
    pub fn address(broker: u32) -> String {
        format!("broker-{broker}:1")
    }

    /// The place of a broker, for a life of it.
    pub fn attach(&self, broker: u32) -> Attachment {
        // A machine that is on again knows nothing of the connections of its former life, and says so.
        self.break_where(|pipe| pipe.from == broker || pipe.to == broker);
        self.0.with(|wires| {
            wires.ports.insert(broker, Port { is_open: true, ..Port::default() });
        });
        let network = Arc::new(From { broker, network: self.clone() });
        Attachment { network, listener: Box::new(At { broker, network: self.clone() }) }
    }

    /// Changes one direction between two brokers.
    pub fn change(&self, from: u32, to: u32, change: impl FnOnce(&mut Link)) {
        let pipes = self.0.with(|wires| {
            change(wires.links.entry((from, to)).or_default());
            wires.pipes.clone()
        });
        // A reader that waits for bytes looks again.
        for pipe in pipes {
            wake_all(pipe.with(wake));
        }
    }

    /// Breaks all connections between two brokers.
    pub fn break_connections(&self, one: u32, other: u32) {
        self.break_where(|pipe| [(one, other), (other, one)].contains(&(pipe.from, pipe.to)));
    }

    fn break_where(&self, is_meant: impl Fn(&Pipe) -> bool) {
        let pipes = self.0.with(|wires| wires.pipes.clone());
        for pipe in pipes {
            let wakers = pipe.with(|pipe| {
                if !is_meant(pipe) {
                    return [None, None];
                }
                pipe.is_broken = true;
                wake(pipe)
            });
            wake_all(wakers);
        }
        self.0.with(|wires| wires.pipes.retain(|pipe| pipe.peek(|pipe| !pipe.is_broken)));
    }

    /// A broker is gone. Its machine tells the others, or is off, too, and nothing answers.
    pub fn leave(&self, broker: u32, is_dark: bool) {
        self.0.with(|wires| {
            wires.ports.insert(broker, Port { is_dark, ..Port::default() });
        });
        if !is_dark {
            self.break_where(|pipe| pipe.from == broker || pipe.to == broker);
        }
    }

    fn delay(&self, from: u32, to: u32) -> (bool, Duration, bool) {
        self.0.with(|wires| {
            let link = wires.links.entry((from, to)).or_default().clone();
            let (least, most) = (link.delay.0.as_nanos() as u64, link.delay.1.as_nanos() as u64);
            let delay = Duration::from_nanos(wires.random.between(least, most + 1));
            let breaks = link.breaks > 0 && wires.random.one_in(link.breaks);
            (link.is_cut, delay, breaks)
        })
    }

    fn is_cut(&self, from: u32, to: u32) -> bool {
        self.0.with(|wires| wires.links.get(&(from, to)).is_some_and(|link| link.is_cut))
    }
}

/// The network as one broker sees it.
struct From {
    broker: u32,
    network: SimulatedNetwork,
}

impl Network for From {
    fn connect<'a>(&'a self, address: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let target =
                address.strip_prefix("broker-").and_then(|rest| rest.split(':').next()?.parse().ok());
            let target: u32 = target.ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))?;
            let (_, there, _) = self.network.delay(self.broker, target);
            let (_, back, _) = self.network.delay(target, self.broker);
            sleep(there + back).await;
            let is_silent = self.network.is_cut(self.broker, target)
                || self.network.is_cut(target, self.broker)
                || self.network.0.with(|wires| wires.ports.get(&target).is_some_and(|port| port.is_dark));
            if is_silent {
                sleep(NO_ANSWER).await;
                return Err(io::ErrorKind::TimedOut.into());
            }
            let (stream, waker) = self.open(target)?;
            wake_all([waker]);
            Ok(Box::new(stream) as Box<dyn Duplex>)
        })
    }
}

impl From {
    fn open(&self, target: u32) -> io::Result<(SimulatedStream, Option<Waker>)> {
        let pipe = |from, to| {
            Arc::new(Exclusive::new(Pipe {
                from,
                to,
                chunks: VecDeque::new(),
                bytes: 0,
                last: None,
                is_closed: false,
                is_broken: false,
                reader: None,
                writer: None,
            }))
        };
        let (there, back) = (pipe(self.broker, target), pipe(target, self.broker));
        let stream = |inbound: &Half, outbound: &Half| SimulatedStream {
            inbound: inbound.clone(),
            outbound: outbound.clone(),
            network: self.network.clone(),
            timer: None,
        };
        self.network.0.with(|wires| {
            let port = wires.ports.get_mut(&target).filter(|port| port.is_open);
            let port = port.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
            port.waiting.push_back(stream(&there, &back));
            let waker = port.waker.take();
            wires.pipes.extend([there.clone(), back.clone()]);
            Ok((stream(&back, &there), waker))
        })
    }
}

/// The port of a broker.
struct At {
    broker: u32,
    network: SimulatedNetwork,
}

impl Listener for At {
    fn accept(&self) -> Opening<'_> {
        Box::pin(std::future::poll_fn(|context| {
            self.network.0.with(|wires| {
                let port = wires.ports.entry(self.broker).or_default();
                if let Some(stream) = port.waiting.pop_front() {
                    return Poll::Ready(Ok(Box::new(stream) as Box<dyn Duplex>));
                }
                port.waker = Some(context.waker().clone());
                Poll::Pending
            })
        }))
    }
}

/// One end of a connection.
pub struct SimulatedStream {
    inbound: Half,
    outbound: Half,
    network: SimulatedNetwork,
    /// For bytes that are under way.
    timer: Option<Pin<Box<Sleep>>>,
}

impl AsyncRead for SimulatedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let (from, to) = self.inbound.with(|pipe| (pipe.from, pipe.to));
            let is_cut = self.network.is_cut(from, to);
            let now = Instant::now();
            let (polled, writer) = self.inbound.with(|pipe| {
                if pipe.is_broken {
                    return (Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())), None);
                }
                pipe.reader = Some(context.waker().clone());
                match pipe.chunks.front_mut() {
                    _ if is_cut => (Poll::Pending, None),
                    Some((at, _)) if *at > now => (Poll::Ready(Ok(Some(*at))), None),
                    Some((_, bytes)) => {
                        let taken = bytes.len().min(buffer.remaining());
                        buffer.put_slice(&bytes[..taken]);
                        bytes.advance(taken);
                        if bytes.is_empty() {
                            pipe.chunks.pop_front();
                        }
                        pipe.bytes -= taken;
                        (Poll::Ready(Ok(None)), pipe.writer.take())
                    }
                    None if pipe.is_closed => (Poll::Ready(Ok(None)), None),
                    None => (Poll::Pending, None),
                }
            });
            wake_all([writer]);
            match polled {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(None)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(Some(at))) => {
                    let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
                    timer.as_mut().reset(at);
                    if timer.as_mut().poll(context).is_pending() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl AsyncWrite for SimulatedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let (from, to) = self.outbound.with(|pipe| (pipe.from, pipe.to));
        let (_, delay, breaks) = self.network.delay(from, to);
        let arrival = Instant::now() + delay;
        let broken = || Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        let (polled, wakers) = self.outbound.with(|pipe| {
            if breaks {
                pipe.is_broken = true;
            }
            if pipe.is_broken {
                return (broken(), wake(pipe));
            }
            if pipe.bytes >= UNDER_WAY {
                pipe.writer = Some(context.waker().clone());
                return (Poll::Pending, [None, None]);
            }
            let arrival = pipe.last.map_or(arrival, |last| last.max(arrival));
            pipe.last = Some(arrival);
            pipe.chunks.push_back((arrival, Bytes::copy_from_slice(bytes)));
            pipe.bytes += bytes.len();
            (Poll::Ready(Ok(bytes.len())), [pipe.reader.take(), None])
        });
        if breaks {
            let others = self.inbound.with(|pipe| {
                pipe.is_broken = true;
                wake(pipe)
            });
            wake_all(others);
        }
        wake_all(wakers);
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wakers = self.outbound.with(|pipe| {
            pipe.is_closed = true;
            wake(pipe)
        });
        wake_all(wakers);
        Poll::Ready(Ok(()))
    }
}

impl Drop for SimulatedStream {
    fn drop(&mut self) {
        for half in [&self.inbound, &self.outbound] {
            let wakers = half.with(|pipe| {
                pipe.is_closed = true;
                wake(pipe)
            });
            wake_all(wakers);
        }
    }
}
