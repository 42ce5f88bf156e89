//! Clocks that are ahead of the others'.

use super::*;

const HOUR_MS: i64 = 3_600_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_clock_jumps_ahead_hands_over_and_the_time_stays() {
    let cluster = Cluster::start().await;
    let first = cluster.leader().await;
    deploy(&cluster.node(first)).await;
    let is_sane = |node: &Node| (now_ms() - 60_000..now_ms() + 60_000).contains(&node.clock_ms());
    cluster.clocks[&first].store(HOUR_MS, Ordering::Relaxed);
    created(&cluster.node(first)).await;
    assert!(cluster.nodes.values().all(|node| is_sane(node)), "an entry got a time an hour ahead");
    let is_another = |cluster: &Cluster| cluster.leaders().iter().any(|leader| *leader != first);
    cluster.until("another broker leads", is_another).await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        // It may not know the new leader yet: then it leads for all it knows, or knows none.
        let refused = match cluster.node(first).hand_over(Some(first)).await {
            Ok(_) => "it takes itself for the leader".to_owned(),
            Err(error) => error.to_string(),
        };
        if refused.contains("the clock of this broker is") {
            break;
        }
        assert!(Instant::now() < deadline, "{refused}");
        look().await;
    }
    for broker in BROKERS {
        created(&cluster.node(broker)).await;
    }
    assert!(cluster.nodes.values().all(|node| is_sane(node)));
    // Mended, it may lead again.
    cluster.clocks[&first].store(0, Ordering::Relaxed);
    let deadline = Instant::now() + PATIENCE;
    while let Err(error) = cluster.node(first).hand_over(Some(first)).await {
        assert!(Instant::now() < deadline, "{error}");
        look().await;
    }
    created(&cluster.node(first)).await;
    cluster.stop().await;
}
