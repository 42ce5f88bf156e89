//! Values that indexes leave out or cut are found all the same.

use search::model::{
    ColumnId, Entity, element_instance as element, job, process_instance as instance, sequence_flow as flow,
    variable,
};
use search::{EntityRef, Filter, Related, Value};
use search::{Operand, Test};
use secondary::{Batch, RowId};

use super::suite::{Store, block_on, search};

/// More relations than are looked at first.
const MANY: u64 = 1_100;

fn found(store: &dyn Store, entity: &'static Entity, filter: Filter) -> Vec<Value> {
    let found = block_on(store.reader().search(search(entity, filter))).unwrap();
    assert_eq!(found.total, found.rows.len() as u64);
    found.rows.into_iter().map(|mut row| row.swap_remove(0)).collect()
}

fn equal(column: ColumnId, operand: impl Into<Value>) -> Filter {
    Filter::Column(column, Test::Equal(operand_of(operand.into())))
}

fn among(column: ColumnId, values: impl IntoIterator<Item = Value>) -> Filter {
    let mut operands: Vec<_> = values.into_iter().map(operand_of).collect();
    operands.sort_unstable();
    Filter::Column(column, Test::In(operands))
}

fn operand_of(value: Value) -> Operand {
    match value {
        Value::Text(text) => Operand::Text(text),
        value => Operand::Integer(value.integer().unwrap()),
    }
}

fn keys(keys: impl IntoIterator<Item = i64>) -> Vec<Value> {
    keys.into_iter().map(Value::from).collect()
}

fn words(words: &[&str]) -> Vec<Value> {
    words.iter().map(|word| Value::from(*word)).collect()
}

/// Everything; the store may hold other rows.
pub fn run(store: &dyn Store) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    fill(&mut batch);
    writer.write(&batch, position + 1).unwrap();
    usual_states(store);
    scopes(store);
    long_values(store);
    flows(store);
    relations(store);
}

fn long(last: char) -> String {
    format!("\"{}{last}\"", "long ".repeat(40))
}

fn fill(batch: &mut Batch) {
    for (key, state) in [(901_u64, "ACTIVE"), (902, "COMPLETED"), (903, "TERMINATED")] {
        batch
            .insert(&element::ENTITY, RowId::Key(key))
            .set(element::START, 1_i64)
            .set(element::STATE, state)
            .set(element::INSTANCE_KEY, 900_u64)
            .set(element::SCOPE_KEY, if key == 903 { 902_u64 } else { 900 });
    }
    for (key, state) in [(911_u64, "CREATED"), (912, "COMPLETED"), (913, "FAILED")] {
        let row = batch.insert(&job::ENTITY, RowId::Key(key));
        row.set(job::STATE, state).set(job::TYPE, "indexed").set(job::CREATED, 1_i64);
    }
    let variables = [
        (921_u64, "short".to_owned(), Some(900_u64), 900_u64),
        (922, "short".to_owned(), Some(900), 901),
        (923, long('1'), Some(930), 930),
        (924, long('2'), Some(930), 931),
        (925, "alone".to_owned(), None, 940),
    ];
    for (key, value, instance, scope) in variables {
        batch
            .insert(&variable::ENTITY, RowId::Key(key))
            .set(variable::NAME, "indexed")
            .set(variable::VALUE, value)
            .set(variable::INSTANCE_KEY, instance)
            .set(variable::SCOPE_KEY, scope);
    }
    for (instance, element) in [(90_u64, "f"), (90, "g"), (900, "f"), (9, "f")] {
        batch
            .insert(&flow::ENTITY, RowId::Text(format!("{instance}_{element}").as_str().into()))
            .set(flow::INSTANCE_KEY, instance)
            .set(flow::ELEMENT_ID, element);
    }
    for number in 0..MANY {
        let instance = 1_000_000 + number;
        let row = batch.insert(&instance::ENTITY, RowId::Key(instance));
        row.set(instance::START, 1_i64).set(instance::STATE, "ACTIVE").set(instance::BUSINESS_ID, "many");
        batch
            .insert(&variable::ENTITY, RowId::Key(2_000_000 + number))
            .set(variable::NAME, "often")
            .set(variable::VALUE, if number == 7 { "\"once\"" } else { "\"again\"" })
            .set(variable::INSTANCE_KEY, instance)
            .set(variable::SCOPE_KEY, instance);
    }
}

/// Rows in the usual state are not in the indexes of states.
fn usual_states(store: &dyn Store) {
    let elements = |states: &[&str]| {
        let filter = equal(element::INSTANCE_KEY, 900_i64).and(among(element::STATE, words(states)));
        found(store, &element::ENTITY, filter)
    };
    assert_eq!(elements(&["ACTIVE", "TERMINATED"]), keys([901, 903]));
    assert_eq!(elements(&["ACTIVE", "COMPLETED"]), keys([901, 902]));
    let jobs = |states: &[&str]| {
        let filter = equal(job::TYPE, "indexed").and(among(job::STATE, words(states)));
        found(store, &job::ENTITY, filter)
    };
    assert_eq!(jobs(&["CREATED", "FAILED"]), keys([911, 913]));
    assert_eq!(jobs(&["COMPLETED"]), keys([912]));
    assert_eq!(jobs(&["COMPLETED", "FAILED"]), keys([912, 913]));
    let created = found(store, &job::ENTITY, equal(job::TYPE, "indexed").and(equal(job::STATE, "CREATED")));
    assert_eq!(created, keys([911]));
}

/// Rows whose scope is their instance are not in the indexes of scopes.
fn scopes(store: &dyn Store) {
    let elements = |scope: i64| found(store, &element::ENTITY, equal(element::SCOPE_KEY, scope));
    assert_eq!(elements(900), keys([901, 902]));
    assert_eq!(elements(902), keys([903]));
    let variables = |scopes: &[i64]| {
        found(store, &variable::ENTITY, among(variable::SCOPE_KEY, keys(scopes.iter().copied())))
    };
    assert_eq!(variables(&[900]), keys([921]));
    assert_eq!(variables(&[900, 901, 940]), keys([921, 922, 925]));
    assert_eq!(variables(&[941]), keys([]));
}

/// Only the beginning of a value is in its index.
fn long_values(store: &dyn Store) {
    let variables = |values: Vec<Value>| {
        let name = equal(variable::NAME, "indexed");
        found(store, &variable::ENTITY, name.and(among(variable::VALUE, values)))
    };
    assert_eq!(variables(vec![long('1').into()]), keys([923]));
    assert_eq!(variables(vec![long('2').into(), "short".into()]), keys([921, 922, 924]));
    assert_eq!(variables(vec![long('3').into()]), keys([]));
    let one = equal(variable::NAME, "indexed").and(equal(variable::VALUE, long('2')));
    assert_eq!(found(store, &variable::ENTITY, one), keys([924]));
}

/// The instance of a flow stands in its identity alone.
fn flows(store: &dyn Store) {
    let flows = |filter: Filter| found(store, &flow::ENTITY, filter);
    let of = |instances: &[i64]| flows(among(flow::INSTANCE_KEY, keys(instances.iter().copied())));
    assert_eq!(flows(equal(flow::INSTANCE_KEY, 90_i64)), words(&["90_f", "90_g"]));
    assert_eq!(of(&[9, 900]), words(&["900_f", "9_f"]));
    let mut cleaner = store.cleaner();
    cleaner.open().unwrap();
    let remove = |cleaner: &mut dyn secondary::Cleaner, limit| {
        cleaner.remove(&flow::ENTITY, flow::INSTANCE_KEY, &keys([90, 9]), limit).unwrap()
    };
    assert_eq!(remove(&mut *cleaner, 2) + remove(&mut *cleaner, 100), 3);
    assert_eq!(of(&[9, 90, 900]), words(&["900_f"]));
}

/// Few relations are looked at first, many are not; a page shows the same.
fn relations(store: &dyn Store) {
    let of_value = |value: &str, other| {
        let filter = equal(variable::NAME, "often").and(equal(variable::VALUE, value));
        let entity = EntityRef(&variable::ENTITY);
        let related = Related { column: instance::KEY, entity, other, filter, exists: true };
        let business_id = equal(instance::BUSINESS_ID, "many");
        found(store, &instance::ENTITY, business_id.and(Filter::Related(Box::new(related))))
    };
    for other in [variable::INSTANCE_KEY, variable::SCOPE_KEY] {
        assert_eq!(of_value("\"once\"", other), keys([1_000_007]));
        assert_eq!(of_value("\"again\"", other).len() as u64, MANY - 1);
        assert_eq!(of_value("\"never\"", other), keys([]));
    }
}
