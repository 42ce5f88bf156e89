//! The target of exporters: what each broker has handed on, for the comparison at the end.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;

use export::{Copies, ExportError, Exporter, Factory, Flush};
use protocol::Record;

use crate::exclusive::Exclusive;

const ID: &str = "archive";
/// ID of the exporter to the archive of all brokers.
pub const SHARED_ID: &str = "shared-archive";

/// Records by their positions, as hashes of all that they say.
pub type Records = BTreeMap<u64, u64>;

/// Records that are there for good, by brokers.
static ARCHIVES: Exclusive<BTreeMap<u32, Records>> = Exclusive::new(BTreeMap::new());

/// The records that a broker has handed on.
pub fn records(broker: u32) -> Records {
    ARCHIVES.with(|archives| archives.get(&broker).cloned().unwrap_or_default())
}

/// A broker's archive is lost with its data directory.
pub fn forget(broker: u32) {
    ARCHIVES.with(|archives| archives.remove(&broker));
}

/// The exporter of a broker: each has a target of its own, as with an embedded store.
pub fn factory(broker: u32) -> Factory {
    let copies = Arc::new(Copies::new(move |target: &Path| {
        let records = records(broker);
        let lines: Vec<String> =
            records.iter().map(|(position, hash)| format!("{position} {hash}")).collect();
        std::fs::write(target, lines.join("\n")).map_err(|error| error.to_string())?;
        Ok(records.last_key_value().map_or(0, |(position, _)| *position))
    }));
    let given = Arc::clone(&copies);
    let make = move |_| {
        Box::new(Archive { broker, copies: Arc::clone(&given), taken: Records::new() }) as Box<dyn Exporter>
    };
    Factory { make: Arc::new(make), unwanted: &[], copies: Some(copies), shown: None }
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
    if REFUSED_EVERY.with(|every| *every > 0 && position.is_multiple_of(*every)) {
        return Err(ExportError::Record { position, reason: "the archive does not take it".to_owned() });
    }
    Ok(())
}

fn last_of(records: &Records) -> u64 {
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
    taken: Records,
    /// Position of the last record that this broker has put there, or found.
    last: u64,
}

impl Exporter for SharedArchive {
    fn id(&self) -> &'static str {
        SHARED_ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.taken.clear();
        self.last = SHARED.with(|records| last_of(records));
        // Positions without a record may follow the last one; a gap is found at the end.
        Ok(self.last.max(acknowledged))
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in records {
            check(record)?;
            self.taken.insert(record.position, hash(record));
        }
        Ok(())
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        check(record)?;
        self.last = SHARED.with(|records| {
            records.insert(record.position, hash(record));
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
            records.extend(taken);
            Some(last_of(records))
        });
        self.last = last.ok_or_else(|| ExportError::Target("another broker has written".to_owned()))?;
        Ok(self.last)
    }
}

struct Archive {
    broker: u32,
    copies: Arc<Copies>,
    /// Not there for good.
    taken: Records,
}

fn hash(record: &Record) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{record:?}").hash(&mut hasher);
    hasher.finish()
}

impl Archive {
    fn last(&self) -> u64 {
        ARCHIVES.with(|archives| {
            let records = archives.entry(self.broker).or_default();
            records.last_key_value().map_or(0, |(position, _)| *position)
        })
    }

    fn fetch(&self, at_least: u64) -> Result<(), String> {
        let file = self.copies.fetch(at_least)?;
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let records: Option<Records> =
            lines.map(|(position, hash)| Some((position.parse().ok()?, hash.parse().ok()?))).collect();
        let records = records.ok_or("a copy of another form")?;
        ARCHIVES.with(|archives| archives.insert(self.broker, records));
        std::fs::remove_file(file).map_err(|error| error.to_string())
    }
}

impl Exporter for Archive {
    fn id(&self) -> &str {
        ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.taken.clear();
        if self.last() < acknowledged {
            self.fetch(acknowledged).map_err(ExportError::Target)?;
        }
        Ok(self.last().max(acknowledged))
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        self.taken.extend(records.iter().map(|record| (record.position, hash(record))));
        Ok(())
    }

    fn replay(&mut self, _: &Record) -> Result<(), ExportError> {
        Ok(())
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        let taken = std::mem::take(&mut self.taken);
        ARCHIVES.with(|archives| archives.entry(self.broker).or_default().extend(taken));
        Ok(self.last())
    }
}
