//! Two brokers have copies of the store: all show the same, also after one of them lost its copy.

use std::time::Duration;

use client::{Client, CreateInstance};
use serde_json::Value;
use tokio::time::{Instant, interval};

use crate::cluster::{BROKERS, Cluster};
use crate::http::request;
use crate::{load, pass};

/// Instances that are created at each broker, and while one is away.
const INSTANCES: usize = 20;
/// Time for stores to show what was acknowledged.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a variable: the instances that are created while a broker is away have more than the log that is kept.
const LARGE: usize = 200_000;
/// Time for a flush and a purge, and how often it is tried.
const PURGE_TIME: Duration = Duration::from_millis(500);
const ATTEMPTS: usize = 5;
const LOOK: Duration = Duration::from_millis(50);

/// Keys of the instances in a state, as a broker shows them.
async fn shown(client: &Client, state: &str) -> Vec<String> {
    let Client::Rest(client) = client else { unreachable!("searches are of REST") };
    let request = format!(
        r#"{{"filter":{{"state":"{state}"}},"sort":[{{"field":"processInstanceKey"}}],"page":{{"limit":1000}}}}"#
    );
    // The store of a broker that has just started may not be there yet.
    let Ok(found) = client.search("process-instances", &request).await else { return Vec::new() };
    let found: Value = serde_json::from_str(&found.json).unwrap();
    let items = found["items"].as_array().unwrap().iter();
    items.map(|item| item["processInstanceKey"].as_str().unwrap().to_owned()).collect()
}

async fn until_shown(cluster: &Cluster, broker: u16, state: &str, keys: &[String]) {
    let client = load::rest(&cluster.rest(broker));
    let deadline = Instant::now() + PATIENCE;
    let mut looks = interval(LOOK);
    loop {
        let found = shown(&client, state).await;
        if found == keys {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "broker {broker} shows {} of {} that are {state}\n{}",
            found.len(),
            keys.len(),
            cluster.log(broker)
        );
        looks.tick().await;
    }
}

async fn create(cluster: &Cluster, broker: u16, keys: &mut Vec<String>) {
    create_with(cluster, broker, keys, "{}").await;
}

async fn create_with(cluster: &Cluster, broker: u16, keys: &mut Vec<String>, variables: &str) {
    let client = load::rest(&cluster.rest(broker));
    let command = CreateInstance { variables: Some(variables), ..CreateInstance::latest("crash") };
    for _ in 0..INSTANCES {
        let instance = client.create_instance(&command).await.unwrap();
        keys.push(instance.key.to_string());
    }
}

/// How often a broker fetched the store of another one.
fn replaced(cluster: &Cluster, broker: u16) -> usize {
    cluster.log(broker).matches("the store of another broker took the place").count()
}

async fn until_replaced(cluster: &Cluster, broker: u16) {
    let deadline = Instant::now() + PATIENCE;
    let mut looks = interval(LOOK);
    while replaced(cluster, broker) == 0 {
        assert!(Instant::now() < deadline, "{}", cluster.log(broker));
        looks.tick().await;
    }
}

/// Cancels all instances, as a batch operation.
async fn cancel_all(cluster: &Cluster, broker: u16) {
    let body = r#"{"filter":{"state":"ACTIVE"}}"#;
    let path = "/v2/process-instances/cancellation";
    let (status, answer) = request(&cluster.rest(broker), "POST", path, "", body).await.unwrap();
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_broker_shows_the_same_also_after_it_lost_its_store() {
    let mut cluster = Cluster::begin().await;
    cluster.configure("log:\n  kept_bytes: 1MiB\nstate:\n  flush_interval: 100ms\n");
    (0..BROKERS).for_each(|broker| cluster.start(broker));
    let leader = cluster.leader().await;
    // Brokers 0 and 1 have copies.
    let lost = u16::from(leader == 0);
    let asked = (0..BROKERS).find(|broker| ![leader, lost].contains(broker)).unwrap();
    load::deploy(&load::rest(&cluster.rest(asked))).await;
    let mut keys = Vec::new();
    for broker in 0..BROKERS {
        create(&cluster, broker, &mut keys).await;
    }
    for broker in 0..BROKERS {
        until_shown(&cluster, broker, "ACTIVE", &keys).await;
    }

    // Its log is gone as far as its state is on disk: the records in between come from another broker only.
    cluster.stop_one(lost).await;
    let removed = cluster.remove_store(lost);
    assert!(removed > 0, "it had a store");
    create(&cluster, asked, &mut keys).await;
    cluster.start(lost);
    cluster.leader().await;
    for broker in 0..BROKERS {
        until_shown(&cluster, broker, "ACTIVE", &keys).await;
    }
    // Its searches are those of the other copy until then.
    until_replaced(&cluster, lost).await;

    // The log that it lacks is purged, and the snapshot of the state has no records. A purge is not announced.
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(LARGE));
    for _ in 0..ATTEMPTS {
        cluster.stop_one(lost).await;
        create_with(&cluster, asked, &mut keys, &large).await;
        pass(PURGE_TIME).await;
        cluster.start(lost);
        cluster.leader().await;
        for broker in 0..BROKERS {
            until_shown(&cluster, broker, "ACTIVE", &keys).await;
        }
        if replaced(&cluster, lost) > 1 {
            break;
        }
    }
    assert!(replaced(&cluster, lost) > 1, "{}", cluster.log(lost));

    // The leader finds the items of a batch operation that another broker took.
    let leader = cluster.leader().await;
    cancel_all(&cluster, (leader + 1) % BROKERS).await;
    for broker in 0..BROKERS {
        until_shown(&cluster, broker, "TERMINATED", &keys).await;
    }
    cluster.stop().await;
}
