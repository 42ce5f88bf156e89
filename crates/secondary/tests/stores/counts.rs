//! Ended elements are counted until they are removed.

use std::collections::BTreeMap;

use search::model::{element_count as count, element_instance as element};
use search::{Aggregate, EntityRef, Filter, Statistics};
use search::{Operand, Test};
use secondary::{Batch, RowId};

use super::suite::{Store, block_on};

/// A definition that other tests do not have.
const DEFINITION: u64 = 77;
const INSTANCES: [u64; 2] = [770, 771];

/// Elements of the definition that were completed and terminated.
fn counted(store: &dyn Store) -> BTreeMap<String, [i64; 2]> {
    let asked = Statistics {
        entity: EntityRef(&count::ENTITY),
        filter: Filter::Column(
            count::DEFINITION_KEY,
            Test::Equal(Operand::Integer(DEFINITION.cast_signed())),
        ),
        group_by: vec![count::ELEMENT_ID],
        aggregates: vec![Aggregate::Sum(count::COMPLETED), Aggregate::Sum(count::TERMINATED)],
        limit: 100,
    };
    let rows = block_on(store.reader().statistics(asked)).unwrap();
    let number = |value: &search::Value| value.integer().unwrap();
    rows.iter().map(|row| (row[0].text().unwrap().to_string(), [number(&row[1]), number(&row[2])])).collect()
}

pub fn run(store: &dyn Store) {
    if !store.reader().has_counts() {
        return;
    }
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    for (at, instance) in INSTANCES.into_iter().enumerate() {
        let mut batch = Batch::default();
        for (number, (name, state)) in
            [("a", "COMPLETED"), ("a", "COMPLETED"), ("b", "TERMINATED"), ("c", "ACTIVE")]
                .into_iter()
                .enumerate()
        {
            batch
                .insert(&element::ENTITY, RowId::Key(instance * 10 + number as u64))
                .set(element::START, 1_i64)
                .set(element::DEFINITION_KEY, DEFINITION)
                .set(element::INSTANCE_KEY, instance)
                .set(element::ELEMENT_ID, name)
                .set(element::STATE, state);
        }
        for (name, column, amount) in [("a", count::COMPLETED, 2), ("b", count::TERMINATED, 1)] {
            batch
                .insert(&count::ENTITY, RowId::Text(format!("1-{DEFINITION}-{name}").as_str().into()))
                .set(count::DEFINITION_KEY, DEFINITION)
                .set(count::ELEMENT_ID, name)
                .add(column, amount);
        }
        writer.write(&batch, position + 1 + at as u64).unwrap();
    }
    let numbers = |a, b| BTreeMap::from([("a".to_owned(), [a, 0]), ("b".to_owned(), [0, b])]);
    assert_eq!(counted(store), numbers(4, 2));

    let mut cleaner = store.cleaner();
    cleaner.open().unwrap();
    let mut remove = |instance: u64, limit| {
        cleaner.remove(&element::ENTITY, element::INSTANCE_KEY, &[instance.into()], limit).unwrap()
    };
    assert_eq!(remove(INSTANCES[0], 100), 4);
    assert_eq!(counted(store), numbers(2, 1));
    assert_eq!(remove(INSTANCES[0], 100), 0);
    // In slices, too.
    assert_eq!([remove(INSTANCES[1], 3), remove(INSTANCES[1], 3)], [3, 1]);
    assert_eq!(counted(store), numbers(0, 0));
}
