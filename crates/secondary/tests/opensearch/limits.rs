//! Limits of values and of their number.

use std::net::TcpListener;
use std::time::Duration;

use search::model::{element_instance as element, process_instance as instance, variable};
use search::{
    Aggregate, EntityRef, Filter, Position, Reader, Related, Search, Sort, Statistics, StoreError, Value,
};
use search::{Operand, Test};
use secondary::{Batch, OpensearchOptions, RowId};

use crate::node::Node;
use crate::suite::{Store as _, block_on, everything, fill, search};
use crate::{Opensearch, model};

fn keys(reader: &dyn Reader, search: Search) -> Vec<i64> {
    block_on(reader.search(search)).unwrap().rows.iter().map(|row| row[0].integer().unwrap()).collect()
}

fn text(text: &str) -> Operand {
    Operand::Text(text.into())
}

fn write(store: &Opensearch, batch: &Batch) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(batch, position + 1).unwrap();
}

pub fn what_looks_like_a_query_is_text(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let values = [
        "*",
        "?",
        ".*",
        "a OR b",
        "businessId:*",
        "\"",
        "\\",
        "\\*",
        "{\"match_all\":{}}",
        "\n",
        "\u{0}",
        "/.*/",
        "+-=&&||><!(){}[]^~:",
        "a\u{2028}b",
        "%2F..",
        "' OR 1=1 --",
        "null",
        "_all",
        "<1-100>",
        "@",
        "#",
        "~",
    ];
    let mut batch = Batch::default();
    for (number, value) in values.iter().enumerate() {
        batch.insert(&instance::ENTITY, RowId::Key(number as u64)).set(instance::BUSINESS_ID, *value);
    }
    write(&store, &batch);
    let reader = store.reader();
    let on = |test| search(&instance::ENTITY, Filter::Column(instance::BUSINESS_ID, test));
    for (number, value) in values.iter().enumerate() {
        let number = number as i64;
        assert_eq!(keys(&*reader, on(Test::Equal(text(value)))), [number], "{value}");
        let mut others: Vec<_> = (0..values.len() as i64).collect();
        others.remove(number as usize);
        assert_eq!(keys(&*reader, on(Test::NotEqual(text(value)))), others, "{value}");
        let escaped: String = value.chars().flat_map(|character| ['\\', character]).collect();
        assert_eq!(keys(&*reader, on(Test::Like(escaped.as_str().into()))), [number], "{value}");
        for test in [Test::Like((*value).into()), Test::Less(text(value)), Test::GreaterOrEqual(text(value))]
        {
            let wanted: Vec<_> = (0..values.len() as i64)
                .filter(|at| test.is_met_by(Some(&text(values[*at as usize]))))
                .collect();
            assert_eq!(keys(&*reader, on(test.clone())), wanted, "{test:?}");
        }
    }
    // Identities are text, too: none reaches another document, or another index.
    let mut batch = Batch::default();
    let ids = ["../process_instance", "a/b", "a?refresh", "ä", "~x", " ", "\"},\"x\":{\""];
    for id in ids {
        batch.insert(&search::model::sequence_flow::ENTITY, RowId::Text(id.into()));
    }
    write(&store, &batch);
    let found = block_on(reader.search(search(&search::model::sequence_flow::ENTITY, Filter::everything())));
    let mut wanted: Vec<Value> = ids.into_iter().map(Value::from).collect();
    wanted.sort_unstable_by_key(|value| value.text().unwrap().to_string());
    assert_eq!(found.unwrap().rows.into_iter().map(|mut row| row.remove(0)).collect::<Vec<_>>(), wanted);
}

pub fn long_texts_are_kept_and_not_looked_for(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let long = "ä".repeat(100_000);
    let name = "n".repeat(8191);
    let mut batch = Batch::default();
    batch.insert(&variable::ENTITY, RowId::Key(1)).set(variable::NAME, &*name).set(variable::VALUE, &*long);
    batch.insert(&variable::ENTITY, RowId::Key(2)).set(variable::VALUE, "short");
    batch.insert(&variable::ENTITY, RowId::Key(3));
    batch.insert(&search::model::job_metric::ENTITY, RowId::Text(name.as_str().into()));
    write(&store, &batch);
    let reader = store.reader();
    let on = |column, test| search(&variable::ENTITY, Filter::Column(column, test));
    let found = block_on(reader.search(on(variable::NAME, Test::Equal(text(&name))))).unwrap();
    assert_eq!(found.rows[0][variable::VALUE as usize], long.as_str().into());
    assert_eq!(keys(&*reader, on(variable::VALUE, Test::Equal(text(&long)))), Vec::<i64>::new());
    assert_eq!(keys(&*reader, on(variable::VALUE, Test::Exists(true))), [1, 2]);
    assert_eq!(keys(&*reader, on(variable::VALUE, Test::Exists(false))), [3]);
    let mut batch = Batch::default();
    batch.update(&variable::ENTITY, RowId::Key(2)).set(variable::NAME, "other");
    batch.update(&variable::ENTITY, RowId::Key(1)).set(variable::NAME, Value::Null);
    write(&store, &batch);
    assert_eq!(keys(&*reader, on(variable::VALUE, Test::Exists(true))), [1, 2]);
    // It has no place in an order, and pages go on behind it.
    let sort = vec![Sort { column: variable::VALUE, descending: true }];
    let mut search = Search { sort, limit: 1, ..search(&variable::ENTITY, Filter::everything()) };
    let mut pages = Vec::new();
    while let Some(row) = block_on(reader.search(search.clone())).unwrap().rows.pop() {
        pages.push(row[0].integer().unwrap());
        search.position = Position::After(vec![row[variable::VALUE as usize].clone(), row[0].clone()]);
    }
    assert_eq!(pages, [3, 1, 2]);
    // Removed rows are gone.
    let mut batch = Batch::default();
    batch.update(&variable::ENTITY, RowId::Key(1)).set(variable::VALUE, Value::Null);
    write(&store, &batch);
    assert_eq!(keys(&*reader, on(variable::VALUE, Test::Exists(true))), [2]);
}

pub fn more_is_found_than_fits_into_an_answer(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let rows = model::rows(10_501, 3);
    fill(&mut *store.writer(), &rows);
    let reader = store.reader();
    let sort = vec![Sort { column: instance::END, descending: false }];
    let all = Search { sort, limit: 20_000, ..everything() };
    let wanted = model::found(&rows, &all);
    let found = block_on(reader.search(all.clone())).unwrap();
    assert_eq!((found.rows == wanted, found.total, found.has_more), (true, 10_000, true));
    let page = Search { position: Position::Offset(10_450), limit: 100, count_up_to: 0, ..all };
    let found = block_on(reader.search(page.clone())).unwrap();
    assert_eq!((found.rows, found.total, found.has_more), (wanted[10_450..].to_vec(), 0, false));
    let page = Search { position: Position::Offset(11_000), ..page };
    assert_eq!(block_on(reader.search(page)).unwrap().rows, Vec::<search::Row>::new());
    // All of them belong to something else.
    let mut batch = Batch::default();
    for row in &rows {
        let key = row[0].integer().unwrap();
        batch
            .insert(&element::ENTITY, RowId::Key(key.cast_unsigned()))
            .set(element::INSTANCE_KEY, key)
            .set(element::ELEMENT_ID, if key % 2 == 0 { "even" } else { "odd" });
    }
    write(&store, &batch);
    let related = Related {
        column: element::INSTANCE_KEY,
        entity: EntityRef(&instance::ENTITY),
        other: instance::KEY,
        filter: Filter::Column(instance::STATE, Test::Equal(text("ACTIVE"))),
        exists: true,
    };
    let statistics = Statistics {
        entity: EntityRef(&element::ENTITY),
        filter: Filter::Related(Box::new(related)),
        group_by: vec![element::ELEMENT_ID],
        aggregates: vec![
            Aggregate::Count(Filter::everything()),
            Aggregate::Distinct(element::INSTANCE_KEY, Filter::everything()),
        ],
        limit: 10,
    };
    let active = |rest| {
        let rows = rows.iter().filter(|row| row[instance::STATE as usize] == "ACTIVE".into());
        rows.filter(|row| row[0].integer().unwrap() % 2 == rest).count() as i64
    };
    let row = |name: &str, count: i64| vec![Value::from(name), count.into(), count.into()];
    let found = block_on(reader.statistics(statistics)).unwrap();
    assert_eq!(found, [row("even", active(0)), row("odd", active(1))]);
}

pub fn a_query_that_takes_too_long_is_stopped(node: &mut Node) {
    // Connections are taken by the system, and nothing answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut unanswered = OpensearchOptions::new(format!("http://{}", silent.local_addr().unwrap()));
    unanswered.query_timeout = Duration::from_millis(100);
    let error = block_on(Opensearch(unanswered).reader().search(everything())).unwrap_err();
    assert!(matches!(error, StoreError::TooSlow(_)), "{error}");
    // Nor is a pattern that would take all memory.
    let mut store = Opensearch::emptied(node);
    fill(&mut *store.writer(), &model::rows(10, 7));
    store.0.query_timeout = Duration::from_secs(20);
    let pattern = format!("*a{}", "?".repeat(2000));
    let filter = Filter::Column(instance::BUSINESS_ID, Test::Like(pattern.as_str().into()));
    let error = block_on(store.reader().search(search(&instance::ENTITY, filter))).unwrap_err();
    assert!(matches!(error, StoreError::TooSlow(_)), "{error}");
}

pub fn a_row_that_is_refused_is_named(node: &mut Node) {
    let mut store = Opensearch::emptied(node);
    store.0.bulk.count = 2;
    let mut writer = store.writer();
    writer.open().unwrap();
    let mut batch = Batch::default();
    for key in 1..=5 {
        batch
            .insert(&instance::ENTITY, RowId::Key(key))
            .set(instance::START, 1_i64)
            .add(instance::VERSION, 1);
    }
    let wrong = batch.update(&instance::ENTITY, RowId::Key(3)).set(instance::START, "no moment").clone();
    let error = writer.write(&batch, 7).unwrap_err();
    let StoreError::Refused { entity, row, reason } = &error else { panic!("{error}") };
    assert_eq!((*entity, row.as_str()), ("process_instance", "Key(3)"));
    assert!(reason.contains("startDate"), "{reason}");
    assert_eq!(block_on(store.reader().position(1)).unwrap(), 0);
    // Without it, the same session goes on, and what was written before does not count twice.
    let mut others = Batch::default();
    for change in batch.changes().iter().filter(|change| change.id != wrong.id) {
        let copy = others.insert(&instance::ENTITY, change.id.clone());
        (copy.values, copy.increments) = (change.values.clone(), change.increments.clone());
    }
    writer.write(&others, 7).unwrap();
    let found = block_on(store.reader().search(everything())).unwrap().rows;
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|row| row[instance::VERSION as usize] == 1_i64.into()), "{found:?}");
    // So does a list that is none.
    let mut batch = Batch::default();
    batch.insert(&instance::ENTITY, RowId::Key(9)).set(instance::TAGS, "{}");
    let error = writer.write(&batch, 8).unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
}

pub fn numbers_are_exact(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let large = (1_i64 << 62) + 1;
    let mut batch = Batch::default();
    for (key, number) in [(u64::MAX >> 1, large), (7, large - 1), (8, -large)] {
        batch
            .insert(&instance::ENTITY, RowId::Key(key))
            .set(instance::START, number)
            .add(instance::VERSION, 2_000_000_000);
    }
    write(&store, &batch);
    write(&store, &{
        let mut batch = Batch::default();
        batch.update(&instance::ENTITY, RowId::Key(7)).add(instance::VERSION, 2_000_000_000);
        batch
    });
    let reader = store.reader();
    let on = |test| search(&instance::ENTITY, Filter::Column(instance::START, test));
    assert_eq!(keys(&*reader, on(Test::Equal(Operand::Integer(large)))), [i64::MAX]);
    assert_eq!(keys(&*reader, on(Test::Less(Operand::Integer(large)))), [7, 8]);
    let sorted = Search { sort: vec![Sort { column: instance::START, descending: true }], ..everything() };
    let found = block_on(reader.search(sorted)).unwrap().rows;
    assert_eq!(found.iter().map(|row| row[0].integer().unwrap()).collect::<Vec<_>>(), [i64::MAX, 7, 8]);
    assert_eq!(found[1][instance::VERSION as usize], 4_000_000_000_i64.into());
}
