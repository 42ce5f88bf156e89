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
use protocol::{FIRST_PARTITION, Key, PartitionId, Record, RecordValue};

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

/// The archive of a broker for one partition: what is there for good.
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
    /// How often the content of another archive took the place of this one's.
    replaced: u64,
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

/// A broker, and a partition that it has an archive of.
type BrokerPartition = (u32, PartitionId);

/// Archives, by their places.
static ARCHIVES: Exclusive<BTreeMap<BrokerPartition, Archive>> = Exclusive::new(BTreeMap::new());

fn with<T>(place: BrokerPartition, look: impl FnOnce(&mut Archive) -> T) -> T {
    ARCHIVES.with(|archives| look(archives.entry(place).or_default()))
}

/// Looks at the archives of a broker, one for each partition.
fn with_each(broker: u32, look: impl FnMut(&mut Archive)) {
    ARCHIVES.with(|archives| {
        archives
            .range_mut((broker, 0)..=(broker, PartitionId::MAX))
            .map(|(_, archive)| archive)
            .for_each(look);
    });
}

/// The archives of a broker, by partition: that of the first one is always there.
fn all_of(broker: u32) -> BTreeMap<PartitionId, Archive> {
    ARCHIVES.with(|archives| {
        archives.entry((broker, FIRST_PARTITION)).or_default();
        let own = archives.range((broker, 0)..=(broker, PartitionId::MAX));
        own.map(|((_, partition), archive)| (*partition, archive.clone())).collect()
    })
}

/// The archive of a broker for the first partition.
pub fn of(broker: u32) -> Archive {
    with((broker, FIRST_PARTITION), |archive| archive.clone())
}

/// Whether the archives of a broker lack nothing, or tell what they lack.
pub fn are_whole(broker: u32) -> bool {
    all_of(broker).values().all(Archive::is_whole)
}

/// Whether the archives of a broker tell that records are missing for good.
pub fn have_gaps(broker: u32) -> bool {
    all_of(broker).values().any(Archive::has_gaps)
}

/// A broker's archives are lost with its data directory.
pub fn forget(broker: u32) {
    ARCHIVES.with(|archives| archives.retain(|(of, _), _| *of != broker));
}

/// An older state of a broker's archives is put back: they have records up to a position alone.
pub fn put_back(broker: u32, upto: u64) {
    with_each(broker, |archive| {
        drop(archive.records.split_off(&(upto + 1)));
        archive.upto = archive.upto.min(upto);
    });
}

/// The state of the archives is unknown once their broker has ended.
pub fn close(broker: u32) {
    with_each(broker, |archive| archive.state = ArchiveState::Unknown);
}

/// The operator has a broker's archives go on without what is lost.
pub fn go_on(broker: u32) {
    with_each(broker, |archive| archive.goes_on = true);
}

/// All archives are lost: the cluster begins anew.
pub fn forget_all() {
    ARCHIVES.with(BTreeMap::clear);
    SHARED.with(BTreeMap::clear);
}

/// How archives, that of all last, differ, and how far each goes; nothing if they are equal, but for gaps that are
/// told.
pub fn difference(brokers: &[u32]) -> Option<String> {
    let partitions: BTreeSet<PartitionId> =
        ARCHIVES.with(|archives| archives.keys().map(|(_, partition)| *partition).collect());
    partitions.into_iter().find_map(|partition| {
        let found = difference_of(brokers, partition)?;
        Some(format!("partition {partition}: {found}"))
    })
}

fn difference_of(brokers: &[u32], partition: PartitionId) -> Option<String> {
    let all = shared(partition);
    let archive = |broker: &u32| with((*broker, partition), |archive| archive.clone());
    let archives: Vec<_> = brokers.iter().map(archive).collect();
    let position = archives.iter().filter_map(|archive| archive.first_difference(&all)).min()?;
    let at = |records: &Records| records.get(&position).copied();
    let found: Vec<_> = archives.iter().map(|archive| at(&archive.records)).chain([at(&all)]).collect();
    let how: Vec<_> = archives.iter().map(|archive| (archive.upto, &archive.gaps, &archive.state)).collect();
    Some(format!("first at {position}: {found:x?}; they go up to {how:?}, and all to {}", last_of(&all)))
}

/// Instances of which archives have no record, though they tell of no gap.
pub fn lacks(broker: u32, instances: impl Iterator<Item = Key>) -> Vec<Key> {
    let archives = all_of(broker);
    if archives.values().any(Archive::has_gaps) {
        return Vec::new();
    }
    let records = archives.values().flat_map(|archive| archive.records.values());
    let known: BTreeSet<Key> = records.map(|noted| noted.instance).collect();
    instances.filter(|instance| !known.contains(instance)).collect()
}

/// The exporter of a broker: each has a target of its own, as with an embedded store.
pub fn factory(broker: u32) -> Factory {
    let copies = Arc::new(Copies::new(move |target: &Path| {
        let archives = all_of(broker);
        let text = |(partition, archive): (&PartitionId, &Archive)| {
            format!("partition {partition}\n{}", archive.write())
        };
        let text: Vec<String> = archives.iter().map(text).collect();
        std::fs::write(target, text.join("\n")).map_err(|error| error.to_string())?;
        Ok(archives.iter().map(|(partition, archive)| (*partition, archive.upto)).collect())
    }));
    let given = Arc::clone(&copies);
    let make = move |partition| {
        let place = (broker, partition);
        Box::new(ToArchive { place, copies: Arc::clone(&given), taken: Taken::default(), replaced: 0 })
            as Box<dyn Exporter>
    };
    Factory { make: Arc::new(make), unwanted: &[], copies: Some(copies), shown: None }
}

/// The archives of a broker as the others ask for them.
pub fn queries(broker: u32) -> Arc<StoreQueries> {
    let lacking = move || {
        all_of(broker).into_values().find_map(|archive| match archive.state {
            ArchiveState::Unknown | ArchiveState::Whole => None,
            ArchiveState::UnderWay(reason) | ArchiveState::Lost(reason) => Some(reason),
        })
    };
    let own = OwnCopy {
        position: Box::new(move |partition| with((broker, partition), |archive| archive.upto)),
        lacking: Box::new(lacking),
        answer: Box::new(|_| async { Err("nobody asks".to_owned()) }.boxed()),
    };
    let shown = Arc::new(|_, _| {});
    Arc::new(StoreQueries::new(ID, Some(own), shown, ANSWER).with_copies(3))
}

/// The archives of all brokers, by partition.
static SHARED: Exclusive<BTreeMap<PartitionId, Records>> = Exclusive::new(BTreeMap::new());

fn with_shared<T>(partition: PartitionId, look: impl FnOnce(&mut Records) -> T) -> T {
    SHARED.with(|archives| look(archives.entry(partition).or_default()))
}

/// The records that leaders of a partition have handed on.
pub fn shared(partition: PartitionId) -> Records {
    with_shared(partition, |records| records.clone())
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
    let make = |partition| {
        Box::new(SharedArchive { partition, taken: Taken::default(), last: 0 }) as Box<dyn Exporter>
    };
    Factory { make: Arc::new(make), unwanted: &[], copies: None, shown: None }
}

struct SharedArchive {
    partition: PartitionId,
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
        self.last = with_shared(self.partition, |records| last_of(records));
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
        self.last = with_shared(self.partition, |records| {
            records.insert(record.position, noted(record));
            last_of(records)
        });
        Ok(())
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        let taken = std::mem::take(&mut self.taken);
        let last = with_shared(self.partition, |records| {
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
    place: BrokerPartition,
    copies: Arc<Copies>,
    /// Not there for good.
    taken: Taken,
    /// As [`Archive::replaced`] was when it was opened.
    replaced: u64,
}

fn noted(record: &Record) -> Noted {
    let mut hasher = DefaultHasher::new();
    // The form that is handed on: a record that was read from it knows no more.
    minicbor::to_vec(record).expect("encoding to memory does not fail").hash(&mut hasher);
    let instance = if let RecordValue::ProcessInstance(record) = &record.value {
        record.instance.process_instance_key
    } else {
        0
    };
    Noted { hash: hasher.finish(), instance }
}

impl ToArchive {
    /// Has another broker's archives take the place of those of this one.
    fn fetch(&self, needed: u64) -> Result<(), NoCopy> {
        let (broker, partition) = self.place;
        let _turn = self.copies.turn();
        let own = all_of(broker);
        if own.get(&partition).is_some_and(|archive| archive.upto >= needed) {
            return Ok(());
        }
        let mut wanted: BTreeMap<_, _> = own.iter().map(|(of, archive)| (*of, archive.upto)).collect();
        wanted.insert(partition, needed);
        let file = self.copies.fetch(&wanted)?;
        let failed = |error: std::io::Error| NoCopy::now(error.to_string());
        let text = std::fs::read_to_string(&file).map_err(failed)?;
        std::fs::remove_file(file).map_err(failed)?;
        for part in text.split("partition ").filter(|part| !part.is_empty()) {
            let (number, rest) = part.split_once('\n').unwrap_or((part, ""));
            let fetched = number.parse().ok().zip(Archive::read(rest.trim_end()));
            let (number, fetched) = fetched.ok_or_else(|| NoCopy::now("a copy of another form"))?;
            with((broker, number), |archive| {
                let state = std::mem::take(&mut archive.state);
                *archive = Archive { state, replaced: archive.replaced + 1, ..fetched };
            });
        }
        Ok(())
    }

    /// Fills what is missing up to a position, or tells that nobody has it.
    fn fill(&self, needed: u64) -> Result<(), ExportError> {
        let stored = with(self.place, |archive| archive.upto);
        let lacking = |reason: &str| format!("it lacks records after {stored} up to {needed}: {reason}");
        with(self.place, |archive| match archive.state {
            ArchiveState::Lost(_) => {}
            _ => archive.state = ArchiveState::UnderWay(lacking("they are fetched")),
        });
        let fetched = self.fetch(needed);
        with(self.place, |archive| match fetched {
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
        if with(self.place, |archive| archive.upto) < acknowledged {
            self.fill(acknowledged)?;
        }
        let (upto, replaced) = with(self.place, |archive| {
            archive.state = ArchiveState::Whole;
            (archive.upto, archive.replaced)
        });
        self.replaced = replaced;
        Ok(upto)
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
        with(self.place, |archive| {
            if archive.replaced != self.replaced {
                // The exporter of another partition had all archives replaced: this one may go less far now.
                return Err(ExportError::Target("another archive took the place of this one".to_owned()));
            }
            archive.upto = archive.upto.max(last_of(&taken.records));
            if taken.has_purge {
                archive.gaps.clear();
            }
            taken.put_into(&mut archive.records);
            Ok(archive.upto)
        })
    }
}
