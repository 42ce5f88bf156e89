//! Requests that are refused before their bodies were read: the client sees the answer, and its next request is served.

use parking_lot::Mutex;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use auth::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep};
use tracing::field::{Field, Visit};
use tracing::span;

use super::super::Options;
use super::access::{basic_options, basic_options_at, options_without_users};
use super::block_on;
use super::fake::LIMIT_BYTES;
use super::http::{Client, Server};
use crate::connection::refusals::Refusals;
use crate::connection::unread::{DRAIN_BYTES_MAX, DRAIN_TIMEOUT};
use crate::{AccessOptions, Connections, Hosts};

/// A slow client's time between the head and the body, or two pieces of the body.
const APART: Duration = Duration::from_millis(20);

const LICENSE: &str = "GET /v2/license HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Heads of requests whose bodies are not read, with the status of the refusal.
const REFUSED: &[(&str, u16)] = &[
    ("POST /nowhere HTTP/1.1\r\nhost: x\r\n", 404),
    ("POST /v2/license HTTP/1.1\r\nhost: x\r\n", 405),
    ("POST /v2/clock/reset HTTP/1.1\r\nhost: x\r\naccept: image/png\r\n", 406),
    ("POST /v2/jobs/x/completion HTTP/1.1\r\nhost: x\r\n", 400),
    ("PUT /v2/clock HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\n", 415),
];

/// The status, and whether the connection ends.
async fn answer(client: &mut Client) -> (u16, bool) {
    let (head, _) = client.receive().await;
    (head["HTTP/1.1 ".len()..][..3].parse().unwrap(), head.contains("connection: close\r\n"))
}

async fn served(client: &mut Client) {
    client.send(LICENSE).await;
    assert_eq!(answer(client).await, (200, false));
}

/// Nothing is left and no reset comes.
async fn closed_cleanly(mut client: Client) {
    let mut rest = [0; 1];
    assert_eq!(client.stream.read(&mut rest).await.unwrap(), 0);
}

/// A server with these options. The test ends it.
async fn server(options: Options) -> Server {
    Server::start(&Arc::default(), options).await
}

/// Small bodies, apart from their heads and in two pieces, are thrown away, and the next request of the connection
/// is served.
async fn check_apart(server: &Server, head: &str, status: u16) {
    let mut client = server.connect().await;
    for (how, pieces) in [
        ("content-length: 8", ["{\"a\"", ": 1}"]),
        ("transfer-encoding: chunked", ["8\r\n{\"a\":", " 1}\r\n0\r\n\r\n"]),
    ] {
        client.send(&format!("{head}{how}\r\n\r\n")).await;
        for piece in pieces {
            sleep(APART).await;
            client.send(piece).await;
        }
        assert_eq!(answer(&mut client).await, (status, false), "{head}{how}");
        served(&mut client).await;
    }
}

/// A body that is not worth reading ends the connection. The client looks for the answer only after it has sent
/// all, many times what the sockets hold.
async fn check_large(server: &Server, head: &str, status: u16) {
    let piece = "x".repeat(DRAIN_BYTES_MAX as usize);
    let mut client = server.connect().await;
    client.send(&format!("{head}content-length: {}\r\n\r\n", 100 * piece.len())).await;
    for _ in 0..100 {
        client.send(&piece).await;
    }
    assert_eq!(answer(&mut client).await, (status, true), "{head}");
    closed_cleanly(client).await;

    let mut client = server.connect().await;
    client.send(&format!("{head}transfer-encoding: chunked\r\n\r\n")).await;
    for _ in 0..100 {
        client.send(&format!("{:x}\r\n{piece}\r\n", piece.len())).await;
    }
    client.send("0\r\n\r\n").await;
    assert_eq!(answer(&mut client).await, (status, true), "{head}, chunked");
    closed_cleanly(client).await;
}

/// A body that waits for a word is not asked for.
async fn check_waiting(server: &Server, head: &str, status: u16) {
    let mut client = server.connect().await;
    client.send(&format!("{head}expect: 100-continue\r\ncontent-length: 8\r\n\r\n")).await;
    assert_eq!(answer(&mut client).await, (status, true), "{head}");
    // Some send it all the same.
    client.send("{\"a\": 1}").await;
    closed_cleanly(client).await;
}

/// All of it, for a request that is refused by its head.
async fn check_all(server: &Server, head: &str, status: u16) {
    check_apart(server, head, status).await;
    check_large(server, head, status).await;
    check_waiting(server, head, status).await;
}

#[test]
fn refusals_do_not_break_the_next_request() {
    block_on(async {
        let server = server(Options::default()).await;
        for &(head, status) in REFUSED {
            check_apart(&server, head, status).await;
            // A media type is looked at when the body is.
            if status != 415 {
                check_large(&server, head, status).await;
                check_waiting(&server, head, status).await;
            }
        }
        server.stop().await;
    });
}

/// Refusals that need settings.
const BY_ACCESS: &[(&str, u16)] = &[
    ("POST /v2/process-instances HTTP/1.1\r\nhost: localhost\r\n", 401),
    ("POST /v2/process-instances HTTP/1.1\r\nhost: elsewhere.example\r\n", 403),
];
const BY_NOBODY: &[(&str, u16)] = &[(
    "POST /v2/process-instances HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic YW5uOnNlY3JldA==\r\n",
    503,
)];

#[test]
fn refusals_of_who_asks_do_not_break_the_next_request() {
    block_on(async {
        let hosts = Hosts::Only(Vec::new());
        let checked = Options { hosts, ..basic_options(AccessOptions::default()).await };
        for (options, refused) in [(checked, BY_ACCESS), (options_without_users(), BY_NOBODY)] {
            let server = server(options).await;
            for &(head, status) in refused {
                check_all(&server, head, status).await;
            }
            server.stop().await;
        }
    });
}

#[test]
fn refusals_of_one_who_guesses_do_not_break_the_next_request() {
    /// Wrong passwords of which the last is refused unseen at the latest.
    const GUESSES_MAX: u8 = 12;
    // ann:ga, ann:gb and so on, since a password that was wrong before is no new guess.
    let guess = |at: u8| {
        let last = char::from(b'h' + at);
        format!(
            "POST /v2/process-instances HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic YW5uOmd{last}\r\n"
        )
    };
    block_on(async {
        // Time stands still, so the name rests as long as the test takes.
        let clock = Clock::from_fn(|| 1_000_000);
        let server = server(basic_options_at(clock, AccessOptions::default()).await).await;
        let mut client = server.connect().await;
        let mut statuses = Vec::new();
        while statuses.last() != Some(&429) {
            assert!(statuses.len() < usize::from(GUESSES_MAX), "{statuses:?}");
            let head = guess(statuses.len() as u8);
            client.send(&format!("{head}content-length: 8\r\n\r\n")).await;
            sleep(APART).await;
            client.send("{\"a\": 1}").await;
            let (status, closes) = answer(&mut client).await;
            assert!(!closes && [401, 429].contains(&status), "{status} {closes}");
            statuses.push(status);
        }
        assert_eq!(statuses[0], 401);
        check_all(&server, &guess(GUESSES_MAX), 429).await;
        server.stop().await;
    });
}

#[test]
fn bodies_that_are_too_large_end_the_connection_and_the_answer_arrives() {
    block_on(async {
        let server = server(Options::default()).await;
        let head = "POST /v2/process-instances HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
        let piece = "x".repeat(LIMIT_BYTES / 4);
        let mut client = server.connect().await;
        client.send(&format!("{head}content-length: {}\r\n\r\n", 20 * piece.len())).await;
        sleep(APART).await;
        for _ in 0..20 {
            client.send(&piece).await;
        }
        assert_eq!(answer(&mut client).await, (413, true));
        closed_cleanly(client).await;
        // Of one that does not tell its size, a part is read before.
        let mut client = server.connect().await;
        client.send(&format!("{head}transfer-encoding: chunked\r\n\r\n")).await;
        for _ in 0..20 {
            client.send(&format!("{:x}\r\n{piece}\r\n", piece.len())).await;
        }
        client.send("0\r\n\r\n").await;
        let (head, body) = client.receive().await;
        assert!(head.starts_with("HTTP/1.1 413 ") && head.contains("connection: close\r\n"), "{head}");
        assert!(body.contains("limits.max_message_bytes"), "{body}");
        closed_cleanly(client).await;
        server.stop().await;
    });
}

#[test]
fn pipelined_requests_survive_a_refusal_before_them() {
    block_on(async {
        let server = server(Options::default()).await;
        let mut client = server.connect().await;
        let refused = "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 40\r\n\r\n";
        // A body that would be a request itself.
        let body = "GET /v2/nothing HTTP/1.1\r\nhost: x\r\n\r\n \r\n";
        assert_eq!(body.len(), 40);
        client.send(&format!("{refused}{body}{LICENSE}{refused}{body}{LICENSE}")).await;
        for status in [404, 200, 404, 200] {
            assert_eq!(answer(&mut client).await, (status, false));
        }
        server.stop().await;
    });
}

#[test]
fn a_body_that_is_read_is_asked_for() {
    block_on(async {
        let server = server(Options::default()).await;
        let mut client = server.connect().await;
        client
            .send("PUT /v2/clock HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n")
            .await;
        assert_eq!(answer(&mut client).await, (100, false));
        client.send("{}").await;
        assert_eq!(answer(&mut client).await, (415, false));
        served(&mut client).await;
        server.stop().await;
    });
}

#[test]
fn http_1_0_is_kept_alive_after_a_refusal() {
    block_on(async {
        let server = server(Options::default()).await;
        let mut client = server.connect().await;
        for _ in 0..2 {
            client
                .send("POST /nowhere HTTP/1.0\r\nconnection: keep-alive\r\ncontent-length: 8\r\n\r\n")
                .await;
            sleep(APART).await;
            client.send("{\"a\": 1}").await;
            let (head, _) = client.receive().await;
            assert!(head.starts_with("HTTP/1.0 404 ") && head.contains("connection: keep-alive"), "{head}");
        }
        client.send("POST /nowhere HTTP/1.0\r\ncontent-length: 8\r\n\r\n").await;
        sleep(APART).await;
        client.send("{\"a\": 1}").await;
        client.receive().await;
        closed_cleanly(client).await;
        server.stop().await;
    });
}

#[test]
fn a_body_that_does_not_come_is_waited_for_only_so_long() {
    block_on(async {
        let server = server(Options::default()).await;
        let mut client = server.connect().await;
        let began = Instant::now();
        client.send("POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\n{").await;
        assert_eq!(answer(&mut client).await, (404, true));
        assert!(began.elapsed() >= DRAIN_TIMEOUT, "{:?}", began.elapsed());
        closed_cleanly(client).await;
        server.stop().await;
    });
}

#[test]
fn malformed_heads_are_answered_however_much_follows() {
    block_on(async {
        let server = server(Options::default()).await;
        let long = "x".repeat(1 << 20);
        for (head, status) in [
            (format!("GET / HTTP/1.1\r\nno header\r\n\r\n{long}"), 400),
            (format!("GET / HTTP/1.1\r\nlong: {long}\r\n\r\n{long}"), 431),
        ] {
            let mut client = server.connect().await;
            client.stream.write_all(head.as_bytes()).await.unwrap();
            assert_eq!(answer(&mut client).await.0, status);
            closed_cleanly(client).await;
        }
        server.stop().await;
    });
}

/// Lines of the log from level INFO on.
#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

struct Log(Arc<Lines>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl Visit for Text {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                write!(self.0, "{field}={value:?} ").unwrap();
            }
        }
        let mut text = Text(event.metadata().level().to_string() + " ");
        event.record(&mut text);
        self.0.0.lock().push(text.0);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// The sum of the counts of a reason.
fn total(lines: &[String], reason: &str) -> u64 {
    let after = |line: &String| {
        let (_, rest) = line.split_once(&format!("{reason} "))?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    lines.iter().filter_map(after).sum()
}

#[test]
fn a_flood_of_refusals_is_one_line_of_the_log_in_a_time() {
    const INTERVAL: Duration = Duration::from_millis(500);
    let lines = Arc::new(Lines::default());
    let _guard = tracing::subscriber::set_default(Log(Arc::clone(&lines)));
    block_on(async {
        let refusals = Arc::new(Refusals::told_every(INTERVAL));
        let connections = Connections { refusals, ..Connections::default() };
        let server = server(Options { connections, ..Options::default() }).await;
        let began = Instant::now();
        let mut client = server.connect().await;
        for _ in 0..300 {
            client.send("GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n").await;
            assert_eq!(answer(&mut client).await, (404, false));
            client.send("DELETE /v2/license HTTP/1.1\r\nhost: x\r\n\r\n").await;
            assert_eq!(answer(&mut client).await, (405, false));
        }
        for _ in 0..50 {
            let mut client = server.connect().await;
            client.send("not HTTP\r\n\r\n").await;
            assert_eq!(answer(&mut client).await, (400, true));
        }
        let told = || lines.0.lock().clone();
        while total(&told(), "malformed") < 50 {
            assert!(began.elapsed() < Duration::from_secs(60), "{:?}", told());
            sleep(APART).await;
        }
        let told = told();
        assert!(told.len() as u128 <= began.elapsed().as_millis() / INTERVAL.as_millis(), "{told:?}");
        assert_eq!(total(&told, "not found"), 300, "{told:?}");
        assert_eq!(total(&told, "method not allowed"), 300, "{told:?}");
        assert_eq!(total(&told, "malformed"), 50, "{told:?}");
        assert!(told.iter().all(|line| line.starts_with("INFO message=refused in the last ")), "{told:?}");
        server.stop().await;
    });
}
