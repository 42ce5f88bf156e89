//! One connection, as the watch over its port sees it: what it is at, since when, and the word that ends it.

use std::future::{Future, poll_fn};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Address;
use super::budget::{Budget, Held};
use super::refusals::Reason;

/// Bytes that a client must read within the time limit of slow clients.
pub(crate) const PROGRESS_BYTES: u64 = 16 * 1024;
/// So much of a head is free, so that probes are answered when the budget is used up. A connection reads into as
/// much anyway.
pub(super) const FREE_HEAD_BYTES: usize = 8 * 1024;
/// The preface of HTTP/2 and the head of the first frame after it (RFC 9113 §3.4), in bytes.
const PREFACE_BYTES: u64 = 24 + 9;

/// Time-outs of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadlines {
    /// For TLS and the preface of HTTP/2, or for the head of a request of HTTP/1.1.
    pub(crate) head: Duration,
    /// Without a call; `None` if the protocol's own code looks after that.
    pub(crate) idle: Option<Duration>,
    /// For taking [`PROGRESS_BYTES`] of what waits for the client.
    pub(crate) slow: Duration,
}

/// Where a connection comes from. Addresses of IPv6 count by their network, since one host has all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Origin(IpAddr);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        const NETWORK: u128 = !0 << 64;
        Self(match address.to_canonical() {
            IpAddr::V6(six) => Ipv6Addr::from_bits(six.to_bits() & NETWORK).into(),
            four @ IpAddr::V4(_) => four,
        })
    }
}

/// Milliseconds since the port was opened, plus one: 0 is no time.
#[derive(Debug)]
pub(super) struct Clock {
    epoch: Instant,
    #[cfg(test)]
    pub(super) ahead_ms: AtomicU64,
}

impl Clock {
    pub(super) fn start() -> Arc<Self> {
        Arc::new(Self {
            epoch: Instant::now(),
            #[cfg(test)]
            ahead_ms: AtomicU64::new(0),
        })
    }

    fn now(&self) -> u64 {
        let now = milliseconds(self.epoch.elapsed()) + 1;
        #[cfg(test)]
        let now = now + self.ahead_ms.load(Ordering::Acquire);
        now
    }
}

/// A head of HTTP/1.1 that has not come to its end.
#[derive(Debug)]
struct Head {
    bytes: AtomicUsize,
    /// Bytes over [`FREE_HEAD_BYTES`].
    held: Held,
    has_no_room: AtomicBool,
    is_over: AtomicBool,
}

/// One connection. Times are those of the clock.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(super) id: u64,
    pub(super) origin: Origin,
    /// Whether it has one of the places that are kept for probes.
    pub(crate) is_for_probes: bool,
    clock: Arc<Clock>,
    born: u64,
    has_begun: AtomicBool,
    calls: AtomicUsize,
    idle_since: AtomicU64,
    /// Time of the first bytes of a head.
    head_since: AtomicU64,
    received: AtomicU64,
    head: OnceLock<Head>,
    /// Time since which the socket takes nothing, or less than [`PROGRESS_BYTES`].
    blocked_since: AtomicU64,
    taken: AtomicU64,
    /// Bytes of answers that the connection has not written.
    pub(super) unsent: AtomicUsize,
    unsent_since: AtomicU64,
    /// Cancelled when the connection shall end after its calls.
    pub(crate) retire: CancellationToken,
    cut: CancellationToken,
    is_cut: AtomicBool,
}

impl Peer {
    /// Where it is; of IPv6 the network.
    pub(crate) fn address(&self) -> Address {
        Address(self.origin.0)
    }

    pub(super) fn new(id: u64, origin: Origin, clock: Arc<Clock>, is_for_probes: bool) -> Self {
        let born = clock.now();
        Self {
            id,
            origin,
            is_for_probes,
            clock,
            born,
            has_begun: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            idle_since: AtomicU64::new(born),
            head_since: AtomicU64::new(0),
            received: AtomicU64::new(0),
            head: OnceLock::new(),
            blocked_since: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            unsent: AtomicUsize::new(0),
            unsent_since: AtomicU64::new(0),
            retire: CancellationToken::new(),
            cut: CancellationToken::new(),
            is_cut: AtomicBool::new(false),
        }
    }

    /// Begins a call: a request whose head has arrived. It lasts until its answer is with the connection.
    pub(crate) fn call(self: &Arc<Self>) -> Busy {
        self.calls.fetch_add(1, Ordering::AcqRel);
        self.has_begun.store(true, Ordering::Release);
        self.head_since.store(0, Ordering::Release);
        self.head_has_ended();
        Busy(Arc::clone(self))
    }

    /// Notes bytes from the client.
    pub(super) fn has_received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::AcqRel);
        if self.calls.load(Ordering::Acquire) == 0 && self.head_since.load(Ordering::Acquire) == 0 {
            self.head_since.store(self.now(), Ordering::Release);
        }
    }

    /// Bytes that have come so far.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Acquire)
    }

    /// Counts the heads of requests from here on.
    pub(super) fn count_heads(&self, budget: &Arc<Budget>) {
        let _ = self.head.set(Head {
            bytes: AtomicUsize::new(0),
            held: budget.receive(),
            has_no_room: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
    }

    /// Counts no more heads, since what comes is thrown away. Whether one found no room.
    pub(super) fn count_no_heads(&self) -> bool {
        let Some(head) = self.head.get() else { return false };
        head.is_over.store(true, Ordering::Release);
        self.head_has_ended();
        head.has_no_room.load(Ordering::Acquire)
    }

    /// Whether there is room for bytes that have come, if they are of a head.
    #[must_use]
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let Some(head) = self.head.get() else { return true };
        if self.calls.load(Ordering::Acquire) > 0 || head.is_over.load(Ordering::Acquire) {
            return true;
        }
        let before = head.bytes.fetch_add(bytes, Ordering::AcqRel);
        let counted =
            (before + bytes).saturating_sub(FREE_HEAD_BYTES) - before.saturating_sub(FREE_HEAD_BYTES);
        let has_room = counted == 0 || head.held.add(counted);
        if !has_room {
            head.has_no_room.store(true, Ordering::Release);
        }
        has_room
    }

    fn head_has_ended(&self) {
        if let Some(head) = self.head.get() {
            head.bytes.store(0, Ordering::Release);
            head.held.clear();
        }
    }

    /// Notes that the socket takes no more bytes for now.
    pub(super) fn is_blocked(&self) {
        if self.blocked_since.load(Ordering::Acquire) == 0 {
            self.taken.store(0, Ordering::Release);
            self.blocked_since.store(self.now(), Ordering::Release);
        }
    }

    /// Notes that the socket has taken bytes.
    pub(super) fn has_taken(&self, bytes: u64) {
        if self.blocked_since.load(Ordering::Acquire) == 0 && self.unsent_since.load(Ordering::Acquire) == 0 {
            return;
        }
        if self.taken.fetch_add(bytes, Ordering::AcqRel) + bytes >= PROGRESS_BYTES {
            self.taken.store(0, Ordering::Release);
            self.blocked_since.store(0, Ordering::Release);
            if self.unsent.load(Ordering::Acquire) > 0 {
                self.unsent_since.store(self.now(), Ordering::Release);
            }
        }
    }

    /// Notes that the socket has taken all.
    pub(super) fn is_flushed(&self) {
        self.blocked_since.store(0, Ordering::Release);
    }

    /// Notes bytes of an answer that wait to be written.
    pub(super) fn has_unsent(&self, bytes: usize) {
        if self.unsent.fetch_add(bytes, Ordering::AcqRel) == 0 {
            self.unsent_since.store(self.now(), Ordering::Release);
        }
    }

    /// Notes that they were, or never will be.
    pub(super) fn has_sent(&self, bytes: usize) {
        if self.unsent.fetch_sub(bytes, Ordering::AcqRel) == bytes {
            self.unsent_since.store(0, Ordering::Release);
        }
    }

    /// Whether nothing of worth is lost when it is closed for others' sake: no request came yet, or none for `quiet`.
    pub(super) fn is_dispensable(&self, quiet: Duration) -> bool {
        self.calls.load(Ordering::Acquire) == 0
            && self.unsent.load(Ordering::Acquire) == 0
            && self.over(&self.idle_since, quiet)
    }

    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    pub(super) fn idle_since(&self) -> u64 {
        self.idle_since.load(Ordering::Acquire)
    }

    /// Reason to end the connection, if any. Retires it if it was idle for too long.
    pub(super) fn overdue(&self, deadlines: &Deadlines) -> Option<Reason> {
        let is_new = !self.has_begun() && self.received.load(Ordering::Acquire) < PREFACE_BYTES;
        if is_new && self.now().saturating_sub(self.born) > milliseconds(deadlines.head) {
            return Some(Reason::Silent);
        }
        if self.over(&self.blocked_since, deadlines.slow) || self.over(&self.unsent_since, deadlines.slow) {
            return Some(Reason::SlowReader);
        }
        match deadlines.idle {
            None if self.over(&self.head_since, deadlines.head) => return Some(Reason::Timeout),
            Some(idle) if self.is_dispensable(idle) => self.retire.cancel(),
            _ => {}
        }
        None
    }

    /// Ends the connection at once.
    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::Release);
        self.cut.cancel();
    }

    /// Runs what the connection does until it ends by itself or by [`Self::cut`].
    pub(super) async fn run(&self, connection: impl Future<Output = ()>) {
        let (mut connection, mut cut) = (pin!(connection), pin!(self.cut.cancelled()));
        let mut watched = false;
        poll_fn(|context| {
            // One look registers the waker; the later ones cost a lock and are only worth it once the flag is up.
            let look = !std::mem::replace(&mut watched, true) || self.is_cut.load(Ordering::Acquire);
            if look && cut.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            connection.as_mut().poll(context)
        })
        .await;
    }

    fn over(&self, time: &AtomicU64, limit: Duration) -> bool {
        let time = time.load(Ordering::Acquire);
        time != 0 && self.now().saturating_sub(time) > milliseconds(limit)
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis() as u64
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Peer>);

impl Busy {
    /// The connection that it came by.
    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.0
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.idle_since.store(self.0.now(), Ordering::Release);
        self.0.calls.fetch_sub(1, Ordering::AcqRel);
    }
}
