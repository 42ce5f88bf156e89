//! The whole states of all replicas, compared on request.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_states_are_hashed_after_the_same_entry_and_the_majority_is_right() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    for broker in BROKERS {
        created(&cluster.node(broker)).await;
        let compared = cluster.node(broker).compare_states().await.unwrap().remove(&1).unwrap();
        let hashes: BTreeSet<_> = compared.hashes.values().map(|found| found.clone().unwrap()).collect();
        assert_eq!((compared.hashes.len(), hashes.len()), (BROKERS.len(), 1), "{compared:?}");
        assert!(compared.differing.is_empty());
    }
    // The leader differs: the others are the majority.
    let other = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    cluster.node(leader).plant_difference();
    created(&cluster.node(other)).await;
    let compared = cluster.node(other).compare_states().await.unwrap().remove(&1).unwrap();
    assert_eq!(compared.differing, [leader], "{compared:?}");
    let stops = |cluster: &Cluster| cluster.nodes[&leader].health().partition.is_err();
    let deadline = Instant::now() + PATIENCE;
    while !stops(&cluster) {
        assert!(Instant::now() < deadline, "it applies nothing more");
        let _ = timeout(PATIENCE, cluster.node(other).submit(Command::Tick)).await;
        look().await;
    }
    cluster.nodes.remove(&leader).unwrap().shutdown().await;
    created(&cluster.node(other)).await;
    cluster.start_again(leader).await;
    cluster.agree().await;
    assert!(cluster.node(leader).compare_states().await.unwrap().remove(&1).unwrap().differing.is_empty());
    // With its vote, a majority is there without another one.
    let has_votes = |cluster: &Cluster| {
        let replicas = cluster.nodes[&other].replicas();
        replicas.learners.is_empty() && replicas.voters.len() == BROKERS.len()
    };
    cluster.until("the new replica has its vote", has_votes).await;
    // A broker that is away is told of, and the others are compared.
    let away = BROKERS.into_iter().find(|broker| ![leader, other].contains(broker)).unwrap();
    drop(cluster.nodes.remove(&away));
    cluster.leader().await;
    let compared = cluster.node(other).compare_states().await.unwrap().remove(&1).unwrap();
    assert!(compared.hashes[&away].is_err() && compared.hashes[&leader].is_ok(), "{compared:?}");
    cluster.stop().await;
}
