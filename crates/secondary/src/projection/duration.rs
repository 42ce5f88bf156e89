//! How long elements take, as counters: by definition, element, hour of the end, what is measured, and bucket. Beside
//! them, how many instances began and ended in an hour, and how many incidents there were.
//!
//! A duration is known with the record that ends it. When that began is remembered; what the memory lacks, after a
//! start for example, is in the batch or in the store. Counters gather here and become changes with each flush, in the
//! same write as the position, so what comes again after a crash counts once.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use protocol::{
    IncidentIntent, JobIntent, JobRecord, Key, Name, ProcessInstanceIntent, ProcessInstanceRecord, Record,
    RecordValue, RecordedInstance,
};
use search::model::{
    ColumnId, Entity, element_duration as duration, element_instance as element, job,
    process_instance as instance,
};
use search::{HOUR_MS, Measure, StoreError, bucket};

use crate::change::{Batch, KeyHasher, RowId};
use crate::store::Writer;
use crate::words::{own, word};

/// Beginnings of each of two generations that are remembered.
const REMEMBERED_MAX: usize = 1 << 15;
/// Rows that are asked for at once.
const ASKED_MAX: usize = 1000;

#[derive(Default)]
pub(super) struct Durations {
    begun: Begun,
    counters: HashMap<Place, Counter>,
    /// Ends without a beginning that is remembered.
    open: Vec<Ended>,
}

/// Where durations are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    definition_key: Key,
    element_id: Name,
    hour_ms: i64,
    measure: Measure,
    bucket: i64,
}

#[derive(Debug)]
struct Counter {
    process_id: Name,
    tenant_id: Name,
    partition: u16,
    count: i64,
    total_ms: i64,
    max_ms: i64,
}

/// When something began, and when its job was activated last.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    begun_ms: i64,
    activated_ms: Option<i64>,
}

/// Something that has ended.
#[derive(Debug)]
struct Ended {
    kind: Kind,
    key: Key,
    definition_key: Key,
    element_id: Name,
    process_id: Name,
    tenant_id: Name,
    partition: u16,
    at_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Instance,
    Element,
    Job,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Instance, Self::Element, Self::Job];

    /// Where rows have the times.
    fn columns(self) -> (&'static Entity, &'static [ColumnId]) {
        match self {
            Self::Instance => (&instance::ENTITY, &[instance::START]),
            Self::Element => (&element::ENTITY, &[element::START]),
            Self::Job => (&job::ENTITY, &[job::CREATED, job::ACTIVATED]),
        }
    }
}

/// Beginnings, the newer generation first. The older one goes when the newer one is full.
#[derive(Default)]
struct Begun([HashMap<Key, Times, BuildHasherDefault<KeyHasher>>; 2]);

impl Begun {
    fn remember(&mut self, key: Key, times: Times) {
        if self.0[0].len() >= REMEMBERED_MAX {
            self.0.swap(0, 1);
            self.0[0].clear();
        }
        self.0[0].insert(key, times);
    }

    fn of(&mut self, key: Key) -> Option<&mut Times> {
        let [newer, older] = &mut self.0;
        newer.get_mut(&key).or_else(|| older.get_mut(&key))
    }

    fn forget(&mut self, key: Key) -> Option<Times> {
        let [newer, older] = &mut self.0;
        newer.remove(&key).or_else(|| older.remove(&key))
    }
}

impl Durations {
    /// Counts what a record ends.
    pub fn apply(&mut self, record: &Record, batch: &mut Batch) {
        if let RecordValue::ProcessInstance(value) = &record.value {
            self.of_element(record, value);
        } else if let RecordValue::Job(value) = &record.value {
            self.of_job(record, value, batch);
        } else if let RecordValue::Incident(value) = &record.value
            && IncidentIntent::of(record.intent) == Some(IncidentIntent::Created)
        {
            let ids = [&value.element_id, &value.bpmn_process_id, &value.tenant_id];
            self.tally(record, Measure::Incident, value.process_definition_key, ids);
        }
    }

    fn of_element(&mut self, record: &Record, value: &ProcessInstanceRecord) {
        let kind = match value.bpmn_element_type.as_str() {
            "SEQUENCE_FLOW" => return,
            "PROCESS" => Kind::Instance,
            _ => Kind::Element,
        };
        let Some(intent) = ProcessInstanceIntent::of(record.intent) else { return };
        match intent {
            ProcessInstanceIntent::ElementActivating => {
                let times = Times { begun_ms: record.timestamp_ms, activated_ms: None };
                self.begun.remember(record.key, times);
                self.tally_instance(kind, record, value, Measure::Begun);
            }
            ProcessInstanceIntent::ElementCompleted | ProcessInstanceIntent::ElementTerminated => {
                self.end(kind, record, &value.instance, &value.element_id);
                self.tally_instance(kind, record, value, Measure::Ended);
            }
            ProcessInstanceIntent::ElementActivated
            | ProcessInstanceIntent::ElementCompleting
            | ProcessInstanceIntent::ElementTerminating
            | ProcessInstanceIntent::SequenceFlowTaken
            | ProcessInstanceIntent::ElementMigrated
            | ProcessInstanceIntent::AncestorMigrated
            | ProcessInstanceIntent::Suspended
            | ProcessInstanceIntent::Resumed
            | ProcessInstanceIntent::BusinessIdAssigned => {}
        }
    }

    /// Listeners have jobs of their own, which are part of the whole.
    fn of_job(&mut self, record: &Record, value: &JobRecord, batch: &mut Batch) {
        if value.job_kind.as_str().ends_with("LISTENER") {
            return;
        }
        let Some(intent) = JobIntent::of(record.intent) else { return };
        match intent {
            JobIntent::Created => {
                let times = Times { begun_ms: record.timestamp_ms, activated_ms: None };
                self.begun.remember(record.key, times);
            }
            JobIntent::Activated => {
                if let Some(times) = self.begun.of(record.key) {
                    times.activated_ms = Some(record.timestamp_ms);
                }
                batch.update(&job::ENTITY, RowId::Key(record.key)).set(job::ACTIVATED, record.timestamp_ms);
            }
            // One that nobody catches goes on once its incident is resolved.
            JobIntent::ErrorThrown if value.is_uncaught => {}
            JobIntent::Completed | JobIntent::ErrorThrown => {
                self.end(Kind::Job, record, &value.instance, &value.element_id);
            }
            JobIntent::Canceled => _ = self.begun.forget(record.key),
            JobIntent::Failed
            | JobIntent::TimedOut
            | JobIntent::Yielded
            | JobIntent::RecurredAfterBackoff
            | JobIntent::RetriesUpdated
            | JobIntent::TimeoutUpdated
            | JobIntent::PriorityUpdated
            | JobIntent::Updated
            | JobIntent::Migrated => {}
        }
    }

    fn tally_instance(
        &mut self,
        kind: Kind,
        record: &Record,
        value: &ProcessInstanceRecord,
        measure: Measure,
    ) {
        if kind == Kind::Instance {
            let ids = [&value.element_id, &value.instance.bpmn_process_id, &value.instance.tenant_id];
            self.tally(record, measure, value.instance.process_definition_key, ids);
        }
    }

    /// Counts something that has no length. The IDs are those of element, process and tenant.
    fn tally(&mut self, record: &Record, measure: Measure, definition_key: Key, ids: [&Name; 3]) {
        if definition_key == 0 {
            return;
        }
        let [element_id, process_id, tenant_id] = ids.map(own);
        let one = Ended {
            kind: Kind::Instance,
            key: record.key,
            definition_key,
            element_id,
            process_id,
            tenant_id,
            partition: record.partition_id,
            at_ms: record.timestamp_ms,
        };
        self.add(&one, measure, 0);
    }

    fn end(&mut self, kind: Kind, record: &Record, instance: &RecordedInstance, element_id: &Name) {
        if instance.process_definition_key == 0 {
            // Its instance was gone already.
            _ = self.begun.forget(record.key);
            return;
        }
        let ended = Ended {
            kind,
            key: record.key,
            definition_key: instance.process_definition_key,
            element_id: own(element_id),
            process_id: own(&instance.bpmn_process_id),
            tenant_id: own(&instance.tenant_id),
            partition: record.partition_id,
            at_ms: record.timestamp_ms,
        };
        match self.begun.forget(record.key) {
            Some(times) => self.count(&ended, times),
            None => self.open.push(ended),
        }
    }

    fn count(&mut self, ended: &Ended, Times { begun_ms, activated_ms }: Times) {
        if ended.kind != Kind::Job {
            return self.add(ended, Measure::Total, ended.at_ms - begun_ms);
        }
        // A job can be completed that no worker has activated.
        self.add(ended, Measure::Wait, activated_ms.unwrap_or(ended.at_ms) - begun_ms);
        if let Some(activated_ms) = activated_ms {
            self.add(ended, Measure::Work, ended.at_ms - activated_ms);
        }
    }

    fn add(&mut self, ended: &Ended, measure: Measure, took_ms: i64) {
        // A clock may have been set back.
        let took_ms = took_ms.max(0);
        let place = Place {
            definition_key: ended.definition_key,
            element_id: ended.element_id.clone(),
            hour_ms: ended.at_ms - ended.at_ms.rem_euclid(HOUR_MS),
            measure,
            bucket: bucket(took_ms),
        };
        let counter = self.counters.entry(place).or_insert_with(|| Counter {
            process_id: ended.process_id.clone(),
            tenant_id: ended.tenant_id.clone(),
            partition: ended.partition,
            count: 0,
            total_ms: 0,
            max_ms: 0,
        });
        counter.count += 1;
        counter.total_ms += took_ms;
        counter.max_ms = counter.max_ms.max(took_ms);
    }

    /// Forgets what is not among the changes yet.
    pub fn discard(&mut self) {
        self.counters.clear();
        self.open.clear();
    }

    /// Makes changes of all that was counted, and asks a store for the beginnings that are missing.
    pub fn settle(&mut self, batch: &mut Batch, writer: &mut dyn Writer) -> Result<(), StoreError> {
        let open = std::mem::take(&mut self.open);
        for kind in Kind::ALL {
            let of_kind: Vec<_> = open.iter().filter(|ended| ended.kind == kind).collect();
            for some in of_kind.chunks(ASKED_MAX) {
                self.count_open(kind, some, batch, writer)?;
            }
        }
        self.counters.drain().for_each(|(place, counter)| counter.insert(place, batch));
        Ok(())
    }

    /// Counts what ended, as far as anybody knows when it began.
    fn count_open(
        &mut self,
        kind: Kind,
        ended: &[&Ended],
        batch: &Batch,
        writer: &mut dyn Writer,
    ) -> Result<(), StoreError> {
        let (entity, columns) = kind.columns();
        let in_batch = |key: Key| {
            let change = batch.find(entity.id, key)?;
            let begun_ms = change.number(columns[0])?;
            Some(Times { begun_ms, activated_ms: columns.get(1).and_then(|column| change.number(*column)) })
        };
        let written: Vec<_> =
            ended.iter().map(|ended| ended.key).filter(|key| in_batch(*key).is_none()).collect();
        let written =
            if written.is_empty() { HashMap::new() } else { writer.numbers(entity, columns, &written)? };
        for ended in ended {
            let stored = || {
                let numbers = written.get(&ended.key)?;
                // The batch may have a later activation.
                let later = batch.find(entity.id, ended.key).zip(columns.get(1));
                let later = later.and_then(|(change, column)| change.number(*column));
                let activated_ms = later.or_else(|| numbers.get(1).copied().flatten());
                Some(Times { begun_ms: numbers.first().copied().flatten()?, activated_ms })
            };
            if let Some(times) = in_batch(ended.key).or_else(stored) {
                self.count(ended, times);
            }
        }
        Ok(())
    }
}

impl Counter {
    fn insert(&self, place: Place, batch: &mut Batch) {
        let Place { definition_key, element_id, hour_ms, measure, bucket } = place;
        let (partition, measure) = (self.partition, measure.as_str());
        let id = format!("{partition}-{definition_key}-{hour_ms}-{measure}-{bucket}-{element_id}");
        batch
            .insert(&duration::ENTITY, RowId::Text(Name::from(id)))
            .set(duration::TIME, hour_ms)
            .set(duration::DEFINITION_KEY, definition_key)
            .set(duration::ELEMENT_ID, element_id)
            .set(duration::MEASURE, word(measure))
            .set(duration::BUCKET, bucket)
            .set(duration::PROCESS_ID, &self.process_id)
            .set(duration::TENANT, &self.tenant_id)
            .add(duration::COUNT, self.count)
            .add(duration::TOTAL, self.total_ms)
            .add(duration::MAX, self.max_ms);
    }
}
