//! Queries and their results.

use std::time::Duration;

use protocol::Name;
use search::model::{process_definition as definition, process_instance as instance, sequence_flow as flow};
use search::{Filter, StoreError};
use search::{Operand, Test};
use secondary::{Batch, DeployedModel, Loader as _, PostgresLoader, RowId};

use super::server::Server;
use super::suite::{self, Store as _, block_on, search};
use super::{Store, number, sql, stranger};

fn write(store: &Store, batch: &Batch) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(batch, position + 1).unwrap();
}

fn keys(store: &Store, filter: Filter) -> Vec<i64> {
    let found = block_on(store.reader().search(search(&instance::ENTITY, filter))).unwrap();
    found.rows.iter().map(|row| row[0].integer().unwrap()).collect()
}

fn equal(text: &str) -> Test {
    Test::Equal(Operand::Text(Name::from(text)))
}

pub fn slow_queries_end(server: &Server) {
    let mut store = Store::new(server, "slow");
    suite::fill(&mut *store.writer(), &super::model::rows(20, 7));
    store.0.query_timeout = Duration::from_millis(100);
    store.0.readers = 1;
    let reader = store.reader();
    let mut other = stranger(server);
    let lock = "BEGIN; LOCK TABLE slow.process_instance IN ACCESS EXCLUSIVE MODE";
    block_on(sqlx::raw_sql(lock).execute(&mut other)).unwrap();
    let error = block_on(reader.search(suite::everything())).unwrap_err();
    assert!(matches!(error, StoreError::TooSlow(_)), "{error}");
    // It is the database that ended it: nothing goes on there that nobody waits for.
    let waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE state='active' AND query LIKE '%process_instance%' \
                   AND pid<>pg_backend_pid()";
    assert_eq!(number(server, waiting), 0);
    drop(other);
    assert_eq!(block_on(reader.search(suite::everything())).unwrap().rows.len(), 20);

    store.0.query_timeout = Duration::ZERO;
    let error = block_on(store.reader().search(suite::everything())).unwrap_err();
    assert!(matches!(error, StoreError::TooSlow(_)), "{error}");
}

pub fn texts_that_it_does_not_take(server: &Server) {
    let store = Store::new(server, "texts");
    let long = "ä".repeat(100_000);
    let longer = format!("{long}!");
    let mut batch = Batch::default();
    batch
        .insert(&instance::ENTITY, RowId::Key(1))
        .set(instance::BUSINESS_ID, "a\0b")
        .set(instance::TAGS, r#"["x\u0000y"]"#);
    batch.insert(&instance::ENTITY, RowId::Key(2)).set(instance::BUSINESS_ID, &*long);
    batch
        .insert(&instance::ENTITY, RowId::Key(3))
        .set(instance::BUSINESS_ID, &*longer)
        .set(instance::PROCESS_NAME, &*longer);
    batch.insert(&flow::ENTITY, RowId::Text(Name::from(&*long)));
    batch.insert(&flow::ENTITY, RowId::Text(Name::from(&*longer)));
    write(&store, &batch);
    // Nothing is added when it comes again.
    write(&store, &batch);
    let business_id = |text: &str| keys(&store, Filter::Column(instance::BUSINESS_ID, equal(text)));
    assert_eq!(business_id("a\0b"), [1]);
    assert_eq!(business_id(&long), [2]);
    assert_eq!(business_id(&longer), [3]);
    let both = Test::In(vec![Operand::Text(Name::from(&*long)), Operand::Text("a\0b".into())]);
    assert_eq!(keys(&store, Filter::Column(instance::BUSINESS_ID, both)), [1, 2]);
    assert_eq!(keys(&store, Filter::Column(instance::TAGS, equal("x\0y"))), [1]);
    assert_eq!(keys(&store, Filter::Column(instance::PROCESS_NAME, equal(&longer))), [3]);
    assert_eq!(number(server, "SELECT COUNT(*) FROM texts.sequence_flow"), 2);
}

pub fn values_are_never_sql(server: &Server) {
    let store = Store::new(server, "evil");
    let evil = [
        "'; DROP TABLE process_instance; --",
        "\" OR 1=1; --",
        "\\'; DELETE FROM progress; --",
        "$1",
        "?",
        "%' OR 'a'='a",
        "E'\\x27'",
        "x' UNION SELECT version() --",
    ];
    let mut batch = Batch::default();
    for (at, text) in evil.iter().enumerate() {
        batch.insert(&instance::ENTITY, RowId::Key(at as u64)).set(instance::BUSINESS_ID, *text);
    }
    write(&store, &batch);
    for (at, text) in evil.iter().enumerate() {
        let found = |test| keys(&store, Filter::Column(instance::BUSINESS_ID, test));
        assert_eq!(found(equal(text)), [at as i64], "{text}");
        assert_eq!(found(Test::In(vec![Operand::Text(Name::from(*text))])), [at as i64], "{text}");
        assert_eq!(found(Test::NotEqual(Operand::Text(Name::from(*text)))).len(), evil.len() - 1, "{text}");
        let mut pattern = String::new();
        for character in text.chars() {
            pattern.extend(["\\".to_owned(), character.to_string()]);
        }
        assert_eq!(found(Test::Like(pattern.as_str().into())), [at as i64], "{text}");
        assert_eq!(keys(&store, Filter::Column(instance::TAGS, equal(text))), Vec::<i64>::new());
    }
    assert_eq!(number(server, "SELECT COUNT(*) FROM evil.progress"), 1);
}

pub fn models_are_found(server: &Server) {
    let store = Store::new(server, "models");
    let mut loader = PostgresLoader::new(store.0.clone());
    loader.load(1).unwrap_err();
    let mut batch = Batch::default();
    batch
        .insert(&definition::ENTITY, RowId::Key(1))
        .set(definition::PROCESS_ID, "p")
        .set(definition::VERSION, 4)
        .set(definition::XML, "<xml/>");
    write(&store, &batch);
    let model = DeployedModel { process_id: "p".into(), version: 4, file: "<xml/>".into() };
    assert_eq!(loader.load(1).unwrap(), Some(model));
    assert_eq!(loader.load(2).unwrap(), None);
    sql(server, "DROP SCHEMA models CASCADE");
    loader.load(1).unwrap_err();
}
