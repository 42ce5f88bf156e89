//! Operations of operators: what the broker is told, what the client gets, and literal problems.

use std::sync::Arc;

use protocol::{
    Authorization, AuthorizationScope, AuthorizationView, EntityType, Grants, PermissionType as P,
    ResourceType as R,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::contract::Operation;
use super::access::basic_options;
use super::contract::{check_response, path_of};
use super::fake::FakeBroker;
use super::fake_operations::FakeOperations;
use super::{Gateway, Options, block_on, gateway_with, request, text};
use crate::management::{OperationError, Slot};
use crate::{AccessOptions, Secrets};

pub(super) fn gateway_to(operations: &Arc<FakeOperations>) -> Gateway {
    gateway_with(&Arc::default(), Options { operations: operations.slot(), ..Options::default() })
}

/// Sends a request that must succeed as the contract has it; the answer.
pub(super) fn succeed(gateway: &Gateway, operation: Operation, path: &str, body: &str) -> Value {
    let spec = operation.spec();
    let sent = request(spec.method, path, body.to_owned());
    let (status, answer) = block_on(async { text(gateway.answer(sent).await).await });
    check_response(spec, status, &answer);
    if answer.is_empty() { Value::Null } else { serde_json::from_str(&answer).unwrap() }
}

pub(super) fn refused(gateway: &Gateway, method: &str, path: &str, body: &str) -> (u16, String) {
    let sent = request(method, path, body.to_owned());
    let (status, answer) = block_on(async { text(gateway.answer(sent).await).await });
    (status, super::contract::problem(status, &answer))
}

#[test]
fn exporting_is_paused_and_resumed_for_a_tenant_and_for_all() {
    for (status, pause, resume, base) in [
        (
            Operation::GetExportingStatus,
            Operation::PauseExporting,
            Operation::ResumeExporting,
            "/v2/exporting",
        ),
        (
            Operation::GetClusterExportingStatus,
            Operation::PauseClusterExporting,
            Operation::ResumeClusterExporting,
            "/cluster/v2/exporting",
        ),
    ] {
        let operations = Arc::new(FakeOperations::default());
        let gateway = gateway_to(&operations);
        let told = |wanted: &str| {
            let found = succeed(&gateway, status, base, "");
            assert_eq!(found, json!({ "status": wanted }));
        };
        told("EXPORTING");
        succeed(&gateway, pause, &format!("{base}/pause"), "");
        told("PAUSED");
        succeed(&gateway, pause, &format!("{base}/pause?soft=true"), "");
        told("SOFT_PAUSED");
        succeed(&gateway, pause, &format!("{base}/pause?soft=false"), "");
        told("PAUSED");
        succeed(&gateway, resume, &format!("{base}/resume"), "");
        told("EXPORTING");
        let wanted = ["pause exporting", "pause exporting softly", "pause exporting", "resume exporting"];
        assert_eq!(*operations.told.lock(), wanted);
        let wrong = refused(&gateway, "POST", &format!("{base}/pause?soft=perhaps"), "");
        assert_eq!(wrong, (400, "soft: expected true or false".to_owned()));
    }
}

#[test]
fn the_mode_of_a_cluster_stops_processing_and_goes_on() {
    for (operation, base) in [
        (Operation::ChangeClusterMode, "/v2/mode"),
        (Operation::ChangeClusterModeAsClusterAdmin, "/cluster/v2/mode"),
    ] {
        let operations = Arc::new(FakeOperations::default());
        let gateway = gateway_to(&operations);
        let state = || {
            let topology = succeed(&gateway, Operation::GetClusterTopology, "/cluster/v2/topology", "");
            topology["physicalTenants"][0]["brokers"][0]["partitions"][0]["state"].clone()
        };
        let change = |query: &str| {
            let answer = succeed(&gateway, operation, &format!("{base}?{query}"), "");
            assert!(answer["changeId"].as_str().unwrap().parse::<u64>().is_ok());
            answer["plannedChanges"].clone()
        };
        let planned = |mode: &str| json!([{ "physicalTenantId": "default", "operations": [{ "operation": "ModeChangeOperation", "mode": mode }] }]);
        assert_eq!(state(), "active");
        assert_eq!(change("mode=RECOVERING&dryRun=true"), planned("RECOVERING"));
        assert_eq!((state(), operations.told.lock().len()), (json!("active"), 0));
        assert_eq!(change("mode=RECOVERING"), planned("RECOVERING"));
        assert_eq!(state(), "recovering");
        assert_eq!(change("mode=PROCESSING&dryRun=false"), planned("PROCESSING"));
        assert_eq!(state(), "active");
        assert_eq!(*operations.told.lock(), ["pause processing", "resume processing"]);
        for (query, detail) in [
            ("", "mode: is required, but missing"),
            ("?mode=PAUSED", "mode: expected one of PROCESSING, RECOVERING, but found \"PAUSED\""),
            ("?mode=PROCESSING&dryRun=1", "dryRun: expected true or false"),
        ] {
            assert_eq!(refused(&gateway, "PATCH", &format!("{base}{query}"), ""), (400, detail.to_owned()));
        }
    }
    let gateway = gateway_to(&Arc::default());
    let other = refused(&gateway, "PATCH", "/cluster/v2/mode?mode=RECOVERING&physicalTenantId=other", "");
    let detail =
        "physicalTenantId: expected 'default', the only physical tenant, but found 'other'".to_owned();
    assert_eq!(other, (404, detail));
}

#[test]
fn a_broker_that_starts_or_fails_is_told_of() {
    let starting =
        gateway_with(&Arc::default(), Options { operations: Slot::default(), ..Options::default() });
    let failing = FakeOperations {
        refusal: Some(OperationError::Failed("the disk is full".to_owned())),
        ..FakeOperations::default()
    };
    let failing = gateway_to(&Arc::new(failing));
    for (method, path) in [
        ("POST", "/v2/exporting/pause"),
        ("POST", "/cluster/v2/exporting/resume"),
        ("PATCH", "/v2/mode?mode=RECOVERING"),
    ] {
        assert_eq!(
            refused(&starting, method, path, ""),
            (503, "the broker is starting".to_owned()),
            "{path}"
        );
        assert_eq!(refused(&failing, method, path, ""), (500, "the disk is full".to_owned()), "{path}");
    }
    // The broker's own view does not need it.
    succeed(&starting, Operation::GetClusterTopology, "/cluster/v2/topology", "");
}

#[test]
fn the_cluster_tells_its_status_and_brokers() {
    let gateway = gateway_to(&Arc::default());
    let status = succeed(&gateway, Operation::GetClusterStatus, "/cluster/v2/status", "");
    // The second partition has no leader.
    assert_eq!(status, json!({ "status": "DEGRADED" }));
    let down =
        gateway_with(&Arc::new(FakeBroker { is_down: true, ..FakeBroker::default() }), Options::default());
    let sent = request("GET", "/cluster/v2/status", "");
    let answer = block_on(async { text(down.answer(sent).await).await });
    assert_eq!(answer, (503, r#"{"status":"DOWN"}"#.to_owned()));
    let topology = succeed(&gateway, Operation::GetClusterTopology, "/cluster/v2/topology", "");
    let partition = |id: u16, role: &str| json!({ "partitionId": id, "role": role, "health": "healthy", "state": "active" });
    let version = broker_api::API_VERSION;
    assert_eq!(
        topology,
        json!({
            "brokers": [{ "brokerId": "0", "host": "localhost", "port": 26500, "version": version }],
            "clusterId": "c-1", "clusterSize": 1, "gatewayVersion": version,
            "physicalTenants": [{
                "physicalTenantId": "default", "partitionsCount": 2, "replicationFactor": 1,
                "lastCompletedChangeId": "-1",
                "brokers": [{ "brokerId": "0", "partitions": [partition(1, "leader"), partition(2, "follower")] }],
            }],
        })
    );
}

/// A gateway where ann has these permissions, each for one resource or for all.
async fn gateway_of_ann(allowed: &[(R, P, &str)], operations: &Arc<FakeOperations>) -> Gateway {
    let of = |(resource_type, permission, id): &(R, P, &str)| AuthorizationView {
        key: 41,
        authorization: Authorization {
            owner_type: EntityType::User,
            owner_id: "ann".into(),
            resource_type: *resource_type,
            scope: AuthorizationScope::from_id(id),
            permissions: vec![*permission],
        },
    };
    let grants = Grants { authorizations: allowed.iter().map(of).collect(), ..Grants::default() };
    let checks = AccessOptions { authorizations: true, tenants: false, foreign: vec![] };
    let variables = [("S_a", "1"), ("S_b", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let options = Options {
        operations: operations.slot(),
        secrets: Secrets::new(None, "S_", variables),
        ..basic_options(checks).await
    };
    Gateway::new(Arc::new(FakeBroker { grants, ..FakeBroker::default() }), options, CancellationToken::new())
}

async fn ask_as_ann(gateway: &Gateway, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut sent = request(method, path, body.to_owned());
    sent.headers_mut().insert("authorization", "Basic YW5uOnNlY3JldA==".parse().unwrap());
    text(gateway.answer(sent).await).await
}

#[test]
fn operators_have_permissions_of_their_own() {
    let exporting: &[(R, P)] = &[(R::Exporter, P::Pause)];
    let mode: &[(R, P)] = &[(R::System, P::Update), (R::Backup, P::Restore)];
    let (create, read, delete): (&[_], &[_], &[_]) =
        (&[(R::Backup, P::Create)], &[(R::Backup, P::Read)], &[(R::Backup, P::Delete)]);
    for (operation, permissions) in [
        (Operation::GetExportingStatus, exporting),
        (Operation::PauseExporting, exporting),
        (Operation::ResumeExporting, exporting),
        (Operation::GetClusterExportingStatus, exporting),
        (Operation::PauseClusterExporting, exporting),
        (Operation::ResumeClusterExporting, exporting),
        (Operation::ChangeClusterMode, mode),
        (Operation::ChangeClusterModeAsClusterAdmin, mode),
        (Operation::TakeRuntimeBackup, create),
        (Operation::TakeRuntimeBackupAsClusterAdmin, create),
        (Operation::SyncRuntimeBackupState, create),
        (Operation::SyncRuntimeBackupStateAsClusterAdmin, create),
        (Operation::ListRuntimeBackups, read),
        (Operation::ListRuntimeBackupsAsClusterAdmin, read),
        (Operation::GetRuntimeBackup, read),
        (Operation::GetRuntimeBackupAsClusterAdmin, read),
        (Operation::GetRuntimeBackupState, read),
        (Operation::GetRuntimeBackupStateAsClusterAdmin, read),
        (Operation::DeleteRuntimeBackup, delete),
        (Operation::DeleteRuntimeBackupAsClusterAdmin, delete),
        (Operation::DeleteRuntimeBackupState, delete),
        (Operation::DeleteRuntimeBackupStateAsClusterAdmin, delete),
        (Operation::TakeHistoryBackup, create),
        (Operation::TakeHistoryBackupAsClusterAdmin, create),
        (Operation::ListHistoryBackups, read),
        (Operation::ListHistoryBackupsAsClusterAdmin, read),
        (Operation::GetHistoryBackup, read),
        (Operation::GetHistoryBackupAsClusterAdmin, read),
        (Operation::DeleteHistoryBackup, delete),
        (Operation::DeleteHistoryBackupAsClusterAdmin, delete),
    ] {
        let spec = operation.spec();
        let body = if operation == Operation::TakeHistoryBackup
            || operation == Operation::TakeHistoryBackupAsClusterAdmin
        {
            r#"{"backupId":2}"#
        } else {
            ""
        };
        let (resource, permission) = permissions[0];
        let detail = format!("Unauthorized to perform operation '{permission}' on resource '{resource}'");
        block_on(async {
            let operations = Arc::new(FakeOperations::with_backups());
            let others = R::ALL.iter().flat_map(|resource| {
                resource.permissions().iter().map(|permission| (*resource, *permission))
            });
            let others: Vec<_> = others
                .filter(|pair| !permissions.contains(pair))
                .map(|(resource, permission)| (resource, permission, "*"))
                .collect();
            let gateway = gateway_of_ann(&others, &operations).await;
            let (status, answer) = ask_as_ann(&gateway, spec.method, &path_of(spec), body).await;
            assert_eq!((status, super::contract::problem(403, &answer)), (403, detail), "{}", spec.id);
            assert_eq!(operations.told.lock().len(), 0);
            for (resource, permission) in permissions {
                let operations = Arc::new(FakeOperations::with_backups());
                let gateway = gateway_of_ann(&[(*resource, *permission, "*")], &operations).await;
                let (status, answer) = ask_as_ann(&gateway, spec.method, &path_of(spec), body).await;
                check_response(spec, status, &answer);
            }
        });
    }
}

#[test]
fn secrets_are_listed_and_revealed_by_permission() {
    block_on(async {
        let allowed = [(R::Secret, P::Read, "a"), (R::Secret, P::Read, "gone"), (R::Secret, P::Reveal, "b")];
        let gateway = gateway_of_ann(&allowed, &Arc::default()).await;
        let (status, answer) = ask_as_ann(&gateway, "POST", "/v2/secrets/list", "{}").await;
        check_response(Operation::ListSecrets.spec(), status, &answer);
        assert_eq!(answer, r#"{"references":["a"]}"#);
        let (status, answer) =
            ask_as_ann(&gateway, "POST", "/v2/secrets/resolve", r#"{"references":["a","b","b"]}"#).await;
        check_response(Operation::ResolveSecrets.spec(), status, &answer);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let b = json!({ "reference": "b", "value": "2" });
        assert_eq!(answer["resolved"], json!([b, b]));
        let message = "the permission REVEAL for this SECRET is missing";
        let denied = json!([{ "reference": "a", "code": "ACCESS_DENIED", "message": message }]);
        assert_eq!(answer["errors"], denied);
    });
}

#[test]
fn secrets_that_have_no_value_say_why() {
    let variables = [("S_a".to_owned(), "1".to_owned())];
    let options = Options { secrets: Secrets::new(None, "S_", variables), ..Options::default() };
    let gateway = gateway_with(&Arc::default(), options);
    let body = r#"{"references":["a","gone","../a"]}"#;
    let answer = succeed(&gateway, Operation::ResolveSecrets, "/v2/secrets/resolve", body);
    assert_eq!(answer["resolved"], json!([{ "reference": "a", "value": "1" }]));
    let codes: Vec<_> =
        answer["errors"].as_array().unwrap().iter().map(|error| error["code"].clone()).collect();
    assert_eq!(codes, ["NOT_FOUND", "INVALID_REFERENCE"]);
    let many = json!({ "references": vec!["a"; 21] }).to_string();
    let (status, detail) = refused(&gateway, "POST", "/v2/secrets/resolve", &many);
    assert_eq!((status, detail.starts_with("references: ")), (400, true), "{detail}");
    let gone = Secrets::new(Some("/nowhere/at/all".into()), "", []);
    let gateway = gateway_with(&Arc::default(), Options { secrets: gone, ..Options::default() });
    let wanted = (500, "the directory of secrets cannot be read".to_owned());
    assert_eq!(refused(&gateway, "POST", "/v2/secrets/list", "{}"), wanted);
}

#[test]
fn everybody_finds_its_own_authorizations() {
    block_on(async {
        let allowed = [(R::Secret, P::Read, "a"), (R::Exporter, P::Pause, "*"), (R::Secret, P::Reveal, "b")];
        let gateway = gateway_of_ann(&allowed, &Arc::default()).await;
        let path = "/v2/authentication/me/authorizations/search";
        let found = async |body: &str| {
            let (status, answer) = ask_as_ann(&gateway, "POST", path, body).await;
            check_response(Operation::SearchOwnAuthorizations.spec(), status, &answer);
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["authorizationsEnabled"], true);
            let items = answer["items"].as_array().unwrap().iter();
            items
                .map(|item| format!("{} {}", item["resourceType"], item["resourceId"]))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(found("").await, r#""SECRET" "a" "EXPORTER" "*" "SECRET" "b""#);
        let filter = r#"{"filter":{"resourceType":"SECRET"},"sort":[{"field":"resourceId","order":"DESC"}]}"#;
        assert_eq!(found(filter).await, r#""SECRET" "b" "SECRET" "a""#);
        assert_eq!(found(r#"{"filter":{"resourceIds":["*"]}}"#).await, r#""EXPORTER" "*""#);
        // Without credentials nobody is asked for.
        let refused = gateway.answer(request("POST", path, "")).await;
        assert_eq!(refused.status(), 401);
    });
    let open = gateway_to(&Arc::default());
    let path = "/v2/authentication/me/authorizations/search";
    let answer = succeed(&open, Operation::SearchOwnAuthorizations, path, "{}");
    assert_eq!((&answer["authorizationsEnabled"], &answer["items"]), (&json!(false), &json!([])));
}
