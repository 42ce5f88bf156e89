//! The registry: subscribers, their groups, and the jobs of each stream.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::time::Duration;

use broker_api::{Activation, JobRequest, Positions};
use engine::{Delivery, JobEnd};
use protocol::{ActivatedJob, Demand, Key, Name};
use tokio::sync::mpsc;

use super::figures::JobTypes;
use super::group::Group;
use super::subscriber::Polled;
use super::subscriber::{Sink, Subscriber};
use crate::credit::Departure;

/// Groups without queued jobs that are looked at for one batch, per subscriber whose demand fits into it.
const VISITS_PER_DEMAND: usize = 8;
/// Jobs that all streams of a partition hold at the most. Polls are served beyond it.
const HELD_MAX: usize = 1 << 18;

/// A job with a stream.
struct Held {
    stream: u64,
    departure: Departure,
    /// Tells this delivery of the job from one before.
    deadline_ms: i64,
}

#[derive(Default)]
pub(super) struct State {
    pub closed: bool,
    pub subscribers: HashMap<u64, Subscriber>,
    next_group: u64,
    pub groups: HashMap<u64, Group>,
    by_type: HashMap<Name, Vec<u64>>,
    /// Groups that are or were urgent, in the order of their next turn.
    pub urgent: VecDeque<u64>,
    /// All groups, in the order of their next turn.
    turns: VecDeque<u64>,
    /// Jobs to give back.
    pub yielded: Vec<(Key, i64)>,
    pub pushed: u64,
    pub push_failed: u64,
    /// Jobs that streams hold by right.
    held: HashMap<Key, Held>,
    /// Jobs that streams have asked for in batches that are under way.
    pub asked: usize,
    /// Jobs that streams still hold although their time was over, by job.
    overdue: BTreeSet<(Key, u64)>,
    batch: u64,
    /// Time to look at demand again, though nothing else happens.
    pub look_at: Option<Duration>,
    pub job_types: JobTypes,
}

pub(super) fn tenants(request: &JobRequest) -> Vec<Name> {
    let mut tenants = request.tenant_ids.clone();
    tenants.sort_unstable();
    tenants.dedup();
    tenants
}

/// Puts a group among the urgent ones.
pub(super) fn list(urgent: &mut VecDeque<u64>, number: u64, group: &mut Group) {
    if !group.listed {
        group.listed = true;
        urgent.push_back(number);
    }
}

impl State {
    pub fn find_group(&self, request: &JobRequest, tenants: &[Name]) -> Option<u64> {
        let same = |number: &&u64| {
            let group = self.groups.get(number);
            group.is_some_and(|group| *group.tenants == *tenants && group.caller == request.caller)
        };
        self.by_type.get(&request.job_type)?.iter().find(same).copied()
    }

    /// The group of a request, new if need be.
    pub fn group(&mut self, request: &JobRequest) -> u64 {
        let tenants = tenants(request);
        if let Some(number) = self.find_group(request, &tenants) {
            return number;
        }
        let number = self.next_group;
        self.next_group += 1;
        let group = Group::new(request.job_type.clone(), tenants, request.caller.clone());
        self.groups.insert(number, group);
        self.by_type.entry(request.job_type.clone()).or_default().push(number);
        self.turns.push_back(number);
        number
    }

    fn forget(&mut self, number: u64) {
        let Some(group) = self.groups.remove(&number) else { return };
        if let Some(numbers) = self.by_type.get_mut(&group.job_type) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.by_type.remove(&group.job_type);
            }
        }
    }

    /// Notes that jobs of a type entered the queue.
    pub fn queued(&mut self, job_type: &Name) {
        for number in self.by_type.get(job_type).into_iter().flatten() {
            if let Some(group) = self.groups.get_mut(number) {
                group.queued.store(true, Ordering::Release);
                group.generation += 1;
                list(&mut self.urgent, *number, group);
            }
        }
    }

    /// Demand for the next batch: groups in turn, urgent ones first.
    pub fn attach(&mut self, max_per_batch: usize, now: Duration) -> Vec<Demand> {
        let free = HELD_MAX.saturating_sub(self.held.len() + self.asked);
        let mut left = free;
        let demand = self.attach_within(&mut left, max_per_batch, now);
        self.asked += free - left;
        demand
    }

    /// `free`: jobs that streams may get. Their demand is taken from it.
    fn attach_within(&mut self, free: &mut usize, max_per_batch: usize, now: Duration) -> Vec<Demand> {
        let mut demand = Vec::new();
        for _ in 0..self.urgent.len() {
            if demand.len() >= max_per_batch {
                return demand;
            }
            let Some(number) = self.urgent.pop_front() else { break };
            let Some(group) = self.groups.get_mut(&number) else { continue };
            group.listed = group.is_urgent();
            if group.listed {
                self.urgent.push_back(number);
                group.take(&mut self.subscribers, &mut demand, max_per_batch, free, now);
            }
        }
        for _ in 0..self.turns.len().min(max_per_batch * VISITS_PER_DEMAND) {
            if demand.len() >= max_per_batch {
                break;
            }
            let Some(number) = self.turns.pop_front() else { break };
            let Some(group) = self.groups.get_mut(&number) else { continue };
            if group.is_empty() {
                // No subscriber is left: the group is forgotten, and with it the knowledge of its queue.
                self.forget(number);
                continue;
            }
            self.turns.push_back(number);
            if !group.listed {
                group.take(&mut self.subscribers, &mut demand, max_per_batch, free, now);
            }
        }
        demand
    }

    /// Removes a subscriber. The jobs of a stream keep their deadline, but are nobody's any more.
    pub fn remove(&mut self, id: u64) -> Option<Subscriber> {
        let mut subscriber = self.subscribers.remove(&id)?;
        self.asked -= subscriber.back();
        if let Some(group) = self.groups.get_mut(&subscriber.group) {
            group.remove(id, &subscriber);
        }
        if let Some(stream) = subscriber.stream() {
            if stream.outstanding > 0 {
                self.held.retain(|_, held| held.stream != id);
            }
            for key in stream.overdue.keys() {
                self.overdue.remove(&(*key, id));
            }
        }
        Some(subscriber)
    }

    pub fn give_back(&mut self, job: &ActivatedJob, now_ms: i64) {
        if job.deadline_ms > now_ms {
            self.yielded.push((job.key, job.deadline_ms));
        }
    }

    /// Answers a poll and lets it go; a stream just goes.
    pub fn answer(&mut self, id: u64, answer: Polled) -> Option<Vec<ActivatedJob>> {
        let subscriber = self.remove(id)?;
        match subscriber.sink {
            Sink::Poll { reply, .. } => reply.send(answer).err()?.ok().map(|activation| activation.jobs),
            Sink::Stream(_) => None,
        }
    }

    pub fn hand_out(&mut self, delivery: Delivery, now: Duration, now_ms: i64, positions: &Positions) {
        let id = delivery.subscriber_id;
        let Some(subscriber) = self.subscribers.get_mut(&id) else {
            self.refused(&delivery.jobs, now_ms);
            return;
        };
        self.asked -= subscriber.back();
        let of_type = self.job_types.of(&subscriber.request.job_type);
        let count = delivery.jobs.len() as u64;
        if let Sink::Stream(stream) = &mut subscriber.sink {
            let (mut refused, mut again) = (Vec::new(), Vec::new());
            for job in delivery.jobs {
                let (key, deadline_ms) = (job.key, job.deadline_ms);
                if stream.overdue.contains_key(&key) {
                    // Its time was over after this demand was on its way.
                    again.push(job);
                    continue;
                }
                match stream.buffer.try_send(job) {
                    Ok(()) => {
                        let departure = stream.credit.depart(now);
                        let before = Held { stream: id, departure, deadline_ms };
                        let before = self.held.insert(key, before);
                        debug_assert!(before.is_none(), "a job that is activated was with nobody");
                        stream.outstanding += 1;
                        self.pushed += 1;
                        of_type.streamed += 1;
                    }
                    Err(mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) => {
                        refused.push(job);
                    }
                }
            }
            // Served subscribers move to the end.
            if let Some(group) = self.groups.get_mut(&subscriber.group) {
                group.streams.retain(|other| *other != id);
                group.streams.push_back(id);
            }
            self.refused(&refused, now_ms);
            for job in &again {
                self.give_back(job, now_ms);
            }
            if let Some(subscriber) = self.subscribers.get(&id) {
                subscriber.note();
            }
            return;
        }
        of_type.polled += count;
        let activation = Activation { jobs: delivery.jobs, positions: positions.clone() };
        match self.answer(id, Ok(activation)) {
            None => self.pushed += count,
            Some(jobs) => self.refused(&jobs, now_ms),
        }
    }

    fn refused(&mut self, jobs: &[ActivatedJob], now_ms: i64) {
        self.push_failed += jobs.len() as u64;
        for job in jobs {
            self.give_back(job, now_ms);
        }
    }

    pub fn unmet(&mut self, id: u64) {
        let Some(subscriber) = self.subscribers.get_mut(&id) else { return };
        self.asked -= subscriber.back();
        subscriber.note();
        if let Some(group) = self.groups.get(&subscriber.group) {
            if subscriber.excepts {
                subscriber.passed_over = Some(group.generation);
            } else {
                group.queued.store(false, Ordering::Release);
            }
        }
        if subscriber.is_impatient() {
            self.answer(id, Ok(Activation::default()));
        }
    }

    /// The next batch tells of what it did.
    pub fn next_batch(&mut self) {
        self.batch += 1;
    }

    /// Notes that a worker lost a job, or holds it only without a right to it.
    pub fn ended(&mut self, key: Key, end: JobEnd, now: Duration, now_ms: i64) {
        let Some(held) = self.held.remove(&key) else {
            if matches!(end, JobEnd::Answered | JobEnd::Failed) {
                // The one who still had it, or whom a poll gave it: then another answer for it is refused.
                self.worked_off(key);
            }
            return;
        };
        let batch = self.batch;
        let Some(subscriber) = self.subscribers.get_mut(&held.stream) else { return };
        let group_number = subscriber.group;
        let group = self.groups.get(&group_number);
        let queued = group.is_some_and(|group| group.queued.load(Ordering::Acquire));
        let timeout_ms = subscriber.request.timeout_ms;
        let job_type = subscriber.request.job_type.clone();
        let Some(stream) = subscriber.stream_mut() else { return };
        if stream.batch != batch {
            stream.batch = batch;
            stream.held_before = stream.held() + stream.credit.held_by_others();
        }
        debug_assert!(stream.outstanding > 0, "it held this one");
        stream.outstanding = stream.outstanding.saturating_sub(1);
        let others = stream.credit.held_by_others();
        let is_shrinking = end == JobEnd::Answered && stream.outstanding + others >= stream.credit.limit();
        match end {
            JobEnd::Answered => {
                let is_used_up = u64::from(stream.held_before) * 4 >= u64::from(stream.credit.limit()) * 3;
                stream.credit.ended(held.departure, now, queued && is_used_up);
            }
            JobEnd::Failed => stream.credit.failed(),
            JobEnd::TimedOut => {
                stream.credit.timed_out(held.departure, now);
                stream.overdue.insert(key, now_ms.saturating_add(timeout_ms));
                self.overdue.insert((key, held.stream));
                self.job_types.of(&job_type).timed_out += 1;
            }
            JobEnd::Yielded | JobEnd::Canceled => {}
        }
        if let Some(subscriber) = self.subscribers.get(&held.stream) {
            subscriber.note();
        }
        if is_shrinking && let Some(group) = self.groups.get_mut(&group_number) {
            group.works_off(now);
        }
    }

    /// Notes that a stream has answered a job beyond its time-out. Returns its type; `None` if there is no such stream.
    pub fn worked_off(&mut self, key: Key) -> Option<Name> {
        let (_, id) = self.overdue.range((key, 0)..=(key, u64::MAX)).next().copied()?;
        self.give_up(key, id)
    }

    /// Notes that a stream no longer holds a job that timed out. Returns the type.
    fn give_up(&mut self, key: Key, id: u64) -> Option<Name> {
        self.overdue.remove(&(key, id));
        let subscriber = self.subscribers.get_mut(&id)?;
        subscriber.stream_mut()?.overdue.remove(&key);
        subscriber.note();
        if let Some(group) = self.groups.get_mut(&subscriber.group) {
            group.generation += 1;
        }
        Some(subscriber.request.job_type.clone())
    }

    /// An answer for a job was refused, since the job has ended or is not with a worker: whoever sent it does not hold
    /// it any more. Returns whether a stream has more room now. `is_gone`: the job has ended.
    pub fn answer_refused(&mut self, key: Key, is_gone: bool) -> bool {
        if let Some(job_type) = self.worked_off(key) {
            self.job_types.of(&job_type).refused += 1;
            return true;
        }
        self.job_types.of_others().refused += 1;
        if !is_gone {
            return false;
        }
        self.let_go(key, None)
    }

    /// A job did not reach the worker of a stream in time.
    pub fn dropped(&mut self, job: &ActivatedJob, id: u64) -> bool {
        self.let_go(job.key, Some((id, job.deadline_ms))) || self.give_up(job.key, id).is_some()
    }

    /// Takes a job from the stream that holds it by right. `of`: if it is this one, by this delivery. It may have been
    /// delivered to the stream once more since then.
    fn let_go(&mut self, key: Key, of: Option<(u64, i64)>) -> bool {
        let Some(held) = self.held.get(&key) else { return false };
        if of.is_some_and(|of| of != (held.stream, held.deadline_ms)) {
            return false;
        }
        let id = held.stream;
        self.held.remove(&key);
        if let Some(stream) = self.subscribers.get_mut(&id).and_then(Subscriber::stream_mut) {
            debug_assert!(stream.outstanding > 0, "stream {id} holds job {key}, but none is outstanding");
            stream.outstanding = stream.outstanding.saturating_sub(1);
        }
        if let Some(subscriber) = self.subscribers.get(&id) {
            subscriber.note();
        }
        true
    }

    /// Gives up waiting for answers to jobs that have been overdue for as long as their time-out. Returns whether there
    /// was one.
    pub fn expire(&mut self, now_ms: i64) -> bool {
        let is_over = |(key, id): &&(Key, u64)| {
            let stream = self.subscribers.get(id).and_then(Subscriber::stream);
            stream.and_then(|stream| stream.overdue.get(key)).is_none_or(|until| *until <= now_ms)
        };
        let over: Vec<(Key, u64)> = self.overdue.iter().filter(is_over).copied().collect();
        for (key, id) in &over {
            self.give_up(*key, *id);
        }
        !over.is_empty()
    }

    /// Whether a stream has parts in other partitions.
    pub fn has_shared(&self) -> bool {
        let mut streams = self.subscribers.values().filter_map(Subscriber::stream);
        streams.any(|stream| stream.credit.is_shared())
    }

    /// Jobs that streams hold by right.
    #[cfg(test)]
    pub fn held_count(&self) -> usize {
        self.held.len()
    }

    /// Streams that are gone hold all that streams may hold, but for so many.
    #[cfg(test)]
    pub fn hold_all_but(&mut self, free: usize) {
        let departure = crate::credit::Credit::new(1, 1, Duration::ZERO).depart(Duration::ZERO);
        self.held =
            (free..HELD_MAX).map(|key| (key as Key, Held { stream: 0, departure, deadline_ms: 0 })).collect();
    }
}
