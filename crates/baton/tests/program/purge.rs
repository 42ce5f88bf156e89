//! A purge of the cluster, as the process test of the compatible system asks for it between two tests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::Server;

const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/><serviceTask id="t"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask></process></definitions>"#;
const PATIENCE: Duration = Duration::from_secs(30);

fn ask(address: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let json = body.find('{').and_then(|at| serde_json::from_str(&body[at..]).ok());
    (head.split(' ').nth(1).unwrap().parse().unwrap(), json.unwrap_or_default())
}

fn count(server: &Server, what: &str) -> u64 {
    let (status, found) = ask(&server.address("rest"), "POST", &format!("/v2/{what}/search"), "{}");
    assert_eq!(status, 200, "{what}: {found}");
    found["page"]["totalItems"].as_u64().unwrap()
}

/// Waits until the topology tells that a change is complete.
fn completed(server: &Server, change_id: u64) {
    let (end, wanted) = (Instant::now() + PATIENCE, change_id.to_string());
    loop {
        let (_, topology) = ask(&server.address("rest"), "GET", "/v2/topology", "");
        if topology["lastCompletedChangeId"].as_str() == Some(&wanted) {
            return;
        }
        assert!(Instant::now() < end, "{topology}");
    }
}

fn fill(server: &Server) -> String {
    server.deploy("p.bpmn", MODEL);
    let key = server.start_instance("p", r#"{"a": 1}"#);
    let end = Instant::now() + PATIENCE;
    while count(server, "process-instances") == 0 {
        assert!(Instant::now() < end);
    }
    let user = r#"{"username":"ann","password":"secret","name":"Ann","email":"a@b.c"}"#;
    assert_eq!(ask(&server.address("rest"), "POST", "/v2/users", user).0, 201);
    let variable = r#"{"name":"v","value":1}"#;
    assert!(ask(&server.address("rest"), "POST", "/v2/cluster-variables/global", variable).0 < 300);
    key
}

const EMPTY: [&str; 7] = [
    "process-instances",
    "process-definitions",
    "variables",
    "jobs",
    "element-instances",
    "users",
    "cluster-variables",
];

#[test]
fn a_purge_leaves_nothing_and_is_told_when_it_is_complete() {
    let server = Server::start(&[]);
    let (_, cluster) = server.manage("GET", "/cluster", "");
    assert_eq!((cluster.get("lastChange"), &cluster["version"]), (None, &json!(0)));
    let (_, topology) = ask(&server.address("rest"), "GET", "/v2/topology", "");
    assert_eq!(topology["lastCompletedChangeId"], "-1");

    let key = fill(&server);
    let (status, planned) = server.manage("POST", "/cluster/purge?dryRun=true", "");
    assert_eq!((status, &planned["changeId"]), (202, &json!(1)), "{planned}");
    assert_eq!(planned["plannedChanges"][0]["operation"], "PARTITION_LEAVE");
    assert_eq!(count(&server, "process-instances"), 1, "a dry run changes nothing");

    // A client waits for a result meanwhile, and a worker has a job.
    let rest = server.address("rest");
    let work = r#"{"type":"work","timeout":600000,"maxJobsToActivate":5,"requestTimeout":10000}"#;
    let (_, jobs) = ask(&rest, "POST", "/v2/jobs/activation", work);
    let job = jobs["jobs"][0]["jobKey"].as_str().unwrap().to_owned();
    let waiting = std::thread::spawn({
        let rest = rest.clone();
        move || {
            let body = r#"{"processDefinitionId":"p","awaitCompletion":true,"requestTimeout":60000}"#;
            ask(&rest, "POST", "/v2/process-instances", body)
        }
    });
    let end = Instant::now() + PATIENCE;
    while count(&server, "process-instances") < 2 {
        assert!(Instant::now() < end);
    }
    let (status, begun) = server.manage("POST", "/cluster/purge", "");
    assert_eq!((status, &begun["changeId"]), (202, &json!(1)), "{begun}");
    assert_eq!(begun["currentTopology"], begun["expectedTopology"]);
    let (status, answer) = waiting.join().unwrap();
    assert_eq!(status, 409, "{answer}");
    assert!(answer["detail"].as_str().unwrap().contains("purged"), "{answer}");
    completed(&server, 1);
    for what in EMPTY {
        assert_eq!(count(&server, what), 0, "{what}");
    }
    let (status, _) = ask(&rest, "GET", &format!("/v2/process-instances/{key}"), "");
    assert_eq!(status, 404);
    assert_eq!(ask(&rest, "POST", &format!("/v2/jobs/{job}/completion"), "{}").0, 404);
    let (_, cluster) = server.manage("GET", "/cluster", "");
    assert_eq!(
        (&cluster["lastChange"]["id"], &cluster["lastChange"]["status"]),
        (&json!(1), &json!("COMPLETED"))
    );
    assert_eq!(cluster.get("pendingChange"), None);
    assert!(count(&server, "roles") > 0, "default roles are there again");

    // Keys go on, and all works as on the first day.
    let next = fill(&server);
    assert!(next.parse::<u64>().unwrap() > key.parse::<u64>().unwrap());
    let (_, jobs) = ask(&rest, "POST", "/v2/jobs/activation", work);
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 1, "{jobs}");
    assert_eq!(count(&server, "process-instances"), 1);
    server.stop_clean();
}

#[test]
fn a_purge_is_completed_after_a_crash() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_at(data.path(), &[]);
    fill(&server);
    assert_eq!(server.manage("POST", "/cluster/purge", "").0, 202);
    server.stop(Signal::KILL);
    let server = Server::start_at(data.path(), &[]);
    completed(&server, 1);
    for what in EMPTY {
        assert_eq!(count(&server, what), 0, "{what}");
    }
    // Another one follows it.
    fill(&server);
    assert_eq!(server.manage("POST", "/cluster/purge", "").1["changeId"], 2);
    completed(&server, 2);
    assert_eq!(count(&server, "process-instances"), 0);
    server.stop_clean();
}
