//! Random processes of the engine, whose history is partly in tables and partly packed, are what they are in tables
//! alone: after each flush, when some of it moves, and when the exporter dies at any point.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use engine::{Effects, Engine};
use export::{Exporter, Flush};
use protocol::{
    Batch as Commands, Command, CompleteJob, CreateInstance, DefinitionRef, Demand, Deploy, Document,
    ENGINE_VERSION, FailJob, Key, Name, Record, Resource,
};
use search::model::{ENTITIES, Entity, EntityId, process_instance as instance, variable};
use search::{Progress, Reader, Row, StoreError, Value};
use secondary::{
    Batch, Cleaner, Operation, Projection, RowId, SqliteCleaner, SqliteLoader, SqliteOptions, SqliteReader,
    SqliteWriter, StoreExporter, Writer,
};

use super::model::Dice;
use super::suite::{block_on, search};

const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <process id="outer" name="Outer" isExecutable="true">
    <startEvent id="s"/>
    <sequenceFlow id="f1" sourceRef="s" targetRef="call"/>
    <callActivity id="call" name="Call it"><extensionElements><zeebe:calledElement processId="inner"/></extensionElements></callActivity>
    <sequenceFlow id="f2" sourceRef="call" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <sequenceFlow id="f3" sourceRef="work" targetRef="e"/>
    <endEvent id="e"/>
  </process>
  <process id="inner" isExecutable="true">
    <startEvent id="s2"/>
    <sequenceFlow id="g1" sourceRef="s2" targetRef="work2"/>
    <serviceTask id="work2"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <sequenceFlow id="g2" sourceRef="work2" targetRef="e2"/>
    <endEvent id="e2"/>
  </process>
</definitions>"#;

/// Rows by entity and identity, as tables would have them.
#[derive(Default)]
struct Tables(BTreeMap<(EntityId, RowId), Row>);

impl Tables {
    fn write(&mut self, batch: &Batch) {
        for change in batch.changes() {
            let key = (change.entity, change.id.clone());
            let empty = || {
                let mut row = vec![Value::Null; Entity::of(change.entity).columns.len()];
                row[0] = change.id.value();
                row
            };
            let row = match change.operation {
                Operation::Delete => {
                    self.0.remove(&key);
                    continue;
                }
                Operation::Insert => self.0.entry(key).or_insert_with(empty),
                Operation::Update => match self.0.get_mut(&key) {
                    Some(row) => row,
                    None => continue,
                },
            };
            for (column, value) in &change.values {
                row[*column as usize] = value.clone();
            }
            for (column, by) in &change.increments {
                let value = &mut row[*column as usize];
                *value = Value::Integer(value.integer().unwrap_or(0) + by);
            }
        }
    }

    fn of(&self, entity: &Entity) -> Vec<Row> {
        let rows = self.0.iter().filter(|((of, _), _)| *of == entity.id);
        rows.map(|(_, row)| row.clone()).collect()
    }
}

struct TablesWriter(Arc<parking_lot::Mutex<Tables>>);

impl Writer for TablesWriter {
    fn open(&mut self) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn write(&mut self, batch: &Batch, _: u64) -> Result<(), StoreError> {
        self.0.lock().write(batch);
        Ok(())
    }

    fn clear(&mut self, _: u64) -> Result<(), StoreError> {
        unreachable!("nothing is purged")
    }

    fn has(&mut self, _: &'static Entity, _: &RowId) -> Result<bool, StoreError> {
        Ok(true)
    }
}

struct Run {
    engine: Engine,
    now_ms: i64,
    dice: Dice,
    jobs: Vec<Key>,
    instances: Vec<Key>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let store = state::Store::in_memory(state::Options::default()).unwrap();
        let options = engine::Options { records: true, ..engine::Options::default() };
        let engine = Engine::open(&store, options).unwrap();
        Self { engine, now_ms: 1_000, dice: Dice::new(seed), jobs: Vec::new(), instances: Vec::new() }
    }

    fn apply(&mut self, commands: Vec<Command>) -> Vec<Record> {
        let mut effects = Effects::default();
        self.now_ms += 10;
        let demand = vec![Demand {
            subscriber_id: 1,
            job_type: Name::from("work"),
            tenant_ids: vec![Name::default_tenant()],
            worker: Name::from("worker"),
            timeout_ms: 300_000,
            max_jobs: 64,
            fetch_variables: vec![],
            caller: None,
            except: None,
            with_lease: false,
        }];
        let batch = Commands {
            engine_version: ENGINE_VERSION,
            timestamp_ms: self.now_ms,
            commands,
            demand,
            origin: None,
            digest: None,
        };
        self.engine.apply(&batch, &mut effects).unwrap();
        let jobs = effects.deliveries.iter().flat_map(|delivery| &delivery.jobs);
        self.jobs.extend(jobs.map(|job| job.key));
        for record in &effects.records {
            if let protocol::RecordValue::ProcessInstance(value) = &record.value
                && record.intent == protocol::Intent::ElementActivating
                && *value.bpmn_element_type == *"PROCESS"
            {
                self.instances.push(value.instance.process_instance_key);
            }
        }
        effects.records
    }

    fn deploy(&mut self) -> Vec<Record> {
        let resources = vec![Resource { name: Name::from("m.bpmn"), content: MODEL.into() }];
        self.apply(vec![Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() })])
    }

    fn step(&mut self) -> Vec<Record> {
        let count = 1 + self.dice.below(6);
        let commands = (0..count).map(|_| self.command()).collect();
        self.apply(commands)
    }

    fn command(&mut self) -> Command {
        let choice = self.dice.below(10);
        if choice >= 4 && !self.jobs.is_empty() {
            let at = self.dice.below(self.jobs.len() as u64) as usize;
            let job_key = self.jobs.swap_remove(at);
            let text = format!(r#"{{"done":{}}}"#, self.dice.below(5));
            let variables = Document::parse(Bytes::from(text)).unwrap();
            return match choice {
                4 => Command::FailJob(FailJob {
                    job_key,
                    retries: 0,
                    retry_backoff_ms: 0,
                    error_message: Name::from("no"),
                    variables,
                    lease: None,
                }),
                _ => Command::CompleteJob(CompleteJob::of(job_key, variables)),
            };
        }
        if choice == 3 && !self.instances.is_empty() {
            let at = self.dice.below(self.instances.len() as u64) as usize;
            return Command::CancelInstance {
                process_instance_key: self.instances[at],
                operation_reference: None,
            };
        }
        let id = ["outer", "inner"][self.dice.below(2) as usize];
        let text = format!(
            r#"{{"order":"{}","note":"{}"}}"#,
            self.now_ms,
            "x".repeat(self.dice.below(300) as usize)
        );
        Command::CreateInstance(CreateInstance {
            variables: Document::parse(Bytes::from(text)).unwrap(),
            ..CreateInstance::of(DefinitionRef::Id { id: Name::from(id), version: None })
        })
    }
}

fn exporter(options: &SqliteOptions) -> StoreExporter {
    let loader = Box::new(SqliteLoader::new(options.clone()));
    let writer = Box::new(SqliteWriter::new(options.clone(), 1));
    StoreExporter::new(1, writer, Projection::new(loader), Arc::new(Progress::default()))
}

fn rows(reader: &SqliteReader, entity: &'static Entity) -> Vec<Row> {
    let all = search::Search { limit: 1 << 20, ..search(entity, search::Filter::everything()) };
    let found = block_on(reader.search(all)).unwrap();
    assert_eq!(found.total, (found.rows.len() as u64).min(10_000), "{}", entity.name);
    found.rows
}

/// Rows that are in packs.
fn packed(path: &Path) -> i64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .query_row("SELECT COALESCE(SUM(things),0) FROM pack WHERE kind=0", [], |row| row.get(0))
        .unwrap()
}

/// An exporter that has died gets records again, dies while it does, and then gets them all.
fn die_again(exporting: &mut StoreExporter, all: &[Record], dice: &mut Dice) {
    let rest =
        |from: u64| -> Vec<_> { all.iter().filter(|record| record.position > from).cloned().collect() };
    let from = exporting.open(0).unwrap();
    for part in rest(from).chunks(1 + dice.below(40) as usize) {
        exporting.export(part).unwrap();
        if dice.below(4) == 0 {
            exporting.flush([Flush::Usual, Flush::Shown][dice.below(2) as usize]).unwrap();
        }
        if dice.below(20) == 0 {
            break;
        }
    }
    let from = exporting.open(0).unwrap();
    exporting.export(&rest(from)).unwrap();
}

fn process(seed: u64, steps: u32) {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
    let mut run = Run::new(seed);
    let mut dice = Dice::new(seed + 1);
    let mut exporting = exporter(&options);
    exporting.open(0).unwrap();
    let tables = Arc::new(parking_lot::Mutex::new(Tables::default()));
    let loader = Box::new(SqliteLoader::new(options.clone()));
    let writer = Box::new(TablesWriter(Arc::clone(&tables)));
    let mut reference = StoreExporter::new(1, writer, Projection::new(loader), Arc::default());
    reference.open(0).unwrap();
    let mut cleaner = SqliteCleaner::new(options.clone());
    let mut all = run.deploy();
    assert!(all.iter().any(|record| matches!(record.value, protocol::RecordValue::Process(_))), "{all:?}");
    exporting.export(&all).unwrap();
    reference.export(&all).unwrap();
    exporting.flush(Flush::Whole).unwrap();
    cleaner.open().unwrap();
    let reader = SqliteReader::new(options.clone());
    let (mut died, mut moved) = (0, 0);
    for _ in 0..steps {
        let mut records = run.step();
        reference.export(&records).unwrap();
        records.retain(|record| !StoreExporter::UNWANTED.contains(&record.intent));
        exporting.export(&records).unwrap();
        all.extend(records);
        match dice.below(12) {
            0..3 => drop(exporting.flush(Flush::Usual).unwrap()),
            3 => drop(exporting.flush(Flush::Crowded).unwrap()),
            4 => {
                exporting = exporter(&options);
                die_again(&mut exporting, &all, &mut dice);
                died += 1;
            }
            5 => moved += cleaner.pack().unwrap().rows,
            6 | 7 => {
                exporting.flush(Flush::Shown).unwrap();
                reference.flush(Flush::Shown).unwrap();
                for entity in ENTITIES {
                    assert_eq!(
                        rows(&reader, entity),
                        tables.lock().of(entity),
                        "{}, seed {seed}",
                        entity.name
                    );
                }
            }
            _ => {}
        }
    }
    let ended = tables.lock().of(&instance::ENTITY);
    let ended = ended.iter().filter(|row| row[instance::END as usize] != Value::Null).count();
    let packed = packed(&options.path);
    assert!(packed > 0 && packed <= ended as i64 + 16, "{packed} of {ended} are packed");
    assert!(died > 0 && moved > 0, "{died} {moved}");
}

#[test]
fn packed_rows_are_the_rows_of_tables() {
    for seed in 1..=6 {
        process(seed, 300);
    }
}

#[test]
fn many_texts_of_still_more_rows_are_found_by_their_filter() {
    const INSTANCES: u64 = 400;
    const EACH: u64 = 10;
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    let mut batch = Batch::default();
    for key in 0..INSTANCES {
        let started = batch.insert(&instance::ENTITY, RowId::Key(key));
        started.set(instance::START, Value::from(key)).set(instance::END, Value::from(key + 5));
        for number in 0..EACH {
            batch
                .insert(&variable::ENTITY, RowId::Key(INSTANCES + key * EACH + number))
                .set(variable::INSTANCE_KEY, Value::from(key))
                .set(variable::NAME, format!("v{number}"))
                .set(variable::VALUE, format!("\"order {key}\""));
        }
    }
    writer.write(&batch, 1).unwrap();
    let reader = SqliteReader::new(options.clone());
    let found = |test| {
        let filter = search::Filter::Column(variable::VALUE, test);
        block_on(reader.search(search(&variable::ENTITY, filter))).unwrap().rows.len()
    };
    let order = |key: u64| search::Operand::Text(Name::from(format!("\"order {key}\"")));
    for (test, rows) in [
        (search::Test::Equal(order(7)), EACH),
        (search::Test::Equal(order(INSTANCES)), 0),
        (search::Test::In(vec![order(INSTANCES), order(7), order(8)]), 2 * EACH),
        (search::Test::NotEqual(order(7)), (INSTANCES - 1) * EACH),
        (search::Test::Like(Name::from("*order 1*")), 111 * EACH),
    ] {
        assert_eq!(found(test.clone()) as u64, rows, "{test:?}");
    }
    let filters = "SELECT count(*) FROM pack_texts WHERE length(filter)>0 AND length(blocks)=0";
    let connection = rusqlite::Connection::open(&options.path).unwrap();
    let filters: i64 = connection.query_row(filters, [], |row| row.get(0)).unwrap();
    assert_eq!(filters, 1, "the values stand in the pack");
}

/// A file with so many packs of instances, each of 1,000 with a text of its own.
fn packs(options: &SqliteOptions, count: u64) {
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    for pack in 0..count {
        let mut batch = Batch::default();
        for number in 0..1000 {
            let key = pack * 1000 + number;
            batch
                .insert(&instance::ENTITY, RowId::Key(key))
                .set(instance::START, Value::from(key))
                .set(instance::END, Value::from(key + 5))
                .set(instance::STATE, "COMPLETED")
                .set(instance::BUSINESS_ID, format!("order {key} of {}", key % 7));
        }
        writer.write(&batch, pack + 1).unwrap();
    }
}

/// The parts of a pack, and whether a search for whole texts reads them.
const DAMAGED: [(&str, &str, bool); 4] = [
    ("pack_rows", "head", false),
    ("pack_texts", "blocks", false),
    ("pack_rows", "zones", false),
    ("pack_texts", "filter", true),
];

#[test]
fn damage_is_told_and_costs_one_pack() {
    for (table, column, is_filter) in DAMAGED {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
        packs(&options, 4);
        let connection = rusqlite::Connection::open(&options.path).unwrap();
        let ids = format!("SELECT id, {column} FROM {table} ORDER BY id LIMIT 1");
        let (id, mut bytes): (i64, Vec<u8>) =
            connection.query_row(&ids, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 4;
        let update = format!("UPDATE {table} SET {column}=?1 WHERE id=?2");
        connection.execute(&update, (bytes, id)).unwrap();
        let reader = SqliteReader::new(options.clone());
        let mut all = search(&instance::ENTITY, search::Filter::everything());
        // The filter reads the texts of all rows.
        let mut test = search::Test::Like(Name::from("*of*"));
        if is_filter {
            let of = |key: u64| search::Operand::Text(Name::from(format!("order {key} of {}", key % 7)));
            let mut all: Vec<_> = (0..4000).map(of).collect();
            all.sort_unstable();
            test = search::Test::In(all);
        }
        all.filter = search::Filter::Column(instance::BUSINESS_ID, test);
        let found = block_on(reader.search(all)).unwrap();
        assert_eq!(found.rows.len(), 3000, "{table}.{column}");
        assert!(found.rows.iter().all(|row| row[0].integer().unwrap() >= 1000));
        // The others can still be removed, and new ones come.
        let mut cleaner = SqliteCleaner::new(options.clone());
        cleaner.open().unwrap();
        assert_eq!(cleaner.remove(&instance::ENTITY, 0, &[Value::Integer(2500)], 10).unwrap(), 1);
        packs(&SqliteOptions::new(&options.path), 0);
    }
}

#[test]
fn what_ended_long_ago_goes_by_the_pack() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
    packs(&options, 5);
    let mut cleaner = SqliteCleaner::new(options.clone());
    cleaner.open().unwrap();
    let ended_before = |moment: i64| {
        let test = search::Test::Less(search::Operand::Integer(moment));
        search::Filter::Column(instance::END, test)
    };
    // Two packs as a whole, and half of a third, which stays.
    assert_eq!(cleaner.remove_packed(&instance::ENTITY, &ended_before(2505)).unwrap(), (2000, 2000));
    assert_eq!(cleaner.remove_packed(&instance::ENTITY, &ended_before(2505)).unwrap(), (0, 0));
    let left = rows(&SqliteReader::new(options), &instance::ENTITY);
    assert_eq!((left.len(), left[0][0].integer()), (3000, Some(2000)));
}

#[test]
fn rows_that_an_older_release_left_in_tables_are_packed_and_found_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    let connection = rusqlite::Connection::open(&options.path).unwrap();
    connection
        .execute_batch(
            "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<1000) INSERT INTO process_instance \
             (\"processInstanceKey\", \"startDate\", \"endDate\", state) SELECT k, k, k+1, 'COMPLETED' FROM n; \
             WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<1000) INSERT INTO element_instance \
             (\"elementInstanceKey\", \"startDate\", \"processInstanceKey\", state) \
             SELECT 10000+k, k, k, 'COMPLETED' FROM n; PRAGMA user_version=1;",
        )
        .unwrap();
    writer.open().unwrap();
    let mut cleaner = SqliteCleaner::new(options.clone());
    cleaner.open().unwrap();
    let reader = SqliteReader::new(options);
    let mut slices = 0;
    loop {
        assert_eq!(rows(&reader, &instance::ENTITY).len(), 1000);
        let elements = rows(&reader, &search::model::element_instance::ENTITY);
        assert_eq!(
            elements.iter().map(|row| row[0].integer().unwrap()).collect::<Vec<_>>(),
            (10001..=11000).collect::<Vec<i64>>()
        );
        if cleaner.pack().unwrap().rows == 0 {
            break;
        }
        slices += 1;
    }
    assert!(slices > 2, "it goes on between slices");
    let in_tables: i64 =
        connection.query_row("SELECT count(*) FROM element_instance", [], |row| row.get(0)).unwrap();
    assert_eq!(in_tables, 0);
}

#[test]
fn packed_rows_can_still_change() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
    packs(&options, 2);
    let mut writer = SqliteWriter::new(options.clone(), 1);
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    let key = |key: u64| RowId::Key(key);
    batch
        .update(&instance::ENTITY, key(1500))
        .set(instance::STATE, "TERMINATED")
        .add(instance::HAS_INCIDENT, 2);
    batch.delete(&instance::ENTITY, key(7));
    // One that was written before comes again, and ends again.
    batch.insert(&instance::ENTITY, key(8)).set(instance::END, 9_i64).set(instance::TENANT, "t");
    batch.update(&instance::ENTITY, key(99_999)).set(instance::STATE, "nobody");
    writer.write(&batch, position + 1).unwrap();
    let check = || {
        let rows = rows(&SqliteReader::new(options.clone()), &instance::ENTITY);
        assert_eq!(rows.len(), 1999);
        let row = |key: i64| rows.iter().find(|row| row[0] == Value::Integer(key)).unwrap();
        assert_eq!(row(1500)[instance::STATE as usize], "TERMINATED".into());
        assert_eq!(row(1500)[instance::HAS_INCIDENT as usize], Value::Integer(2));
        assert_eq!(row(1501)[instance::STATE as usize], "COMPLETED".into());
        let again =
            [instance::END, instance::TENANT, instance::START].map(|column| row(8)[column as usize].clone());
        assert_eq!(again, [9_i64.into(), "t".into(), 8_i64.into()]);
    };
    check();
    assert!(
        writer.has(&instance::ENTITY, &key(9)).unwrap() && !writer.has(&instance::ENTITY, &key(7)).unwrap()
    );
    writer.unpack(1500).unwrap();
    writer.unpack(99_999).unwrap();
    check();
    let mut cleaner = SqliteCleaner::new(options.clone());
    cleaner.open().unwrap();
    assert_eq!(cleaner.pack().unwrap().rows, 2);
    check();
}

/// Ended trees as an older release would have them in tables: so many roots, each with so many called instances, and a
/// sequence flow of each.
fn ended_trees(options: &SqliteOptions, roots: u32, called: u32) -> rusqlite::Connection {
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    let connection = rusqlite::Connection::open(&options.path).unwrap();
    connection
        .execute_batch(&format!(
            "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<{roots}) INSERT INTO process_instance \
             (\"processInstanceKey\", \"rootProcessInstanceKey\", \"startDate\", \"endDate\", state) \
             SELECT k*100000, k*100000, k, k+1, 'COMPLETED' FROM n; \
             WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<{called}) INSERT INTO process_instance \
             (\"processInstanceKey\", \"rootProcessInstanceKey\", \"parentProcessInstanceKey\", \"startDate\", \
             \"endDate\", state) SELECT \"processInstanceKey\"+k, \"processInstanceKey\", \"processInstanceKey\", k, k+1, \
             'COMPLETED' FROM n, process_instance; \
             INSERT INTO sequence_flow (\"sequenceFlowId\", \"processInstanceKey\") \
             SELECT \"processInstanceKey\"||'_f1', \"processInstanceKey\" FROM process_instance"
        ))
        .unwrap();
    connection
}

fn in_tables(connection: &rusqlite::Connection, table: &str) -> i64 {
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

fn pack_all(cleaner: &mut SqliteCleaner) -> Vec<String> {
    let mut set_aside = Vec::new();
    loop {
        let packed = cleaner.pack().unwrap();
        set_aside.extend(packed.set_aside);
        if packed.rows == 0 {
            return set_aside;
        }
    }
}

/// Statements grow with a tree, and databases have limits of depth and of values.
#[test]
fn large_trees_are_packed_whole() {
    for (roots, called) in [(1, 600), (260, 4), (1, 9_000), (300, 100)] {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
        let connection = ended_trees(&options, roots, called);
        let mut cleaner = SqliteCleaner::new(options.clone());
        cleaner.open().unwrap();
        assert_eq!(pack_all(&mut cleaner), Vec::<String>::new());
        for table in ["process_instance", "sequence_flow"] {
            assert_eq!(in_tables(&connection, table), 0, "{table} of {roots} roots with {called}");
        }
        let count = (roots * (called + 1)) as usize;
        let reader = SqliteReader::new(options);
        assert_eq!(rows(&reader, &instance::ENTITY).len(), count);
    }
}

/// A tree that cannot be packed stays where it is, and keeps no other from it.
#[test]
fn a_tree_that_cannot_be_packed_is_set_aside() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
    let connection = ended_trees(&options, 300, 2);
    connection
        .execute_batch(
            "CREATE TRIGGER stuck BEFORE DELETE ON process_instance WHEN old.\"processInstanceKey\"=7700001 \
             BEGIN SELECT RAISE(ABORT, 'it sticks'); END",
        )
        .unwrap();
    let mut cleaner = SqliteCleaner::new(options.clone());
    cleaner.open().unwrap();
    let set_aside = pack_all(&mut cleaner);
    assert_eq!(set_aside.len(), 1, "{set_aside:?}");
    assert!(set_aside[0].contains("7700000") && set_aside[0].contains("it sticks"), "{set_aside:?}");
    assert_eq!(in_tables(&connection, "process_instance"), 3);
    assert_eq!(in_tables(&connection, "sequence_flow"), 3);
    assert_eq!(rows(&SqliteReader::new(options.clone()), &instance::ENTITY).len(), 900);
    assert!(pack_all(&mut cleaner).is_empty(), "it is told once");
    // After a new start it is tried again.
    connection.execute_batch("DROP TRIGGER stuck").unwrap();
    let mut cleaner = SqliteCleaner::new(options);
    cleaner.open().unwrap();
    assert!(pack_all(&mut cleaner).is_empty());
    assert_eq!(in_tables(&connection, "process_instance"), 0);
}
