//! Over real sockets: connections, transfer, limits, the stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use broker_api::Broker;
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use traces::testing::Collector;

use super::super::{Options, serve};
use super::fake::{FakeBroker, LIMIT_BYTES};
use super::{block_on, gateway, request, text};

pub(super) struct Server {
    pub(super) address: SocketAddr,
    shutdown: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    pub(super) async fn start(broker: &Arc<FakeBroker>, options: Options) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let broker: Arc<dyn Broker> = Arc::<FakeBroker>::clone(broker);
        let task = tokio::spawn(serve(listener, broker, options, shutdown.clone()));
        Self { address, shutdown, task }
    }

    pub(super) async fn connect(&self) -> Client {
        Client { stream: TcpStream::connect(self.address).await.unwrap(), buffer: Vec::new() }
    }

    pub(super) async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap().unwrap();
    }
}

pub(super) struct Client {
    pub(super) stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(super) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    pub(super) async fn post(&mut self, path: &str, body: &str) {
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await;
    }

    /// The next answer: head and body.
    pub(super) async fn receive(&mut self) -> (String, String) {
        let head = self.receive_head().await;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        while self.buffer.len() < length {
            self.read().await;
        }
        let body = String::from_utf8(self.buffer.drain(..length).collect()).unwrap();
        (head, body)
    }

    pub(super) async fn receive_head(&mut self) -> String {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = self.buffer.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let read = self.stream.read_buf(&mut self.buffer).await.unwrap();
        assert!(read > 0, "the server closed the connection");
    }

    /// Waits for the server to close; bytes left over are none.
    async fn closed(mut self) {
        // A reset is a close too: the server did not read everything.
        if let Ok(read) = self.stream.read_buf(&mut self.buffer).await {
            assert_eq!(read, 0, "{}", String::from_utf8_lossy(&self.buffer));
        }
        assert!(self.buffer.is_empty());
    }
}

#[test]
fn requests_follow_each_other_on_one_connection_pipelined_or_not() {
    block_on(async {
        let broker = Arc::default();
        let server = Server::start(&broker, Options::default()).await;
        let mut client = server.connect().await;
        client.post("/v2/process-instances", r#"{"processDefinitionId":"p"}"#).await;
        let (head, body) = client.receive().await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("content-type: application/json\r\n"), "{head}");
        assert!(body.contains("2251799813685250"));
        for _ in 0..3 {
            client.post("/v2/jobs/1/completion", "{}").await;
        }
        for _ in 0..3 {
            let (head, _) = client.receive().await;
            assert!(head.starts_with("HTTP/1.1 204 No Content\r\n"), "{head}");
        }
        assert_eq!(broker.commands.lock().len(), 4);
        client.send("HEAD /v2/license HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let head = client.receive_head().await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("content-length: "), "{head}");
        server.stop().await;
        client.closed().await;
    });
}

#[test]
fn problems_over_the_wire() {
    block_on(async {
        let server = Server::start(&Arc::default(), Options::default()).await;
        for (request, status, header) in [
            ("GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n", "404 Not Found", ""),
            ("GET /v2/jobs/activation HTTP/1.1\r\nhost: x\r\n\r\n", "405 Method Not Allowed", "allow: POST"),
            ("OPTIONS /v2/clock HTTP/1.1\r\nhost: x\r\n\r\n", "405 Method Not Allowed", "allow: PUT"),
            ("GET /v2/topology HTTP/1.1\r\nhost: x\r\naccept: text/html\r\n\r\n", "406 Not Acceptable", ""),
            (
                "POST /v2/clock/reset HTTP/1.1\r\nhost: x\r\naccept: image/png, text/*\r\n\r\n",
                "406 Not Acceptable",
                "",
            ),
            (
                "PUT /v2/clock HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}",
                "415 Unsupported Media Type",
                "",
            ),
            ("GET /v2/audit-logs/7 HTTP/1.1\r\nhost: x\r\n\r\n", "403 Forbidden", ""),
            (
                "GET /v2/jobs/search HTTP/1.1\r\nhost: x\r\n\r\n",
                "405 Method Not Allowed",
                "allow: POST, PATCH",
            ),
        ] {
            let mut client = server.connect().await;
            client.send(request).await;
            let (head, body) = client.receive().await;
            assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{request} {head}");
            assert!(head.contains("content-type: application/problem+json"), "{head}");
            assert!(head.contains(header), "{head}");
            let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
            assert_eq!(problem["status"], status[..3].parse::<u16>().unwrap());
        }
        let mut client = server.connect().await;
        client.send("GET / HTTP/1.1\r\nno header\r\n\r\n").await;
        assert!(client.receive().await.0.starts_with("HTTP/1.1 400 Bad Request"));
        server.stop().await;
    });
}

#[test]
fn large_bodies_are_refused_before_or_while_they_arrive() {
    block_on(async {
        let broker = Arc::default();
        let server = Server::start(&broker, Options::default()).await;
        let head = "POST /v2/jobs/1/completion HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
        let mut client = server.connect().await;
        client.send(&format!("{head}content-length: {}\r\n\r\n", LIMIT_BYTES + 1)).await;
        let (answer, body) = client.receive().await;
        assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
        assert!(body.contains(r#""title":"CONTENT_TOO_LARGE""#), "{body}");
        let figures = format!(
            "request body: expected at most {LIMIT_BYTES} bytes, the limit of limits.max_message_bytes, but found {}",
            LIMIT_BYTES + 1
        );
        assert!(body.contains(&figures), "{body}");
        client.closed().await;

        let mut client = server.connect().await;
        client.send(&format!("{head}transfer-encoding: chunked\r\n\r\n")).await;
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(65_536));
        for _ in 0..=LIMIT_BYTES / 65_536 {
            client.send(&chunk).await;
        }
        let (answer, _) = client.receive().await;
        assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");

        let variable = "v".repeat(100_000);
        let mut client = server.connect().await;
        client.send(&format!("{head}transfer-encoding: chunked\r\n\r\n")).await;
        let json = format!(r#"{{"variables":{{"a":"{variable}"}}}}"#);
        for piece in json.as_bytes().chunks(30_000) {
            client.send(&format!("{:x}\r\n{}\r\n", piece.len(), std::str::from_utf8(piece).unwrap())).await;
        }
        client.send("0\r\n\r\n").await;
        let (answer, _) = client.receive().await;
        assert!(answer.starts_with("HTTP/1.1 204 No Content\r\n"), "{answer}");
        let protocol::Command::CompleteJob(complete) = broker.last() else { panic!("a completion") };
        assert_eq!(complete.variables.get("a").unwrap().as_str().len(), variable.len() + 2);
        server.stop().await;
    });
}

#[test]
fn a_body_that_does_not_arrive_is_given_up() {
    block_on(async {
        let options = Options { body_timeout: Duration::from_millis(20), ..Options::default() };
        let server = Server::start(&Arc::default(), options).await;
        let mut client = server.connect().await;
        client.send("PUT /v2/clock HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{").await;
        let (head, body) = client.receive().await;
        assert!(head.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{head}");
        assert!(body.contains("REQUEST_TIMEOUT"), "{body}");
        client.closed().await;
        server.stop().await;
    });
}

#[test]
fn a_client_that_leaves_gives_up_its_demand() {
    block_on(async {
        let broker = Arc::new(FakeBroker { no_jobs: true, ..FakeBroker::default() });
        let server = Server::start(&broker, Options::default()).await;
        let mut client = server.connect().await;
        client.post("/v2/jobs/activation", r#"{"type":"a","timeout":1,"maxJobsToActivate":1}"#).await;
        broker.until_waiting(1).await;
        drop(client);
        broker.until_waiting(0).await;
        server.stop().await;
    });
}

#[test]
fn the_stop_ends_waiting_for_jobs_and_idle_connections() {
    block_on(async {
        let broker = Arc::new(FakeBroker { no_jobs: true, ..FakeBroker::default() });
        let server = Server::start(&broker, Options::default()).await;
        let mut idle = server.connect().await;
        idle.send("GET /v2/license HTTP/1.1\r\nhost: x\r\n\r\n").await;
        idle.receive().await;
        let mut waiting = server.connect().await;
        waiting.post("/v2/jobs/activation", r#"{"type":"a","timeout":1,"maxJobsToActivate":1}"#).await;
        broker.until_waiting(1).await;
        let address = server.address;
        server.stop().await;
        assert_eq!(waiting.receive().await.1, r#"{"jobs":[]}"#);
        idle.closed().await;
        waiting.closed().await;
        assert!(TcpStream::connect(address).await.is_err());
    });
}

#[test]
fn connections_beyond_the_limit_wait_for_a_place() {
    block_on(async {
        let options = Options { max_connections: 1, ..Options::default() };
        let server = Server::start(&Arc::default(), options).await;
        let ask = "GET /v2/license HTTP/1.1\r\nhost: x\r\n\r\n";
        let mut first = server.connect().await;
        first.send(ask).await;
        first.receive().await;
        let mut second = server.connect().await;
        second.send(ask).await;
        first.send(ask).await;
        first.receive().await;
        let mut byte = [0];
        let early = second.stream.try_read(&mut byte);
        assert_eq!(early.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        drop(first);
        second.receive().await;
        server.stop().await;
    });
}

#[test]
fn answers_tell_their_timing_when_asked_to() {
    block_on(async {
        let options = Options { server_timing: true, ..Options::default() };
        let server = Server::start(&Arc::default(), options).await;
        let mut client = server.connect().await;
        client.post("/v2/jobs/1/completion", "").await;
        let (head, _) = client.receive().await;
        assert!(head.contains("server-timing: gateway;dur="), "{head}");
        assert!(head.contains(", queue;dur=0.001, commit;dur=0.000, apply;dur=0.000"), "{head}");
        server.stop().await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_traced() {
    let collector = Collector::start().await.unwrap();
    let traces = collector.traces(0.0).unwrap();
    let server =
        Server::start(&Arc::default(), Options { traces: Some(traces.clone()), ..Options::default() }).await;
    let mut client = server.connect().await;
    let head = "POST /v2/jobs/1/completion HTTP/1.1\r\nhost: x\r\ncontent-length: 0";
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    client.send(&format!("{head}\r\ntraceparent: {parent}\r\n\r\n")).await;
    client.receive().await;
    client.post("/v2/jobs/2/completion", "").await;
    client.receive().await;
    server.stop().await;
    let spans = collector.spans(traces).await;
    let mut names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["completeJob", "queue"]);
    assert!(spans.iter().all(|span| span.trace_id[..2] == [0x0a, 0xf7]));
}

#[test]
fn requests_are_counted_by_template_and_status() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let gateway = gateway(&Arc::default());
        for (method, path) in
            [("POST", "/v2/jobs/1/completion"), ("POST", "/v2/jobs/2/completion"), ("GET", "/else")]
        {
            block_on(async { text(gateway.answer(request(method, path, "")).await).await });
        }
    });
    let text = handle.render();
    let count = |labels: &str| {
        text.lines()
            .any(|line| line.starts_with("http_server_requests_seconds_count") && line.contains(labels))
    };
    assert!(
        count(r#"{uri="/v2/jobs/{jobKey}/completion",method="POST",status="204",outcome="SUCCESS"} 2"#),
        "{text}"
    );
    assert!(count(r#"{uri="UNKNOWN",method="UNKNOWN",status="404",outcome="CLIENT_ERROR"} 1"#), "{text}");
}
