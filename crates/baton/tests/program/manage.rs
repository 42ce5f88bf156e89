//! The management port.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::models::TASK_BPMN;
use crate::support::{Server, ask, failed, run, text};

#[test]
fn exporting_stays_as_operators_left_it_over_restarts() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("errand.bpmn");
    std::fs::write(&file, TASK_BPMN).unwrap();
    let start = || Server::start_at(&data.path().join("data"), &["--set", "export.ndjson.enabled=true"]);
    let exporter = |server: &Server, id: &str| {
        let (status, all) = server.manage("GET", "/exporters", "");
        assert_eq!(status, 200);
        all.as_array().unwrap().iter().find(|one| one["exporterId"] == id).unwrap().clone()
    };
    let partition = |server: &Server| server.manage("GET", "/partitions", "").1["1"].clone();
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(20);
        while !is_so() {
            assert!(Instant::now() < end, "not in time: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };

    let server = start();
    let commands = |server: &Server, arguments: &[&str]| {
        let output = run(&[arguments, &["--rest-address", &server.address("rest")]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    commands(&server, &["deploy", file.to_str().unwrap()]);
    assert_eq!(server.manage("POST", "/exporting/pause", "").1["status"], 204);
    commands(&server, &["run", "errand"]);
    server.stop(Signal::TERM);

    let server = start();
    assert_eq!(partition(&server)["exporterPhase"], "PAUSED");
    assert!(exporter(&server, "secondary-storage")["backlogRecords"].as_u64().unwrap() > 5);
    until("it is told how long records wait", &|| {
        exporter(&server, "secondary-storage")["backlogSeconds"].as_f64().unwrap() > 0.0
    });
    assert!(!commands(&server, &["search", "instances"]).contains("errand"));
    assert_eq!(server.manage("POST", "/exporting/resume", "").1["status"], 204);
    until("the pause is over", &|| exporter(&server, "secondary-storage")["backlogRecords"] == 0);
    assert!(commands(&server, &["search", "instances"]).contains("errand"));

    for id in ["ndjson", "secondary-storage"] {
        let (status, answer) = server.manage("POST", &format!("/exporters/{id}/disable"), "");
        assert_eq!((status, answer["status"].as_str()), (202, Some("DISABLED")));
    }
    // Without exporters no record waits.
    let told = partition(&server);
    assert_eq!(told["exportedPosition"], told["processedPosition"], "{told}");
    server.stop(Signal::TERM);

    let server = start();
    assert_eq!(exporter(&server, "ndjson")["status"], "DISABLED");
    // Only one that is not configured any more can be removed.
    let (status, refused) = server.manage("DELETE", "/exporters/ndjson", "");
    assert_eq!(status, 400, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("it is configured"), "{refused}");
    assert_eq!(server.manage("DELETE", "/exporters/nobody", "").0, 404);
    let enable = |id: &str, from: &str| {
        let body = format!("{{\"initializeFrom\":\"{from}\"}}");
        server.manage("POST", &format!("/exporters/{id}/enable"), &body)
    };
    // Where one is that is off says nothing of what the other one missed.
    let (status, refused) = enable("ndjson", "secondary-storage");
    assert_eq!(status, 400, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("'secondary-storage' is disabled"), "{refused}");
    assert_eq!(exporter(&server, "ndjson")["status"], "DISABLED");
    assert_eq!(server.manage("POST", "/exporters/secondary-storage/enable", "").0, 202);
    assert_eq!(enable("ndjson", "secondary-storage").0, 202);
    assert_eq!(exporter(&server, "ndjson")["status"], "ENABLED");
    let exported = |id: &str| exporter(&server, id)["exportedPosition"].as_u64().unwrap();
    let before = exported("ndjson").max(exported("secondary-storage"));
    commands(&server, &["run", "errand"]);
    until("both export again", &|| exported("ndjson").min(exported("secondary-storage")) > before);
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn processing_is_paused_and_state_written_at_the_management_port() {
    let server = Server::start(&[]);
    let partition = |(code, partitions): (u16, serde_json::Value)| {
        assert_eq!(code, 200, "{partitions}");
        partitions["1"].clone()
    };
    let post = |action: &str| partition(server.manage("POST", &format!("/partitions/{action}"), ""));
    let publish = || ask(&server.address("rest"), "/v2/messages/publication", r#"{"name":"m"}"#);
    publish();
    let before = partition(server.manage("GET", "/partitions", ""));
    let after = post("prepareUpgrade");
    assert_eq!(
        (&before["streamProcessorPhase"], &after["streamProcessorPhase"]),
        (&"PROCESSING".into(), &"PAUSED".into())
    );
    let snapshot =
        |status: &serde_json::Value| status["snapshotId"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(snapshot(&after) > snapshot(&before), "{before} {after}");
    let refused = publish();
    assert!(refused.contains("503") && refused.contains("processing is paused"), "{refused}");
    assert_eq!(post("resumeProcessing")["streamProcessorPhase"], "PROCESSING");
    assert!(!publish().contains("paused"));
    assert_eq!(post("softPauseExporting")["exporterPhase"], "SOFT_PAUSED");
    assert_eq!(post("resumeExporting")["exporterPhase"], "EXPORTING");
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn banned_instances_are_asked_for_at_the_management_port() {
    let server = Server::start(&[]);
    let to = ["--management-address", &server.address("management"), "--json"];
    let none = run(&[&["banned"], &to[..]].concat());
    assert!(none.status.success(), "{}", text(&none.stderr));
    assert_eq!(text(&none.stdout).trim(), "[]");
    for action in ["--release", "--cancel"] {
        let unknown = run(&[&["banned", action, "7"], &to[..]].concat());
        failed(&unknown, 1, &["7", "NOT_FOUND"]);
    }
    failed(&run(&["banned", "--release", "1", "--cancel", "2"]), 2, &["--cancel"]);
    server.stop(Signal::TERM);
}
