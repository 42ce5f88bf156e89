//! Stores that become empty: by a purge, and by the loss of indices, which is told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::node::Node;
use crate::server::{Data, Server};
use crate::{PATIENCE, Site, http, on};

const LOOK: Duration = Duration::from_millis(50);
const KINDS: [&str; 8] = [
    "process-instances",
    "process-definitions",
    "element-instances",
    "variables",
    "jobs",
    "incidents",
    "decision-definitions",
    "decision-instances",
];

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let (end, mut looks) = (Instant::now() + PATIENCE, tokio::time::interval(LOOK));
    while !holds().await {
        assert!(Instant::now() < end, "expected that {what}");
        looks.tick().await;
    }
}

async fn filled(site: &Site) -> String {
    site.deploy().await;
    let errand = site.run("errand", json!({ "who": "ann" })).await;
    site.job("failure", json!({ "retries": 0, "errorMessage": "no shoes" })).await;
    site.run("decide", json!({ "total": 150 })).await;
    for kind in KINDS {
        until(&format!("there are {kind}"), async || !site.search(kind, &json!({})).await.is_empty()).await;
    }
    errand
}

/// A purge removes all rows; rows that come after it are all that there is, also after a restart.
pub(crate) async fn a_purge_leaves_nothing(settings: Vec<String>) {
    let data = Data::new();
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.prepared().await;
    let before = filled(&site).await;
    for change in 1..=2 {
        let management = server.address("management");
        let begun = http::ask(management, "POST", "/actuator/cluster/purge", None).await.unwrap();
        assert_eq!((begun.status, begun.json()["changeId"].as_u64()), (202, Some(change)));
        let number = json!(change.to_string());
        until("the purge is complete", async || {
            let topology = http::ask(&site.rest, "GET", "/v2/topology", None).await.unwrap().good();
            topology["lastCompletedChangeId"] == number
        })
        .await;
        for kind in KINDS {
            assert_eq!(site.search(kind, &json!({})).await, Vec::<Value>::new(), "{kind}");
        }
        filled(&site).await;
    }
    server.stop().await;
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.expect("process-instances", json!({}), 2).await;
    site.expect("process-instances", json!({ "processInstanceKey": before }), 0).await;
    server.stop().await;
    assert_eq!(data.logged("panicked") + data.logged("ERROR"), 0);
}

/// The loss of indices is told by each search until somebody accepts it; then all that runs comes back.
pub(crate) async fn lost_indices_are_told_and_begin_again(node: &Node) {
    let data = Data::new();
    let settings = on(node, "lost");
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.prepared().await;
    let errand = filled(&site).await;
    server.stop().await;

    let address = node.url().trim_start_matches("http://").to_owned();
    let indices = http::ask(&address, "GET", "/_cat/indices/lost*?format=json", None).await.unwrap().good();
    let names: Vec<_> =
        indices.as_array().unwrap().iter().map(|index| index["index"].as_str().unwrap()).collect();
    assert!(!names.is_empty(), "{indices}");
    for name in names {
        http::ask(&address, "DELETE", &format!("/{name}"), None).await.unwrap().good();
    }

    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    let search = async || {
        http::ask(&site.rest, "POST", "/v2/process-instances/search", Some(&json!({}))).await.unwrap()
    };
    let gap = async || search().await.header("baton-gap").map(str::to_owned);
    until("the gap is told", async || gap().await.is_some_and(|gap| gap.starts_with("0-"))).await;
    let told = search().await;
    assert_eq!((told.status, &told.json()["items"]), (200, &json!([])));
    let health =
        http::ask(server.address("management"), "GET", "/actuator/health", None).await.unwrap().json();
    assert_eq!(health["components"]["history"]["status"], "DEGRADED", "{health}");

    // New instances are found beside it.
    let late = site.run("errand", json!({})).await;
    site.expect("process-instances", json!({ "processInstanceKey": late }), 1).await;
    assert!(gap().await.is_some());
    let management = server.address("management");
    http::ask(management, "POST", "/actuator/partitions/beginHistory", None).await.unwrap().good();
    until("the gap is accepted", async || gap().await.is_none()).await;
    site.expect("process-instances", json!({ "processInstanceKey": errand, "state": "ACTIVE" }), 1).await;
    let variables = json!({ "processInstanceKey": errand, "name": "who", "value": "\"ann\"" });
    site.expect("variables", variables, 1).await;
    site.expect("incidents", json!({ "processInstanceKey": errand }), 1).await;
    server.stop().await;
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.expect("process-instances", json!({ "state": "ACTIVE" }), 2).await;
    server.stop().await;
}
