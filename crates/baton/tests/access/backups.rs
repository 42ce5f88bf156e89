//! A server is backed up while it works, and another begins with the backup.

use std::process::Command;

use serde_json::{Value, json};

use crate::seed::{MARKER_PROCESS, deploy};
use crate::server::{Answer, Server, eventually};

/// The state of a backup, once it is not in progress any more.
async fn state(server: &Server, path: &str) -> Value {
    eventually("the backup", async || {
        let backup = server.get(path).send().await.expect(200).json();
        (backup["state"] != "IN_PROGRESS").then_some(backup)
    })
    .await
}

async fn create(server: &Server) -> (String, String) {
    let created =
        server.post("/v2/process-instances", &json!({ "processDefinitionId": "marker" })).send().await;
    let position = created.header("baton-position").unwrap().to_owned();
    (created.expect(200).json()["processInstanceKey"].as_str().unwrap().to_owned(), position)
}

async fn instances(server: &Server, position: &str) -> Vec<String> {
    let search = server.post("/v2/process-instances/search", &json!({}));
    let found = search.header("baton-await-position", position).send().await.expect(200).json();
    let items = found["items"].as_array().unwrap().iter();
    items.map(|item| item["processInstanceKey"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_backed_up_and_restored() {
    let backups = tempfile::tempdir().unwrap();
    let directory = backups.path().display().to_string();
    let settings = [format!("backup.directory={directory}")];
    let server = Server::start(&settings);
    deploy(&server, "", None, &[("marker.bpmn", MARKER_PROCESS)]).await;
    // The history waits for what is recorded.
    let (before, _) = create(&server).await;
    let id = json!({ "backupId": 5 });
    server.ask("PATCH", "/v2/mode?mode=RECOVERING").send().await.expect(200);
    server.post("/v2/backups/history", &id).send().await.expect(202);
    server.post("/v2/backups/runtime", &id).send().await.expect(202);
    for kind in ["history", "runtime"] {
        let backup = state(&server, &format!("/v2/backups/{kind}/5")).await;
        assert_eq!(
            (&backup["state"], &backup["failureReason"]),
            (&json!("COMPLETED"), &Value::Null),
            "{backup}"
        );
        server.post(&format!("/v2/backups/{kind}"), &id).send().await.expect(409);
    }
    server.ask("PATCH", "/cluster/v2/mode?mode=PROCESSING").send().await.expect(200);
    let (after, position) = create(&server).await;
    assert_eq!(instances(&server, &position).await.len(), 2);
    server.manage("GET", "/actuator/backupRuntime/5").await.expect(200);
    drop(server.stop());

    let new = tempfile::tempdir().unwrap();
    let restore = |id: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(["restore", id, "--backups", &directory, "--data-dir"]).arg(new.path().join("data"));
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let (done, said) = restore("6");
    assert!(!done && said.contains("there is no backup 6"), "{said}");
    let (done, said) = restore("5");
    assert!(done, "{said}");
    let (done, said) = restore("5");
    assert!(!done && said.contains("there already"), "{said}");

    let server = Server::start_in(new, settings.to_vec());
    let (next, position) = create(&server).await;
    assert_eq!(
        instances(&server, &position).await,
        [before.clone(), next.clone()],
        "in the order of their keys"
    );
    assert_ne!(next, before);
    let gone = server.get(&format!("/v2/process-instances/{after}")).send().await;
    // The key may have been given again.
    assert!(gone.status == 404 || next == after, "{}", gone.text);
    let listed = server.get("/v2/backups/runtime").send().await.expect(200).json();
    assert_eq!(listed[0]["backupId"], 5);
    let server = server.restart();
    let (_, position) = create(&server).await;
    assert_eq!(instances(&server, &position).await.len(), 3);
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}

/// Asks for a restore with the backup of this number.
async fn restore(server: &Server, query: &str, id: u64) -> Answer {
    server.post(&format!("/v2/restore{query}"), &json!({ "backupIds": [id] })).send().await
}

async fn change_mode(server: &Server, mode: &str) {
    server.ask("PATCH", &format!("/v2/mode?mode={mode}")).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_process_is_restored_while_it_runs() {
    let backups = tempfile::tempdir().unwrap();
    let mut server = Server::start(&[format!("backup.directory={}", backups.path().display())]);
    deploy(&server, "", None, &[("marker.bpmn", MARKER_PROCESS)]).await;
    let (before, _) = create(&server).await;
    change_mode(&server, "RECOVERING").await;
    for kind in ["history", "runtime"] {
        server.post(&format!("/v2/backups/{kind}"), &json!({ "backupId": 5 })).send().await.expect(202);
        assert_eq!(state(&server, &format!("/v2/backups/{kind}/5")).await["state"], "COMPLETED");
    }
    change_mode(&server, "PROCESSING").await;
    let (after, position) = create(&server).await;
    assert_eq!(instances(&server, &position).await.len(), 2);
    server.get("/v2/restore").send().await.expect(404);

    let processing = restore(&server, "", 5).await.expect(409).text;
    assert!(processing.contains("RECOVERING"), "{processing}");
    change_mode(&server, "RECOVERING").await;
    restore(&server, "", 6).await.expect(400);
    restore(&server, "?dryRun=true", 5).await.expect(202);
    server.get("/v2/restore").send().await.expect(404);
    let planned = restore(&server, "", 5).await.expect(202).json();
    server.await_ready();
    let told = server.get("/v2/restore").send().await.expect(200).json();
    assert_eq!((&told["status"], &told["changeId"]), (&json!("COMPLETED"), &planned["changeId"]), "{told}");
    assert_eq!(told["brokers"][0]["partitions"][0]["state"], "RESTORED", "{told}");

    let (next, position) = create(&server).await;
    assert_eq!(instances(&server, &position).await, [before, next.clone()]);
    let gone = server.get(&format!("/v2/process-instances/{after}")).send().await;
    assert!(gone.status == 404 || next == after, "{}", gone.text);
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}
