//! Backups of the state and of the history.

use super::*;

/// Takes those above 7.
pub(super) fn take(id: Option<u64>) -> Result<u64, OperationError> {
    match id {
        Some(id) if id <= 7 => Err(OperationError::Conflict("expected a number above 7".to_owned())),
        Some(503) => Err(OperationError::Unavailable("no directory".to_owned())),
        id => Ok(id.unwrap_or(8)),
    }
}

pub(super) fn status() -> BackupStatus {
    BackupStatus {
        id: 7,
        partition_id: 1,
        state: "COMPLETED",
        failure_reason: None,
        created_at_ms: 1,
        last_updated_at_ms: 2,
        broker_id: 0,
        broker_version: "1".to_owned(),
        checkpoint_position: 40,
        snapshot_id: Some(9),
    }
}

pub(super) fn history_status() -> HistoryBackupStatus {
    HistoryBackupStatus {
        id: 7,
        state: "FAILED",
        failure_reason: Some("no room".to_owned()),
        started_at_ms: Some(3),
        snapshot_name: "history.sqlite".to_owned(),
    }
}

#[tokio::test]
async fn backups_are_taken_listed_and_deleted() {
    let (server, broker) = Server::running().await;
    let path = "/actuator/backupRuntime";
    for (body, id) in [("", 8), ("{}", 8), (r#"{"backupId":null}"#, 8), (r#"{"backupId":9}"#, 9)] {
        let (status, answer) = server.json("POST", path, body).await;
        assert_eq!((status, &answer["backupId"]), (202, &json!(id)), "{body}");
    }
    for (body, wanted) in [
        ("[]", 400),
        ("x", 400),
        (r#"{"backupId":0}"#, 400),
        (r#"{"backupId":7}"#, 409),
        (r#"{"backupId":503}"#, 503),
    ] {
        assert_eq!(server.json("POST", path, body).await.0, wanted, "{body}");
    }
    let one = json!({
        "backupId": 7, "state": "COMPLETED", "failureReason": null, "createdAtMs": 1, "lastUpdatedAtMs": 2,
        "brokerId": 0, "brokerVersion": "1", "checkpointPosition": 40, "snapshotId": 9,
    });
    assert_eq!(server.json("GET", path, "").await, (200, json!([one])));
    assert_eq!(server.json("GET", "/actuator/backupRuntime/7", "").await, (200, one));
    assert_eq!(server.json("GET", "/actuator/backupRuntime/8", "").await.0, 404);
    assert_eq!(server.json("GET", "/actuator/backupRuntime/x", "").await.0, 400);
    assert_eq!(server.send("DELETE", "/actuator/backupRuntime/7", "").await.0, 204);
    assert_eq!(*broker.pauses.lock(), ["backup deleted"]);
    server.stop().await;
}

#[tokio::test]
async fn backups_of_the_history_are_taken_listed_and_deleted() {
    let (server, _) = Server::running().await;
    let path = "/actuator/backupHistory";
    let taken = server.json("POST", path, r#"{"backupId":9}"#).await;
    assert_eq!(taken, (200, json!({ "scheduledSnapshots": ["history.sqlite"] })));
    assert_eq!(server.json("POST", path, "").await.0, 400);
    let one = json!({
        "backupId": 7, "state": "FAILED", "failureReason": "no room", "startedAtMs": 3,
        "snapshotName": "history.sqlite",
    });
    assert_eq!(server.json("GET", path, "").await, (200, json!([one])));
    assert_eq!(server.json("GET", "/actuator/backupHistory/7", "").await, (200, one));
    assert_eq!(server.json("GET", "/actuator/backupHistory/8", "").await.0, 404);
    assert_eq!(server.send("DELETE", "/actuator/backupHistory/7", "").await.0, 204);
    assert_eq!(server.json("DELETE", "/actuator/backupHistory/8", "").await.0, 404);
    server.stop().await;
}
