//! Disks that fail: full, unable to sync, or torn by a crash.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Seen, log_files, open, payload, start};
use replication::{DiskFaults, Group, LogOptions, LogStore, ProposeError, Role};
use tokio::task::JoinHandle;

fn faulty(dir: &std::path::Path) -> (LogStore, Arc<DiskFaults>) {
    let faults = Arc::new(DiskFaults::default());
    let options =
        LogOptions { disk_faults: Some(faults.clone()), min_free_bytes: 1, ..LogOptions::default() };
    (LogStore::open(dir, options).unwrap(), faults)
}

async fn led_again(group: &Group) {
    let mut role = group.role();
    role.wait_for(|role| matches!(role, Role::Leader { .. })).await.unwrap();
}

async fn fails_and_resumes(fault: fn(&DiskFaults) -> &AtomicBool) {
    let dir = tempfile::tempdir().unwrap();
    let (log, faults) = faulty(dir.path());
    let (seen, other_seen) = (Seen::default(), Seen::default());
    let group = start(&log, 1, &seen).await;
    let other = start(&log, 2, &other_seen).await;
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        for number in 0..20 {
            let text = format!("{round}-{number}");
            group.propose(payload(text.clone())).await.unwrap();
            other.propose(payload(text.clone())).await.unwrap();
            acknowledged.push(text);
        }
        fault(&faults).store(true, Ordering::SeqCst);
        for attempt in 0..5 {
            let lost = group.propose(payload(format!("lost {round}-{attempt}"))).await;
            assert!(matches!(lost, Err(ProposeError::Storage(_))), "{lost:?}");
        }
        assert!(!group.is_leader());
        assert!(log.failure().is_some());
        fault(&faults).store(false, Ordering::SeqCst);
        led_again(&group).await;
    }
    group.propose(payload("last")).await.unwrap();
    acknowledged.push("last".to_owned());
    // Nothing acknowledged is missing, nothing refused was applied, nothing was applied twice.
    assert_eq!(seen.texts(), acknowledged);
    other.propose(payload("last")).await.unwrap();
    assert_eq!(other_seen.texts(), acknowledged);
    group.shutdown().await;
    other.shutdown().await;
    drop((group, other, log));

    let again = Seen::default();
    let group = start(&open(dir.path()), 1, &again).await;
    assert_eq!(again.texts(), acknowledged, "and so it is on disk");
    group.shutdown().await;
}

#[tokio::test]
async fn a_full_disk_refuses_proposals_until_it_has_space() {
    fails_and_resumes(|faults| &faults.full).await;
}

#[tokio::test]
async fn a_disk_that_cannot_sync_refuses_proposals_until_it_can() {
    fails_and_resumes(|faults| &faults.failing_sync).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn proposals_in_flight_when_the_disk_fails_are_all_answered() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(DiskFaults::default());
    // Small files, so that failures also hit their rotation, recycling and removal.
    let options = LogOptions {
        disk_faults: Some(faults.clone()),
        min_free_bytes: 1,
        segment_bytes: 64 << 10,
        retained_bytes: 256 << 10,
        ..LogOptions::default()
    };
    let log = LogStore::open(dir.path(), options).unwrap();
    let seen = Seen::default();
    let group = start(&log, 1, &seen).await;
    let proposers: Vec<_> = (0..8)
        .map(|proposer| {
            let group = group.clone();
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                let mut refused = 0;
                let mut number = 0;
                // Until the disk was seen to fail and to work again.
                while refused == 0 || acknowledged.len() < 200 {
                    let text = format!("{proposer}-{number:0>4000}");
                    number += 1;
                    match group.propose(payload(text.clone())).await {
                        Ok(_) => acknowledged.push(text),
                        Err(ProposeError::Storage(_)) => {
                            refused += 1;
                            led_again(&group).await;
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
                acknowledged
            })
        })
        .collect();
    // Fail in the midst of the stream, several times, until every proposer has met a failure.
    let all_done = || proposers.iter().all(JoinHandle::is_finished);
    let mut rounds = 0;
    while !all_done() {
        let applied = group.metrics().applied_index;
        while group.metrics().applied_index < applied + 20 && !all_done() {
            tokio::task::yield_now().await;
        }
        seen.flush(group.metrics().applied_index);
        let fault = if rounds % 2 == 0 { &faults.failing_sync } else { &faults.full };
        rounds += 1;
        fault.store(true, Ordering::SeqCst);
        group.purge(applied).await;
        let role = group.role();
        while *role.borrow() != Role::Unavailable && !all_done() {
            tokio::task::yield_now().await;
        }
        fault.store(false, Ordering::SeqCst);
        led_again(&group).await;
        group.purge(applied).await;
    }
    let applied = seen.texts();
    let mut unique = applied.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), applied.len(), "an entry was applied twice");
    for task in proposers {
        for text in task.await.unwrap() {
            assert!(unique.binary_search(&text).is_ok(), "{text} was acknowledged but not applied");
        }
    }
    group.shutdown().await;
    drop((group, log));
    let again = Seen::default();
    again.flush(seen.durable.load(Ordering::SeqCst));
    let group = start(&open(dir.path()), 1, &again).await;
    let durable = seen.durable.load(Ordering::SeqCst);
    let replayed: Vec<u64> = seen.indexes().into_iter().filter(|index| *index > durable).collect();
    assert_eq!(again.indexes(), replayed);
    assert!(applied.ends_with(&again.texts()));
    group.shutdown().await;
}

#[tokio::test]
async fn a_group_can_be_stopped_while_it_waits_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (log, faults) = faulty(dir.path());
    let seen = Seen::default();
    let group = start(&log, 1, &seen).await;
    group.propose(payload("kept")).await.unwrap();
    faults.full.store(true, Ordering::SeqCst);
    group.propose(payload("lost")).await.unwrap_err();
    group.shutdown().await;
    assert_eq!(group.propose(payload("late")).await, Err(ProposeError::ShuttingDown));
    drop((group, log));
    let again = Seen::default();
    let group = start(&open(dir.path()), 1, &again).await;
    assert_eq!(again.texts(), ["kept"]);
    group.shutdown().await;
}

/// Copies a log as it lies on disk, as a power failure would leave it, while its owner is still running.
fn freeze(dir: &std::path::Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for path in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_file() {
            std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    copy
}

#[tokio::test]
async fn whatever_was_acknowledged_survives_a_kill_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    for number in 0..50 {
        group.propose(payload(format!("{number}"))).await.unwrap();
        if number % 10 == 9 {
            let copy = freeze(dir.path());
            let again = Seen::default();
            let restarted = start(&open(copy.path()), 1, &again).await;
            assert_eq!(again.texts(), seen.texts());
            restarted.propose(payload("on")).await.unwrap();
            restarted.shutdown().await;
        }
    }
    group.shutdown().await;
}

#[tokio::test]
async fn a_torn_tail_costs_no_more_than_the_torn_entry() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    for number in 0..40 {
        group.propose(payload(format!("{number}"))).await.unwrap();
    }
    let kept = freeze(dir.path());
    let end = written_end(&log_files(kept.path()).pop().unwrap());
    group.propose(payload("torn ".repeat(200))).await.unwrap();
    let torn = freeze(dir.path());
    let torn_end = written_end(&log_files(torn.path()).pop().unwrap());
    assert!(torn_end > end + 1000);
    group.shutdown().await;

    // The last write reached the disk in part, or as garbage.
    for cut in [end + 1, end + 7, end + 16, end + 500, torn_end - 1] {
        for garbage in [false, true] {
            let copy = freeze(torn.path());
            let newest = log_files(copy.path()).pop().unwrap();
            let mut bytes = std::fs::read(&newest).unwrap();
            if garbage {
                for byte in &mut bytes[cut as usize..torn_end as usize] {
                    *byte = !*byte;
                }
            } else {
                bytes.truncate(cut as usize);
            }
            std::fs::write(&newest, bytes).unwrap();
            let again = Seen::default();
            let log = open(copy.path());
            let group = start(&log, 1, &again).await;
            assert_eq!(again.texts(), seen.texts()[..40], "cut at {cut}, garbage: {garbage}");
            group.propose(payload("on")).await.unwrap();
            group.shutdown().await;
            drop((group, log));
            let twice = Seen::default();
            let group = start(&open(copy.path()), 1, &twice).await;
            assert_eq!(twice.texts().last().unwrap(), "on");
            assert_eq!(twice.texts().len(), 41);
            group.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_sync_that_fails_right_after_a_crash_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    for number in 0..10 {
        group.propose(payload(format!("{number}"))).await.unwrap();
    }
    // The newest file still has the zeros that were allocated ahead.
    let copy = freeze(dir.path());
    group.shutdown().await;

    let (log, faults) = faulty(copy.path());
    let again = Seen::default();
    let group = start(&log, 1, &again).await;
    faults.failing_sync.store(true, Ordering::SeqCst);
    group.propose(payload("lost")).await.unwrap_err();
    faults.failing_sync.store(false, Ordering::SeqCst);
    led_again(&group).await;
    group.propose(payload("on")).await.unwrap();
    let mut expected = seen.texts();
    expected.push("on".to_owned());
    assert_eq!(again.texts(), expected);
    group.shutdown().await;
}

/// Where the content of a log file ends: it is allocated ahead, in zeros.
fn written_end(path: &std::path::Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1)
}
