//! Brokers whose disks have no room: they give way to those that have, and say so.

use std::sync::atomic::Ordering;

use super::*;

const LIMIT: u64 = 1000;
/// Work begun goes on.
const BELOW: u64 = 900;

impl Cluster {
    async fn with_limit() -> Self {
        Self::start_with(Settings { min_free_bytes: LIMIT, ..Settings::default() }).await
    }

    fn set_free(&self, broker: u32, free_bytes: u64) {
        self.free_bytes[&broker].store(free_bytes, Ordering::Relaxed);
    }

    /// Waits until all brokers say the same of who has room.
    async fn all_know(&self, without_room: &[u32]) {
        self.until("all know who has room", |cluster| {
            cluster.nodes.values().all(|node| node.reasons().keys().eq(without_room))
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_without_room_hands_over_and_no_request_fails() {
    let cluster = Cluster::with_limit().await;
    let former = cluster.leader().await;
    deploy(&cluster.node(former)).await;
    cluster.all_know(&[]).await;
    let stop = CancellationToken::new();
    let at_work = BROKERS.map(|broker| {
        let (node, stop) = (cluster.node(broker), stop.clone());
        tokio::spawn(async move {
            while !stop.is_cancelled() {
                node.submit(Command::CreateInstance(create())).await.unwrap();
            }
        })
    });
    cluster.set_free(former, BELOW);
    cluster
        .until("another leads", |cluster| {
            !matches!(cluster.leaders()[..], [] | [_, _, ..]) && cluster.leaders() != [former]
        })
        .await;
    cluster.all_know(&[former]).await;
    stop.cancel();
    for task in at_work {
        timeout(PATIENCE, task).await.unwrap().unwrap();
    }
    // It says why wherever anybody asks, and works on as a follower.
    let node = cluster.node(former);
    let reason = node.health().disk.unwrap_err();
    assert!(reason.starts_with(&format!("the disk of broker {former} at ")), "{reason}");
    assert!(reason.contains("only 900 bytes left, below the limit of 1000 bytes"), "{reason}");
    assert!(!node.is_ready());
    for other in cluster.nodes.values() {
        assert_eq!(other.reasons()[&former], reason);
        let refused = other.hand_over(Some(former)).await.unwrap_err().to_string();
        assert!(refused.contains(&reason), "{refused}");
    }
    created(&node).await;
    // A little more room is not enough: it would lead now and then.
    cluster.set_free(former, LIMIT + 1);
    look().await;
    assert!(node.health().disk.is_err());
    cluster.set_free(former, u64::MAX);
    cluster.all_know(&[]).await;
    assert!(node.is_ready());
    hand_over(&node, former).await;
    drop(node);
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_no_room_anywhere_the_leader_stays_and_refuses() {
    let cluster = Cluster::with_limit().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    created(&cluster.node(leader)).await;
    let followers: Vec<u32> = BROKERS.into_iter().filter(|broker| *broker != leader).collect();
    for broker in followers.iter().chain([&leader]) {
        cluster.set_free(*broker, BELOW);
        if broker == &followers[1] {
            cluster.all_know(&followers).await;
        }
    }
    cluster.all_know(&BROKERS).await;
    assert_eq!(cluster.leaders(), [leader]);
    for node in cluster.nodes.values() {
        match node.submit(Command::CreateInstance(create())).await {
            Err(SubmitError::DiskFull(reason)) => {
                assert!(reason.contains(&format!("the disk of broker {leader} at ")), "{reason}");
            }
            other => panic!("{other:?}"),
        }
        let activation = node.activate_jobs(jobs(1), None).await.unwrap();
        for job in activation.jobs {
            submit(node, complete(job.key)).await;
        }
    }
    // The first that has room leads.
    let next = followers[1];
    cluster.set_free(next, u64::MAX);
    cluster.until("the broker with room leads", |cluster| cluster.leaders() == [next]).await;
    for node in cluster.nodes.values() {
        created(node).await;
    }
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_without_room_stands_for_no_election_unless_nobody_else_can() {
    let mut cluster = Cluster::with_limit().await;
    deploy(&cluster.node(cluster.leader().await)).await;
    for _ in 0..3 {
        let leader = cluster.leader().await;
        let full = (leader + 1) % 3;
        cluster.set_free(full, BELOW);
        cluster.all_know(&[full]).await;
        drop(cluster.nodes.remove(&leader));
        let with_room = 3 - leader - full;
        cluster.until("the one with room leads", |cluster| cluster.leaders() == [with_room]).await;
        created(&cluster.node(full)).await;
        cluster.set_free(full, u64::MAX);
        cluster.start_again(leader).await;
        cluster.all_know(&[]).await;
    }
    // The other one lacks what was acknowledged while it was away.
    let leader = cluster.leader().await;
    let (full, behind) = ((leader + 1) % 3, (leader + 2) % 3);
    drop(cluster.nodes.remove(&behind));
    created(&cluster.node(full)).await;
    cluster.set_free(full, BELOW);
    drop(cluster.nodes.remove(&leader));
    cluster.start_again(behind).await;
    created(&cluster.node(behind)).await;
    cluster.until("the one with room leads then", |cluster| cluster.leaders() == [behind]).await;
    cluster.start_again(leader).await;
    cluster.agree().await;
    cluster.stop().await;
}
