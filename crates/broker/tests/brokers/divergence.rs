//! A replica that differs is found and stops; the others go on.

use super::*;

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
