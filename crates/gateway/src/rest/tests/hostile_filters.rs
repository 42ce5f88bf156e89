//! Filters made to be too much for a store, asked of a real one: whatever a client sends is answered or refused,
//! and never taken for an outage.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use search::Progress;
use search::model::{process_instance as instance, variable};
use secondary::{Batch, RowId, SqliteOptions, SqliteReader, SqliteWriter, Writer as _};
use serde_json::{Map, Value, json};

use super::contract::{example, json_body, path_of, problem};
use super::fake::{FakeBroker, LIMIT_BYTES};
use super::{Options, gateway_with, request, text};
use crate::rest::Gateway;
use crate::rest::Storage;
use crate::rest::contract::{Format, Kind, Object, Operation, Pattern, Schema};
use crate::rest::operation::served;

/// Random filters of each operation.
const ROUNDS: u64 = 4;

/// A small generator of numbers; the same seed gives the same ones.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A gateway to a real store with a few rows, and so much patience.
fn gateway(directory: &Path, query_timeout: Duration) -> Gateway {
    let options = SqliteOptions { query_timeout, ..SqliteOptions::new(&directory.join("secondary.sqlite")) };
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    let mut batch = Batch::default();
    for key in 1..=20_u64 {
        batch.insert(&instance::ENTITY, RowId::Key(key)).set(instance::STATE, "ACTIVE");
        batch
            .insert(&variable::ENTITY, RowId::Key(100 + key))
            .set(variable::NAME, "v")
            .set(variable::VALUE, "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"")
            .set(variable::INSTANCE_KEY, key);
    }
    writer.write(&batch, 1).unwrap();
    let progress = Arc::new(Progress::default());
    progress.reached(1, 1);
    let reader = Arc::new(SqliteReader::new(options));
    let storage = Storage::new(reader, progress, Duration::ZERO);
    gateway_with(&Arc::new(FakeBroker::default()), Options { storage: Some(storage), ..Options::default() })
}

/// Operations with a filter, and its schema.
fn filtered() -> Vec<(Operation, &'static Schema)> {
    let schema = |operation: Operation| match &json_body(operation.spec())?.kind {
        Kind::Object(object) => object.properties.iter().find(|p| p.name == "filter").map(|p| p.schema),
        _ => None,
    };
    let is_read = |operation: &Operation| {
        let id = operation.spec().id;
        id.starts_with("search") || id.starts_with("get")
    };
    served().into_iter().filter(is_read).filter_map(|it| Some((it, schema(it)?))).collect()
}

fn hostile_text(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => "*a".repeat(499) + "b",
        1 => "?".repeat(1000),
        2 => "\\".repeat(999),
        3 => "[".repeat(1000),
        4 => "\u{0}'\"; --".to_owned(),
        5 => "ä".repeat(100_000),
        6 => "*".repeat(1001),
        _ => "a".to_owned(),
    }
}

/// A value that the contract takes, as large as the dice will have it.
fn hostile(schema: &'static Schema, dice: &mut Dice) -> Value {
    match &schema.kind {
        Kind::Text(text) if text.pattern == Some(Pattern::Key) => json!(dice.below(1 << 40).to_string()),
        Kind::Text(text) if text.pattern.is_none() && text.format != Format::DateTime => {
            json!(hostile_text(dice))
        }
        Kind::Choice(alternatives) => hostile(alternatives[dice.below(alternatives.len())], dice),
        Kind::Array(array) => {
            let large = matches!(array.items.kind, Kind::Text(_) | Kind::Enum(_) | Kind::Integer { .. });
            let sizes: &[usize] =
                if large { &[0, 1, 1000, 4999, 5000, 5001] } else { &[0, 1, 5, 200, 999, 1000, 1001] };
            let count = dice.pick(sizes);
            let one = hostile(array.items, dice);
            // Beyond the limit of a body there is nothing to see.
            let count = count.min(1 + LIMIT_BYTES / one.to_string().len());
            vec![one; count].into()
        }
        Kind::Object(object) => Value::Object(hostile_object(object, dice)),
        Kind::Enum(values) => json!(dice.pick(values)),
        _ => example(schema, 0),
    }
}

fn hostile_object(object: &'static Object, dice: &mut Dice) -> Map<String, Value> {
    let chance = dice.pick(&[1, 2, 10]);
    let chosen: Vec<_> = object.properties.iter().filter(|_| dice.below(chance) == 0).collect();
    chosen.into_iter().map(|property| (property.name.to_owned(), hostile(property.schema, dice))).collect()
}

/// Asks; anything but an answer, a refusal or the end of patience is a failure.
async fn ask(gateway: &Gateway, operation: Operation, filter: &Value) -> (u16, String) {
    let spec = operation.spec();
    let body = json!({ "filter": filter }).to_string();
    let (status, answer) = text(gateway.answer(request(spec.method, &path_of(spec), body)).await).await;
    let beginning: String = filter.to_string().chars().take(500).collect();
    assert!([200, 400, 413, 504].contains(&status), "{}: {status} {answer:.500}: {beginning}", spec.id);
    if status == 400 {
        let detail = problem(status, &answer);
        assert!(detail.starts_with("filter"), "{}: {detail}", spec.id);
        assert!(!detail.contains("secondary storage"), "past the limits, {}: {detail}: {beginning}", spec.id);
    }
    (status, answer)
}

#[tokio::test]
async fn no_filter_takes_the_store_away() {
    let directory = tempfile::tempdir().unwrap();
    // Some take long, and are given up.
    let gateway = gateway(directory.path(), Duration::from_millis(200));
    let (mut dice, mut answered, mut refused) = (Dice(7), 0, 0);
    for round in 0..ROUNDS {
        for (operation, schema) in filtered() {
            dice.0 ^= round + 1;
            match ask(&gateway, operation, &hostile(schema, &mut dice)).await.0 {
                200 => answered += 1,
                _ => refused += 1,
            }
        }
    }
    assert!(answered > 20 && refused > 20, "the dice are loaded: {answered} answered, {refused} refused");
}

#[tokio::test]
async fn what_is_within_the_limits_is_answered_and_what_is_above_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let gateway = gateway(directory.path(), Duration::from_mins(2));
    let variable = |number: usize| json!({"name": format!("v{number}"), "value": {"$eq": "1"}});
    let variables = |count: usize| json!({"variables": (0..count).map(variable).collect::<Vec<_>>()});
    let found =
        |number: usize| json!({"name": "v", "value": {"$like": format!("{}*", "?".repeat(number % 50))}});
    let keys: Vec<_> = (0..2500).map(|key: u32| key.to_string()).collect();
    for (filter, is_answered) in [
        (json!({"$or": vec![json!({}); 1000]}), true),
        (json!({"$or": vec![json!({}); 1001]}), false),
        (json!({"$or": vec![json!({}); 100_000]}), false),
        (json!({"$or": vec![json!({"state": {}}); 50_000]}), false),
        (json!({"state": "ACTIVE", "$or": vec![json!({}); 999]}), true),
        (json!({"state": "ACTIVE", "$or": vec![json!({}); 1000]}), false),
        (json!({"$or": vec![json!({"state": "ACTIVE"}); 1000]}), true),
        (json!({"$or": vec![json!({"state": "ACTIVE"}); 1001]}), false),
        (
            json!({"$or": vec![json!({"tags": (0..10).map(|tag| format!("t{tag}")).collect::<Vec<_>>()}); 100]}),
            true,
        ),
        (variables(1000), true),
        (variables(1001), false),
        (json!({"variables": vec![json!({"name": "v", "value": {}}); 1001]}), false),
        (json!({"variables": (0..300).map(found).collect::<Vec<_>>()}), true),
        (json!({"$or": (0..300).map(|at| json!({"variables": [variable(at)]})).collect::<Vec<_>>()}), true),
        (json!({"processInstanceKey": {"$in": keys}, "parentProcessInstanceKey": {"$notIn": keys}}), true),
    ] {
        let (status, answer) = ask(&gateway, Operation::SearchProcessInstances, &filter).await;
        let beginning: String = filter.to_string().chars().take(300).collect();
        assert_eq!(status, if is_answered { 200 } else { 400 }, "{answer:.300}: {beginning}");
        if !is_answered {
            let detail = problem(status, &answer);
            let wanted = "filter: it has more than 1000 conditions, empty alternatives of $or included";
            let of_all = "filter.$or: expected at most 20000 elements in all lists of a request together";
            assert!(detail == wanted || detail == of_all, "{detail}: {beginning}");
        }
    }
}
