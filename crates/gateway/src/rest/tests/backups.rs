//! Backups over the API: what the broker is told, what the client gets, and refusals.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::contract::Operation;
use super::administration::{gateway_to, refused, succeed};
use super::fake_operations::FakeOperations;
use super::{Gateway, block_on, request, text};
use crate::management::OperationError;

fn ids(answer: &Value) -> Vec<u64> {
    answer.as_array().unwrap().iter().map(|backup| backup["backupId"].as_u64().unwrap()).collect()
}

fn details(id: u64) -> Value {
    json!([{
        "partitionId": 1, "state": "COMPLETED", "failureReason": null, "createdAt": "1970-01-01T00:00:01.000Z",
        "lastUpdatedAt": "1970-01-01T00:00:02.000Z", "snapshotId": "9", "firstLogPosition": 41 + id,
        "checkpointPosition": 40 + id, "brokerId": 2, "brokerVersion": "1.2.3",
    }])
}

#[test]
fn backups_of_the_state_are_taken_told_and_deleted() {
    let gateway = gateway_to(&Arc::default());
    let path = "/v2/backups/runtime";
    assert_eq!(succeed(&gateway, Operation::ListRuntimeBackups, path, ""), json!([]));
    let take = |body: &str| succeed(&gateway, Operation::TakeRuntimeBackup, path, body)["backupId"].clone();
    assert_eq!(take(r#"{"backupId":12}"#), 12);
    assert_eq!((take(""), take("{}"), take(r#"{"backupId":null}"#)), (json!(13), json!(14), json!(15)));
    assert_eq!(take(r#"{"backupId":121}"#), 121);
    let list =
        |query: &str| ids(&succeed(&gateway, Operation::ListRuntimeBackups, &format!("{path}{query}"), ""));
    assert_eq!(list(""), [12, 13, 14, 15, 121]);
    assert_eq!(
        (list("?prefix=12*"), list("?prefix=*"), list("?prefix=9*")),
        (vec![12, 121], list(""), vec![])
    );
    let get = |id: u64| succeed(&gateway, Operation::GetRuntimeBackup, &format!("{path}/{id}"), "");
    let wanted =
        json!({ "backupId": 12, "state": "COMPLETED", "failureReason": null, "details": details(12) });
    assert_eq!(get(12), wanted);
    let failed = get(13);
    assert_eq!((&failed["state"], &failed["failureReason"]), (&json!("FAILED"), &json!("no room")));
    succeed(&gateway, Operation::DeleteRuntimeBackup, &format!("{path}/12"), "");
    succeed(&gateway, Operation::DeleteRuntimeBackup, &format!("{path}/12"), "");
    assert_eq!(
        refused(&gateway, "GET", &format!("{path}/12"), ""),
        (404, "there is no backup 12".to_owned())
    );
    let conflict = refused(&gateway, "POST", path, r#"{"backupId":7}"#);
    assert_eq!(conflict, (409, "not above 121".to_owned()));
    for (method, path, body, detail) in [
        ("POST", path, r#"{"backupId":0}"#, "backupId: "),
        ("GET", "/v2/backups/runtime?prefix=a*", "", "prefix: "),
        ("GET", "/v2/backups/runtime?prefix=1", "", "prefix: "),
        ("GET", "/v2/backups/runtime/x", "", "backupId: expected an integer"),
        ("DELETE", "/v2/backups/runtime/0", "", "backupId: "),
    ] {
        let (status, found) = refused(&gateway, method, path, body);
        assert!(status == 400 && found.starts_with(detail), "{path}: {status} {found}");
    }
}

#[test]
fn backups_of_the_cluster_are_those_of_its_tenant() {
    let gateway = gateway_to(&Arc::default());
    let path = "/cluster/v2/backups/runtime";
    let tenant = |outcome: &str, id: Value, reason: Value| json!({ "physicalTenants": [{ "physicalTenantId": "default", "backupId": id, "outcome": outcome, "reason": reason }] });
    let taken = succeed(&gateway, Operation::TakeRuntimeBackupAsClusterAdmin, path, r#"{"backupId":3}"#);
    assert_eq!(taken, tenant("TRIGGERED", json!(3), Value::Null));
    let sent = request("POST", path, r#"{"backupId":3}"#);
    let (status, answer) = block_on(async { text(gateway.answer(sent).await).await });
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, answer), (409, tenant("FAILED", Value::Null, json!("not above 3"))));
    let of_tenant = json!({ "physicalTenantId": "default", "state": "COMPLETED", "failureReason": null, "details": details(3) });
    let whole =
        json!({ "backupId": 3, "state": "COMPLETED", "failureReason": null, "physicalTenants": [of_tenant] });
    let get = format!("{path}/3?physicalTenantId=default");
    assert_eq!(succeed(&gateway, Operation::GetRuntimeBackupAsClusterAdmin, &get, ""), whole);
    let list = format!("{path}?prefix=3*");
    assert_eq!(succeed(&gateway, Operation::ListRuntimeBackupsAsClusterAdmin, &list, ""), json!([whole]));
    for (method, path) in [
        ("POST", path.to_owned()),
        ("GET", path.to_owned()),
        ("GET", format!("{path}/3")),
        ("DELETE", format!("{path}/3")),
        ("GET", format!("{path}/state")),
        ("DELETE", format!("{path}/state")),
        ("POST", format!("{path}/state/sync")),
        ("GET", "/cluster/v2/backups/history".to_owned()),
        ("DELETE", "/cluster/v2/backups/history/3".to_owned()),
    ] {
        let (status, detail) = refused(&gateway, method, &format!("{path}?physicalTenantId=other"), "");
        assert!(status == 404 && detail.starts_with("physicalTenantId: "), "{path}: {status} {detail}");
    }
    succeed(&gateway, Operation::DeleteRuntimeBackupAsClusterAdmin, &format!("{path}/3"), "");
    assert_eq!(succeed(&gateway, Operation::ListRuntimeBackupsAsClusterAdmin, path, ""), json!([]));
}

#[test]
fn the_state_of_backups_is_told_deleted_and_found_again() {
    let operations = Arc::new(FakeOperations::default());
    let gateway = gateway_to(&operations);
    let path = "/v2/backups/runtime/state";
    let nothing = json!({ "checkpointStates": [], "backupStates": [], "ranges": [] });
    let state = || succeed(&gateway, Operation::GetRuntimeBackupState, path, "");
    assert_eq!(state(), nothing);
    for id in [12, 13, 14] {
        let body = format!(r#"{{"backupId":{id}}}"#);
        succeed(&gateway, Operation::TakeRuntimeBackup, "/v2/backups/runtime", &body);
    }
    let point = |id: u64| json!({ "checkpointId": id, "checkpointType": "MANUAL_BACKUP", "partitionId": 1, "checkpointPosition": 40 + id, "firstLogPosition": 41 + id, "checkpointTimestamp": "1970-01-01T00:00:01.000Z" });
    let range = |id: u64| json!({ "partitionId": 1, "start": point(id), "end": point(id) });
    let mut checkpoint = point(14);
    checkpoint.as_object_mut().unwrap().remove("firstLogPosition");
    // A backup that failed is in no range.
    let all = json!({ "checkpointStates": [checkpoint], "backupStates": [point(14)], "ranges": [range(12), range(14)] });
    assert_eq!(state(), all);
    let of_all =
        |state: &Value| json!({ "physicalTenants": [{ "physicalTenantId": "default", "state": state }] });
    let cluster = "/cluster/v2/backups/runtime/state";
    assert_eq!(succeed(&gateway, Operation::GetRuntimeBackupStateAsClusterAdmin, cluster, ""), of_all(&all));
    succeed(&gateway, Operation::DeleteRuntimeBackupState, path, "");
    assert_eq!(state(), nothing);
    assert_eq!(succeed(&gateway, Operation::SyncRuntimeBackupState, &format!("{path}/sync"), ""), all);
    succeed(&gateway, Operation::DeleteRuntimeBackupStateAsClusterAdmin, cluster, "");
    assert_eq!(state(), nothing);
    let synced =
        succeed(&gateway, Operation::SyncRuntimeBackupStateAsClusterAdmin, &format!("{cluster}/sync"), "");
    assert_eq!(synced, of_all(&all));
}

fn history(gateway: &Gateway, base: &str, operations: [Operation; 4], of_all: bool) {
    let [take, list, get, delete] = operations;
    let path = format!("{base}/backups/history");
    let taken = succeed(gateway, take, &path, r#"{"backupId":5}"#);
    let files = json!(["history.sqlite"]);
    let details = json!({
        "state": "COMPLETED", "failureReason": null,
        "details": [{ "snapshotName": "history.sqlite", "state": "COMPLETED", "startTime": "1970-01-01T00:00:03.000Z", "failures": [] }],
    });
    let mut of_tenant = details.clone();
    let whole = if of_all {
        assert_eq!(
            taken,
            json!({ "backupId": 5, "physicalTenants": [{ "physicalTenantId": "default", "scheduledSnapshots": files }] })
        );
        of_tenant["physicalTenantId"] = json!("default");
        json!({ "backupId": 5, "physicalTenants": [of_tenant] })
    } else {
        assert_eq!(taken, json!({ "backupId": 5, "scheduledSnapshots": files }));
        of_tenant["backupId"] = json!(5);
        of_tenant
    };
    assert_eq!(refused(gateway, "POST", &path, r#"{"backupId":5}"#), (409, "it is there".to_owned()));
    let (status, detail) = refused(gateway, "POST", &path, "{}");
    assert!(status == 400 && detail.starts_with("backupId: "), "{detail}");
    assert_eq!(succeed(gateway, get, &format!("{path}/5"), ""), whole);
    assert_eq!(succeed(gateway, list, &format!("{path}?prefix=5*&verbose=false"), ""), json!([whole]));
    assert_eq!(succeed(gateway, list, &format!("{path}?prefix=6*"), ""), json!([]));
    succeed(gateway, delete, &format!("{path}/5"), "");
    for method in ["GET", "DELETE"] {
        let wanted = (404, "there is no backup 5".to_owned());
        assert_eq!(refused(gateway, method, &format!("{path}/5"), ""), wanted);
    }
}

#[test]
fn backups_of_the_history_are_taken_told_and_deleted() {
    let gateway = gateway_to(&Arc::default());
    history(
        &gateway,
        "/v2",
        [
            Operation::TakeHistoryBackup,
            Operation::ListHistoryBackups,
            Operation::GetHistoryBackup,
            Operation::DeleteHistoryBackup,
        ],
        false,
    );
    history(
        &gateway,
        "/cluster/v2",
        [
            Operation::TakeHistoryBackupAsClusterAdmin,
            Operation::ListHistoryBackupsAsClusterAdmin,
            Operation::GetHistoryBackupAsClusterAdmin,
            Operation::DeleteHistoryBackupAsClusterAdmin,
        ],
        true,
    );
}

#[test]
fn a_broker_without_backups_says_why() {
    let refusal = OperationError::Unavailable("no directory for backups is configured".to_owned());
    let operations = FakeOperations { refusal: Some(refusal), ..FakeOperations::default() };
    let gateway = gateway_to(&Arc::new(operations));
    for base in ["/v2/backups", "/cluster/v2/backups"] {
        for (method, path, body) in [
            ("GET", "/runtime", ""),
            ("GET", "/runtime/1", ""),
            ("DELETE", "/runtime/1", ""),
            ("GET", "/runtime/state", ""),
            ("DELETE", "/runtime/state", ""),
            ("POST", "/runtime/state/sync", ""),
            ("POST", "/history", r#"{"backupId":1}"#),
            ("GET", "/history", ""),
            ("GET", "/history/1", ""),
            ("DELETE", "/history/1", ""),
        ] {
            let found = refused(&gateway, method, &format!("{base}{path}"), body);
            assert_eq!(
                found,
                (503, "no directory for backups is configured".to_owned()),
                "{method} {base}{path}"
            );
        }
    }
    assert_eq!(refused(&gateway, "POST", "/v2/backups/runtime", "").0, 503);
}

#[test]
fn a_broker_is_restored_with_a_backup() {
    let operations = Arc::new(FakeOperations::with_backups());
    let gateway = gateway_to(&operations);
    let cluster = ("/cluster/v2/restore", Operation::RestoreAsClusterAdmin);
    for (path, operation) in [("/v2/restore", Operation::Restore), cluster] {
        let planned = succeed(&gateway, operation, &format!("{path}?dryRun=true"), r#"{"backupIds":[1]}"#);
        assert!(operations.told.lock().is_empty(), "nothing was asked for");
        let names = planned["plannedChanges"][0]["operations"].as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|step| step["operation"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            ["PartitionPreRestoreOperation", "PartitionRestoreOperation", "ModeChangeOperation"]
        );
        for unclear in ["{}", r#"{"backupIds":[]}"#, r#"{"backupIds":[3],"to":"2030-01-01T00:00:00Z"}"#] {
            let wanted = (400, "request body: expected either backupIds, or from and to".to_owned());
            assert_eq!(refused(&gateway, "POST", path, unclear), wanted, "{unclear}");
        }
    }
    let other = r#"{"overrides":{"other":{"backupIds":[1]}}}"#;
    assert_eq!(refused(&gateway, "POST", "/cluster/v2/restore", other).0, 400);
    let own = r#"{"overrides":{"default":{"backupIds":[1]}}}"#;
    succeed(&gateway, cluster.1, cluster.0, own);
    assert_eq!(*operations.told.lock(), ["restore"]);
    assert_eq!(succeed(&gateway, Operation::GetRestoreStatus, "/v2/restore", "")["status"], "COMPLETED");
    assert_eq!(refused(&gateway_to(&Arc::default()), "GET", "/v2/restore", "").0, 404);
    let working = FakeOperations {
        refusal: Some(OperationError::Conflict("it works".to_owned())),
        ..FakeOperations::default()
    };
    assert_eq!(
        refused(&gateway_to(&Arc::new(working)), "POST", "/v2/restore", r#"{"backupIds":[1]}"#).0,
        409
    );
}
