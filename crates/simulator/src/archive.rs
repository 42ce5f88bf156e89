//! The target of exporters: what each broker has handed on, for the comparison at the end.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use broker::{OwnCopy, StoreQueries};
use export::{Copies, ExportError, Exporter, Factory, Flush, NoCopy};
use futures::FutureExt as _;
use protocol::{Key, Record, RecordValue};

use crate::exclusive::Exclusive;

const ID: &str = "archive";
/// ID of the exporter to the archive of all brokers.
pub const SHARED_ID: &str = "shared-archive";
/// Time for an answer of another broker's archive.
const ANSWER: Duration = Duration::from_secs(5);

/// A record: a hash of all that it says, and the process instance that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    hash: u64,
    instance: Key,
}

/// Records by their positions.
pub type Records = BTreeMap<u64, Noted>;

/// How an archive is, as it tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ArchiveState {
    /// The archive was not asked yet.
    #[default]
    Unknown,
    /// It has everything but what it tells to be missing.
    Whole,
    /// It lacks records that other brokers may have.
    UnderWay(String),
    /// It lacks records that no other broker has.
    Lost(String),
}

/// The archive of a broker: what is there for good.
#[derive(Debug, Clone, Default)]
pub struct Archive {
    records: Records,
    /// It has everything up to here, but for its gaps.
    upto: u64,
    /// Records that are missing for good: those after a position, up to another one.
    gaps: BTreeSet<(u64, u64)>,
    pub state: ArchiveState,
    /// The operator has said that it goes on without what is lost.
    goes_on: bool,
}

impl Archive {
    /// The first position at which it differs from all records, but for the gaps that it tells.
    fn first_difference(&self, all: &Records) -> Option<u64> {
        // A purge among them would have removed what is older.
        let first = if self.has_gaps() { all.first_key_value().map_or(0, |(first, _)| *first) } else { 0 };
        let is_told =
            |position: u64| self.gaps.iter().any(|(after, upto)| *after < position && position <= *upto);
        let differs = |position: &&u64| match (self.records.get(position), all.get(position)) {
            (None, Some(_)) => !is_told(**position),
            (own, of_all) => own != of_all,
        };
        self.records
            .keys()
            .chain(all.keys())
            .filter(|position| **position >= first)
            .filter(differs)
            .min()
            .copied()
    }

    /// Whether it tells that records are missing for good.
    pub fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Up to which position it has records.
    pub fn upto(&self) -> u64 {
        self.upto
    }

    /// Whether it lacks nothing, or tells what it lacks.
    pub fn is_whole(&self) -> bool {
        self.state == ArchiveState::Whole
    }

    fn write(&self) -> String {
        let gaps = self.gaps.iter().map(|(after, upto)| format!("gap {after} {upto}"));
        let records = self
            .records
            .iter()
            .map(|(position, Noted { hash, instance })| format!("record {position} {hash} {instance}"));
        let upto = std::iter::once(format!("upto {}", self.upto));
        upto.chain(gaps).chain(records).collect::<Vec<_>>().join("\n")
    }

    fn read(text: &str) -> Option<Self> {
        let mut archive = Self::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            let kind = words.next()?;
            let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
            match (kind, &numbers[..]) {
                ("upto", [upto]) => archive.upto = *upto,
                ("gap", [after, upto]) => drop(archive.gaps.insert((*after, *upto))),
                ("record", [position, hash, instance]) => {
                    archive.records.insert(*position, Noted { hash: *hash, instance: *instance });
                }
                _ => return None,
            }
        }
        Some(archive)
    }
}

/// Archives, by brokers.
static ARCHIVES: Exclusive<BTreeMap<u32, Archive>> = Exclusive::new(BTreeMap::new());

fn with<T>(broker: u32, look: impl FnOnce(&mut Archive) -> T) -> T {
    ARCHIVES.with(|archives| look(archives.entry(broker).or_default()))
}

/// The archive of a broker.
pub fn of(broker: u32) -> Archive {
    with(broker, |archive| archive.clone())
}

/// A broker's archive is lost with its data directory.
pub fn forget(broker: u32) {
    ARCHIVES.with(|archives| archives.remove(&broker));
}

/// An older state of a broker's archive is put back: it has records up to a position alone.
pub fn put_back(broker: u32, upto: u64) {
    with(broker, |archive| {
        drop(archive.records.split_off(&(upto + 1)));
        archive.upto = archive.upto.min(upto);
    });
}

/// The state of the archive is unknown once its broker has ended.
pub fn close(broker: u32) {
    with(broker, |archive| archive.state = ArchiveState::Unknown);
}

/// The operator has a broker's archive go on without what is lost.
pub fn go_on(broker: u32) {
    with(broker, |archive| archive.goes_on = true);
}

/// All archives are lost: the cluster begins anew.
pub fn forget_all() {
    ARCHIVES.with(BTreeMap::clear);
    SHARED.with(Records::clear);
}

/// How archives, that of all last, differ, and how far each goes; nothing if they are equal, but for gaps that are
/// told.
pub fn difference(brokers: &[u32]) -> Option<String> {
    let all = shared();
    let archives: Vec<_> = brokers.iter().map(|broker| of(*broker)).collect();
    let position = archives.iter().filter_map(|archive| archive.first_difference(&all)).min()?;
    let at = |records: &Records| records.get(&position).copied();
    let found: Vec<_> = archives.iter().map(|archive| at(&archive.records)).chain([at(&all)]).collect();
    let how: Vec<_> = archives.iter().map(|archive| (archive.upto, &archive.gaps, &archive.state)).collect();
    Some(format!("first at {position}: {found:x?}; they go up to {how:?}, and all to {}", last_of(&all)))
}

/// Instances of which an archive has no record, though it tells of no gap.
pub fn lacks(broker: u32, instances: impl Iterator<Item = Key>) -> Vec<Key> {
    let archive = of(broker);
    if archive.has_gaps() {
        return Vec::new();
    }
    let known: BTreeSet<Key> = archive.records.values().map(|noted| noted.instance).collect();
    instances.filter(|instance| !known.contains(instance)).collect()
}

/// The exporter of a broker: each has a target of its own, as with an embedded store.
pub fn factory(broker: u32) -> Factory {
    let copies = Arc::new(Copies::new(move |target: &Path| {
        let archive = of(broker);
        std::fs::write(target, archive.write()).map_err(|error| error.to_string())?;
        Ok(BTreeMap::from([(protocol::FIRST_PARTITION, archive.upto)]))
    }));
    let given = Arc::clone(&copies);
    let make = move |_| {
        Box::new(ToArchive { broker, copies: Arc::clone(&given), taken: Taken::default() })
            as Box<dyn Exporter>
    };
    Factory { make: Arc::new(make), unwanted: &[], copies: Some(copies), shown: None }
}

/// The archive of a broker as the others ask for it.
pub fn queries(broker: u32) -> Arc<StoreQueries> {
    let own = OwnCopy {
        position: Box::new(move |_| of(broker).upto),
        lacking: Box::new(move || match of(broker).state {
            ArchiveState::Unknown | ArchiveState::Whole => None,
            ArchiveState::UnderWay(reason) | ArchiveState::Lost(reason) => Some(reason),
        }),
        answer: Box::new(|_| async { Err("nobody asks".to_owned()) }.boxed()),
    };
    let shown = Arc::new(|_, _| {});
    Arc::new(StoreQueries::new(ID, Some(own), shown, ANSWER).with_copies(3))
}

/// The archive of all brokers.
static SHARED: Exclusive<Records> = Exclusive::new(Records::new());

/// The records that leaders have handed on.
pub fn shared() -> Records {
    SHARED.with(|records| records.clone())
}

/// The archive of all brokers refuses records at multiples of this position. 0: none.
static REFUSED_EVERY: Exclusive<u64> = Exclusive::new(0);

/// Has the archive of all brokers refuse records at multiples of a position, or none.
pub fn refuse(every: u64) {
    REFUSED_EVERY.with(|refused| *refused = every);
}

fn check(record: &Record) -> Result<(), ExportError> {
    let position = record.position;
    let is_purge = matches!(record.value, RecordValue::Purge(_));
    if !is_purge && REFUSED_EVERY.with(|every| *every > 0 && position.is_multiple_of(*every)) {
        return Err(ExportError::Record { position, reason: "the archive does not take it".to_owned() });
    }
    Ok(())
}

/// Position of the last record.
pub fn last_of(records: &Records) -> u64 {
    records.last_key_value().map_or(0, |(position, _)| *position)
}

/// The exporter of all brokers: the one that leads works.
pub fn shared_factory() -> Factory {
    let make = |_| Box::new(SharedArchive::default()) as Box<dyn Exporter>;
    Factory { make: Arc::new(make), unwanted: &[], copies: None, shown: None }
}

#[derive(Default)]
struct SharedArchive {
    /// Not there for good.
    taken: Taken,
    /// Position of the last record that this broker has put there, or found.
    last: u64,
}

impl Exporter for SharedArchive {
    fn id(&self) -> &'static str {
        SHARED_ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.taken = Taken::default();
        self.last = SHARED.with(|records| last_of(records));
        // Positions without a record may follow the last one; a gap is found at the end.
        Ok(self.last.max(acknowledged))
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in records {
            check(record)?;
            self.taken.add(record);
        }
        Ok(())
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        check(record)?;
        self.last = SHARED.with(|records| {
            records.insert(record.position, noted(record));
            last_of(records)
        });
        Ok(())
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        let taken = std::mem::take(&mut self.taken);
        let last = SHARED.with(|records| {
            // A broker that led before does not write beside the one that leads.
            if last_of(records) != self.last {
                return None;
            }
            taken.put_into(records);
            Some(last_of(records))
        });
        self.last = last.ok_or_else(|| ExportError::Target("another broker has written".to_owned()))?;
        Ok(self.last)
    }
}

/// Records that were taken since the last flush.
#[derive(Default)]
struct Taken {
    records: Records,
    /// A purge is among them: all that was before is gone.
    has_purge: bool,
}

impl Taken {
    fn add(&mut self, record: &Record) {
        if matches!(record.value, RecordValue::Purge(_)) {
            *self = Self { has_purge: true, ..Self::default() };
        }
        self.records.insert(record.position, noted(record));
    }

    fn put_into(self, records: &mut Records) {
        if self.has_purge {
            records.clear();
        }
        records.extend(self.records);
    }
}

struct ToArchive {
    broker: u32,
    copies: Arc<Copies>,
    /// Not there for good.
    taken: Taken,
}

fn noted(record: &Record) -> Noted {
    let mut hasher = DefaultHasher::new();
    format!("{record:?}").hash(&mut hasher);
    let instance = if let RecordValue::ProcessInstance(record) = &record.value {
        record.instance.process_instance_key
    } else {
        0
    };
    Noted { hash: hasher.finish(), instance }
}

impl ToArchive {
    /// Has another broker's archive take the place of this one.
    fn fetch(&self, needed: u64) -> Result<(), NoCopy> {
        let file = self.copies.fetch(&BTreeMap::from([(protocol::FIRST_PARTITION, needed)]))?;
        let failed = |error: std::io::Error| NoCopy::now(error.to_string());
        let text = std::fs::read_to_string(&file).map_err(failed)?;
        std::fs::remove_file(file).map_err(failed)?;
        let fetched = Archive::read(&text).ok_or_else(|| NoCopy::now("a copy of another form"))?;
        with(self.broker, |archive| *archive = fetched);
        Ok(())
    }

    /// Fills what is missing up to a position, or tells that nobody has it.
    fn fill(&self, needed: u64) -> Result<(), ExportError> {
        let stored = of(self.broker).upto;
        let lacking = |reason: &str| format!("it lacks records after {stored} up to {needed}: {reason}");
        with(self.broker, |archive| match archive.state {
            ArchiveState::Lost(_) => {}
            _ => archive.state = ArchiveState::UnderWay(lacking("they are fetched")),
        });
        let fetched = self.fetch(needed);
        with(self.broker, |archive| match fetched {
            Err(NoCopy { reason, is_final }) if !archive.goes_on => {
                let told = lacking(&reason);
                archive.state = if is_final {
                    ArchiveState::Lost(told.clone())
                } else {
                    ArchiveState::UnderWay(told.clone())
                };
                Err(ExportError::Target(told))
            }
            fetched => {
                if fetched.is_err() {
                    archive.gaps.insert((archive.upto, needed));
                }
                archive.goes_on = false;
                // Commands have positions, too: there is no record in between.
                archive.upto = archive.upto.max(needed);
                Ok(())
            }
        })
    }
}

impl Exporter for ToArchive {
    fn id(&self) -> &str {
        ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.taken = Taken::default();
        if of(self.broker).upto < acknowledged {
            self.fill(acknowledged)?;
        }
        Ok(with(self.broker, |archive| {
            archive.state = ArchiveState::Whole;
            archive.upto
        }))
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in records {
            self.taken.add(record);
        }
        Ok(())
    }

    fn replay(&mut self, _: &Record) -> Result<(), ExportError> {
        Ok(())
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        let taken = std::mem::take(&mut self.taken);
        Ok(with(self.broker, |archive| {
            archive.upto = archive.upto.max(last_of(&taken.records));
            if taken.has_purge {
                archive.gaps.clear();
            }
            taken.put_into(&mut archive.records);
            archive.upto
        }))
    }
}
