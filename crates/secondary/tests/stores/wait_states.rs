//! Wait states are found while element instances wait.

use search::model::wait_state as wait;
use search::{Aggregate, EntityRef, Filter, Operand, Position, Search, Sort, Statistics, Test};
use secondary::{Batch, RowId};

use super::suite::{Store, block_on, search};

/// A process instance that other tests do not have.
const INSTANCE: u64 = 880;

fn id(element: u64, key: u64) -> RowId {
    RowId::Text(format!("{element}_{key}").as_str().into())
}

fn of_instance() -> Filter {
    Filter::Column(wait::INSTANCE_KEY, Test::Equal(Operand::Integer(INSTANCE.cast_signed())))
}

fn is(column: u8, text: &str) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Text(text.into())))
}

pub fn run(store: &dyn Store) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    // A task with a job and a listener, another instance of it, and a catch event.
    for (element, key, name, wait_type) in
        [(881, 1, "a", "JOB"), (881, 2, "a", "USER_TASK"), (882, 3, "a", "JOB"), (883, 4, "b", "TIMER")]
    {
        batch
            .insert(&wait::ENTITY, id(element, key))
            .set(wait::INSTANCE_KEY, INSTANCE)
            .set(wait::ROOT_INSTANCE_KEY, INSTANCE)
            .set(wait::ELEMENT_KEY, element)
            .set(wait::ELEMENT_ID, name)
            .set(wait::TYPE, wait_type)
            .set(wait::DETAILS, r#"{"waitStateType":"JOB"}"#);
    }
    writer.write(&batch, position + 1).unwrap();
    let reader = store.reader();
    let elements = |search: Search| -> Vec<i64> {
        let found = block_on(reader.search(search)).unwrap();
        found.rows.iter().map(|row| row[wait::ELEMENT_KEY as usize].integer().unwrap()).collect()
    };
    let descending = vec![Sort { column: wait::ELEMENT_KEY, descending: true }];
    let all = Search { sort: descending, ..search(&wait::ENTITY, of_instance()) };
    assert_eq!(elements(all.clone()), [883, 882, 881, 881]);
    assert_eq!(elements(Search { limit: 2, position: Position::Offset(1), ..all }), [882, 881]);
    let of_element = Filter::Column(wait::ELEMENT_KEY, Test::Equal(Operand::Integer(881)));
    assert_eq!(elements(search(&wait::ENTITY, of_element)), [881, 881]);
    assert_eq!(elements(search(&wait::ENTITY, of_instance().and(is(wait::TYPE, "TIMER")))), [883]);

    let counted = || {
        let asked = Statistics {
            entity: EntityRef(&wait::ENTITY),
            filter: of_instance(),
            group_by: vec![wait::ELEMENT_ID],
            aggregates: vec![Aggregate::Distinct(wait::ELEMENT_KEY, Filter::everything())],
            limit: 10,
        };
        let mut rows = block_on(store.reader().statistics(asked)).unwrap();
        rows.sort_by(|one, other| one[0].text().cmp(&other[0].text()));
        rows.iter()
            .map(|row| (row[0].text().unwrap().to_string(), row[1].integer().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(counted(), [("a".to_owned(), 2), ("b".to_owned(), 1)]);
    let mut batch = Batch::default();
    batch.delete(&wait::ENTITY, id(881, 1));
    batch.delete(&wait::ENTITY, id(882, 3));
    batch.delete(&wait::ENTITY, id(883, 4));
    writer.write(&batch, position + 2).unwrap();
    assert_eq!(counted(), [("a".to_owned(), 1)]);
}
