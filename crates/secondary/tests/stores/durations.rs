//! How long elements take is counted once, whatever happens to the exporter in between.

use std::collections::BTreeMap;
use std::sync::Arc;

use export::{Exporter as _, Flush};
use protocol::{Document, IncidentRecord, Intent, JobRecord, Key, Name, Record, RecordValue, Word, testing};
use search::model::element_duration as duration;
use search::{Aggregate, EntityRef, Filter, HOUR_MS, Operand, Progress, Statistics, Test, Value};
use secondary::{Projection, Retention, RowId, Rule, StoreExporter};

use super::replays::Nothing;
use super::retention::sweep;
use super::suite::{Store, block_on, search};

/// A definition that other tests do not have.
const DEFINITION: u64 = 99;
const FIRST: Key = 990_000;
/// Long ago, and the beginning of an hour.
const HOUR: i64 = 100 * HOUR_MS;

/// A store with records that it gets one after the other.
struct Feed<'s> {
    store: &'s dyn Store,
    position: u64,
    exporter: StoreExporter,
    records: Vec<Record>,
}

impl<'s> Feed<'s> {
    fn new(store: &'s dyn Store) -> Self {
        let mut exporter = exporter(store);
        let position = exporter.open(0).unwrap();
        Self { store, position, exporter, records: Vec::new() }
    }

    /// Something happens so many milliseconds after the hour began.
    fn happens(&mut self, at_ms: i64, record: Record) {
        self.position += 1;
        let record = Record { position: self.position, timestamp_ms: HOUR + at_ms, ..record };
        self.exporter.export(std::slice::from_ref(&record)).unwrap();
        self.records.push(record);
    }

    /// The program starts anew, and all records come again.
    fn restart(&mut self) {
        self.exporter = exporter(self.store);
        self.exporter.open(0).unwrap();
        self.exporter.export(&self.records).unwrap();
    }
}

fn exporter(store: &dyn Store) -> StoreExporter {
    let projection = Projection::new(Box::new(Nothing)).with_durations(true);
    StoreExporter::new(1, store.writer(), projection, Arc::new(Progress::default()))
}

/// Something of an instance or, with a number other than 0, of its task.
fn element(of: Key, number: u64, intent: Intent) -> Record {
    let mut record = testing::instance(1, of);
    let RecordValue::ProcessInstance(value) = &mut record.value else { panic!("{record:?}") };
    Arc::make_mut(&mut value.instance).process_definition_key = DEFINITION;
    if number > 0 {
        (value.bpmn_element_type, value.element_id) = (Word::new("SERVICE_TASK"), "task".into());
    }
    Record { key: of + number, intent, ..record }
}

/// Something of the job of a task.
fn job(of: Key, kind: &'static str, intent: Intent) -> Record {
    let mut instance = testing::described(of);
    instance.process_definition_key = DEFINITION;
    let value = JobRecord {
        instance: Arc::new(instance),
        job_type: Name::from("work"),
        worker: Name::from("w"),
        retries: 3,
        deadline_ms: -1,
        timeout_ms: -1,
        custom_headers: Name::from("{}"),
        variables: Document::empty(),
        retry_backoff_ms: 0,
        recurring_time_ms: -1,
        error_message: Name::default(),
        error_code: Name::default(),
        element_id: Name::from("task"),
        element_instance_key: of + 1,
        tenant_id: Name::default_tenant(),
        job_kind: Word::new(kind),
        job_listener_event_type: Word::new("UNSPECIFIED"),
        changed_attributes: Vec::new(),
        result: None,
        is_job_to_user_task_migration: false,
        priority: 0,
        element_type: None,
        is_uncaught: false,
    };
    let number = if kind == "BPMN_ELEMENT" { 2 } else { 3 };
    Record { key: of + number, ..testing::record(1, intent, value) }
}

/// Something of an incident of a task.
fn incident(of: Key, intent: Intent) -> Record {
    let value = IncidentRecord {
        error_type: Name::from("JOB_NO_RETRIES"),
        error_message: Name::from("no"),
        bpmn_process_id: Name::from("p"),
        process_definition_key: DEFINITION,
        process_instance_key: of,
        element_id: Name::from("task"),
        element_instance_key: of + 1,
        job_key: Some(of + 2),
        variable_scope_key: of + 1,
        tenant_id: Name::default_tenant(),
        root_process_instance_key: of,
        element_instance_path: Vec::new(),
        process_definition_path: Vec::new(),
        calling_element_path: Vec::new(),
    };
    Record { key: of + 4, ..testing::record(1, intent, value) }
}

const TASK: &str = "BPMN_ELEMENT";

/// Counters by hour, element and measure: number, sum, longest.
fn counted(store: &dyn Store) -> BTreeMap<(i64, String, String), [i64; 3]> {
    let definition = Operand::Integer(DEFINITION.cast_signed());
    let asked = Statistics {
        entity: EntityRef(&duration::ENTITY),
        filter: Filter::Column(duration::DEFINITION_KEY, Test::Equal(definition)),
        group_by: vec![duration::TIME, duration::ELEMENT_ID, duration::MEASURE],
        aggregates: vec![
            Aggregate::Sum(duration::COUNT),
            Aggregate::Sum(duration::TOTAL),
            Aggregate::Max(duration::MAX),
        ],
        limit: 1000,
    };
    let rows = block_on(store.reader().statistics(asked)).unwrap();
    let number = |value: &Value| value.integer().unwrap();
    let text = |value: &Value| value.text().unwrap().to_string();
    rows.iter()
        .map(|row| {
            let place = ((number(&row[0]) - HOUR) / HOUR_MS, text(&row[1]), text(&row[2]));
            (place, [number(&row[3]), number(&row[4]), number(&row[5])])
        })
        .collect()
}

fn wanted(counts: &[(i64, &str, &str, [i64; 3])]) -> BTreeMap<(i64, String, String), [i64; 3]> {
    let place = |(hour, element, measure, numbers): &(i64, &str, &str, [i64; 3])| {
        ((*hour, (*element).to_owned(), (*measure).to_owned()), *numbers)
    };
    counts.iter().map(place).collect()
}

pub fn run(store: &dyn Store) {
    once(store);
    open(store);
    forgotten(store);
}

/// Instances begin and end between two flushes, or with one in between.
fn once(store: &dyn Store) {
    let mut feed = Feed::new(store);
    for (number, flush) in [(0, false), (1, true), (2, false)] {
        let of = FIRST + number * 10;
        feed.happens(0, element(of, 0, Intent::ElementActivating));
        feed.happens(10, element(of, 1, Intent::ElementActivating));
        feed.happens(20, job(of, TASK, Intent::Created));
        if flush {
            feed.exporter.flush(Flush::Shown).unwrap();
        }
        // The first attempt fails.
        feed.happens(25, job(of, TASK, Intent::Activated));
        feed.happens(30, job(of, TASK, Intent::Failed));
        feed.happens(31, incident(of, Intent::Created));
        feed.happens(32, incident(of, Intent::Resolved));
        feed.happens(120, job(of, TASK, Intent::Activated));
        feed.happens(150, job(of, TASK, Intent::Completed));
        feed.happens(200 + number as i64, element(of, 1, Intent::ElementCompleted));
        feed.happens(HOUR_MS, element(of, 0, Intent::ElementTerminated));
        feed.exporter.flush(Flush::Usual).unwrap();
    }
    feed.exporter.flush(Flush::Whole).unwrap();
    let all = wanted(&[
        (0, "p", "BEGUN", [3, 0, 0]),
        (0, "task", "INCIDENT", [3, 0, 0]),
        (0, "task", "TOTAL", [3, 573, 192]),
        (0, "task", "WAIT", [3, 300, 100]),
        (0, "task", "WORK", [3, 90, 30]),
        (1, "p", "ENDED", [3, 0, 0]),
        (1, "p", "TOTAL", [3, 3 * HOUR_MS, HOUR_MS]),
    ]);
    assert_eq!(counted(store), all);
    // Records that come again are counted already.
    feed.restart();
    feed.exporter.flush(Flush::Whole).unwrap();
    assert_eq!(counted(store), all);
}

/// Elements that began before the program started anew are counted, whether they were flushed before that or not.
fn open(store: &dyn Store) {
    let before = counted(store);
    let mut feed = Feed::new(store);
    let of = FIRST + 100;
    feed.happens(0, element(of, 0, Intent::ElementActivating));
    feed.happens(10, element(of, 1, Intent::ElementActivating));
    feed.happens(20, job(of, TASK, Intent::Created));
    feed.happens(21, job(of, "EXECUTION_LISTENER", Intent::Created));
    // The instance may be left for a later flush.
    feed.exporter.flush(Flush::Usual).unwrap();
    feed.restart();
    feed.happens(60, job(of, TASK, Intent::Activated));
    feed.exporter.flush(Flush::Whole).unwrap();
    feed.restart();
    feed.happens(80, job(of, TASK, Intent::Completed));
    feed.happens(81, job(of, "EXECUTION_LISTENER", Intent::Completed));
    // It comes again before it was flushed.
    feed.restart();
    feed.happens(90, element(of, 1, Intent::ElementCompleted));
    feed.happens(95, element(of, 0, Intent::ElementCompleted));
    // The beginning of this one is unknown.
    feed.happens(96, element(of + 50, 1, Intent::ElementCompleted));
    // A job is completed without its worker.
    feed.happens(97, job(of + 50, TASK, Intent::Created));
    feed.happens(99, job(of + 50, TASK, Intent::Completed));
    feed.exporter.flush(Flush::Whole).unwrap();
    feed.restart();
    feed.exporter.flush(Flush::Whole).unwrap();
    let mut after = counted(store);
    for (place, numbers) in before {
        let now = after.get_mut(&place).unwrap();
        (now[0], now[1]) = (now[0] - numbers[0], now[1] - numbers[1]);
    }
    let grown = wanted(&[
        (0, "p", "BEGUN", [1, 0, 0]),
        (0, "p", "ENDED", [1, 0, 0]),
        (0, "p", "TOTAL", [1, 95, 95]),
        (0, "task", "INCIDENT", [0, 0, 0]),
        (0, "task", "TOTAL", [1, 80, 192]),
        (0, "task", "WAIT", [2, 42, 100]),
        (0, "task", "WORK", [1, 20, 30]),
        (1, "p", "ENDED", [0, 0, 0]),
        (1, "p", "TOTAL", [0, 0, HOUR_MS]),
    ]);
    assert_eq!(after, grown);
}

/// They outlive instances, and go when they are too old themselves.
fn forgotten(store: &dyn Store) {
    let keep = |what: &'static str| Retention {
        ages: vec![(what, Some(std::time::Duration::from_secs(1)))],
        rules: vec![Rule {
            kind: Name::from("durations"),
            definition: Some(Name::from("kept")),
            tenant: None,
            keep: None,
        }],
    };
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = secondary::Batch::default();
    batch
        .insert(&duration::ENTITY, RowId::Text("1-kept".into()))
        .set(duration::TIME, HOUR)
        .set(duration::PROCESS_ID, "kept");
    writer.write(&batch, position + 1).unwrap();
    sweep(store, keep("process_instances"));
    assert_eq!(counted(store).len(), 9);
    sweep(store, keep("durations"));
    assert_eq!(counted(store).len(), 0);
    let left = block_on(store.reader().search(search(&duration::ENTITY, Filter::everything()))).unwrap().rows;
    assert_eq!(left.len(), 1, "{left:?}");
}
