//! The management port over real connections.
#![allow(clippy::unwrap_used)]

mod backups;
mod fake;
mod partitions;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fake::FakeBroker;
use gateway::management::{
    BackupStatus, ComponentState, Gate, HistoryBackupStatus, Loggers, Management, Metrics, OperationError,
    Renderer, Slot, StateComparison,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::Dispatch;
use tracing_subscriber::layer::SubscriberExt;

struct Server {
    address: SocketAddr,
    slot: Slot,
    log: Dispatch,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    async fn start() -> Self {
        Self::start_with(gateway::Connections::default()).await
    }

    async fn start_with(connections: gateway::Connections) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (filter, loggers) = Loggers::new("info").unwrap();
        let (recorder, metrics) = Metrics::recorder();
        metrics::with_local_recorder(&recorder, || {
            metrics::counter!("test_events_total", "kind" => "a").increment(3);
            metrics::counter!("baton_log_entries_total").increment(2);
            metrics::histogram!("test_duration_seconds").record(0.002);
        });
        let slot = Slot::default();
        let (gate, tls) = (Gate::default(), None);
        let management = Management {
            broker: slot.clone(),
            metrics,
            loggers,
            version: "1.2.3",
            gate,
            connections,
            tls,
            renderer: renderer(),
        };
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(gateway::management::serve(listener, management, shutdown.clone()));
        let log = Dispatch::new(tracing_subscriber::registry().with(filter));
        Self { address, slot, log, shutdown, task }
    }

    async fn running() -> (Self, Arc<FakeBroker>) {
        let server = Self::start().await;
        let broker = FakeBroker::new();
        server.slot.set(broker.clone());
        (server, broker)
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let length = body.len();
        let request = format!("{method} {path} HTTP/1.0\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        self.send("GET", path, "").await
    }

    async fn json(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.send(method, path, body).await;
        (status, serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}")))
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap();
    }
}

#[tokio::test]
async fn probes_follow_the_broker_from_start_to_fault() {
    let server = Server::start().await;
    let statuses = async |server: &Server| {
        let mut statuses = vec![];
        for path in ["", "/liveness", "/readiness", "/startup", "/status"] {
            let (status, body) = server.json("GET", &format!("/actuator/health{path}"), "").await;
            assert_eq!(body["status"], if status == 200 { "UP" } else { "DOWN" });
            statuses.push(status);
        }
        for path in ["/health", "/ready", "/startup"] {
            statuses.push(server.get(path).await.0);
        }
        statuses
    };
    assert_eq!(statuses(&server).await, [503, 200, 503, 503, 503, 204, 503, 503]);
    let broker = FakeBroker::new();
    server.slot.set(broker.clone());
    assert_eq!(statuses(&server).await, [200, 200, 200, 200, 200, 204, 204, 204]);
    *broker.state.lock() = ComponentState::Unhealthy;
    assert_eq!(statuses(&server).await, [503, 200, 503, 200, 503, 204, 503, 204]);
    *broker.state.lock() = ComponentState::Dead;
    assert_eq!(statuses(&server).await, [503, 503, 503, 200, 503, 503, 503, 204]);
    let (_, body) = server.json("GET", "/actuator/health", "").await;
    assert_eq!(body["components"]["partition-1"]["details"]["reason"], "as told");
    server.stop().await;
}

#[tokio::test]
async fn metrics_come_with_buckets_and_with_what_the_process_costs() {
    let (server, _) = Server::running().await;
    let (status, text) = server.get("/actuator/prometheus").await;
    assert_eq!(status, 200);
    for line in [
        "test_events_total{kind=\"a\"} 3",
        "# HELP baton_log_entries_total Entries of the log that were proposed and applied here.",
        "baton_log_entries_total 2",
        "test_duration_seconds_bucket{le=\"0.0025\"} 1",
        "test_duration_seconds_bucket{le=\"0.001\"} 0",
        "test_duration_seconds_count 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    assert!(text.contains("\nprocess_cpu_seconds_total "));
    assert_eq!(server.get("/metrics").await.0, 200);
    server.stop().await;
}

#[tokio::test]
async fn log_levels_change_while_it_runs() {
    let (server, _) = Server::running().await;
    let debug = || {
        tracing::dispatcher::with_default(
            &server.log,
            || tracing::enabled!(target: "broker::ingress", tracing::Level::DEBUG),
        )
    };
    assert!(!debug());
    let path = "/actuator/loggers/broker.ingress";
    assert_eq!(server.send("POST", path, "{\"configuredLevel\":\"DEBUG\"}").await.0, 204);
    assert!(debug());
    let told = server.json("GET", path, "").await;
    assert_eq!(told, (200, json!({ "configuredLevel": "DEBUG", "effectiveLevel": "DEBUG" })));
    let (_, all) = server.json("GET", "/actuator/loggers", "").await;
    assert_eq!(all["loggers"]["ROOT"]["configuredLevel"], "INFO");
    assert_eq!(server.send("POST", path, "{\"configuredLevel\":null}").await.0, 204);
    assert!(!debug());
    for wrong in ["{\"configuredLevel\":\"LOUD\"}", "{\"level\":\"INFO\"}", "[]", "{"] {
        let (status, problem) = server.json("POST", path, wrong).await;
        assert_eq!(status, 400, "{wrong}");
        assert!(problem["detail"].as_str().unwrap().contains("configuredLevel"), "{problem}");
    }
    assert_eq!(server.json("GET", "/actuator/loggers/%00", "").await.0, 400);
    server.stop().await;
}

#[tokio::test]
async fn operators_read_and_change_the_broker() {
    let (server, broker) = Server::running().await;
    let limit = |n: u8| json!({ "1": { "limit": n } });
    let path = "/actuator/flowControl";
    assert_eq!(server.json("GET", path, "").await, (200, limit(100)));
    assert_eq!(server.json("POST", path, "{\"limit\":5}").await, (200, limit(5)));
    assert_eq!(server.json("POST", path, "{}").await.0, 400);
    assert_eq!(server.json("POST", path, "3").await.0, 400);
    let (_, partitions) = server.json("GET", "/actuator/partitions", "").await;
    assert_eq!(partitions["1"]["processedPosition"], 7);
    let (_, exporters) = server.json("GET", "/actuator/exporters", "").await;
    let one = json!({
        "exporterId": "ndjson", "status": "ENABLED", "exportedPosition": 6, "backlogRecords": 3,
        "backlogSeconds": 0.25, "parkedRecords": 1,
    });
    assert_eq!(exporters, json!([one]));
    let paused = server.json("POST", "/actuator/exporting/pause?soft=true", "").await;
    assert_eq!((paused.0, &paused.1["status"]), (200, &json!(204)));
    server.json("POST", "/actuator/exporting/pause", "").await;
    assert_eq!(*broker.pauses.lock(), ["soft", "hard"]);
    let failed = server.json("POST", "/actuator/exporting/resume", "").await;
    assert_eq!(
        (failed.0, &failed.1["status"], &failed.1["body"]["message"]),
        (200, &json!(500), &json!("no disk"))
    );
    assert_eq!(server.json("POST", "/actuator/exporting/pause?soft=maybe", "").await.0, 400);
    server.stop().await;
}

#[tokio::test]
async fn exporters_that_are_gone_are_removed() {
    let (server, _) = Server::running().await;
    let removed = server.json("DELETE", "/actuator/exporters/former", "").await;
    assert_eq!(removed, (202, json!({ "exporterId": "former", "status": "DELETED" })));
    let (status, problem) = server.json("DELETE", "/actuator/exporters/ndjson", "").await;
    assert_eq!((status, &problem["detail"]), (400, &json!("ndjson is configured")));
    assert_eq!(server.json("DELETE", "/actuator/exporters/nobody", "").await.0, 404);
    server.stop().await;
}

#[tokio::test]
async fn exporters_are_switched_and_replay_what_was_parked() {
    let (server, _) = Server::running().await;
    let path = "/actuator/exporters/ndjson";
    let switched = |status: &str| (202, json!({ "exporterId": "ndjson", "status": status }));
    for body in ["", "null", "{}", r#"{"initializeFrom":"other"}"#, r#"{"initializeFrom":null}"#] {
        assert_eq!(server.json("POST", &format!("{path}/enable"), body).await, switched("ENABLED"), "{body}");
    }
    assert_eq!(server.json("POST", &format!("{path}/disable"), "").await, switched("DISABLED"));
    for wrong in ["3", "{", r#"{"initializeFrom":3}"#, r#"{"from":"other"}"#] {
        assert_eq!(server.json("POST", &format!("{path}/enable"), wrong).await.0, 400, "{wrong}");
    }
    assert_eq!(server.json("POST", "/actuator/exporters/nobody/enable", "").await.0, 404);
    let (_, parked) = server.json("GET", &format!("{path}/parked"), "").await;
    let one = json!({ "reason": "no", "parkedAtMs": 5, "record": { "position": 7 } });
    assert_eq!(parked, json!({ "items": [one] }));
    let replayed = server.json("POST", &format!("{path}/parked/replay"), "").await;
    assert_eq!(replayed, (200, json!({ "replayed": 1, "refused": 0, "reason": null })));
    assert_eq!(server.json("POST", "/actuator/exporters/nobody/parked/replay", "").await.0, 500);
    server.stop().await;
}

#[tokio::test]
async fn banned_instances_are_listed_released_and_cancelled() {
    let (server, _) = Server::running().await;
    let path = "/actuator/bannedInstances";
    let (status, page) = server.json("GET", &format!("{path}?after=7&limit=1"), "").await;
    assert_eq!(status, 200);
    let one = json!({
        "processInstanceKey": "8", "rootProcessInstanceKey": "1", "processDefinitionId": "p",
        "processDefinitionKey": "2", "processDefinitionVersion": 3, "tenantId": "<default>",
        "reason": "odd", "bannedAtMs": 5,
    });
    assert_eq!(page, json!({ "items": [one] }));
    assert_eq!(server.json("GET", path, "").await.1["items"].as_array().unwrap().len(), 9);
    for wrong in ["after=x", "limit=0", "limit=501", "before=1", "after"] {
        assert_eq!(server.json("GET", &format!("{path}?{wrong}"), "").await.0, 400, "{wrong}");
    }
    for action in ["release", "cancellation"] {
        assert_eq!(server.json("POST", &format!("{path}/9/{action}"), "").await.0, 200);
        let (status, problem) = server.json("POST", &format!("{path}/8/{action}"), "").await;
        assert_eq!((status, &problem["detail"]), (404, &json!("no 8")));
        assert_eq!(server.json("POST", &format!("{path}/x/{action}"), "").await.0, 400);
    }
    server.stop().await;
}

#[tokio::test]
async fn the_clock_is_read_pinned_moved_and_reset() {
    let (server, _) = Server::running().await;
    let path = "/actuator/clock";
    let shown = |ms: i64, instant: &str| (200, json!({ "epochMilli": ms, "instant": instant }));
    assert_eq!(server.json("GET", path, "").await, shown(5, "1970-01-01T00:00:00.005Z"));
    let pinned = server.json("POST", &format!("{path}/pin"), r#"{"epochMilli":1635672964533}"#).await;
    assert_eq!(pinned, shown(1_635_672_964_533, "2021-10-31T09:36:04.533Z"));
    let moved = server.json("POST", &format!("{path}/add"), r#"{"offsetMilli":-533}"#).await;
    assert_eq!(moved, shown(1_635_672_964_000, "2021-10-31T09:36:04Z"));
    let (status, problem) = server.json("DELETE", path, "").await;
    assert_eq!((status, &problem["detail"]), (403, &json!("set 'clock.controlled'")));
    for (action, wrong) in [
        ("pin", "{"),
        ("pin", "[5]"),
        ("pin", r#"{"offsetMilli":5}"#),
        ("pin", r#"{"epochMilli":5,"offsetMilli":5}"#),
        ("pin", r#"{"epochMilli":1.5}"#),
        ("pin", r#"{"epochMilli":-1}"#),
        ("pin", r#"{"epochMilli":9223372036854775807}"#),
        ("add", r#"{"epochMilli":5}"#),
        ("add", r#"{"offsetMilli":9223372036854775807}"#),
        ("add", r#"{"offsetMilli":-1635672964001}"#),
    ] {
        assert_eq!(server.json("POST", &format!("{path}/{action}"), wrong).await.0, 400, "{action} {wrong}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_told_as_json() {
    let server = Server::start().await;
    let (status, problem) = server.json("GET", "/actuator/nothing", "").await;
    assert_eq!((status, &problem["status"], &problem["title"]), (404, &json!(404), &json!("NOT_FOUND")));
    assert_eq!(server.json("POST", "/actuator/health", "").await.0, 405);
    assert_eq!(server.json("GET", "/actuator/flowControl", "").await.0, 503);
    let (_, info) = server.json("GET", "/actuator/info", "").await;
    assert_eq!(info["build"]["version"], "1.2.3");
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(100_000));
    assert_eq!(server.send("POST", "/actuator/flowControl", &large).await.0, 413);
    server.stop().await;
}

/// In place of the program, which is not here: says how much it was told of, in a picture.
fn renderer() -> Renderer {
    let script = "echo \"<svg>$(grep -c ^stack)</svg>\"".to_owned();
    Renderer { program: "/bin/sh".into(), arguments: ["-c".to_owned(), script].map(Into::into).into() }
}

#[tokio::test]
async fn a_profile_is_a_picture_and_only_one_is_taken_at_a_time() {
    let (server, _) = Server::running().await;
    for wrong in ["seconds=0", "seconds=61", "seconds=x", "minutes=1", "format=pdf"] {
        assert_eq!(server.json("GET", &format!("/actuator/profile?{wrong}"), "").await.0, 400, "{wrong}");
    }
    // Something to see: the profile samples CPU time.
    let working = CancellationToken::new();
    let work = working.clone();
    let worker = std::thread::spawn(move || while !work.is_cancelled() {});
    let path = "/actuator/profile?seconds=1";
    let (first, second) = tokio::join!(server.get(path), server.get(path));
    working.cancel();
    worker.join().unwrap();
    let (picture, refusal) = if first.0 == 200 { (first, second) } else { (second, first) };
    assert_eq!((picture.0, refusal.0), (200, 409), "{} {}", picture.1, refusal.1);
    let stacks = picture.1.trim().trim_start_matches("<svg>").trim_end_matches("</svg>");
    assert!(stacks.parse::<u32>().is_ok_and(|stacks| stacks > 0), "{}", picture.1);
    server.stop().await;
}

#[tokio::test]
async fn a_refusal_does_not_break_the_next_request() {
    let (server, _) = Server::running().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let mut answer = async |request: &str, body: &str| {
        stream.write_all(request.as_bytes()).await.unwrap();
        // A client that sends head and body apart.
        tokio::time::sleep(Duration::from_millis(20)).await;
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut head = vec![];
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        stream.read_exact(&mut vec![0; length.parse().unwrap()]).await.unwrap();
        (head["HTTP/1.1 ".len()..][..3].to_owned(), head.contains("connection: close"))
    };
    for (request, status) in [("POST /nowhere", "404"), ("POST /actuator/info", "405")] {
        let request = format!("{request} HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\n");
        assert_eq!(answer(&request, "{\"a\": 1}").await, (status.to_owned(), false));
        let info = "GET /actuator/info HTTP/1.1\r\nhost: x\r\n\r\n";
        assert_eq!(answer(info, "").await, ("200".to_owned(), false));
    }
    server.stop().await;
}

#[tokio::test]
async fn probes_are_answered_while_all_other_places_are_held() {
    let (server, _) = Server::running().await;
    let mut held = vec![];
    for _ in 0..200 {
        held.push(TcpStream::connect(server.address).await.unwrap());
    }
    // Silent ones give way; those with half a request do not.
    assert_eq!(server.get("/ready").await.0, 204);
    for _ in 0..gateway::management::CONNECTIONS_MAX {
        let mut half = TcpStream::connect(server.address).await.unwrap();
        let head = "POST /actuator/flowControl HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{";
        half.write_all(head.as_bytes()).await.unwrap();
        // Answered last: the one before has been read.
        held.push(half);
    }
    for _ in 0..2 * gateway::management::PROBES_MAX {
        let began = Instant::now();
        assert_eq!(server.get("/ready").await.0, 204);
        assert_eq!(server.get("/actuator/health/liveness").await.0, 200);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
    server.stop().await;
}

#[tokio::test]
async fn clients_that_are_slow_to_send_or_to_read_are_given_up() {
    let limit = Duration::from_millis(300);
    let settings = gateway::ConnectionSettings {
        head_timeout: limit,
        slow_timeout: limit,
        ..gateway::ConnectionSettings::default()
    };
    let server = Server::start_with(gateway::Connections::new(settings)).await;
    let half_a_head = "GET /ready HTTP/1.1\r\nhost:";
    let half_a_body = "POST /actuator/flowControl HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{";
    for begun in [half_a_head, half_a_body] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        let began = Instant::now();
        let mut answer = String::new();
        let end = timeout(Duration::from_secs(20), stream.read_to_string(&mut answer)).await;
        end.unwrap_or_else(|_| panic!("{begun} is waited for")).unwrap();
        assert!(began.elapsed() >= limit, "{:?}", began.elapsed());
    }
    let reader = TcpSocket::new_v4().unwrap();
    reader.set_recv_buffer_size(2048).unwrap();
    let mut reader = reader.connect(server.address).await.unwrap();
    let asked = "GET /actuator/prometheus HTTP/1.1\r\nhost: x\r\n\r\n".repeat(1000);
    // Nothing is read, so one day nothing can be written any more, and then the connection is closed.
    let given_up = async { while reader.write_all(asked.as_bytes()).await.is_ok() {} };
    timeout(Duration::from_secs(20), given_up).await.expect("an end");
    server.stop().await;
}
