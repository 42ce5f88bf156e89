//! Idempotency keys of a cluster: whichever brokers lead, and whichever are asked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use broker::Node;
use broker_api::{Broker as _, Requester, SubmitError};
use protocol::{Command, Idempotency, Key, RejectionType, Response};
use tokio::time::timeout;

use crate::{BROKERS, Cluster, PATIENCE, complete, create, deploy, jobs, look, submit};

/// Requests of each broker.
const REQUESTS: u64 = 20;
/// Time after which a client tries elsewhere.
const IMPATIENCE: Duration = Duration::from_millis(700);

fn by(key: u64, fingerprint: u64) -> Idempotency {
    Idempotency { key: [key, 3], fingerprint: [fingerprint, 5] }
}

/// Creates an instance, at one broker after the other, until there is an answer.
async fn created_once(nodes: &[Arc<Node>], key: u64) -> Key {
    for node in nodes.iter().cycle() {
        let command = Command::CreateInstance(create()).once(Some(by(key, 1)));
        match timeout(IMPATIENCE, node.submit(command)).await {
            Ok(Ok(answer)) => match answer.response {
                Response::InstanceCreated(created) => return created.process_instance_key,
                other => panic!("{other:?}"),
            },
            Ok(Err(SubmitError::Unavailable(_) | SubmitError::Timeout(_))) | Err(_) => look().await,
            Ok(Err(error)) => panic!("{error}"),
        }
    }
    unreachable!("there are brokers")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_sent_until_it_is_answered_is_done_once() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let others: Vec<u32> = BROKERS.into_iter().filter(|broker| *broker != leader).collect();
    let nodes: Vec<Arc<Node>> = others.iter().map(|broker| cluster.node(*broker)).collect();
    let mut clients = Vec::new();
    for client in 0..nodes.len() as u64 {
        let mut nodes = nodes.clone();
        nodes.rotate_left(client as usize);
        clients.push(tokio::spawn(async move {
            let mut keys = Vec::new();
            for request in 0..REQUESTS {
                keys.push(created_once(&nodes, client * REQUESTS + request).await);
            }
            keys
        }));
    }
    drop(cluster.nodes.remove(&leader));
    let mut keys = BTreeSet::new();
    for client in clients {
        keys.extend(timeout(PATIENCE, client).await.unwrap().unwrap());
    }
    assert_eq!(keys.len() as u64, nodes.len() as u64 * REQUESTS);
    cluster.start_again(leader).await;
    cluster.agree().await;

    // Every broker has the answers, and no instance is one too many.
    let mut jobs_of = BTreeSet::new();
    for broker in BROKERS {
        assert!(keys.contains(&created_once(&[cluster.node(broker)], 0).await));
    }
    let node = cluster.node(0);
    while jobs_of.len() < keys.len() {
        let activation =
            timeout(PATIENCE, node.activate_jobs(jobs(50), Some(PATIENCE))).await.unwrap().unwrap();
        jobs_of.extend(activation.jobs.iter().map(|job| job.process_instance_key));
    }
    assert_eq!(jobs_of, keys);
    let more = node.activate_jobs(jobs(50), Some(Duration::from_millis(300))).await.unwrap().jobs;
    assert!(more.is_empty(), "{more:?}");
    drop((node, nodes));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_waited_for_across_leaders() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let awaited = |node: Arc<Node>, fingerprint| {
        let requester = Requester { caller: None, idempotency: Some(by(1, fingerprint)) };
        async move { node.create_with_result(Some(requester), create(), vec![], PATIENCE).await }
    };
    let first = tokio::spawn(awaited(cluster.node(leader), 1));
    let other = cluster.node((leader + 1) % 3);
    let job = timeout(PATIENCE, other.activate_jobs(jobs(1), Some(PATIENCE)))
        .await
        .unwrap()
        .unwrap()
        .jobs
        .remove(0);
    // The broker that the request was sent to goes away, and with it the one that waits.
    first.abort();
    drop(cluster.nodes.remove(&leader));
    let again = tokio::spawn(awaited(Arc::clone(&other), 1));
    let Err(SubmitError::Rejected(refusal)) = awaited(Arc::clone(&other), 2).await else { panic!("refused") };
    assert_eq!(refusal.kind, RejectionType::IdempotencyKeyReused);
    submit(&other, complete(job.key)).await;
    let answer = timeout(PATIENCE, again).await.unwrap().unwrap().unwrap();
    let Response::InstanceCompleted { instance, .. } = answer.response else { panic!("{answer:?}") };
    assert_eq!(instance.process_instance_key, job.process_instance_key);
    cluster.start_again(leader).await;
    cluster.agree().await;
    let answer = timeout(PATIENCE, awaited(cluster.node(leader), 1)).await.unwrap().unwrap();
    let Response::InstanceCompleted { instance, .. } = answer.response else { panic!("{answer:?}") };
    assert_eq!(instance.process_instance_key, job.process_instance_key);
    drop(other);
    cluster.stop().await;
}
