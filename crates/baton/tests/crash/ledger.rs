//! Acknowledged commands, and their contradictions.
//!
//! Every instance carries a number of its own in its variables, so an instance that nobody acknowledged (its answer
//! was lost in the crash) is known by what its jobs carry. The process has two jobs side by side, then one more.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use client::Job;

use crate::load::{PAYLOAD_BYTES_MAX, TYPES};
use crate::random::Random;

/// How many contradictions are shown.
const SHOWN: usize = 20;

#[derive(Default)]
pub(crate) struct Ledger(Mutex<Books>);

#[derive(Default)]
struct Books {
    next_number: u64,
    /// The highest key seen before this life of the server.
    floor: i64,
    highest_key: i64,
    /// Instances by their number, as far as acknowledged or seen.
    instances: HashMap<u64, Instance>,
    numbers: HashMap<i64, u64>,
    jobs: BTreeMap<i64, Entry>,
    /// Messages by their ID.
    messages: Vec<String>,
    /// Jobs that were gone when they should have been completed.
    gone: Vec<i64>,
    unanswered: u64,
    contradictions: Vec<String>,
}

struct Instance {
    key: i64,
    acknowledged: bool,
    /// Its job of each type.
    jobs: HashMap<String, i64>,
}

struct Entry {
    number: u64,
    completed: Completed,
}

#[derive(Clone, Copy)]
enum Completed {
    No,
    /// The answer never came.
    Perhaps,
    Yes(Instant),
}

/// A sample of what must be so.
pub(crate) struct Sample {
    pub(crate) completed_jobs: Vec<i64>,
    pub(crate) ended_instances: Vec<i64>,
    pub(crate) messages: Vec<String>,
}

impl Ledger {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock()
    }

    /// The server was started again: keys go on from where they were.
    pub(crate) fn new_life(&self) {
        let mut books = self.books();
        books.floor = books.highest_key;
    }

    /// A number for a new instance.
    pub(crate) fn number(&self) -> u64 {
        let mut books = self.books();
        books.next_number += 1;
        books.next_number
    }

    pub(crate) fn unanswered(&self) {
        self.books().unanswered += 1;
    }

    /// A creation was acknowledged.
    pub(crate) fn created(&self, number: u64, key: i64) {
        let mut books = self.books();
        if key <= books.floor {
            let text = format!("instance {key} is not above {}, a key from before the crash", books.floor);
            books.contradictions.push(text);
        }
        if books.jobs.contains_key(&key) {
            books.contradictions.push(format!("instance {key} has the key of a job"));
        }
        books.seen(number, key, true);
    }

    /// A message was taken.
    pub(crate) fn published(&self, id: String) {
        self.books().messages.push(id);
    }

    /// A job was handed out by a request made at `asked`. Returns whether it can be worked.
    pub(crate) fn activated(&self, job: &Job, asked: Instant) -> bool {
        let mut books = self.books();
        let Some((number, pad)) = numbers_of(&job.variables) else {
            books.contradictions.push(format!("job {} has variables {}", job.key, excerpt(&job.variables)));
            return false;
        };
        if pad != padding(number) {
            books
                .contradictions
                .push(format!("job {} of number {number} has {pad} bytes of payload", job.key));
        }
        books.seen(number, job.process_instance_key, false);
        let books = &mut *books;
        let Some(instance) = books.instances.get_mut(&number) else { return false };
        let known = *instance.jobs.entry(job.job_type.clone()).or_insert(job.key);
        if known != job.key {
            books
                .contradictions
                .push(format!("number {number} has two jobs '{}': {known} and {}", job.job_type, job.key));
        }
        books.highest_key = books.highest_key.max(job.key);
        let entry = books.jobs.entry(job.key).or_insert(Entry { number, completed: Completed::No });
        if entry.number != number {
            books
                .contradictions
                .push(format!("job {} belongs to numbers {} and {number}", job.key, entry.number));
        }
        if let Completed::Yes(at) = entry.completed
            && at < asked
        {
            books.contradictions.push(format!("job {} was completed and is handed out again", job.key));
            return false;
        }
        true
    }

    /// A completion was acknowledged.
    pub(crate) fn completed(&self, key: i64) {
        self.complete(key, Completed::Yes(Instant::now()));
    }

    /// A completion was not answered.
    pub(crate) fn perhaps_completed(&self, key: i64) {
        self.complete(key, Completed::Perhaps);
        self.unanswered();
    }

    /// A job is gone: another worker must have completed it, whose answer may still be under way.
    pub(crate) fn gone(&self, key: i64) {
        self.books().gone.push(key);
    }

    fn complete(&self, key: i64, completed: Completed) {
        let mut books = self.books();
        if let Some(entry) = books.jobs.get_mut(&key)
            && !matches!(entry.completed, Completed::Yes(_))
        {
            entry.completed = completed;
        }
    }

    pub(crate) fn contradiction(&self, text: String) {
        self.books().contradictions.push(text);
    }

    /// Up to `size` facts of each kind.
    pub(crate) fn sample(&self, size: usize, random: &mut Random) -> Sample {
        let books = self.books();
        let completed =
            |key: &i64| matches!(books.jobs.get(key), Some(Entry { completed: Completed::Yes(_), .. }));
        let jobs: Vec<i64> = books.jobs.keys().copied().filter(completed).collect();
        let ended = |instance: &&Instance| {
            instance.jobs.len() == TYPES.len() && instance.jobs.values().all(completed)
        };
        let instances: Vec<i64> =
            books.instances.values().filter(ended).map(|instance| instance.key).collect();
        Sample {
            completed_jobs: pick(&jobs, size, random),
            ended_instances: pick(&instances, size, random),
            messages: pick(&books.messages, size, random),
        }
    }

    /// Keys of all instances, whether acknowledged or seen.
    #[allow(dead_code, reason = "the crash test has one server")]
    pub(crate) fn instances(&self) -> Vec<i64> {
        self.books().instances.values().map(|instance| instance.key).collect()
    }

    pub(crate) fn summary(&self) -> String {
        let books = self.books();
        let acknowledged = books.instances.values().filter(|instance| instance.acknowledged).count();
        let completed =
            books.jobs.values().filter(|entry| matches!(entry.completed, Completed::Yes(_))).count();
        format!(
            "acknowledged: {acknowledged} creations, {completed} completions, {} messages; unanswered: {}",
            books.messages.len(),
            books.unanswered
        )
    }

    /// No contradiction so far. To be called while no request is under way.
    pub(crate) fn assert_sound(&self) {
        let mut books = self.books();
        let books = &mut *books;
        for key in books.gone.drain(..) {
            if matches!(books.jobs.get(&key), Some(Entry { completed: Completed::No, .. })) {
                books.contradictions.push(format!("job {key} is gone, but nobody completed it"));
            }
        }
        let shown = &books.contradictions[..books.contradictions.len().min(SHOWN)];
        assert!(shown.is_empty(), "{} contradictions:\n{}", books.contradictions.len(), shown.join("\n"));
    }

    /// After everything was worked off: every instance has had each of its jobs, and the test has done something.
    pub(crate) fn assert_complete(&self) {
        let books = self.books();
        let lost: Vec<_> =
            books.instances.iter().filter(|(_, instance)| books.has_lost(instance)).take(SHOWN).collect();
        let lost: Vec<_> =
            lost.iter().map(|(number, instance)| format!("{number} ({})", instance.key)).collect();
        assert!(lost.is_empty(), "acknowledged instances without all of their jobs: {}", lost.join(", "));
        assert!(
            !books.instances.is_empty() && !books.jobs.is_empty() && !books.messages.is_empty(),
            "no load"
        );
    }
}

impl Books {
    /// Whether a job of an instance has neither been seen nor can have been completed unseen.
    fn has_lost(&self, instance: &Instance) -> bool {
        TYPES.iter().any(|job_type| !instance.jobs.contains_key(*job_type))
    }

    fn seen(&mut self, number: u64, key: i64, acknowledged: bool) {
        let known = *self.numbers.entry(key).or_insert(number);
        if known != number {
            self.contradictions.push(format!("instance {key} has the numbers {known} and {number}"));
        }
        self.highest_key = self.highest_key.max(key);
        let instance = self.instances.entry(number).or_insert_with(|| Instance {
            key,
            acknowledged,
            jobs: HashMap::new(),
        });
        instance.acknowledged |= acknowledged;
        if instance.key != key {
            self.contradictions
                .push(format!("number {number} has two instances: {} and {key}", instance.key));
        }
    }
}

/// The variables of an instance.
pub(crate) fn variables(number: u64) -> String {
    format!(r#"{{"number":{number},"payload":"{}"}}"#, "x".repeat(padding(number)))
}

/// Many small ones, some large ones.
fn padding(number: u64) -> usize {
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let limit = if spread.is_multiple_of(16) { PAYLOAD_BYTES_MAX } else { 300 };
    (spread as usize) % limit
}

fn numbers_of(variables: &str) -> Option<(u64, usize)> {
    let value: serde_json::Value = serde_json::from_str(variables).ok()?;
    Some((value["number"].as_u64()?, value["payload"].as_str()?.len()))
}

fn excerpt(text: &str) -> String {
    text.chars().take(100).collect()
}

fn pick<T: Clone>(all: &[T], size: usize, random: &mut Random) -> Vec<T> {
    if all.len() <= size {
        return all.to_vec();
    }
    let chosen: HashSet<usize> = (0..size).map(|_| random.below(all.len() as u64) as usize).collect();
    chosen.into_iter().map(|index| all[index].clone()).collect()
}
