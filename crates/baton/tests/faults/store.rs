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
    let Ok(found) = client.search("process-instances", &request).await else {
        return vec!["no answer".to_owned()];
    };
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

/// The parts of a broker's health that say something of history.
async fn health_of_history(cluster: &Cluster, broker: u16) -> (u16, String) {
    let address = cluster.management(broker);
    match request(&address, "GET", "/actuator/health", "", "").await {
        Ok((status, body)) => {
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            (status, body["components"]["history"].to_string())
        }
        Err(error) => (0, error.to_string()),
    }
}

/// SIGTERM right after writes, before a position is noted, and the file removed: no record is lost without a word. When
/// both copies are gone, both say so, nobody answers with nothing, and one order begins the history again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_lost_right_after_writes_are_fetched_and_both_lost_are_told_and_begun_again() {
    let mut cluster = Cluster::begin().await;
    (0..BROKERS).for_each(|broker| cluster.start(broker));
    cluster.leader().await;
    // Nothing has happened yet.
    for broker in 0..BROKERS {
        until_shown(&cluster, broker, "ACTIVE", &[]).await;
    }
    load::deploy(&load::rest(&cluster.rest(2))).await;
    let mut keys = Vec::new();
    for lost in [0, 1, 0] {
        create(&cluster, 2, &mut keys).await;
        cluster.stop_one(lost).await;
        assert!(cluster.remove_store(lost) > 0, "it had a store");
        cluster.start(lost);
        cluster.leader().await;
        for broker in 0..BROKERS {
            until_shown(&cluster, broker, "ACTIVE", &keys).await;
        }
        until_replaced(&cluster, lost).await;
    }

    // One after the other, none waited for.
    cluster.stop_one(0).await;
    cluster.stop_one(1).await;
    for lost in [0, 1] {
        cluster.remove_store(lost);
        cluster.start(lost);
    }
    cluster.leader().await;
    let deadline = Instant::now() + PATIENCE;
    let mut looks = interval(LOOK);
    loop {
        let told = [health_of_history(&cluster, 0).await, health_of_history(&cluster, 1).await];
        if told.iter().all(|(status, text)| *status == 200 && text.contains("baton history begin")) {
            break;
        }
        assert!(Instant::now() < deadline, "{told:?}\n{}", cluster.log(0));
        looks.tick().await;
    }
    for broker in 0..BROKERS {
        let path = "/v2/process-instances/search";
        let (status, answer) = request(&cluster.rest(broker), "POST", path, "", "{}").await.unwrap();
        assert_eq!(status, 503, "broker {broker} answers with nothing: {answer}");
    }
    let path = "/actuator/partitions/beginHistory";
    let (status, answer) = request(&cluster.management(0), "POST", path, "", "{}").await.unwrap();
    assert_eq!(status, 200, "{answer}");
    for broker in 0..BROKERS {
        until_shown(&cluster, broker, "ACTIVE", &keys).await;
    }
    create(&cluster, 1, &mut keys).await;
    cancel_all(&cluster, 1).await;
    for broker in 0..BROKERS {
        until_shown(&cluster, broker, "TERMINATED", &keys).await;
    }
    cluster.stop().await;
}

/// One disk after the other is replaced by an empty one, each once the broker before it is ready.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disks_replaced_one_after_the_other_keep_all_history() {
    let mut cluster = Cluster::begin().await;
    (0..BROKERS).for_each(|broker| cluster.start(broker));
    cluster.leader().await;
    load::deploy(&load::rest(&cluster.rest(2))).await;
    let mut keys = Vec::new();
    for lost in 0..BROKERS {
        create(&cluster, 2, &mut keys).await;
        cluster.stop_one(lost).await;
        cluster.lose_directory(lost);
        cluster.start(lost);
        let deadline = Instant::now() + PATIENCE;
        let mut looks = interval(LOOK);
        loop {
            let ready = request(&cluster.management(lost), "GET", "/actuator/health/readiness", "", "").await;
            if ready.as_ref().is_ok_and(|(status, _)| *status == 200) {
                break;
            }
            // An empty copy answers nothing, least of all 200.
            if let Ok((200, answer)) = search_all(&cluster, lost).await {
                assert!(answer.contains(&keys[0]), "{answer}");
            }
            assert!(Instant::now() < deadline, "{ready:?}\n{}", cluster.log(lost));
            looks.tick().await;
        }
        cluster.leader().await;
    }
    for broker in 0..BROKERS {
        until_shown(&cluster, broker, "ACTIVE", &keys).await;
    }
    cluster.stop().await;
}

async fn search_all(cluster: &Cluster, broker: u16) -> std::io::Result<(u16, String)> {
    request(&cluster.rest(broker), "POST", "/v2/process-instances/search", "", "{}").await
}
