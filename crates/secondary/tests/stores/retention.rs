//! Retention removes old instances with all their parts, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use protocol::Name;
use search::model::{
    Entity, audit_log as audit, batch_operation as operation, batch_operation_item as item,
    decision_instance as decision, element_instance as element, history_deletion as deletion,
    message_subscription as subscription, process_definition as definition, process_instance as instance,
    usage_metric as usage, variable,
};
use search::{Filter, Value};
use secondary::{Batch, Retention, RowId, Rule, Sweeper, Swept, Writer};

use super::suite::{Store, block_on, search};

const DAY: Duration = Duration::from_hours(24);
/// Long after the end of what other tests write.
const NOW_MS: i64 = 1_700_000_000_000;

pub fn sweep(store: &dyn Store, retention: Retention) -> Swept {
    let sweeper = Sweeper::new(Arc::from(store.reader()), store.cleaner(), retention);
    block_on(sweeper.sweep(NOW_MS)).unwrap()
}

pub fn keep_nothing() -> Retention {
    Retention { ages: vec![("process_instances", Some(Duration::ZERO))], rules: vec![] }
}

fn days_ago(days: i64) -> i64 {
    NOW_MS - days * 86_400_000
}

fn write(store: &dyn Store, batch: &Batch) {
    let mut writer: Box<dyn Writer> = store.writer();
    let position = writer.open().unwrap();
    writer.write(batch, position + 1).unwrap();
}

/// Remaining rows of an entity.
fn left(store: &dyn Store, entity: &'static Entity) -> Vec<Value> {
    let found = block_on(store.reader().search(search(entity, Filter::everything()))).unwrap();
    found.rows.into_iter().map(|row| row[0].clone()).collect()
}

fn keys(keys: &[i64]) -> Vec<Value> {
    keys.iter().copied().map(Value::Integer).collect()
}

/// An instance with elements and a variable; element keys are ten times its key and following.
struct Instance {
    key: u64,
    root: u64,
    process: &'static str,
    tenant: &'static str,
    ended: Option<i64>,
    elements: u64,
}

fn add(batch: &mut Batch, one: &Instance) {
    let row = batch.insert(&instance::ENTITY, RowId::Key(one.key));
    row.set(instance::PROCESS_ID, one.process)
        .set(instance::TENANT, one.tenant)
        .set(instance::START, days_ago(100))
        .set(instance::ROOT_INSTANCE_KEY, one.root);
    if let Some(ended) = one.ended {
        row.set(instance::END, ended);
    }
    if one.root != one.key {
        row.set(instance::PARENT_INSTANCE_KEY, one.root);
    }
    for number in 0..one.elements {
        batch
            .insert(&element::ENTITY, RowId::Key(one.key * 10_000 + number))
            .set(element::INSTANCE_KEY, one.key)
            .set(element::START, days_ago(100));
    }
    batch
        .insert(&variable::ENTITY, RowId::Key(one.key * 10_000 + 9_999))
        .set(variable::INSTANCE_KEY, one.key);
}

pub fn run(store: &dyn Store) {
    assert_eq!(sweep(store, Retention::default()), Swept::default(), "nothing is forgotten unless told");
    // Rows of other tests ended, if at all, in 1970.
    let cleared =
        Retention { ages: vec![("process_instances", Some(DAY)), ("decisions", Some(DAY))], rules: vec![] };
    sweep(store, cleared);
    instances(store);
    moments(store);
    deletions(store);
    definitions(store);
}

fn instances(store: &dyn Store) {
    let before =
        [left(store, &instance::ENTITY), left(store, &element::ENTITY), left(store, &variable::ENTITY)];
    let mut batch = Batch::default();
    let one = |key, root, process, tenant, ended| Instance { key, root, process, tenant, ended, elements: 3 };
    for one in [
        // Runs; what it called ended long ago.
        one(500_001, 500_001, "a", "t", None),
        one(500_002, 500_001, "a", "t", Some(days_ago(90))),
        // Ended long ago, with more rows than go at once.
        Instance { elements: 1_300, ..one(500_003, 500_003, "a", "t", Some(days_ago(40))) },
        one(500_004, 500_003, "b", "t", Some(days_ago(41))),
        // Ended lately.
        one(500_005, 500_005, "a", "t", Some(days_ago(20))),
        // Rules.
        one(500_006, 500_006, "brief", "t", Some(days_ago(20))),
        one(500_007, 500_007, "brief", "t", Some(days_ago(5))),
        one(500_008, 500_008, "brief", "archive", Some(days_ago(90))),
        one(500_009, 500_009, "a", "archive", Some(days_ago(90))),
    ] {
        add(&mut batch, &one);
    }
    write(store, &batch);
    let rule = |definition: Option<&str>, tenant: Option<&str>, keep| Rule {
        kind: Name::from("process_instances"),
        definition: definition.map(Name::from),
        tenant: tenant.map(Name::from),
        keep,
    };
    let retention = Retention {
        ages: vec![("process_instances", Some(DAY * 30))],
        rules: vec![
            rule(None, Some("archive"), None),
            rule(Some("brief"), None, Some(DAY * 10)),
            // Decisions come to an end of their own.
            Rule { kind: Name::from("decisions"), definition: None, tenant: None, keep: Some(DAY) },
        ],
    };
    let swept = sweep(store, retention.clone());
    assert_eq!(swept, Swept { things: 3, rows: 1_301 + 4 + 4 + 3 });
    let with = |before: &[Value], added: &[i64]| {
        let mut all = before.to_vec();
        all.extend(keys(added));
        all
    };
    let kept = [500_001, 500_002, 500_005, 500_007, 500_008, 500_009];
    assert_eq!(left(store, &instance::ENTITY), with(&before[0], &kept));
    let elements =
        kept.iter().flat_map(|key| (0..3).map(move |number| key * 10_000 + number)).collect::<Vec<_>>();
    assert_eq!(left(store, &element::ENTITY), with(&before[1], &elements));
    let variables = kept.map(|key| key * 10_000 + 9_999);
    assert_eq!(left(store, &variable::ENTITY), with(&before[2], &variables));
    assert_eq!(sweep(store, retention), Swept::default());
}

/// Requested deletions happen at once, without called instances.
fn deletions(store: &dyn Store) {
    let mut batch = Batch::default();
    let ended = Some(days_ago(0));
    let instance = |key| Instance { key, root: 600_001, process: "a", tenant: "t", ended, elements: 600 };
    add(&mut batch, &instance(600_001));
    add(&mut batch, &Instance { elements: 1, ..instance(600_002) });
    for id in ["77-1", "77-2", "78-1"] {
        let key: i64 = id[..2].parse().unwrap();
        batch
            .insert(&decision::ENTITY, RowId::Text(Name::from(id)))
            .set(decision::DATE, NOW_MS)
            .set(decision::EVALUATION_KEY, key);
    }
    for (key, kind, resource) in
        [(1_u64, "PROCESS_INSTANCE", 600_001_u64), (2, "DECISION_INSTANCE", 77), (3, "PROCESS_INSTANCE", 9)]
    {
        batch
            .insert(&deletion::ENTITY, RowId::Key(key))
            .set(deletion::TYPE, kind)
            .set(deletion::RESOURCE_KEY, resource)
            .set(deletion::TIME, NOW_MS);
    }
    write(store, &batch);
    let sweeper = Sweeper::new(Arc::from(store.reader()), store.cleaner(), Retention::default());
    let swept = block_on(sweeper.sweep_deleted()).unwrap();
    assert_eq!(swept, Swept { things: 1 + 2, rows: 600 + 2 + 2 });
    let left = |entity| left(store, entity);
    assert!(!left(&instance::ENTITY).contains(&Value::Integer(600_001)));
    assert!(left(&instance::ENTITY).contains(&Value::Integer(600_002)));
    assert!(left(&element::ENTITY).contains(&Value::Integer(600_002 * 10_000)));
    assert!(!left(&element::ENTITY).contains(&Value::Integer(600_001 * 10_000)));
    assert!(left(&decision::ENTITY).contains(&Value::from("78-1")));
    assert!(!left(&decision::ENTITY).contains(&Value::from("77-2")));
    assert_eq!(left(&deletion::ENTITY), keys(&[]));
    assert_eq!(block_on(sweeper.sweep_deleted()).unwrap(), Swept::default());
}

/// A process definition that was deleted with its histories goes when the last of its instances has gone, and no
/// other does.
fn definitions(store: &dyn Store) {
    let mut batch = Batch::default();
    for key in [700_001_u64, 700_002, 700_003] {
        batch
            .insert(&definition::ENTITY, RowId::Key(key))
            .set(definition::PROCESS_ID, "gone")
            .set(definition::STATE, "DELETED");
        batch
            .insert(&subscription::ENTITY, RowId::Key(key + 10))
            .set(subscription::DEFINITION_KEY, key)
            .set(subscription::UPDATED, NOW_MS);
    }
    batch
        .insert(&instance::ENTITY, RowId::Key(700_020))
        .set(instance::DEFINITION_KEY, 700_001_u64)
        .set(instance::START, NOW_MS);
    // The third was deleted without.
    for (key, resource) in [(21_u64, 700_001_u64), (22, 700_002)] {
        batch
            .insert(&deletion::ENTITY, RowId::Key(key))
            .set(deletion::TYPE, "PROCESS_DEFINITION")
            .set(deletion::RESOURCE_KEY, resource)
            .set(deletion::TIME, NOW_MS);
    }
    write(store, &batch);
    let sweeper = Sweeper::new(Arc::from(store.reader()), store.cleaner(), Retention::default());
    let ours = |entity| -> Vec<Value> {
        let is_ours = |value: &Value| matches!(value, Value::Integer(700_000..800_000));
        left(store, entity).into_iter().filter(is_ours).collect()
    };
    assert_eq!(block_on(sweeper.sweep_deleted()).unwrap(), Swept { things: 1, rows: 2 });
    assert_eq!(ours(&definition::ENTITY), keys(&[700_001, 700_003]));
    assert_eq!(ours(&subscription::ENTITY), keys(&[700_011, 700_013]));
    assert_eq!(left(store, &deletion::ENTITY), keys(&[21]), "it waits for its instance");

    let mut batch = Batch::default();
    batch
        .insert(&deletion::ENTITY, RowId::Key(30))
        .set(deletion::TYPE, "PROCESS_INSTANCE")
        .set(deletion::RESOURCE_KEY, 700_020_u64)
        .set(deletion::TIME, NOW_MS);
    write(store, &batch);
    block_on(sweeper.sweep_deleted()).unwrap();
    block_on(sweeper.sweep_deleted()).unwrap();
    assert_eq!(ours(&definition::ENTITY), keys(&[700_003]));
    assert_eq!(left(store, &deletion::ENTITY), keys(&[]));
}

/// Stand-alone rows, and batch operations with their items.
fn moments(store: &dyn Store) {
    let text = |name: &str| RowId::Text(Name::from(name));
    let mut batch = Batch::default();
    for (id, owner) in [("1-1", None), ("2-1", Some(500_001_u64))] {
        batch
            .insert(&decision::ENTITY, text(id))
            .set(decision::DATE, days_ago(40))
            .set(decision::INSTANCE_KEY, owner);
    }
    for (key, ended) in [(1_u64, Some(days_ago(9))), (2, None)] {
        let row = batch.insert(&operation::ENTITY, RowId::Key(key));
        row.set(operation::STATE, "any");
        if let Some(ended) = ended {
            row.set(operation::END, ended);
        }
        batch.insert(&item::ENTITY, text(&format!("{key}_1"))).set(item::BATCH_KEY, key);
    }
    for days in [1_i64, 50] {
        batch.insert(&audit::ENTITY, RowId::Key(days.cast_unsigned())).set(audit::TIMESTAMP, days_ago(days));
        batch.insert(&usage::ENTITY, text(&format!("u{days}"))).set(usage::TIME, days_ago(days));
    }
    write(store, &batch);
    let retention = Retention {
        ages: vec![
            ("decisions", Some(DAY * 30)),
            ("batch_operations", Some(DAY * 7)),
            ("audit_log", Some(DAY * 30)),
            ("usage_metrics", None),
        ],
        rules: vec![],
    };
    assert_eq!(sweep(store, retention), Swept { things: 3, rows: 4 });
    let texts = |texts: &[&str]| texts.iter().map(|text| Value::from(*text)).collect::<Vec<_>>();
    assert_eq!(left(store, &decision::ENTITY), texts(&["2-1"]));
    assert_eq!(left(store, &operation::ENTITY), keys(&[2]));
    assert_eq!(left(store, &item::ENTITY), texts(&["2_1"]));
    assert_eq!(left(store, &audit::ENTITY), keys(&[1]));
    assert_eq!(left(store, &usage::ENTITY), texts(&["u1", "u50"]));
}
