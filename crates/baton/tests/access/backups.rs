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

/// A restore tells of damage before anything is in its place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_history_is_not_restored() {
    let backups = tempfile::tempdir().unwrap();
    let directory = backups.path().to_owned();
    let mut server = Server::start(&[format!("backup.directory={}", directory.display())]);
    deploy(&server, "", None, &[("marker.bpmn", MARKER_PROCESS)]).await;
    for _ in 0..20 {
        create(&server).await;
    }
    change_mode(&server, "RECOVERING").await;
    let id = json!({ "backupId": 5 });
    for kind in ["history", "runtime"] {
        server.post(&format!("/v2/backups/{kind}"), &id).send().await.expect(202);
        assert_eq!(state(&server, &format!("/v2/backups/{kind}/5")).await["state"], "COMPLETED");
    }
    let (history, sum) = (directory.join("5/history.sqlite"), directory.join("5/history.json"));
    let (whole, noted) = (std::fs::read(&history).unwrap(), std::fs::read(&sum).unwrap());
    let mut changed = whole.clone();
    // The first page stays: it tells what the file is.
    for at in (0..400).map(|at| 4096 + at * (whole.len() - 4096) / 400) {
        changed[at] ^= 0x55;
    }
    let listed = async || server.get("/v2/backups/history/5").send().await.expect(200).json();
    let is_refused = |what: &str| {
        let new = tempfile::tempdir().unwrap();
        let data = new.path().join("data");
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(["restore", "5", "--backups"]).arg(&directory).arg("--data-dir").arg(&data);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("is damaged"), "{what}: {said}");
        let left: Vec<_> =
            std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{what}: {left:?}");
    };
    std::fs::write(&history, &changed).unwrap();
    is_refused("changed bytes");
    // Of a release that noted no sum, too.
    std::fs::remove_file(&sum).unwrap();
    is_refused("changed bytes without a sum");
    std::fs::write(&sum, &noted).unwrap();
    std::fs::write(&history, &whole[..whole.len() / 2]).unwrap();
    is_refused("a cut file");
    assert_eq!(listed().await["state"], "FAILED");
    std::fs::remove_file(&history).unwrap();
    is_refused("a missing file");
    assert_eq!(listed().await["state"], "FAILED");
    std::os::unix::fs::symlink("/dev/zero", &history).unwrap();
    is_refused("a link");
    std::fs::remove_file(&history).unwrap();
    std::fs::create_dir(&history).unwrap();
    is_refused("a directory");
    assert_eq!(listed().await["state"], "FAILED");
    std::fs::remove_dir(&history).unwrap();
    std::fs::write(&history, &whole).unwrap();
    std::fs::write(&sum, "{").unwrap();
    is_refused("a sum that cannot be read");

    // Over the API the former data come back.
    std::fs::write(&sum, &noted).unwrap();
    std::fs::write(&history, &changed).unwrap();
    restore(&server, "", 5).await.expect(202);
    server.await_ready();
    let told = server.get("/v2/restore").send().await.expect(200).json();
    assert_eq!(told["status"], "FAILED", "{told}");
    let (_, position) = create(&server).await;
    assert_eq!(instances(&server, &position).await.len(), 21);
}

/// One broken entry hides no other, and numbers leave room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_backups_are_told_of_over_every_port() {
    let backups = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("backup.directory={}", backups.path().display())]);
    std::fs::create_dir(backups.path().join("77")).unwrap();
    std::fs::write(backups.path().join("77/backup.json"), "{").unwrap();
    for id in [i64::MAX, 1_000_000_000_000_000_001] {
        let body = json!({ "backupId": id });
        for path in ["/v2/backups/runtime", "/v2/backups/history", "/cluster/v2/backups/runtime"] {
            let refused = server.post(path, &body).send().await.expect(400).text;
            assert!(
                refused.contains("backupId") && refused.contains("1000000000000000000"),
                "{path}: {refused}"
            );
        }
    }
    let taken = server.post("/v2/backups/runtime", &json!({})).send().await.expect(202).json();
    let id = taken["backupId"].as_u64().unwrap();
    assert_eq!(state(&server, &format!("/v2/backups/runtime/{id}")).await["state"], "COMPLETED");
    let listed = server.get("/v2/backups/runtime").send().await.expect(200).json();
    assert_eq!((&listed[0]["backupId"], &listed[0]["state"]), (&json!(77), &json!("FAILED")), "{listed}");
    assert!(listed[0]["failureReason"].as_str().unwrap().contains("backup.json"), "{listed}");
    server.manage("GET", "/actuator/backupRuntime").await.expect(200);
    server.get("/v2/backups/runtime/state").send().await.expect(200);
    server.ask("DELETE", "/v2/backups/runtime/77").send().await.expect(204);
    let listed = server.get("/v2/backups/runtime").send().await.expect(200).json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}
