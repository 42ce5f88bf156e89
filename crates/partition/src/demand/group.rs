//! Subscribers that see the same queue: who of them is asked first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use protocol::{Caller, Demand, Key, Name};

use super::subscriber::{OVERDUE_MAX, Subscriber};

/// Time without credit of all streams after which a waiting poll beside them is served, if jobs are queued: a worker
/// that is busy has none for moments. While no job is queued, the time need not run.
pub(super) const POLL_PATIENCE: Duration = Duration::from_secs(1);

/// Subscribers that see the same queue.
pub(super) struct Group {
    pub job_type: Name,
    /// In order, none twice.
    pub tenants: Vec<Name>,
    /// Users have queues of their own, since their authorizations differ.
    pub caller: Option<Caller>,
    /// In the order of their next turn.
    pub streams: VecDeque<u64>,
    pub polls: VecDeque<u64>,
    /// How many of them are polls that do not wait.
    pub impatient: usize,
    /// Whether the queue may hold jobs for them. Unknown is true.
    pub queued: Arc<AtomicBool>,
    /// Changes when jobs come into the queue, or fewer are passed over.
    pub generation: u64,
    /// Whether it stands in `State::urgent`.
    pub listed: bool,
    /// Since when no stream has had credit.
    pub exhausted: Option<Duration>,
}

impl Group {
    pub fn new(job_type: Name, tenants: Vec<Name>, caller: Option<Caller>) -> Self {
        Self {
            job_type,
            tenants,
            caller,
            streams: VecDeque::new(),
            polls: VecDeque::new(),
            impatient: 0,
            queued: Arc::new(AtomicBool::new(true)),
            generation: 0,
            listed: false,
            exhausted: None,
        }
    }

    /// Whether its demand should be proposed without waiting for a command.
    pub fn is_urgent(&self) -> bool {
        self.impatient > 0 || self.queued.load(Ordering::Acquire)
    }

    pub fn is_empty(&self) -> bool {
        self.streams.is_empty() && self.polls.is_empty()
    }

    pub fn add(&mut self, id: u64, subscriber: &Subscriber) {
        if subscriber.stream().is_some() { &mut self.streams } else { &mut self.polls }.push_back(id);
        self.impatient += usize::from(subscriber.is_impatient());
    }

    pub fn remove(&mut self, id: u64, subscriber: &Subscriber) {
        let of_its_kind = if subscriber.stream().is_some() { &mut self.streams } else { &mut self.polls };
        of_its_kind.retain(|other| *other != id);
        self.impatient -= usize::from(subscriber.is_impatient());
        self.generation += 1;
    }

    /// When polls that wait are served, at the earliest; `None`: not while a stream has credit.
    pub fn polls_served_at(
        &mut self,
        subscribers: &HashMap<u64, Subscriber>,
        now: Duration,
    ) -> Option<Duration> {
        if self.streams.is_empty() {
            return Some(now);
        }
        let mut streams = self.streams.iter().filter_map(|id| subscribers.get(id));
        if streams.any(|stream| stream.has_credit(self.generation)) {
            self.exhausted = None;
            return None;
        }
        Some(*self.exhausted.get_or_insert(now) + POLL_PATIENCE)
    }

    /// Notes that a stream has ended a job beyond its credit, which was lowered. It works, so polls are as patient with
    /// it as with one whose credit comes back.
    pub fn works_off(&mut self, now: Duration) {
        self.exhausted = self.exhausted.map(|_| now);
    }

    /// Whether a batch of its own would find a job for one of them, or tell one that there is none. If that is so later
    /// only because time passes, `look_at` is brought forward.
    pub fn is_wanting(
        &mut self,
        subscribers: &mut HashMap<u64, Subscriber>,
        now: Duration,
        look_at: &mut Option<Duration>,
    ) -> bool {
        if !self.is_urgent() {
            return false;
        }
        let queued = self.queued.load(Ordering::Acquire);
        let mut later = |at: Duration| *look_at = Some(look_at.map_or(at, |other| other.min(at)));
        for id in &self.streams {
            let stream = subscribers.get_mut(id);
            match stream.and_then(|stream| stream.wants_at(queued, self.generation, now)) {
                Some(at) if at <= now => return true,
                Some(at) => later(at),
                None => {}
            }
        }
        let mut any_waits = false;
        for id in &self.polls {
            let Some(poll) = subscribers.get_mut(id) else { continue };
            if poll.wants_at(queued, self.generation, now).is_some() {
                if poll.is_impatient() {
                    return true;
                }
                any_waits = true;
            }
        }
        match self.polls_served_at(subscribers, now) {
            Some(at) if any_waits && at <= now => true,
            Some(at) if any_waits => {
                later(at);
                false
            }
            _ => false,
        }
    }

    /// Adds the demand of all of them, as far as it fits: streams, and then polls. `free`: jobs that streams may get.
    pub fn take(
        &mut self,
        subscribers: &mut HashMap<u64, Subscriber>,
        demand: &mut Vec<Demand>,
        max_per_batch: usize,
        free: &mut usize,
        now: Duration,
    ) {
        // However many streams there are, a poll that does not wait gets its answer.
        let places = max_per_batch.saturating_sub(demand.len());
        let kept_for_polls = self.impatient.min((places / 2).max(1));
        for _ in 0..self.streams.len() {
            if demand.len() + kept_for_polls >= max_per_batch {
                break;
            }
            let Some(id) = next_turn(&mut self.streams) else { return };
            let Some(subscriber) = subscribers.get_mut(&id) else { continue };
            let room = subscriber.room().min((*free).try_into().unwrap_or(u32::MAX));
            if room > 0 {
                *free -= room as usize;
                let except = subscriber.stream().map(|stream| stream.overdue.keys().copied().collect());
                demand.push(subscriber.ask(id, room, except.unwrap_or_default()));
            }
        }
        if self.polls.is_empty() {
            return;
        }
        let served = self.polls_served_at(subscribers, now).is_some_and(|at| at <= now);
        if !served && self.impatient == 0 {
            return;
        }
        for _ in 0..self.polls.len() {
            if demand.len() >= max_per_batch {
                return;
            }
            let Some(id) = next_turn(&mut self.polls) else { return };
            let Some(poll) = subscribers.get(&id) else { continue };
            let room = poll.room();
            if room > 0 && (served || poll.is_impatient()) {
                let except = self.overdue_of(&poll.request.worker, subscribers);
                let poll = subscribers.get_mut(&id).expect("it was just there");
                demand.push(poll.ask(id, room, except));
            }
        }
    }

    /// Jobs that streams of a worker of this name still hold. Its polls need not bring it the same once more.
    fn overdue_of(&self, worker: &Name, subscribers: &HashMap<u64, Subscriber>) -> Vec<Key> {
        if worker.is_empty() {
            return Vec::new();
        }
        let streams = self.streams.iter().filter_map(|id| subscribers.get(id));
        let own = streams.filter(|subscriber| subscriber.request.worker == *worker);
        let mut keys: Vec<Key> =
            own.filter_map(Subscriber::stream).flat_map(|stream| stream.overdue.keys().copied()).collect();
        keys.sort_unstable();
        keys.dedup();
        // The oldest stand first in the queue.
        keys.truncate(OVERDUE_MAX);
        keys
    }
}

/// Takes the first subscriber and puts it last.
fn next_turn(turns: &mut VecDeque<u64>) -> Option<u64> {
    let first = turns.pop_front()?;
    turns.push_back(first);
    Some(first)
}
