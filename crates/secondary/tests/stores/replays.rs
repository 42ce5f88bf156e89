//! Parked records that are replayed do not bring back what was removed meanwhile.

use std::sync::Arc;

use export::{Exporter as _, Flush};
use protocol::{Intent, Key, Record, RecordValue, Word, testing};
use search::model::{
    Entity, element_count as count, element_instance as element, process_instance as instance, variable,
};
use search::{Aggregate, EntityRef, Filter, Progress, Statistics, StoreError, Value};
use search::{Operand, Test};
use secondary::{DeployedModel, Loader, Projection, StoreExporter};

use super::retention::{keep_nothing, sweep};
use super::suite::{Store, block_on, search};

/// A definition that other tests do not have.
const DEFINITION: u64 = 88;
/// An instance that ends, one that it calls, another one whose first record is parked, and one that goes on.
const ENDED: Key = 810_000;
const CALLED: Key = 811_000;
const PARKED: Key = 812_000;
const ACTIVE: Key = 813_000;
/// Its first record was refused.
const LATE: Key = 814_000;

/// Knows no model.
pub struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _: Key) -> Result<Option<DeployedModel>, StoreError> {
        Ok(None)
    }
}

/// Something that happens to an instance or, with a number other than 0, to an element of it.
fn happens(position: u64, of: Key, number: u64, intent: Intent) -> Record {
    let mut record = testing::instance(position, of);
    let RecordValue::ProcessInstance(value) = &mut record.value else { panic!("{record:?}") };
    let instance = Arc::make_mut(&mut value.instance);
    instance.process_definition_key = DEFINITION;
    if of == CALLED || of == PARKED {
        (instance.root_process_instance_key, instance.parent_process_instance_key) = (ENDED, Some(ENDED));
    }
    if number > 0 {
        (value.bpmn_element_type, value.element_id) = (Word::new("SERVICE_TASK"), "a".into());
    }
    // Long before it is swept.
    Record { key: of + number, intent, timestamp_ms: 5, ..record }
}

fn variable_of(position: u64, of: Key) -> Record {
    let mut record = testing::variable(position, 1);
    let RecordValue::Variable(value) = &mut record.value else { panic!("{record:?}") };
    Arc::make_mut(&mut value.instance).process_instance_key = of;
    Record { key: of + 100, ..record }
}

/// Rows of an entity between the keys of this test.
fn found(store: &dyn Store, entity: &'static Entity) -> Vec<i64> {
    let from = Filter::Column(0, Test::GreaterOrEqual(Operand::Integer(ENDED.cast_signed())));
    let to = Filter::Column(0, Test::Less(Operand::Integer(820_000)));
    let found = block_on(store.reader().search(search(entity, from.and(to)))).unwrap();
    found.rows.iter().map(|row| row[0].integer().unwrap()).collect()
}

/// How many elements are counted as completed.
fn completed(store: &dyn Store) -> Vec<Value> {
    if !store.reader().has_counts() {
        return vec![];
    }
    let asked = Statistics {
        entity: EntityRef(&count::ENTITY),
        filter: Filter::Column(
            count::DEFINITION_KEY,
            Test::Equal(Operand::Integer(DEFINITION.cast_signed())),
        ),
        group_by: vec![],
        aggregates: vec![Aggregate::Sum(count::COMPLETED)],
        limit: 1,
    };
    block_on(store.reader().statistics(asked)).unwrap().concat()
}

pub fn run(store: &dyn Store) {
    let projection = Projection::new(Box::new(Nothing));
    let mut exporter = StoreExporter::new(1, store.writer(), projection, Arc::new(Progress::default()));
    let from = exporter.open(0).unwrap();
    let happened = [
        (ENDED, 0, Intent::ElementActivating),
        (ENDED, 1, Intent::ElementActivating),
        (CALLED, 0, Intent::ElementActivating),
        (ACTIVE, 0, Intent::ElementActivating),
        (ENDED, 1, Intent::ElementCompleted),
        (CALLED, 0, Intent::ElementCompleted),
        (ENDED, 0, Intent::ElementCompleted),
    ];
    let records = happened.iter().zip(from + 1..);
    let records: Vec<_> =
        records.map(|((of, number, intent), at)| happens(at, *of, *number, *intent)).collect();
    exporter.export(&records).unwrap();
    let position = exporter.flush(Flush::Whole).unwrap();
    let keys = |keys: &[Key]| keys.iter().map(|key| key.cast_signed()).collect::<Vec<_>>();
    assert_eq!(found(store, &instance::ENTITY), keys(&[ENDED, CALLED, ACTIVE]));
    sweep(store, keep_nothing());
    assert_eq!(found(store, &instance::ENTITY), keys(&[ACTIVE]));
    let counted = completed(store);

    for of in [ENDED, CALLED, PARKED, ACTIVE] {
        let instance = (of == PARKED).then(|| happens(position, of, 0, Intent::ElementActivating));
        let element = [Intent::ElementActivating, Intent::ElementCompleted];
        let element = element.map(|intent| happens(position, of, 2, intent));
        for record in instance.into_iter().chain(element).chain([variable_of(position, of)]) {
            exporter.replay(&record).unwrap();
        }
    }
    assert_eq!(found(store, &instance::ENTITY), keys(&[ACTIVE]));
    assert_eq!(found(store, &element::ENTITY), keys(&[ACTIVE + 2]));
    assert_eq!(found(store, &variable::ENTITY), keys(&[ACTIVE + 100]));
    let one_more: Vec<_> = counted.iter().map(|count| Value::Integer(count.integer().unwrap() + 1)).collect();
    assert_eq!(completed(store), one_more);
    // The position is what it was.
    assert_eq!(block_on(store.reader().position(1)).unwrap(), position);

    // One that was refused at its beginning is there from now on.
    exporter.replay(&happens(position, LATE, 0, Intent::ElementActivating)).unwrap();
    exporter.replay(&variable_of(position, LATE)).unwrap();
    assert_eq!(found(store, &instance::ENTITY), keys(&[ACTIVE, LATE]));
    assert_eq!(found(store, &variable::ENTITY), keys(&[ACTIVE + 100, LATE + 100]));
}
