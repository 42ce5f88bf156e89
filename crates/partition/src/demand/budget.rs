//! The credit of one job stream, and its parts: a stream has one in each partition, and all of them together hold no
//! more jobs than the credit says. As long as jobs wait in several partitions, each of these has an equal part of the
//! room; if there is less room than partitions, they take turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::credit::{Credit, Departure};

/// Time for which room is kept for a part whose turn it is. Its partition may have no leader.
const TURN_MAX: Duration = Duration::from_millis(500);

/// The credit of a stream, which parts may join.
#[derive(Clone)]
pub(crate) struct StreamCredit(Arc<Mutex<Shared>>);

struct Shared {
    credit: Credit,
    /// Start of the clock of the credit: that of the first part.
    began: Option<Instant>,
    parts: Vec<Share>,
    /// Counts the demands that parts have stated.
    stated: u64,
    /// When a place was given up last.
    freed: Instant,
}

/// The places that one part has.
struct Share {
    held: u32,
    asked: u32,
    /// The demand that it stated last.
    stated: u64,
    /// Whether jobs may wait for it.
    queued: Arc<AtomicBool>,
    /// Has its registry look at demand.
    wake: Arc<Notify>,
}

impl Share {
    fn taken(&self) -> u32 {
        self.held + self.asked
    }

    fn wants(&self) -> bool {
        self.queued.load(Ordering::Acquire)
    }
}

impl StreamCredit {
    pub fn new(credit: Credit) -> Self {
        let (began, parts) = (None, Vec::with_capacity(1));
        Self(Arc::new(Mutex::new(Shared { credit, began, parts, stated: 0, freed: Instant::now() })))
    }

    /// Adds a part, of a registry with this clock. `queued` tells whether jobs may wait for it.
    pub(super) fn join(&self, began: Instant, queued: &Arc<AtomicBool>, wake: &Arc<Notify>) -> CreditPart {
        let mut shared = self.0.lock();
        let offset = began.saturating_duration_since(*shared.began.get_or_insert(began));
        let (queued, wake) = (Arc::clone(queued), Arc::clone(wake));
        shared.parts.push(Share { held: 0, asked: 0, stated: 0, queued, wake });
        CreditPart { shared: Arc::clone(&self.0), number: shared.parts.len() - 1, offset }
    }
}

impl Shared {
    /// Places that nobody has.
    fn free(&self) -> u32 {
        self.credit.limit().saturating_sub(self.parts.iter().map(Share::taken).sum())
    }

    /// How many parts want jobs, a given one included.
    fn wanting(&self, number: usize) -> u32 {
        let wants = |(other, part): &(usize, &Share)| *other == number || part.wants();
        self.parts.iter().enumerate().filter(wants).count() as u32
    }

    fn room(&self, number: usize) -> u32 {
        let free = self.free();
        let wanting = self.wanting(number);
        if free == 0 || wanting == 1 {
            return free;
        }
        let (limit, own) = (self.credit.limit(), &self.parts[number]);
        if limit >= wanting {
            let rank = self.parts[..number].iter().filter(|part| part.wants()).count() as u32;
            let part = limit / wanting + u32::from(rank < limit % wanting);
            return part.saturating_sub(own.taken()).min(free);
        }
        // Parts without a job that have waited longer go first.
        let is_before = |other: &Share| other.taken() == 0 && other.wants() && other.stated < own.stated;
        let before = self.parts.iter().filter(|other| is_before(other)).count() as u32;
        u32::from(own.taken() == 0 && (before < free || self.freed.elapsed() > TURN_MAX))
    }

    /// Has the others look at their demand.
    fn wake_others(&self, number: usize) {
        for (other, part) in self.parts.iter().enumerate() {
            if other != number && part.wants() {
                part.wake.notify_one();
            }
        }
    }
}

/// The part of a stream's credit that is for one partition.
pub(super) struct CreditPart {
    shared: Arc<Mutex<Shared>>,
    number: usize,
    /// Time by which the clock of the credit is ahead of that of the registry.
    offset: Duration,
}

impl CreditPart {
    /// Jobs that the stream may hold, of all partitions.
    pub fn limit(&self) -> u32 {
        self.shared.lock().credit.limit()
    }

    /// Jobs that this part may have beside those that it has.
    pub fn room(&self) -> u32 {
        self.shared.lock().room(self.number)
    }

    /// Jobs that this part may have as long as the others want what they want now.
    pub fn most(&self) -> u32 {
        let shared = self.shared.lock();
        (shared.credit.limit() / shared.wanting(self.number)).max(1)
    }

    /// The part of this partition in the figure of credit.
    pub fn figure(&self) -> u32 {
        let shared = self.shared.lock();
        let (limit, parts) = (shared.credit.limit(), shared.parts.len() as u32);
        limit / parts + u32::from((self.number as u32) < limit % parts)
    }

    /// Jobs that the other parts hold.
    pub fn held_by_others(&self) -> u32 {
        let shared = self.shared.lock();
        let others = shared.parts.iter().enumerate().filter(|(other, _)| *other != self.number);
        others.map(|(_, part)| part.held).sum()
    }

    /// Whether there are other parts.
    pub fn is_shared(&self) -> bool {
        self.shared.lock().parts.len() > 1
    }

    /// Notes how many jobs this part holds, and how many it has asked for.
    pub fn set(&self, held: u32, asked: u32) {
        let mut shared = self.shared.lock();
        if asked > 0 {
            shared.stated += 1;
            let stated = shared.stated;
            shared.parts[self.number].stated = stated;
        }
        let part = &mut shared.parts[self.number];
        let before = part.taken();
        (part.held, part.asked) = (held, asked);
        if held + asked < before && shared.parts.len() > 1 {
            shared.freed = Instant::now();
            shared.wake_others(self.number);
        }
    }

    /// See [`Credit::depart`].
    pub fn depart(&self, now: Duration) -> Departure {
        self.shared.lock().credit.depart(now + self.offset)
    }

    /// See [`Credit::ended`].
    pub fn ended(&self, job: Departure, now: Duration, is_limit: bool) {
        self.shared.lock().credit.ended(job, now + self.offset, is_limit);
    }

    /// See [`Credit::failed`].
    pub fn failed(&self) {
        self.shared.lock().credit.failed();
    }

    /// See [`Credit::timed_out`].
    pub fn timed_out(&self, job: Departure, now: Duration) {
        self.shared.lock().credit.timed_out(job, now + self.offset);
    }

    #[cfg(test)]
    pub fn replace(&self, credit: Credit) {
        self.shared.lock().credit = credit;
    }
}

impl Drop for CreditPart {
    fn drop(&mut self) {
        let mut shared = self.shared.lock();
        let part = &mut shared.parts[self.number];
        (part.held, part.asked, part.queued) = (0, 0, Arc::default());
        shared.wake_others(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Joined {
        parts: Vec<CreditPart>,
        queued: Vec<Arc<AtomicBool>>,
    }

    /// Parts that want jobs of a stream with this credit.
    fn parts(limit: u32, count: usize) -> Joined {
        let credit = StreamCredit::new(Credit::new(limit, 10_000, Duration::from_secs(60)));
        let queued: Vec<_> = (0..count).map(|_| Arc::new(AtomicBool::new(true))).collect();
        let join = |queued| credit.join(Instant::now(), queued, &Arc::default());
        Joined { parts: queued.iter().map(join).collect(), queued }
    }

    #[test]
    fn parts_together_hold_no_more_than_the_credit() {
        let Joined { parts, queued } = parts(32, 3);
        for (part, room) in parts.iter().zip([11, 11, 10]) {
            assert_eq!((part.room(), part.most()), (room, 10));
            part.set(0, room);
        }
        assert_eq!(parts[0].room(), 0);
        // The others want no more: what they leave is free.
        queued[1].store(false, Ordering::Release);
        queued[2].store(false, Ordering::Release);
        parts[1].set(9, 0);
        assert_eq!(parts[0].room(), 2);
        parts[1].set(0, 0);
        assert_eq!((parts[0].room(), parts[0].most()), (11, 32));
        parts[2].set(25, 0);
        assert_eq!(parts[0].room(), 0);
        assert_eq!(parts.iter().map(CreditPart::figure).sum::<u32>(), 32);
    }

    #[test]
    fn a_stream_of_one_partition_has_all_of_its_credit() {
        let Joined { parts, .. } = parts(7, 1);
        assert_eq!((parts[0].room(), parts[0].most(), parts[0].figure()), (7, 7, 7));
        parts[0].set(3, 0);
        assert_eq!((parts[0].room(), parts[0].held_by_others()), (4, 0));
    }

    #[test]
    fn with_less_room_than_partitions_they_take_turns() {
        let Joined { parts, .. } = parts(2, 5);
        let mut served = [0; 5];
        for _ in 0..50 {
            let mut took = Vec::new();
            for (number, part) in parts.iter().enumerate() {
                if part.room() > 0 {
                    part.set(0, part.room());
                    took.push(number);
                }
            }
            assert_eq!(took.len(), 2, "the room is used");
            for number in took {
                served[number] += 1;
                parts[number].set(0, 0);
            }
        }
        assert!(served.iter().all(|count| *count >= 15), "none is starved: {served:?}");
    }

    #[test]
    fn a_part_that_is_gone_leaves_its_places() {
        let Joined { mut parts, .. } = parts(8, 2);
        parts[1].set(4, 0);
        assert_eq!(parts[0].room(), 4);
        parts.pop();
        assert_eq!(parts[0].room(), 8);
    }
}
