//! A purge is one command of the log: all brokers have nothing afterwards, also one that was away, and any of them may
//! complete it.

use protocol::{ClusterChange, RejectionType};

use super::*;

fn purge_all() -> Command {
    Command::Purge { after: None }
}

fn change(node: &Node) -> Option<(u64, bool)> {
    node.cluster_change().map(|ClusterChange { id, completed_ms, .. }| (id, completed_ms.is_some()))
}

async fn refused(node: &Node, command: Command) -> RejectionType {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match node.submit(command.clone()).await {
            Err(SubmitError::Rejected(rejection)) => return rejection.kind,
            Err(SubmitError::Unavailable(_) | SubmitError::Timeout(_)) if Instant::now() < deadline => {
                look().await;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// `log_kept_bytes` decides whether a broker that was away gets the commands, or the state after them.
async fn purge(log_kept_bytes: u64) {
    let mut cluster = Cluster::start_with(Settings { log_kept_bytes, ..Settings::default() }).await;
    let leader = cluster.leader().await;
    let followers: Vec<u32> = BROKERS.into_iter().filter(|broker| *broker != leader).collect();
    let (asked, away) = (followers[0], followers[1]);
    deploy(&cluster.node(leader)).await;
    for broker in BROKERS {
        created(&cluster.node(broker)).await;
    }
    cluster.agree().await;
    drop(cluster.nodes.remove(&away));

    // A worker has a job, and a client waits for a result, each at a broker of its own.
    let activation =
        timeout(PATIENCE, cluster.node(asked).activate_jobs(jobs(1), Some(PATIENCE))).await.unwrap().unwrap();
    let before = created(&cluster.node(asked)).await;
    let waiting = {
        let node = cluster.node(asked);
        tokio::spawn(async move { node.create_with_result(None, create(), vec![], PATIENCE).await })
    };
    let jobs_of_all = BROKERS.len() + 2;
    let mut others = BTreeSet::new();
    while others.len() < jobs_of_all - 1 {
        let found = cluster.node(leader).activate_jobs(jobs(8), Some(PATIENCE)).await.unwrap();
        others.extend(found.jobs.into_iter().map(|job| job.key));
    }

    let begun = submit(&cluster.node(asked), purge_all()).await;
    assert_eq!(begun, Response::ChangeBegun { change_id: 1 });
    match timeout(PATIENCE, waiting).await.unwrap().unwrap() {
        Err(SubmitError::Rejected(rejection)) => assert_eq!(rejection.kind, RejectionType::InvalidState),
        other => panic!("{other:?}"),
    }
    assert_eq!(refused(&cluster.node(leader), purge_all()).await, RejectionType::InvalidState);
    let held = activation.jobs[0].key;
    assert_eq!(refused(&cluster.node(asked), complete(held)).await, RejectionType::NotFound);

    // The leader goes before it is complete; one that missed it is there again.
    cluster.start_again(away).await;
    cluster.agree().await;
    drop(cluster.nodes.remove(&leader));
    let next = cluster.leader().await;
    cluster
        .until("all know of it", |cluster| {
            cluster.nodes.values().all(|node| change(node) == Some((1, false)))
        })
        .await;
    assert_eq!(
        refused(&cluster.node(away), Command::CreateInstance(create())).await,
        RejectionType::NotFound
    );
    submit(&cluster.node(next), Command::EndChange(1)).await;
    deploy(&cluster.node(away)).await;
    let after = created(&cluster.node(away)).await;
    assert!(after > before, "keys go on");
    cluster.start_again(leader).await;
    cluster.agree().await;
    cluster
        .until("all know its end", |cluster| {
            cluster.nodes.values().all(|node| change(node) == Some((1, true)))
        })
        .await;
    let found = timeout(PATIENCE, cluster.node(leader).activate_jobs(jobs(8), Some(PATIENCE)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.jobs.iter().map(|job| job.process_instance_key).collect::<Vec<_>>(), [after]);
    cluster.stop().await;
}

/// Each broker knows the changes before, also those of others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_broker_purges_after_the_purge_of_another() {
    let cluster = Cluster::start().await;
    for (broker, change_id) in BROKERS.into_iter().zip(1..) {
        let begun = submit(&cluster.node(broker), purge_all()).await;
        assert_eq!(begun, Response::ChangeBegun { change_id });
        submit(&cluster.node((broker + 1) % 3), Command::EndChange(change_id)).await;
    }
    // One that was sent again after its answer was lost removes nothing.
    let node = cluster.node(cluster.leader().await);
    let late = node.submit(Command::Purge { after: Some(2) }).await.unwrap_err();
    assert!(late.to_string().contains("its last one is 3"), "{late}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purge_reaches_a_broker_that_was_away_through_the_log() {
    purge(1 << 30).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purge_reaches_a_broker_that_was_away_through_a_snapshot() {
    purge(1).await;
}
