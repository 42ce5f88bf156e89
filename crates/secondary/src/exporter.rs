//! The exporter that feeds a store.

mod filling;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use export::{Copies, ExportError, Exporter, Flush, NoCopy};
use protocol::{Intent, Key, PartitionId, Record, RecordValue};
use search::model::EntityId;
use search::{Lacking, Progress, StoreError, StoreState};

use crate::change::{Batch, Change, RowId};
use crate::instance_rows::{BegunInstance, owner, part};
use crate::projection::Projection;
use crate::replay::{Replays, process_instance};
use crate::store::{Left, Writer};
use crate::touch::Touched;

/// Above this, the number of records that are written at once is not limited.
const STEP_MAX: usize = 64 * 1024;

/// Identities of rows.
type RowIds = HashSet<(EntityId, RowId)>;

/// Gathers the changes of records and writes them with each flush.
pub struct StoreExporter {
    partition: PartitionId,
    writer: Box<dyn Writer>,
    projection: Projection,
    progress: Arc<Progress>,
    touched: Touched,
    batch: Batch,
    /// Position of the last record that was taken, or is parked.
    taken: u64,
    /// Position of the last record whose changes are in the batch.
    last_gathered: u64,
    /// Position up to which the store has everything; later repetitions are skipped.
    stored: u64,
    /// Position up to which it has everything for good.
    durable: u64,
    /// Records that are written but for some instances, whose changes are in the batch.
    left: Left,
    /// Records whose changes are in the batch.
    gathered: usize,
    /// Records that are written at once at the most. Small while it looks for the one that the store refuses.
    step: usize,
    replays: Replays,
    /// Where a copy of the store comes from that lacks nothing.
    copies: Option<Arc<Copies>>,
    /// Rows that were put in as they are at a position: records up to there do not change them.
    filled: Option<(u64, RowIds)>,
}

impl StoreExporter {
    /// Intents whose records change no row: the state of an element in the API has no such steps.
    pub const UNWANTED: &[Intent] = &[Intent::ElementActivated, Intent::ElementCompleting];

    /// An exporter of one partition.
    pub fn new(
        partition: PartitionId,
        writer: Box<dyn Writer>,
        projection: Projection,
        progress: Arc<Progress>,
    ) -> Self {
        Self {
            partition,
            writer,
            projection,
            progress,
            touched: Touched::default(),
            batch: Batch::default(),
            taken: 0,
            last_gathered: 0,
            stored: 0,
            durable: 0,
            left: Left::default(),
            gathered: 0,
            step: STEP_MAX,
            replays: Replays::default(),
            copies: None,
            filled: None,
        }
    }

    /// With the stores of other replicas: one of them takes the place of this one if it lacks records that do not come
    /// again.
    #[must_use]
    pub fn with_copies(self, copies: Option<Arc<Copies>>) -> Self {
        Self { copies, ..self }
    }

    /// Has another replica's store take the place of this one. It has all records up to the one that is needed.
    fn replace(&mut self, copies: &Copies, stored: u64, needed: u64) -> Result<u64, ExportError> {
        let _turn = copies.turn();
        // The exporter of another partition may have had it replaced meanwhile.
        let now = self.writer.open().map_err(failed)?;
        if now >= needed {
            return Ok(now);
        }
        tracing::info!(stored, needed, "the store lacks records; it is fetched from another broker");
        let lacking = |reason: String| Lacking { stored, needed, reason };
        if !self.progress.wholeness.is_lacking() {
            self.told(StoreState::UnderWay(lacking(String::new())));
        }
        let mut wanted = self.progress.positions();
        wanted.insert(self.partition, needed);
        let file = copies.fetch(&wanted).map_err(|NoCopy { reason, is_final }| {
            let told = lacking(reason.clone());
            self.told(if is_final { StoreState::Lost(told) } else { StoreState::UnderWay(told) });
            let way_out = if is_final {
                "; if they are gone for good, `baton history begin` at this broker goes on without them"
            } else {
                ""
            };
            ExportError::Target(format!(
                "the store lacks records after {stored} up to {needed}, which only other brokers have: {reason}{way_out}"
            ))
        })?;
        let replaced = self.writer.replace(&file).and_then(|()| self.writer.open());
        let removed = std::fs::remove_file(&file).map_err(ExportError::file(&file));
        let mut stored = replaced.map_err(failed)?;
        removed?;
        if stored < needed {
            // Commands have positions, too: there is no record in between.
            let left = Left { position: needed, ..self.writer.left().unwrap_or_default() };
            let left = Left { written: left.written.max(needed), ..left };
            self.writer.write_ended(&Batch::default(), &left).map_err(failed)?;
            self.writer.sync(Flush::Whole).map_err(failed)?;
            stored = needed;
        }
        tracing::info!(position = stored, "the store of another broker took the place of this one's");
        Ok(stored)
    }

    /// Tells how the store is.
    fn told(&self, state: StoreState) {
        metrics::gauge!("baton_secondary_storage_whole").set(0.0);
        self.progress.wholeness.lacks(self.partition, state);
    }

    /// Tells that the store has everything but its gaps. These are accepted if somebody has said so.
    fn is_whole(&mut self) -> Result<(), ExportError> {
        let mut gaps = self.writer.gaps().map_err(failed)?;
        if let Some(filling) = self.progress.wholeness.filling() {
            self.fill(filling)?;
            for gap in &mut gaps {
                gap.is_accepted = true;
            }
            self.writer.note_gaps(&gaps).map_err(failed)?;
            tracing::info!("the history goes on without the records that are missing");
        }
        self.progress.wholeness.has_begun();
        let open = gaps.iter().filter(|gap| !gap.is_accepted).count();
        metrics::gauge!("baton_secondary_storage_whole").set(if open == 0 { 1.0 } else { 0.0 });
        metrics::gauge!("baton_secondary_storage_gaps").set(gaps.len() as f64);
        self.progress.wholeness.has_all_but(self.partition, gaps);
        Ok(())
    }

    /// Writes what has gathered. A refused record among several is searched for in ever smaller steps, which grow
    /// again with success: no more than three times the logarithm of their number.
    ///
    /// Instances that have just begun may be left: most end soon, and are then written once.
    fn write(&mut self, flush: Flush) -> Result<(), ExportError> {
        if self.taken <= self.stored {
            return Ok(());
        }
        self.projection.settle(&mut self.batch, &mut *self.writer).map_err(failed)?;
        let may_leave = flush.may_leave() && self.step == STEP_MAX && self.writer.left().is_some();
        let (left, later) = if may_leave { self.leave() } else { (self.nothing_left(), Vec::new()) };
        let written = self.writer.write_ended(&self.batch, &left);
        match written {
            Ok(()) => {}
            Err(error @ StoreError::Refused { .. }) if self.gathered <= 1 => {
                self.step = 1;
                return Err(ExportError::Record { position: self.last_gathered, reason: error.to_string() });
            }
            Err(error @ StoreError::Refused { .. }) => {
                self.step = self.gathered / 2;
                return Err(ExportError::Closer(error.to_string()));
            }
            Err(error) => return Err(failed(error)),
        }
        metrics::counter!("baton_secondary_storage_rows_total").increment(self.batch.len() as u64);
        metrics::counter!("baton_secondary_storage_coalesced_total").increment(self.batch.merged());
        self.batch.begin_with(later);
        self.gathered = 0;
        self.step = (self.step * 2).min(STEP_MAX);
        self.stored = left.position;
        self.left = left;
        let touched = self.touched.take_written(&self.left.instances);
        self.progress.flushed(self.partition, self.taken, touched.as_ref());
        self.progress.reached(self.partition, self.stored);
        Ok(())
    }

    /// Nothing is left but what is not repeated yet of what had been left when the store was opened.
    fn nothing_left(&self) -> Left {
        if self.taken < self.left.written {
            return Left { position: self.taken, ..self.left.clone() };
        }
        Left { position: self.taken, written: self.taken, instances: BTreeSet::new() }
    }

    /// Takes instances from the batch that began since the last write and have not ended, with all that they called
    /// and all their rows.
    fn leave(&mut self) -> (Left, Vec<Change>) {
        let begun: Vec<_> = self.batch.changes().iter().filter_map(BegunInstance::of).collect();
        let is_young = |begun: &&BegunInstance| begun.since > self.left.written && !begun.has_ended;
        let roots = begun.iter().filter(|begun| begun.root.is_none()).filter(is_young);
        let mut instances: BTreeSet<Key> = roots.map(|begun| begun.key).collect();
        if instances.is_empty() || self.taken < self.left.written {
            return (self.nothing_left(), Vec::new());
        }
        let is_below = |begun: &&BegunInstance| begun.root.is_some_and(|root| instances.contains(&root));
        let called: Vec<Key> = begun.iter().filter(is_below).map(|begun| begun.key).collect();
        instances.extend(called);
        let later = self.batch.take(|change| owner(change).is_some_and(|owner| instances.contains(&owner)));
        let first = later.iter().map(|change| change.since).min();
        let first = first.expect("an instance that is left has a row");
        debug_assert!(
            self.stored < first && first <= self.taken,
            "{first} of {} to {}",
            self.stored,
            self.taken
        );
        (Left { position: first - 1, written: self.taken, instances }, later)
    }

    /// Applies a record again that the store has, but for instances that were left.
    fn apply_left(&mut self, record: &Record) {
        if process_instance(record).is_none_or(|key| !self.left.instances.contains(&key)) {
            return;
        }
        let mut repeated = Batch::default();
        self.projection.apply(record, &mut repeated);
        // They were counted when the rest was written.
        self.projection.discard();
        self.batch.append(repeated, |change| part(change.entity).is_some());
    }

    /// Removes all rows: what came up to a position is gone.
    fn clear(&mut self, position: u64) -> Result<(), ExportError> {
        self.batch.clear();
        self.projection.discard();
        self.gathered = 0;
        self.writer.clear(position).map_err(failed)?;
        (self.taken, self.stored) = (position, position);
        self.left = Left { position, written: position, instances: BTreeSet::new() };
        self.touched = Touched::default();
        self.progress.wholeness.has_all_but(self.partition, Vec::new());
        self.progress.flushed(self.partition, position, None);
        self.progress.reached(self.partition, position);
        Ok(())
    }

    fn sync(&mut self, flush: Flush) -> Result<(), ExportError> {
        if self.writer.sync(flush).map_err(failed)? {
            self.durable = self.stored;
        }
        Ok(())
    }
}

impl Exporter for StoreExporter {
    fn id(&self) -> &str {
        search::EXPORTER_ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.batch.clear();
        self.projection.discard();
        self.gathered = 0;
        let opened = self.writer.open();
        let mut stored = opened.inspect_err(|_| self.progress.cannot_open()).map_err(failed)?;
        if stored < acknowledged {
            let replaced = self.copies.clone().map(|copies| self.replace(&copies, stored, acknowledged));
            stored = match replaced {
                Some(Err(error)) if !self.progress.wholeness.begins() => return Err(error),
                Some(Ok(replaced)) => replaced,
                Some(Err(_)) | None => self.go_on_without(stored, acknowledged)?,
            };
        }
        self.stored = stored;
        self.is_whole()?;
        (self.taken, self.durable) = (self.stored, self.stored);
        self.left = self.writer.left().unwrap_or_default();
        self.progress.feed();
        self.progress.reached(self.partition, self.stored);
        Ok(self.stored)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        self.touched.add(records, self.progress.is_watched());
        for record in records {
            if record.position > self.stored {
                if matches!(record.value, RecordValue::Purge(_)) {
                    self.clear(record.position)?;
                    continue;
                }
                self.batch.begin_record(record.position);
                if record.position <= self.left.written {
                    self.apply_left(record);
                } else if self.filled.as_ref().is_some_and(|(position, _)| record.position <= *position) {
                    self.apply_unfilled(record);
                } else {
                    self.filled = None;
                    self.projection.apply(record, &mut self.batch);
                }
                self.projection.take_failure().map_or(Ok(()), |error| Err(failed(error)))?;
                self.taken = record.position;
                self.last_gathered = record.position;
                self.gathered += 1;
                if self.gathered >= self.step && self.step < STEP_MAX {
                    self.write(Flush::Shown)?;
                }
            }
        }
        Ok(())
    }

    /// The store goes up to it: what it has tells whether records are missing.
    fn pass_over(&mut self, position: u64) {
        self.taken = self.taken.max(position);
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        debug_assert!(self.left.instances.is_empty(), "all was flushed before a replay");
        // Counts of an attempt before that came to nothing.
        self.projection.discard();
        let mut batch = Batch::default();
        self.projection.apply(record, &mut batch);
        self.projection.take_failure().map_or(Ok(()), |error| Err(failed(error)))?;
        let wanted = self.replays.wanted(record, batch, &mut *self.writer);
        let mut batch = wanted.map_err(|error| error.of(record.position))?;
        if let Some(key) = process_instance(record) {
            self.writer.unpack(key).map_err(failed)?;
        }
        self.projection.settle(&mut batch, &mut *self.writer).map_err(failed)?;
        let written = self.writer.write(&batch, self.stored);
        self.replays.tried(record, written.is_ok());
        written.map_err(|error| match error {
            StoreError::Refused { .. } => {
                ExportError::Record { position: record.position, reason: error.to_string() }
            }
            other => failed(other),
        })?;
        self.sync(Flush::Whole)
    }

    fn flush(&mut self, flush: Flush) -> Result<u64, ExportError> {
        self.write(flush)?;
        self.sync(flush)?;
        Ok(self.durable)
    }
}

fn failed(error: StoreError) -> ExportError {
    ExportError::Target(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use parking_lot::Mutex;
    use protocol::{Key, testing};

    use super::*;
    use crate::change::Operation;
    use crate::projection::{DeployedModel, Loader};
    use search::Value;
    use search::model::{Entity, process_instance as instance};

    /// Keeps the names of processes that were written.
    struct Rows(Arc<Mutex<Vec<Value>>>);

    impl Writer for Rows {
        fn open(&mut self) -> Result<u64, StoreError> {
            Ok(0)
        }

        fn write(&mut self, batch: &Batch, _: u64) -> Result<(), StoreError> {
            let rows = batch.changes().iter().filter(|change| change.entity == instance::ENTITY.id);
            let values = rows.flat_map(|change| &change.values);
            let names = values.filter(|(column, _)| *column == instance::PROCESS_NAME);
            self.0.lock().extend(names.map(|(_, value)| value.clone()));
            Ok(())
        }

        fn clear(&mut self, _: u64) -> Result<(), StoreError> {
            self.0.lock().clear();
            Ok(())
        }

        fn has(&mut self, _: &'static Entity, _: &RowId) -> Result<bool, StoreError> {
            Ok(true)
        }
    }

    struct Models(Arc<AtomicBool>);

    impl Loader for Models {
        fn load(&mut self, _: Key) -> Result<Option<DeployedModel>, StoreError> {
            if !self.0.load(Ordering::Relaxed) {
                return Err(StoreError::Unavailable("not now".to_owned()));
            }
            let file = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p" name="Order"/></definitions>"#;
            Ok(Some(DeployedModel { process_id: "p".into(), version: 1, file: file.into() }))
        }
    }

    #[test]
    fn rows_wait_for_names_that_cannot_be_looked_up() {
        let (rows, works) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let projection = Projection::new(Box::new(Models(Arc::clone(&works))));
        let writer = Box::new(Rows(Arc::clone(&rows)));
        let mut exporter = StoreExporter::new(1, writer, projection, Arc::default());
        exporter.open(0).expect("opens");
        exporter.export(&[testing::instance(1, 8)]).expect_err("the name is unknown");
        works.store(true, Ordering::Relaxed);
        exporter.open(0).expect("opens");
        exporter.export(&[testing::instance(1, 8)]).expect("the name is known");
        exporter.flush(Flush::Usual).expect("writes");
        assert_eq!(*rows.lock(), [Value::from("Order")]);
    }

    /// The contents of a store, and its refusals.
    #[derive(Default)]
    struct Table {
        refused: Vec<Key>,
        rows: Vec<Key>,
        position: u64,
        writes: u32,
    }

    struct Picky(Arc<Mutex<Table>>);

    impl Writer for Picky {
        fn clear(&mut self, _: u64) -> Result<(), StoreError> {
            unreachable!("nothing is purged")
        }

        fn open(&mut self) -> Result<u64, StoreError> {
            Ok(self.0.lock().position)
        }

        fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError> {
            let mut table = self.0.lock();
            table.writes += 1;
            let keys = batch.changes().iter().map(|change| match change.id {
                RowId::Key(key) => key,
                RowId::Text(_) => panic!("{change:?}"),
            });
            let keys: Vec<_> = keys.collect();
            if let Some(key) = keys.iter().find(|key| table.refused.contains(key)) {
                let row = key.to_string();
                return Err(StoreError::Refused { entity: "variable", row, reason: "no".to_owned() });
            }
            assert!(batch.changes().iter().all(|change| change.operation == Operation::Insert));
            table.rows.extend(keys);
            table.position = position;
            Ok(())
        }

        fn has(&mut self, _: &'static Entity, _: &RowId) -> Result<bool, StoreError> {
            Ok(true)
        }
    }

    fn record(position: u64) -> Record {
        Record { key: position, ..testing::variable(position, 1) }
    }

    /// A store that syncs only when it must.
    struct Lazy;

    impl Writer for Lazy {
        fn clear(&mut self, _: u64) -> Result<(), StoreError> {
            unreachable!("nothing is purged")
        }

        fn open(&mut self) -> Result<u64, StoreError> {
            Ok(0)
        }

        fn write(&mut self, _: &Batch, _: u64) -> Result<(), StoreError> {
            Ok(())
        }

        fn sync(&mut self, flush: Flush) -> Result<bool, StoreError> {
            Ok(flush == Flush::Whole)
        }

        fn has(&mut self, _: &'static Entity, _: &RowId) -> Result<bool, StoreError> {
            Ok(true)
        }
    }

    #[test]
    fn what_is_not_synced_is_shown_and_not_acknowledged() {
        let projection = Projection::new(Box::new(Models(Arc::default())));
        let progress = Arc::new(Progress::default());
        let mut exporter = StoreExporter::new(1, Box::new(Lazy), projection, Arc::clone(&progress));
        exporter.open(0).unwrap();
        exporter.export(&[record(1), record(2)]).unwrap();
        assert_eq!(exporter.flush(Flush::Usual).unwrap(), 0);
        assert_eq!(progress.position(1), 2);
        exporter.export(&[record(3)]).unwrap();
        assert_eq!(exporter.flush(Flush::Whole).unwrap(), 3);
        exporter.export(&[record(4)]).unwrap();
        assert_eq!(exporter.flush(Flush::Usual).unwrap(), 3);
    }

    /// Does what the thread of an exporter does, without the record at a position. Returns the error.
    fn attempt(
        exporter: &mut StoreExporter,
        records: &[Record],
        without: &[u64],
    ) -> Result<u64, ExportError> {
        let from = exporter.open(0)?;
        let given = |record: &&Record| record.position > from && !without.contains(&record.position);
        let rest: Vec<_> = records.iter().filter(given).cloned().collect();
        exporter.export(&rest)?;
        exporter.flush(Flush::Usual)
    }

    #[test]
    fn the_records_that_are_refused_are_found_in_few_steps() {
        let refused = vec![700, 701, 3000];
        let table = Arc::new(Mutex::new(Table { refused: refused.clone(), ..Table::default() }));
        let projection = Projection::new(Box::new(Models(Arc::default())));
        let progress = Arc::new(Progress::default());
        let writer = Box::new(Picky(Arc::clone(&table)));
        let mut exporter = StoreExporter::new(1, writer, projection, progress);
        let records: Vec<_> = (1..=4096).map(record).collect();
        let mut found = Vec::new();
        let mut closer = 0;
        loop {
            match attempt(&mut exporter, &records, &found) {
                Ok(position) => break assert_eq!(position, 4096),
                Err(ExportError::Closer(_)) => closer += 1,
                Err(ExportError::Record { position, .. }) => {
                    assert!(closer <= 3 * 12, "{closer} times closer for one record");
                    closer = 0;
                    found.push(position);
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(found, refused);
        let wanted: Vec<_> = (1..=4096).filter(|key| !refused.contains(key)).collect();
        assert_eq!(table.lock().rows, wanted);
        assert!(table.lock().writes < 120, "{} writes", table.lock().writes);

        // One that is taken later is put in, and the position stays.
        table.lock().refused = vec![3000];
        exporter.replay(&record(701)).unwrap();
        assert!(matches!(exporter.replay(&record(3000)), Err(ExportError::Record { position: 3000, .. })));
        assert_eq!(table.lock().rows.last(), Some(&701));
        assert_eq!(table.lock().position, 4096);
    }
}
