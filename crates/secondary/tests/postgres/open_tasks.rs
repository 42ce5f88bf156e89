//! Open tasks of few people are found without looking at those of all others.

use std::time::{Duration, Instant};

use protocol::Name;
use search::model::{ColumnId, user_task as task};
use search::{Filter, Search, Sort};
use search::{Operand, Test};
use secondary::{Batch, RowId};

use super::server::Server;
use super::suite::{Store as _, block_on, search};
use super::{Store, number, sql};

/// Open tasks.
const TASKS: u64 = 20_000;
/// One of so many is of the small group.
const SMALL: u64 = 1000;
/// The database notices that a connection is closed a moment later.
const CLOSED_WITHIN: Duration = Duration::from_secs(30);

fn is(column: ColumnId, text: &str) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Text(Name::from(text))))
}

/// How many are found with a page of the latest, and how often each index was used for that.
fn ask(server: &Server, store: &Store, filter: &Filter, indexes: [&str; 3]) -> (u64, [i64; 3]) {
    let used = |index: &str| {
        let scans =
            "SELECT idx_scan FROM pg_stat_user_indexes WHERE schemaname='candidates' AND indexrelname=";
        number(server, &format!("{scans}'{index}'"))
    };
    let now = number(server, "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint");
    // Connections of earlier tests may be closing still.
    let connections_since = || {
        let since = "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type='client backend' AND \
                     pid<>pg_backend_pid() AND EXTRACT(EPOCH FROM backend_start) * 1000000 >= ";
        number(server, &format!("{since}{now}"))
    };
    let before = indexes.map(used);
    let sort = vec![Sort { column: task::CREATED, descending: true }];
    let open = is(task::STATE, "CREATED");
    let search = Search { sort, limit: 50, ..search(&task::ENTITY, filter.clone().and(open)) };
    // All of it is told by the time that the connection is closed.
    let reader = store.reader();
    let total = block_on(reader.search(search)).unwrap().total;
    drop(reader);
    let deadline = Instant::now() + CLOSED_WITHIN;
    while connections_since() > 0 {
        assert!(Instant::now() < deadline, "the connection stays");
        std::thread::yield_now();
    }
    let now = indexes.map(used);
    (total, std::array::from_fn(|at| now[at] - before[at]))
}

pub fn few_open_tasks_are_found_by_an_index(server: &Server) {
    let store = Store::new(server, "candidates");
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    for key in 1..=TASKS {
        let is_small = key.is_multiple_of(SMALL);
        let is_anns = key % SMALL == 1;
        batch
            .insert(&task::ENTITY, RowId::Key(key))
            .set(task::STATE, "CREATED")
            .set(task::CREATED, key)
            .set(task::ASSIGNEE, format!("user-{}", key % 500))
            .set(task::CANDIDATE_GROUPS, if is_small { r#"["small","office"]"# } else { r#"["office"]"# })
            .set(task::CANDIDATE_USERS, if is_anns { r#"["ann"]"# } else { "[]" });
    }
    writer.write(&batch, position + 1).unwrap();
    sql(server, "ANALYZE candidates.user_task");

    let indexes = [
        "user_task_candidateGroups_elements",
        "user_task_candidateUsers_elements",
        "user_task_state_creationDate",
    ];
    // A page that has all of them tells the total.
    let small = is(task::CANDIDATE_GROUPS, "small");
    assert_eq!(ask(server, &store, &small, indexes), (TASKS / SMALL, [1, 0, 0]));
    // Others are asked for a page and for the total.
    let mine = Filter::Any(vec![is(task::ASSIGNEE, "user-7"), is(task::CANDIDATE_USERS, "ann"), small]);
    assert_eq!(ask(server, &store, &mine, indexes), (2 * TASKS / SMALL + TASKS / 500, [2, 2, 0]));
    // The latest of a group that has all of them are found by their order.
    let office = is(task::CANDIDATE_GROUPS, "office");
    let (total, used) = ask(server, &store, &office, indexes);
    assert_eq!((total, used[0]), (10_000, 0));
}
