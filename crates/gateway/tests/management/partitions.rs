//! Partitions: pausing, writing, handing over.

use gateway::management::ReplicaState;

use super::*;

/// States of two replicas, of which one tells none.
pub(super) fn compared() -> StateComparison {
    let of = |index, hash: Option<&str>, failure: Option<&str>, differs| ReplicaState {
        index,
        hash: hash.map(str::to_owned),
        failure: failure.map(str::to_owned),
        differs,
    };
    let replicas = [(0, of(Some(7), Some("0a"), None, true)), (1, of(None, None, Some("no answer"), false))];
    StateComparison { equal: false, replicas: replicas.into() }
}

#[tokio::test]
async fn a_partition_is_handed_over() {
    let (server, _) = Server::running().await;
    let asked = async |query: &str| server.json("POST", &format!("/actuator/rebalance{query}"), "").await;
    assert_eq!(asked("").await, (200, serde_json::json!({"1": 0})));
    assert_eq!(asked("?broker=2").await, (200, serde_json::json!({"1": 2})));
    assert_eq!(asked("?broker=3").await.0, 400);
    let (status, problem) = asked("?broker=x").await;
    assert_eq!(status, 400);
    assert!(problem["detail"].as_str().unwrap().contains("broker"), "{problem}");
    let (status, problem) = asked("?brokre=1").await;
    assert_eq!(status, 400);
    assert!(problem["detail"].as_str().unwrap().contains("brokre"), "{problem}");
}

#[tokio::test]
async fn a_purge_is_planned_and_begun_while_no_other_change_goes_on() {
    let (server, _) = Server::running().await;
    let brokers = json!([{"id": 2, "state": "ACTIVE", "reachable": false, "partitions": [{"id": 1, "state": "ACTIVE"}]}]);
    let expected = json!({
        "clusterId": "c",
        "version": 1,
        "lastChange": {"id": 1, "status": "COMPLETED"},
        "pendingChange": {"id": 2, "status": "IN_PROGRESS", "startedAt": "1970-01-01T00:00:00.005Z"},
        "brokers": brokers,
        "voters": [0, 2],
        "differences": [{"broker": 2, "setting": "flow_control.max_limit", "here": "8"}],
    });
    assert_eq!(server.json("GET", "/actuator/cluster", "").await, (200, expected));
    let path = "/actuator/cluster/purge";
    let planned = json!({
        "changeId": 3,
        "currentTopology": brokers,
        "plannedChanges": [{"operation": "PARTITION_LEAVE", "brokerId": 2, "partitionId": 1}],
        "expectedTopology": brokers,
    });
    assert_eq!(server.json("POST", &format!("{path}?dryRun=true"), "").await, (202, planned));
    for query in ["", "?dryRun=false"] {
        let (status, problem) = server.json("POST", &format!("{path}{query}"), "").await;
        assert_eq!((status, &problem["detail"]), (409, &json!("the change 2 goes on")));
    }
    assert_eq!(server.json("POST", &format!("{path}?dryRun=yes"), "").await.0, 400);
    assert_eq!(server.json("GET", path, "").await.0, 405);
}

#[tokio::test]
async fn partitions_are_paused_resumed_and_written_to_disk() {
    let (server, broker) = Server::running().await;
    let (_, shown) = server.json("GET", "/actuator/partitions", "").await;
    for (action, done) in [
        ("takeSnapshot", &["written"][..]),
        ("pauseProcessing", &["processing"]),
        ("resumeProcessing", &["resumed"]),
        ("pauseExporting", &["hard"]),
        ("softPauseExporting", &["soft"]),
        ("prepareUpgrade", &["processing", "written"]),
        ("beginHistory", &["begun"]),
    ] {
        let answer = server.json("POST", &format!("/actuator/partitions/{action}"), "").await;
        assert_eq!(answer, (200, shown.clone()), "{action}");
        assert_eq!(*std::mem::take(&mut *broker.pauses.lock()), *done, "{action}");
    }
    // The status tells of failures.
    let (status, problem) = server.json("POST", "/actuator/partitions/resumeExporting", "").await;
    assert_eq!((status, &problem["detail"]), (500, &json!("no disk")));
    let (status, problem) = server.json("POST", "/actuator/partitions/explode", "").await;
    assert_eq!(status, 404);
    assert!(problem["detail"].as_str().unwrap().contains("but found 'explode'"), "{problem}");
    assert_eq!(server.json("GET", "/actuator/partitions/takeSnapshot", "").await.0, 405);
    assert!(broker.pauses.lock().is_empty());
    server.stop().await;
}

#[tokio::test]
async fn states_are_compared() {
    let (server, _) = Server::running().await;
    let expected = serde_json::json!({"1": {"equal": false, "replicas": {
        "0": {"index": 7, "hash": "0a", "differs": true},
        "1": {"failure": "no answer", "differs": false},
    }}});
    assert_eq!(server.json("POST", "/actuator/partitions/compareStates", "").await, (200, expected));
}
