//! Steps of an instance come in their order, page by page, and go with it.

use search::model::instance_step as step;
use search::{Filter, Operand, Search, Sort, Test, Value};
use secondary::{Batch, RowId};

use super::suite::{Store, block_on, search};

/// A process instance that other tests do not have.
const INSTANCE: u64 = 990;
/// Behind the positions of other tests.
const FIRST: u64 = 9_000_000;

pub fn run(store: &dyn Store) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    for at in [4, 1, 3, 2] {
        batch
            .insert(&step::ENTITY, RowId::Key(FIRST + at))
            .set(step::TIME, 1000_i64)
            .set(step::TYPE, "VARIABLE_SET")
            .set(step::INSTANCE_KEY, INSTANCE)
            .set(step::NAME, "total")
            .set(step::VALUE, "9".repeat(at as usize * 5_000));
    }
    writer.write(&batch, position + 1).unwrap();
    // Rows that come again are there once.
    writer.write(&batch, position + 2).unwrap();
    let of_instance =
        || Filter::Column(step::INSTANCE_KEY, Test::Equal(Operand::Integer(INSTANCE.cast_signed())));
    let found = |after: u64, limit: u32| {
        let behind = Filter::Column(step::KEY, Test::Greater(Operand::Integer(after.cast_signed())));
        let sort = vec![Sort { column: step::KEY, descending: false }];
        let asked = Search { sort, limit, ..search(&step::ENTITY, of_instance().and(behind)) };
        let rows = block_on(store.reader().search(asked)).unwrap().rows;
        rows.into_iter()
            .map(|row| (row[0].integer().unwrap().cast_unsigned() - FIRST, row))
            .collect::<Vec<_>>()
    };
    let all = found(0, 10);
    assert_eq!(all.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let value = all[3].1[usize::from(step::VALUE)].text().unwrap();
    assert_eq!(value.len(), 20_000, "long values are whole");
    assert_eq!(found(FIRST + 1, 2).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2, 3]);
    let mut cleaner = store.cleaner();
    cleaner.open().unwrap();
    let keys = [Value::Integer(INSTANCE.cast_signed())];
    assert_eq!(cleaner.remove(&step::ENTITY, step::INSTANCE_KEY, &keys, 10).unwrap(), 4);
    assert_eq!(found(0, 10).len(), 0);
}
