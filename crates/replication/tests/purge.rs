//! Disk space: what is purged really goes.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

mod common;

use common::{Seen, open, payload, size_of, start};
use replication::{LogOptions, LogStore};

const MIB: u64 = 1 << 20;

fn small_files(dir: &std::path::Path) -> LogStore {
    let options = LogOptions { segment_bytes: MIB, retained_bytes: 4 * MIB, ..LogOptions::default() };
    LogStore::open(dir, options).unwrap()
}

#[tokio::test]
async fn the_log_directory_stays_bounded_when_it_is_purged() {
    let dir = tempfile::tempdir().unwrap();
    let log = small_files(dir.path());
    let (seen, idle_seen) = (Seen::default(), Seen::default());
    let group = start(&log, 1, &seen).await;
    // A group that only ever voted must not hold the files of the others.
    let idle = start(&log, 2, &idle_seen).await;
    let filler = "x".repeat(32 << 10);
    let mut largest = 0;
    // 80 MiB of entries, of which never more than 1 MiB are needed.
    for round in 0..80 {
        let mut last = 0;
        for number in 0..32 {
            last = group.propose(payload(format!("{round}-{number}-{filler}"))).await.unwrap();
        }
        seen.flush(last);
        seen.entries.lock().clear();
        group.purge(last).await;
        assert_eq!(group.metrics().purged_index, last);
        largest = largest.max(size_of(dir.path()));
    }
    // Files in use, and half as many again kept for reuse; files go in the background, so allow for some lag.
    assert!(largest < 24 * MIB, "the log grew to {largest} bytes");
    group.shutdown().await;
    idle.shutdown().await;
    drop((group, idle, log));
    assert!(size_of(dir.path()) < 16 * MIB, "{} bytes remain", size_of(dir.path()));

    // The purged log still starts, and the vote survived the removal of the file it was written to.
    let log = small_files(dir.path());
    let group = start(&log, 1, &seen).await;
    assert!(seen.texts().is_empty(), "what is durable is not applied again");
    group.propose(payload("on")).await.unwrap();
    start(&log, 2, &idle_seen).await.shutdown().await;
    group.shutdown().await;
}

#[tokio::test]
async fn purging_never_goes_beyond_what_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let log = open(dir.path());
    let group = start(&log, 1, &seen).await;
    let mut indexes = Vec::new();
    for number in 0..20 {
        indexes.push(group.propose(payload(format!("{number}"))).await.unwrap());
    }
    group.purge(indexes[19]).await;
    assert_eq!(group.metrics().purged_index, 0);
    seen.flush(indexes[9]);
    group.purge(indexes[19]).await;
    assert_eq!(group.metrics().purged_index, indexes[9]);
    group.purge(indexes[4]).await;
    assert_eq!(group.metrics().purged_index, indexes[9], "purging does not go back");
    group.shutdown().await;
    drop((group, log));

    let again = Seen::default();
    again.flush(indexes[9]);
    let group = start(&open(dir.path()), 1, &again).await;
    assert_eq!(again.indexes(), indexes[10..]);
    group.shutdown().await;
}

#[tokio::test]
async fn purging_everything_leaves_a_log_that_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let mut last = 0;
    for life in 0..3 {
        let log = open(dir.path());
        let group = start(&log, 1, &seen).await;
        for number in 0..10 {
            let index = group.propose(payload(format!("{life}-{number}"))).await.unwrap();
            assert!(index > last);
            last = index;
        }
        seen.flush(last);
        group.purge(last).await;
        group.shutdown().await;
    }
    assert_eq!(seen.texts().len(), 30);
}
