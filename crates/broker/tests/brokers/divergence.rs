//! A replica that differs is found and stops; the others go on.

use super::*;

/// Creates instances at a broker until another one has stopped.
async fn create_until_it_stops(cluster: &Cluster, at: u32, stopping: u32) {
    let deadline = Instant::now() + PATIENCE;
    while cluster.nodes[&stopping].health().partition.is_ok() {
        assert!(Instant::now() < deadline, "broker {stopping} goes on");
        created(&cluster.node(at)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_differs_from_the_others_stops_and_they_go_on() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let other = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    created(&cluster.node(other)).await;
    cluster.agree().await;
    cluster.node(leader).plant_difference();
    created(&cluster.node(other)).await;
    create_until_it_stops(&cluster, other, leader).await;
    cluster.nodes.remove(&leader).unwrap().shutdown().await;
    created(&cluster.node(other)).await;
    cluster.agree().await;
    assert!(cluster.nodes.values().all(|node| node.health().partition.is_ok()));
    cluster.start_again(leader).await;
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_differs_is_found_within_a_few_entries_and_the_others_go_on() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    created(&cluster.node(leader)).await;
    cluster.agree().await;
    let follower = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    assert!(cluster.node(follower).health().partition.is_ok());
    cluster.node(follower).plant_difference();
    let differs = |cluster: &Cluster| {
        let health = cluster.nodes[&follower].health().partition;
        health.is_err_and(|reason| reason.contains("differs from the leader's at log index"))
    };
    for _ in 0..5 {
        created(&cluster.node(leader)).await;
    }
    cluster.until("the difference is found", differs).await;
    let stopped = cluster.node(follower).state_hash().unwrap();

    for _ in 0..5 {
        created(&cluster.node(leader)).await;
    }
    assert_eq!(cluster.node(follower).state_hash().unwrap(), stopped, "it applies nothing more");
    cluster.nodes.remove(&follower).unwrap().shutdown().await;
    cluster.agree().await;
    assert!(cluster.nodes.values().all(|node| node.health().partition.is_ok()));
    // It comes back as another replica, and its former files stay.
    cluster.start_again(follower).await;
    cluster.agree().await;
    assert!(cluster.directories[&follower].path().join("damaged-1").join("state").exists());
    cluster.stop().await;
}
