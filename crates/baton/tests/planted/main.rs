//! The lab finds bugs that are planted in a real server, each by the row that should find it.
//!
//! `cargo test -p baton --features plantable --test planted`
#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};

use lab::{Judgement, LabRun};
use planted::Bug;

/// How much longer syncs take where the disk is slow, milliseconds.
const SYNC_MS: u32 = 60;

/// Runs a row on a server with a bug, or without; what the lab says of it, and its exit code.
fn run(row: &str, bug: Option<Bug>) -> (LabRun, i32) {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.args(["lab", "run", row, "--quick", "--json", "--out"]).arg(out.path());
    if let Some(bug) = bug {
        command.arg("--server-env").arg(format!("PLANTED_BUG={bug:?}"));
    }
    if row == "L5" {
        command.arg("--server-env").arg(format!("{}={SYNC_MS}", lab::PLANTED_SYNC_MS));
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().unwrap();
    let run = serde_json::from_slice(&output.stdout);
    (run.unwrap_or_else(|error| panic!("{error}: {output:?}")), output.status.code().unwrap())
}

#[track_caller]
fn is_found(bug: Bug, row: &str, figures: &[&str]) {
    let (found, code) = run(row, Some(bug));
    let result = &found.results[0];
    assert_eq!((result.judgement, code), (Judgement::Missed, 1), "{bug:?} is not found: {result:#?}");
    let missed = |figure: &str| {
        result.findings.iter().any(|found| found.figure == figure && found.judgement == Judgement::Missed)
    };
    assert!(figures.iter().any(|figure| missed(figure)), "{bug:?}: {:#?}", result.findings);
}

#[test]
fn every_bug_has_its_test() {
    let all = [
        Bug::EarlyAcknowledgement,
        Bug::SkippedSync,
        Bug::DroppedCompletions,
        Bug::PushesWithoutDemand,
        Bug::Leaks,
        Bug::ExportsNothing,
    ];
    assert_eq!(all, Bug::OF_THE_LAB);
}

#[test]
fn answers_before_the_sync_are_found_by_the_kill_or_by_their_time() {
    is_found(Bug::EarlyAcknowledgement, "L5", &["acknowledged and lost", "answers sooner than a sync takes"]);
}

#[test]
fn a_missing_sync_is_found_by_answers_that_come_too_soon() {
    is_found(Bug::SkippedSync, "L5", &["answers sooner than a sync takes"]);
}

#[test]
fn dropped_completions_are_found_by_the_standard_load() {
    is_found(Bug::DroppedCompletions, "E1", &["jobs created and not completed", "jobs handed out again"]);
}

#[test]
fn pushes_without_demand_are_found_by_the_second_worker() {
    is_found(
        Bug::PushesWithoutDemand,
        "E5",
        &["outstanding by capacity, at the most", "activations by jobs", "completions refused"],
    );
}

#[test]
fn a_leak_is_found_by_memory_over_time() {
    is_found(Bug::Leaks, "E18", &["growth of a minute, second half"]);
}

#[test]
fn missing_exports_are_found_by_the_search() {
    is_found(Bug::ExportsNothing, "E14", &["acknowledged and never found"]);
}

#[test]
fn a_server_without_bugs_holds() {
    for row in ["E1", "L5", "E18", "E14"] {
        let (found, code) = run(row, None);
        assert_eq!((found.results[0].judgement, code), (Judgement::Held, 0), "{:#?}", found.results[0]);
    }
}
