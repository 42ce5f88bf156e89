//! Brokers that cannot serve say so, and answer within the time that they promise.

use super::*;

/// Time that requests may wait without a leader, and some for a busy machine.
const ANSWER_MAX: Duration = Duration::from_millis(5000 + 1500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_reaches_nobody_is_not_ready() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    cluster.until("all are ready", |cluster| cluster.nodes.values().all(|node| node.is_ready())).await;
    for node in std::mem::take(&mut cluster.nodes).into_values() {
        node.shutdown().await;
    }
    // The followers know from their log who led.
    for broker in BROKERS {
        cluster.start_again(broker).await;
        let node = cluster.nodes.remove(&broker).unwrap();
        for _ in 0..100 {
            assert!(!node.is_ready(), "broker {broker}");
            assert!(!node.topology().brokers[0].partitions[0].healthy, "broker {broker}");
            look().await;
        }
        let reason = node.health().partition.unwrap_err();
        assert!(reason.contains("majority of 3 brokers") || reason.contains("caught up"), "{reason}");
        node.shutdown().await;
    }
    cluster.start_again(0).await;
    cluster.start_again(1).await;
    cluster.until("both are ready", |cluster| cluster.nodes.values().all(|node| node.is_ready())).await;
    cluster.start_again(2).await;
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_leader_every_request_is_answered_in_time() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    cluster.nodes.retain(|broker, _| *broker == leader);
    let node = cluster.node(leader);
    let mut asked = Vec::new();
    let mut moments = interval(Duration::from_millis(250));
    // Later commands wait behind an entry that gets no answer.
    for _ in 0..20 {
        moments.tick().await;
        for is_read in [false, true] {
            let node = Arc::clone(&node);
            asked.push(tokio::spawn(async move {
                let began = Instant::now();
                let refused = if is_read {
                    node.read(Query::BannedInstances { after: 0, limit: 1 }).await.map(drop).unwrap_err()
                } else {
                    node.submit(Command::CreateInstance(create())).await.map(drop).unwrap_err()
                };
                (began.elapsed(), refused)
            }));
        }
    }
    for asked in asked {
        let (took, refused) = timeout(PATIENCE, asked).await.unwrap().unwrap();
        assert!(took < ANSWER_MAX, "{took:?}: {refused}");
        assert!(matches!(refused, SubmitError::Unavailable(_) | SubmitError::Timeout(_)), "{refused}");
    }
    drop(node);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_waits_for_a_result_is_told_that_the_broker_stops() {
    let cluster = Cluster::start().await;
    deploy(&cluster.node(cluster.leader().await)).await;
    for node in cluster.nodes.values() {
        let waiting = {
            let node = Arc::clone(node);
            tokio::spawn(async move { node.create_with_result(None, create(), vec![], PATIENCE).await })
        };
        // It waits once its job is there.
        let activation =
            timeout(PATIENCE, node.activate_jobs(jobs(1), Some(PATIENCE))).await.unwrap().unwrap();
        assert_eq!(activation.jobs.len(), 1);
        let began = Instant::now();
        node.leave();
        let told = timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        assert!(matches!(&told, SubmitError::Timeout(reason) if reason.contains("is stopping")), "{told}");
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_whose_entry_is_under_way_when_the_broker_stops_may_have_happened() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let node = cluster.nodes.remove(&leader).unwrap();
    // The entry stays without an acknowledgement.
    for other in std::mem::take(&mut cluster.nodes).into_values() {
        other.shutdown().await;
    }
    let asked = node.submit(Command::CreateInstance(create()));
    let (told, ()) = timeout(PATIENCE, async { tokio::join!(biased; asked, node.shutdown()) }).await.unwrap();
    assert!(matches!(told, Err(SubmitError::Timeout(_))), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_directory_of_one_of_several_brokers_is_refused_to_one_that_is_alone() {
    let mut cluster = Cluster::start().await;
    deploy(&cluster.node(cluster.leader().await)).await;
    for node in std::mem::take(&mut cluster.nodes).into_values() {
        node.shutdown().await;
    }
    let refused = loop {
        match Box::pin(Node::start(cluster.options(0))).await {
            Ok(_) => panic!("it starts"),
            // The life before lets go of its files a moment later.
            Err(error) if error.is_in_use() => look().await,
            Err(error) => break error.to_string(),
        }
    };
    assert!(refused.contains("one of several brokers: its log has other voters"), "{refused}");
    assert!(refused.contains("cluster.brokers"), "{refused}");
    // Nothing has changed.
    for broker in BROKERS {
        cluster.start_again(broker).await;
    }
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_broker_leads_in_every_answer_about_the_cluster() {
    let cluster = Cluster::start().await;
    deploy(&cluster.node(cluster.leader().await)).await;
    let told = |cluster: &Cluster| {
        for node in cluster.nodes.values() {
            let brokers = node.topology().brokers;
            let leaders = brokers.iter().filter(|broker| broker.partitions[0].leader).count();
            assert!(leaders <= 1, "{brokers:?}");
        }
    };
    cluster
        .until("all are known", |cluster| {
            cluster.nodes.values().all(|node| node.topology().brokers.len() == 3)
        })
        .await;
    for round in 0..6 {
        let wanted = round % 3;
        hand_over(&cluster.node(0), wanted).await;
        for _ in 0..20 {
            told(&cluster);
            look().await;
        }
        cluster
            .until("all know the leader", |cluster| {
                cluster.nodes.values().all(|node| {
                    let brokers = node.topology().brokers;
                    brokers.iter().any(|broker| broker.node_id == wanted && broker.partitions[0].leader)
                })
            })
            .await;
    }
    cluster.stop().await;
}
