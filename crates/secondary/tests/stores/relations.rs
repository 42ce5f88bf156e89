//! Rows of other entities may be as many as they like.

use protocol::Name;
use search::model::{process_instance as instance, variable};
use search::{EntityRef, Filter, Related, Value};
use search::{Operand, Test};

use super::suite::{Store, block_on, search};

/// Variables, each of another instance.
pub const VARIABLES: i64 = 260_000;

/// The statements that make them, with the instances 1 to 3, which have one each, and one that has none.
pub fn statements(numbers: &str) -> String {
    format!(
        "INSERT INTO variable (\"variableKey\", name, \"processInstanceKey\", \"scopeKey\") \
         SELECT 1000000 + n, 'common', n, n FROM {numbers}; \
         INSERT INTO process_instance (\"processInstanceKey\", \"startDate\") \
         VALUES (1, 1), (2, 1), (3, 1), ({VARIABLES} + 1, 1)"
    )
}

pub fn run(store: &dyn Store) {
    let found = |exists| {
        let filter = Filter::Column(variable::NAME, Test::Equal(Operand::Text(Name::from("common"))));
        let entity = EntityRef(&variable::ENTITY);
        let other = variable::INSTANCE_KEY;
        let related = Related { column: instance::KEY, entity, other, filter, exists };
        let search = search(&instance::ENTITY, Filter::Related(Box::new(related)));
        let found = block_on(store.reader().search(search)).unwrap();
        assert_eq!(found.total, found.rows.len() as u64);
        found.rows.into_iter().map(|mut row| row.swap_remove(0)).collect::<Vec<_>>()
    };
    assert_eq!(found(true), [1, 2, 3].map(Value::Integer));
    assert_eq!(found(false), [Value::Integer(VARIABLES + 1)]);
}
