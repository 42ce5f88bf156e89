//! The memory of the other replicas, by which one that went back in time is found.
//!
//! An old copy of a data directory looks like the directory of a broker that was restarted: nothing in it says that
//! its replica has voted and acknowledged entries since. Only others know. So a replica presents itself to them
//! before it takes part (`presenting.rs`), and each compares that with what it remembers: the latest replica of the
//! broker, its latest life, and the last entry that it acknowledged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use parking_lot::Mutex;
use planted::Bug;
use protocol::{FIRST_PARTITION, PartitionId};
use replication::Acknowledged;
use serde::{Deserialize, Serialize};
use tokio::time::{Duration, Instant};

use crate::identity::Identity;
use crate::replica_number::ReplicaNumber;
use data_directory::durable_file;

/// Format of the file.
const FORMAT: u32 = 1;
/// Interval at which frequent changes are written. The log has the acknowledgements of its own leader and followers.
const WRITE_INTERVAL: Duration = Duration::from_secs(5);

/// First bytes of the answer to a replica that presents itself.
const VOUCHED: u8 = 0;
const WENT_BACK: u8 = 1;

/// The last entries that replicas have acknowledged in the groups here, by partition and replica.
pub type HeardHere = BTreeMap<PartitionId, BTreeMap<u64, Acknowledged>>;

#[derive(Serialize, Deserialize)]
struct AcknowledgedForm {
    term: u64,
    node: u64,
    index: u64,
}

impl From<Acknowledged> for AcknowledgedForm {
    fn from(Acknowledged { term, node, index }: Acknowledged) -> Self {
        Self { term, node, index }
    }
}

impl From<AcknowledgedForm> for Acknowledged {
    fn from(AcknowledgedForm { term, node, index }: AcknowledgedForm) -> Self {
        Self { term, node, index }
    }
}

/// The last entry that a replica has acknowledged in each partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "LastEntriesForm", into = "LastEntriesForm")]
struct LastEntries(BTreeMap<PartitionId, Acknowledged>);

/// The entry of the first partition, and those of the others: with one partition, there is one entry.
#[derive(Serialize, Deserialize)]
struct LastEntriesForm {
    term: u64,
    node: u64,
    index: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    further: BTreeMap<PartitionId, AcknowledgedForm>,
}

impl From<LastEntries> for LastEntriesForm {
    fn from(LastEntries(mut entries): LastEntries) -> Self {
        let Acknowledged { term, node, index } = entries.remove(&FIRST_PARTITION).unwrap_or_default();
        let further = entries.into_iter().map(|(partition, entry)| (partition, entry.into()));
        Self { term, node, index, further: further.collect() }
    }
}

impl From<LastEntriesForm> for LastEntries {
    fn from(LastEntriesForm { term, node, index, further }: LastEntriesForm) -> Self {
        let further = further.into_iter().map(|(partition, entry)| (partition, entry.into()));
        let first = (FIRST_PARTITION, Acknowledged { term, node, index });
        Self(std::iter::once(first).chain(further).collect())
    }
}

impl LastEntries {
    /// The entry of a partition; of one that is not known it is before all others.
    fn of(&self, partition: PartitionId) -> Acknowledged {
        self.0.get(&partition).copied().unwrap_or_default()
    }

    /// Takes over an entry if it is later. Returns whether it is.
    fn reach(&mut self, partition: PartitionId, entry: Acknowledged) -> bool {
        let is_later = entry > self.of(partition);
        if is_later {
            self.0.insert(partition, entry);
        }
        is_later
    }

    fn reach_all(&mut self, others: &Self) {
        for (partition, entry) in &others.0 {
            self.reach(*partition, *entry);
        }
    }
}

/// A replica as another one remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownReplica {
    /// Its number in groups.
    replica: u64,
    /// The number of its data directory.
    directory: u64,
    /// Its latest life: the count, and the random number.
    life: u64,
    random: u64,
    acknowledged: LastEntries,
}

impl KnownReplica {
    /// A replica in its present life, with the last entries that it has acknowledged, by partition.
    pub fn of(
        identity: &Identity,
        replica: ReplicaNumber,
        acknowledged: BTreeMap<PartitionId, Acknowledged>,
    ) -> Self {
        let Identity { directory, life, .. } = *identity;
        let acknowledged = LastEntries(acknowledged);
        Self { replica: replica.number(), directory, life, random: identity.random(), acknowledged }
    }

    /// Takes over the later values of another broker's memory.
    fn learn(&mut self, told: Self) {
        match (told.replica, told.life).cmp(&(self.replica, self.life)) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal if told.random != self.random => {}
            std::cmp::Ordering::Equal => self.acknowledged.reach_all(&told.acknowledged),
            std::cmp::Ordering::Greater if told.replica > self.replica => *self = told,
            std::cmp::Ordering::Greater => {
                let mut acknowledged = std::mem::take(&mut self.acknowledged);
                acknowledged.reach_all(&told.acknowledged);
                *self = Self { acknowledged, ..told };
            }
        }
    }
}

/// A replica that presents itself, with the content of its files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Presented {
    now: KnownReplica,
    /// Random numbers of its latest lives, by their counts, that of now included.
    lives: BTreeMap<u64, u64>,
}

impl Presented {
    /// A replica whose logs end there, by partition.
    pub fn new(
        identity: &Identity,
        replica: ReplicaNumber,
        ends: BTreeMap<PartitionId, Acknowledged>,
    ) -> Self {
        Self { now: KnownReplica::of(identity, replica, ends), lives: identity.lives.clone() }
    }

    /// Compares the replica with this broker's memory of it. An error tells what it lacks.
    fn judge(&self, known: &KnownReplica) -> Result<(), String> {
        let Self { now, lives } = self;
        if now.replica > known.replica {
            return Ok(());
        }
        if now.replica < known.replica {
            return Err(format!("replica {} has taken the place of {}", known.replica, now.replica));
        }
        if now.directory != known.directory {
            return Err("its data directory is another one than that of the replica".to_owned());
        }
        let is_former = match lives.get(&known.life) {
            Some(random) => *random == known.random,
            // Too long ago.
            None => lives.keys().next().is_some_and(|first| known.life < *first),
        };
        if !is_former {
            return Err(format!(
                "it was started at least {} times before, and its directory has another start {} or none",
                known.life, known.life
            ));
        }
        if planted::has(Bug::ForgottenAcknowledgement) {
            return Ok(());
        }
        let lacking = known.acknowledged.0.iter().find(|(at, had)| now.acknowledged.of(**at) < **had);
        lacking.map_or(Ok(()), |(partition, had)| {
            let has = now.acknowledged.of(*partition);
            Err(format!(
                "it had log index {} in term {} of partition {partition}, and its log ends at {} in term {}",
                had.index, had.term, has.index, has.term
            ))
        })
    }
}

/// Verdict of a broker on one that presents itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The broker remembers nothing that the replica lacks.
    Vouched,
    /// The replica went back in time, with the reason.
    WentBack(String),
}

impl Verdict {
    /// Reads an answer.
    pub fn of(answer: &Bytes) -> Result<Self, String> {
        match answer.split_first() {
            Some((&VOUCHED, _)) => Ok(Self::Vouched),
            Some((&WENT_BACK, reason)) => Ok(Self::WentBack(String::from_utf8_lossy(reason).into_owned())),
            _ => Err("an answer of another form".to_owned()),
        }
    }

    fn encode(&self) -> Bytes {
        match self {
            Self::Vouched => Bytes::from_static(&[VOUCHED]),
            Self::WentBack(reason) => [&[WENT_BACK], reason.as_bytes()].concat().into(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Form {
    format: u32,
    replicas: BTreeMap<u32, KnownReplica>,
}

/// The other replicas of a cluster, by the numbers of their brokers.
#[derive(Debug)]
pub struct KnownReplicas {
    path: PathBuf,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    replicas: BTreeMap<u32, KnownReplica>,
    /// Time of the earliest change that is not written.
    unwritten: Option<Instant>,
}

/// The file in a data directory.
fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("known-replicas.json")
}

impl KnownReplicas {
    /// Reads what a data directory remembers.
    pub fn open(data_dir: &Path) -> std::io::Result<Self> {
        let path = file(data_dir);
        let form: Option<Form> = durable_file::read_json(&path)?;
        if let Some(Form { format, .. }) = form.as_ref().filter(|form| form.format != FORMAT) {
            let text = format!("'{}' has format {format}, this release reads {FORMAT}", path.display());
            return Err(std::io::Error::other(text));
        }
        let replicas = form.map(|form| form.replicas).unwrap_or_default();
        Ok(Self { path, memory: Mutex::new(Memory { replicas, unwritten: None }) })
    }

    /// Answers a replica that presents itself; `heard` is what replicas have promised in the groups here. Its words
    /// are on disk before it is told so. An error is no verdict.
    pub fn answer(&self, broker: u32, presented: &[u8], heard: &HeardHere) -> Result<Bytes, String> {
        let presented: Presented = serde_json::from_slice(presented).map_err(|error| error.to_string())?;
        if ReplicaNumber::of(presented.now.replica).broker != broker {
            return Err(format!("replica {} is none of broker {broker}", presented.now.replica));
        }
        if presented.lives.get(&presented.now.life) != Some(&presented.now.random) {
            return Err("a life without its number".to_owned());
        }
        let mut memory = self.memory.lock();
        memory.learn_heard(heard);
        // One that nobody remembers may still have acknowledged something to the groups here.
        let promised = heard.iter().filter_map(|(at, all)| Some((*at, *all.get(&presented.now.replica)?)));
        let promised = LastEntries(promised.collect());
        let is_unknown = !promised.0.is_empty() && !memory.replicas.contains_key(&broker);
        let unknown = is_unknown.then(|| KnownReplica { acknowledged: promised, ..presented.now.clone() });
        if let Some(known) = memory.replicas.get(&broker).or(unknown.as_ref())
            && let Err(reason) = presented.judge(known)
        {
            // No error of this broker, and none at all when it hears words that a replica has long been vouched for.
            tracing::info!(broker, reason, "told a replica that presented itself that it went back in time");
            return Ok(Verdict::WentBack(reason).encode());
        }
        memory.learn(broker, presented.now);
        self.write(&mut memory).map_err(|error| format!("'{}': {error}", self.path.display()))?;
        Ok(Verdict::Vouched.encode())
    }

    /// Notes what replicas say about themselves, by their brokers, and what they have promised in the groups here. It
    /// is written after a while.
    pub fn learn(
        &self,
        told: impl Iterator<Item = (u32, KnownReplica)>,
        heard: &HeardHere,
    ) -> std::io::Result<()> {
        let mut memory = self.memory.lock();
        for (broker, told) in told {
            if ReplicaNumber::of(told.replica).broker == broker {
                memory.learn(broker, told);
            }
        }
        memory.learn_heard(heard);
        if memory.unwritten.is_some_and(|since| since.elapsed() >= WRITE_INTERVAL) {
            self.write(&mut memory)?;
        }
        Ok(())
    }

    fn write(&self, memory: &mut Memory) -> std::io::Result<()> {
        if memory.unwritten.is_none() {
            return Ok(());
        }
        let form = Form { format: FORMAT, replicas: memory.replicas.clone() };
        let mut text = serde_json::to_vec_pretty(&form).expect("numbers are JSON");
        text.push(b'\n');
        durable_file::write(&self.path, &text)?;
        memory.unwritten = None;
        Ok(())
    }
}

impl Memory {
    fn learn(&mut self, broker: u32, told: KnownReplica) {
        let known = self.replicas.get(&broker);
        let mut learned = known.cloned().unwrap_or_else(|| told.clone());
        learned.learn(told);
        if known != Some(&learned) {
            self.replicas.insert(broker, learned);
            self.unwritten.get_or_insert_with(Instant::now);
        }
    }

    fn learn_heard(&mut self, heard: &HeardHere) {
        for known in self.replicas.values_mut() {
            for (partition, acknowledged) in heard {
                let entry = acknowledged.get(&known.replica);
                if entry.is_some_and(|entry| known.acknowledged.reach(*partition, *entry)) {
                    self.unwritten.get_or_insert_with(Instant::now);
                }
            }
        }
    }
}

/// Forgets the other replicas: they begin anew, too.
pub fn forget(data_dir: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(file(data_dir)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
