//! Candidates of a task are a list; tasks are found by each of its elements.

use protocol::Name;
use search::Filter;
use search::model::{ColumnId, user_task as task};
use search::{Operand, Test};
use secondary::{Batch, RowId};

use super::suite::{Store, block_on, search};

fn operand(text: &str) -> Operand {
    Operand::Text(Name::from(text))
}

fn equal(column: ColumnId, text: &str) -> Filter {
    Filter::Column(column, Test::Equal(operand(text)))
}

pub fn run(store: &dyn Store) {
    let long = "g".repeat(3000);
    let longer = format!("{long}!");
    let tasks: [(u64, &str, &[&str], &[&str]); 8] = [
        (1, "CREATED", &["office", "it's \"odd\", [ä]\\"], &[]),
        (2, "CREATED", &["sales"], &["ann"]),
        (3, "COMPLETED", &["office"], &["ann", "bob"]),
        (4, "CREATED", &[], &[]),
        (5, "CREATED", &[&long], &["office"]),
        (6, "CREATED", &[&longer], &["Ann", "ann "]),
        (7, "CREATED", &["offic", "office2"], &["an"]),
        (8, "CREATED", &["", "sales"], &["bob"]),
    ];
    let mut batch = Batch::default();
    for (key, state, groups, users) in tasks {
        let row = batch.insert(&task::ENTITY, RowId::Key(key));
        row.set(task::STATE, state).set(task::CREATED, 1_i64).set(task::ASSIGNEE, format!("user-{key}"));
        row.set(task::CANDIDATE_GROUPS, serde_json::to_string(groups).unwrap());
        row.set(task::CANDIDATE_USERS, serde_json::to_string(users).unwrap());
    }
    // It has no candidates.
    batch.insert(&task::ENTITY, RowId::Key(9)).set(task::STATE, "CREATED").set(task::CREATED, 1_i64);
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(&batch, position + 1).unwrap();

    let found = |filter: Filter| {
        let found = block_on(store.reader().search(search(&task::ENTITY, filter))).unwrap();
        assert_eq!(found.total, found.rows.len() as u64);
        found.rows.iter().map(|row| row[0].integer().unwrap()).collect::<Vec<_>>()
    };
    let groups = |test| found(Filter::Column(task::CANDIDATE_GROUPS, test));
    let group = |name: &str| groups(Test::Equal(operand(name)));
    assert_eq!(group("office"), [1, 3]);
    assert_eq!(group("it's \"odd\", [ä]\\"), [1]);
    assert_eq!(group(""), [8]);
    assert_eq!(group(&long), [5]);
    assert_eq!(group(&longer), [6]);
    assert_eq!(group("nobody"), [0_i64; 0]);
    assert_eq!(groups(Test::In(vec![operand("sales"), operand("office")])), [1, 2, 3, 8]);
    assert_eq!(groups(Test::NotEqual(operand("office"))), [2, 4, 5, 6, 7, 8, 9]);
    assert_eq!(groups(Test::NotIn(vec![operand("sales"), operand("office")])), [4, 5, 6, 7, 9]);
    assert_eq!(groups(Test::Like("offic?".into())), [1, 3]);

    let open = || equal(task::STATE, "CREATED");
    assert_eq!(found(equal(task::CANDIDATE_GROUPS, "office").and(open())), [1]);
    assert_eq!(found(equal(task::CANDIDATE_USERS, "ann").and(open())), [2]);
    let mine = Filter::Any(vec![
        equal(task::ASSIGNEE, "user-4"),
        equal(task::CANDIDATE_USERS, "ann"),
        equal(task::CANDIDATE_GROUPS, "office"),
    ]);
    assert_eq!(found(mine.clone().and(open())), [1, 2, 4]);
    assert_eq!(found(mine), [1, 2, 3, 4]);

    // As a task changes, so does where it is found.
    let mut batch = Batch::default();
    batch.update(&task::ENTITY, RowId::Key(1)).set(task::CANDIDATE_GROUPS, r#"["archive"]"#);
    batch.delete(&task::ENTITY, RowId::Key(3));
    writer.write(&batch, position + 2).unwrap();
    assert_eq!(group("office"), [0_i64; 0]);
    assert_eq!(group("archive"), [1]);
}
