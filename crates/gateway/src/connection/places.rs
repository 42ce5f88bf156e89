//! The places of one port: how many connections there are, from where, and which one gives way to a new one.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::Connections;
use super::peer::{Clock, Deadlines, Origin, Peer};
use super::refusals::Reason;

/// Idle time after which a connection gives way to a new one when all places are taken.
const QUIET: Duration = Duration::from_secs(5);
/// Divisor of the time-outs of slow clients under pressure.
pub(crate) const PRESSURE_FACTOR: u32 = 6;

/// Limits of the number of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) places: usize,
    /// From one address, or one network of IPv6.
    pub(crate) per_address: usize,
    /// Beyond `places`, for probes only.
    pub(crate) for_probes: usize,
}

/// The places of one port.
pub(super) struct Places {
    limits: Limits,
    deadlines: Deadlines,
    connections: Connections,
    clock: Arc<Clock>,
    taken: Mutex<Taken>,
    /// Notified when a place was given back.
    pub(super) freed: Notify,
}

#[derive(Default)]
struct Taken {
    peers: BTreeMap<u64, Arc<Peer>>,
    by_origin: HashMap<Origin, usize>,
    next_id: u64,
}

/// Whether a connection gets a place.
pub(super) enum Admission {
    Granted(Place),
    /// Its address has too many.
    Refused,
    Wait,
}

/// The place of one connection, which is given back by dropping it.
pub(super) struct Place {
    pub(super) peer: Arc<Peer>,
    places: Arc<Places>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().remove(self.peer.id);
        self.places.freed.notify_one();
    }
}

impl Taken {
    fn remove(&mut self, id: u64) -> Option<Arc<Peer>> {
        let peer = self.peers.remove(&id)?;
        if let Some(count) = self.by_origin.get_mut(&peer.origin) {
            *count -= 1;
            if *count == 0 {
                self.by_origin.remove(&peer.origin);
            }
        }
        Some(peer)
    }

    /// Ends the connection that is worth the least: the oldest without a request, or else the one that was not used
    /// for longest.
    fn evict(&mut self, from: Option<Origin>) -> bool {
        let all = || self.peers.values().filter(|peer| from.is_none_or(|origin| peer.origin == origin));
        let silent = all().find(|peer| !peer.has_begun());
        let quiet = || all().filter(|peer| peer.is_dispensable(QUIET)).min_by_key(|peer| peer.idle_since());
        let Some(id) = silent.or_else(quiet).map(|peer| peer.id) else { return false };
        self.remove(id).inspect(|peer| peer.cut()).is_some()
    }
}

impl Places {
    pub(super) fn new(limits: Limits, deadlines: Deadlines, connections: Connections) -> Arc<Self> {
        debug_assert!(limits.places > 0 && limits.per_address > 0, "nobody could connect");
        Arc::new(Self {
            limits,
            deadlines,
            connections,
            clock: Clock::start(),
            taken: Mutex::default(),
            freed: Notify::new(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock()
    }

    /// A place for a connection from an address, if need be that of another one.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Admission {
        let origin = Origin::from(address);
        let mut taken = self.taken();
        let of_origin = taken.by_origin.get(&origin).copied().unwrap_or_default();
        // With as many places for one address as there are, they are shared as those of all are.
        if of_origin >= self.limits.per_address && self.limits.per_address < self.limits.places {
            self.connections.refusals.note(Reason::Address);
            if !taken.evict(Some(origin)) {
                return Admission::Refused;
            }
        }
        let mut is_for_probes = false;
        if taken.peers.len() >= self.limits.places {
            self.connections.refusals.note(Reason::Places);
            if !taken.evict(None) {
                is_for_probes = taken.peers.len() < self.limits.places + self.limits.for_probes;
                if !is_for_probes {
                    return Admission::Wait;
                }
            }
        }
        debug_assert!(taken.peers.len() < self.limits.places + self.limits.for_probes);
        let id = taken.next_id;
        taken.next_id += 1;
        let peer = Arc::new(Peer::new(id, origin, Arc::clone(&self.clock), is_for_probes));
        taken.peers.insert(id, Arc::clone(&peer));
        *taken.by_origin.entry(origin).or_default() += 1;
        Admission::Granted(Place { peer, places: Arc::clone(self) })
    }

    /// Makes room where there is none by other means, for want of file descriptors.
    pub(super) fn make_room(&self) {
        self.connections.refusals.note(Reason::Descriptors);
        self.taken().evict(None);
    }

    /// Ends the connections that take too long.
    pub(super) fn sweep(&self) {
        let mut deadlines = self.deadlines;
        if self.connections.budget.is_tight() {
            deadlines.slow /= PRESSURE_FACTOR;
        }
        for peer in self.taken().peers.values() {
            if let Some(reason) = peer.overdue(&deadlines) {
                self.connections.refusals.note(reason);
                peer.cut();
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.taken().peers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const SECOND: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

    fn places(places: usize, per_address: usize, for_probes: usize) -> Arc<Places> {
        let deadlines =
            Deadlines { head: Duration::from_secs(10), idle: None, slow: Duration::from_secs(30) };
        Places::new(Limits { places, per_address, for_probes }, deadlines, Connections::default())
    }

    fn granted(places: &Arc<Places>, address: IpAddr) -> Place {
        match places.admit(address) {
            Admission::Granted(place) => place,
            Admission::Refused => panic!("refused"),
            Admission::Wait => panic!("must wait"),
        }
    }

    fn advance(places: &Places, time: Duration) {
        places.clock.ahead_ms.fetch_add(time.as_millis() as u64, std::sync::atomic::Ordering::AcqRel);
    }

    fn is_cut(place: &Place) -> bool {
        let mut cut = false;
        futures::FutureExt::now_or_never(place.peer.run(std::future::pending())).inspect(|()| cut = true);
        cut
    }

    #[tokio::test]
    async fn silent_connections_give_way_before_quiet_ones_and_busy_ones_never() {
        let places = places(3, 9, 0);
        let (busy, used, silent) =
            (granted(&places, FIRST), granted(&places, FIRST), granted(&places, SECOND));
        let call = busy.peer.call();
        drop(used.peer.call());
        let fourth = granted(&places, SECOND);
        assert!(is_cut(&silent) && !is_cut(&used) && !is_cut(&busy));
        let _calls = fourth.peer.call();
        assert!(matches!(places.admit(SECOND), Admission::Wait), "it was used a moment ago");
        advance(&places, QUIET + Duration::from_millis(10));
        let fifth = granted(&places, SECOND);
        assert!(is_cut(&used) && !is_cut(&busy));
        let _busy = fifth.peer.call();
        advance(&places, Duration::from_hours(1));
        assert!(matches!(places.admit(SECOND), Admission::Wait), "a call may last");
        drop(call);
        drop(busy);
        granted(&places, SECOND);
        assert_eq!(places.count(), 2);
    }

    #[tokio::test]
    async fn an_address_has_so_many_places() {
        let places = places(10, 2, 0);
        let (first, second) = (granted(&places, FIRST), granted(&places, FIRST));
        let _other = granted(&places, SECOND);
        let third = granted(&places, FIRST);
        assert!(is_cut(&first) && !is_cut(&second));
        let _calls = (second.peer.call(), third.peer.call());
        assert!(matches!(places.admit(FIRST), Admission::Refused));
        granted(&places, SECOND);
        drop(second);
        granted(&places, FIRST);
    }

    #[tokio::test]
    async fn a_network_of_ipv6_is_one_address() {
        let places = places(10, 1, 0);
        let first = granted(&places, "2001:db8::1".parse().unwrap());
        let _other = granted(&places, "2001:db8:0:1::1".parse().unwrap());
        assert!(!is_cut(&first));
        let _second = granted(&places, "2001:db8::2".parse().unwrap());
        assert!(is_cut(&first));
        let first = granted(&places, FIRST);
        let _second = granted(&places, "::ffff:127.0.0.1".parse().unwrap());
        assert!(is_cut(&first), "the same host");
    }

    #[tokio::test]
    async fn places_for_probes_are_beyond_the_others() {
        let places = places(1, 9, 1);
        let first = granted(&places, FIRST);
        let _call = first.peer.call();
        assert!(!first.peer.is_for_probes);
        let probe = granted(&places, FIRST);
        assert!(probe.peer.is_for_probes);
        let _probing = probe.peer.call();
        assert!(matches!(places.admit(SECOND), Admission::Wait));
    }

    #[tokio::test]
    async fn deadlines_end_what_is_silent_slow_or_idle() {
        let places = places(9, 9, 0);
        let (silent, dribbling, used) =
            (granted(&places, FIRST), granted(&places, FIRST), granted(&places, FIRST));
        let (blocked, stalled) = (granted(&places, FIRST), granted(&places, FIRST));
        let _calls = (blocked.peer.call(), stalled.peer.call());
        drop(used.peer.call());
        dribbling.peer.has_received(60);
        blocked.peer.is_blocked();
        stalled.peer.has_unsent(1);
        for _ in 0..9 {
            advance(&places, Duration::from_secs(1));
            dribbling.peer.has_received(1);
            blocked.peer.has_taken(1);
        }
        places.sweep();
        assert!(!is_cut(&silent) && !is_cut(&dribbling), "not yet");
        advance(&places, Duration::from_millis(1100));
        places.sweep();
        assert!(is_cut(&silent) && is_cut(&dribbling));
        assert!(!is_cut(&used) && !is_cut(&blocked) && !is_cut(&stalled));
        advance(&places, Duration::from_secs(20));
        places.sweep();
        assert!(is_cut(&blocked) && is_cut(&stalled) && !is_cut(&used));
        stalled.peer.has_sent(1);
    }
}
