//! The life of a group on a healthy disk.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

mod common;

use std::sync::atomic::Ordering;

use common::{Seen, open, payload, start};
use replication::{Group, GroupOptions, LogError, LogOptions, LogStore, ProposeError, Role, StartError};

#[tokio::test]
async fn a_proposal_is_applied_once_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    assert!(group.is_leader());

    let mut indexes = Vec::new();
    for number in 0..100 {
        indexes.push(group.propose(payload(format!("{number}"))).await.unwrap());
        assert_eq!(seen.indexes(), indexes, "applied before the proposal resolves");
    }
    assert!(indexes.is_sorted_by(|a, b| a < b));
    assert_eq!(seen.texts(), (0..100).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_eq!(*seen.threads.lock(), ["partition-1", "raft-1"], "one at a time needs no hand-over");

    let metrics = group.metrics();
    let last = *indexes.last().unwrap();
    assert_eq!((metrics.last_log_index, metrics.committed_index, metrics.applied_index), (last, last, last));
    assert!(matches!(metrics.role, Role::Leader { term: 1 }));
    group.shutdown().await;
    assert_eq!(group.propose(payload("late")).await, Err(ProposeError::ShuttingDown));
    assert!(!group.is_leader());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_proposals_at_once_are_applied_once_and_in_order_on_either_thread() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    let mut expected = Vec::new();
    // Until both threads have applied: alone it is the one, in company the other.
    while !["raft-1", "partition-1"].iter().all(|name| seen.threads.lock().iter().any(|n| n == name)) {
        for _ in 0..10 {
            expected.push(group.propose(payload("alone")).await.unwrap());
        }
        let others: Vec<_> = (0..8)
            .map(|number| {
                let group = group.clone();
                tokio::spawn(async move { group.propose(payload(format!("{number}"))).await.unwrap() })
            })
            .collect();
        for other in others {
            expected.push(other.await.unwrap());
        }
    }
    expected.sort_unstable();
    assert_eq!(seen.indexes(), expected);
    group.shutdown().await;
}

#[tokio::test]
async fn the_number_of_a_proposal_survives_until_it_is_applied() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let log = open(dir.path());
    let group = start(&log, 1, &seen).await;
    let mut proposal = payload("seven");
    proposal.number = Some(7);
    group.propose(proposal).await.unwrap();
    assert_eq!(seen.numbered.load(Ordering::SeqCst), 1);
    group.shutdown().await;
    drop(group);

    // From disk it comes back without.
    let group = start(&log, 1, &seen).await;
    assert_eq!(seen.texts(), ["seven", "seven"]);
    assert_eq!(seen.numbered.load(Ordering::SeqCst), 1);
    group.shutdown().await;
}

#[tokio::test]
async fn a_restart_applies_what_was_not_durable_in_order_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    let mut durable = 0;
    for life in 0..4 {
        // The state a machine would find: everything up to its last flush.
        let seen = Seen::default();
        seen.flush(durable);
        let log = open(dir.path());
        let group = start(&log, 1, &seen).await;
        let replayed: Vec<u64> =
            expected.iter().map(|(index, _)| *index).filter(|index| *index > durable).collect();
        assert_eq!(seen.indexes(), replayed, "life {life}");
        for number in 0..50 {
            let text = format!("{life}-{number}");
            let index = group.propose(payload(text.clone())).await.unwrap();
            expected.push((index, text));
            if number == 20 {
                durable = index;
            }
        }
        group.shutdown().await;
    }
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    assert_eq!(seen.texts(), expected.into_iter().map(|(_, text)| text).collect::<Vec<_>>());
    group.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_share_a_store_and_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let mut tasks = Vec::new();
    let mut groups = Vec::new();
    for id in [1, 2, 3] {
        let seen = Seen::default();
        let group = start(&log, id, &seen).await;
        for proposer in 0..4 {
            let group = group.clone();
            tasks.push(tokio::spawn(async move {
                for number in 0..50 {
                    group.propose(payload(format!("{id}/{proposer}/{number}"))).await.unwrap();
                }
            }));
        }
        groups.push((id, group, seen));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let stats = log.stats();
    assert!(stats.writes < stats.changes, "groups share syncs: {stats:?}");
    for (id, group, seen) in groups {
        assert_eq!(seen.texts().len(), 200);
        assert!(seen.texts().iter().all(|text| text.starts_with(&format!("{id}/"))));
        for proposer in 0..4 {
            let prefix = format!("{id}/{proposer}/");
            let mine: Vec<_> = seen.texts().into_iter().filter(|text| text.starts_with(&prefix)).collect();
            assert_eq!(mine, (0..50).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>());
        }
        let before = seen.texts();
        group.shutdown().await;
        drop(group);
        let again = Seen::default();
        let group = start(&log, id, &again).await;
        assert_eq!(again.texts(), before);
        group.shutdown().await;
    }
}

#[tokio::test]
async fn a_group_runs_only_once_on_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let seen = Seen::default();
    let group = start(&log, 1, &seen).await;
    let second = Group::start(1, 1, &log, seen.machine(), GroupOptions::default()).await;
    assert!(matches!(second.err(), Some(StartError::Log(LogError::InUse(1)))));
    group.shutdown().await;
    start(&log, 1, &seen).await.shutdown().await;
}

#[tokio::test]
async fn a_state_machine_that_fails_stops_its_group_alone() {
    // After a few proposals one at a time, entries are applied on another thread.
    for (poison, before) in [("refuse this", 1), ("panic here", 1), ("refuse this", 20), ("panic here", 20)] {
        let dir = tempfile::tempdir().unwrap();
        let log = open(dir.path());
        let (seen, other_seen) = (Seen::default(), Seen::default());
        let group = start(&log, 1, &seen).await;
        let other = start(&log, 2, &other_seen).await;
        let mut expected = vec!["before"; before];
        for text in &expected {
            group.propose(payload(*text)).await.unwrap();
        }
        let refused = group.propose(payload(poison)).await;
        assert!(matches!(refused, Err(ProposeError::StateMachine(_))), "{refused:?}");
        let mut role = group.role();
        role.wait_for(|role| *role == Role::Unavailable).await.unwrap();
        let after = group.propose(payload("after")).await;
        assert!(matches!(after, Err(ProposeError::StateMachine(_))), "{after:?}");
        other.propose(payload("unharmed")).await.unwrap();
        group.shutdown().await;
        assert_eq!(seen.texts(), expected);
        drop(group);

        // The entry is in the log: the group cannot start before its machine can take it.
        let again = Seen::default();
        let failed = Group::start(1, 1, &log, again.machine(), GroupOptions::default()).await;
        assert!(matches!(failed.err(), Some(StartError::Raft(_))));
        let again = Seen::default();
        again.healed.store(true, Ordering::SeqCst);
        let group = start(&log, 1, &again).await;
        expected.push(poison);
        assert_eq!(again.texts(), expected);
        group.shutdown().await;
        other.shutdown().await;
    }
}

#[tokio::test]
async fn a_log_and_a_state_that_do_not_belong_together_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let seen = Seen::default();
    seen.flush(500);
    let started = Group::start(1, 1, &log, seen.machine(), GroupOptions::default()).await;
    assert!(matches!(started.err(), Some(StartError::StateAhead { durable: 500, last: None })));

    let seen = Seen::default();
    let group = start(&log, 1, &seen).await;
    let mut last = 0;
    for number in 0..10 {
        last = group.propose(payload(format!("{number}"))).await.unwrap();
    }
    seen.flush(last);
    group.purge(last).await;
    assert_eq!(group.metrics().purged_index, last);
    group.shutdown().await;
    drop(group);
    let empty = Seen::default();
    let started = Group::start(1, 1, &log, empty.machine(), GroupOptions::default()).await;
    assert!(matches!(started.err(), Some(StartError::Gap { purged, durable: 0 }) if purged == last));
    start(&log, 1, &seen).await.shutdown().await;
}

#[tokio::test]
async fn too_large_a_payload_is_refused_before_it_does_harm() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    let refused = group.propose(payload("x".repeat((64 << 20) + 1))).await;
    assert!(matches!(refused, Err(ProposeError::TooLarge { .. })));
    group.propose(payload("small")).await.unwrap();
    group.shutdown().await;
}

#[tokio::test]
async fn shutting_down_answers_everyone_who_waits() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let group = start(&open(dir.path()), 1, &seen).await;
    let waiting: Vec<_> = (0..200)
        .map(|number| {
            let group = group.clone();
            tokio::spawn(async move { group.propose(payload(format!("{number}"))).await })
        })
        .collect();
    tokio::task::yield_now().await;
    group.shutdown().await;
    let mut acknowledged = 0;
    for task in waiting {
        match task.await.unwrap() {
            Ok(_) => acknowledged += 1,
            Err(error) => assert_eq!(error, ProposeError::ShuttingDown),
        }
    }
    assert!(seen.texts().len() >= acknowledged);
}

#[tokio::test]
async fn a_store_can_be_opened_again_when_its_last_user_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    assert!(LogStore::open(dir.path(), LogOptions::default()).is_err(), "the directory is locked");
    drop(log);
    let log = open(dir.path());
    let seen = Seen::default();
    let group = start(&log, 1, &seen).await;
    group.propose(payload("kept")).await.unwrap();
    log.close().await;
    let lost = group.propose(payload("lost")).await;
    assert!(matches!(lost, Err(ProposeError::Storage(_))), "{lost:?}");
    let again = open(dir.path());
    let other = start(&again, 1, &Seen::default()).await;
    other.propose(payload("on")).await.unwrap();
    group.shutdown().await;
    other.shutdown().await;
}

#[tokio::test]
async fn a_log_begins_behind_a_restored_state() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let options = |restored| GroupOptions { restored: Some(restored), ..GroupOptions::default() };
    seen.flush(7);
    let wrong = Group::start(1, 1, &open(dir.path()), seen.machine(), options(8)).await;
    assert!(matches!(wrong, Err(StartError::Options(_))), "another state than that of the backup");
    for life in 0..2 {
        let group = Group::start(1, 1, &open(dir.path()), seen.machine(), options(7)).await.unwrap();
        assert!(group.is_leader());
        assert!(group.propose(payload(format!("{life}"))).await.unwrap() > 7);
        assert_eq!(group.metrics().purged_index, 7);
        group.shutdown().await;
        drop(group);
    }
    // The last life has applied what the first one left, since nothing was flushed meanwhile.
    assert_eq!(seen.texts(), ["0", "0", "1"]);
    let group = start(&open(dir.path()), 1, &seen).await;
    assert_eq!(seen.texts()[3..], ["0", "1"], "it says so itself from then on");
    group.shutdown().await;
}
