//! Clients that hold connections for nothing: silent, dribbling, never reading.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::time::{Instant, sleep, timeout};

use super::super::Options;
use super::block_on;
use super::fake::LIMIT_BYTES;
use super::http::Server;
use crate::{ConnectionSettings, Connections};

/// By then, whatever a test waits for has happened.
const AT_LAST: Duration = Duration::from_secs(20);
const LICENSE: &str = "GET /v2/license HTTP/1.1\r\nhost: x\r\n\r\n";
const LICENSE_BEGUN: &str = "GET /v2/license HTTP/1.1\r\nhost: x\r\n";
const COMPLETE: &str = "POST /v2/jobs/1/completion HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";

fn options(change: impl FnOnce(&mut ConnectionSettings)) -> Options {
    let mut settings = ConnectionSettings::default();
    change(&mut settings);
    Options { connections: Connections::new(settings), ..Options::default() }
}

#[test]
fn silent_sockets_keep_nobody_out() {
    block_on(async {
        let options = Options { max_connections: 8, ..Options::default() };
        let server = Server::start(&Arc::default(), options).await;
        let mut silent = vec![];
        for _ in 0..30 {
            let mut one = server.connect().await;
            one.send("GET /v2/lic").await;
            silent.push(one);
        }
        let mut client = server.connect().await;
        client.send(LICENSE).await;
        timeout(Duration::from_secs(10), client.receive()).await.expect("a place");
        for _ in 0..30 {
            silent.push(server.connect().await);
        }
        client.send(LICENSE).await;
        client.receive().await;
        server.stop().await;
    });
}

#[test]
fn a_head_that_does_not_end_is_given_up_on_a_new_connection_and_on_a_used_one() {
    block_on(async {
        let server =
            Server::start(&Arc::default(), options(|s| s.head_timeout = Duration::from_millis(300))).await;
        for is_used in [false, true] {
            let mut client = server.connect().await;
            if is_used {
                client.send(LICENSE).await;
                client.receive().await;
            }
            let began = Instant::now();
            client.send("GET /v2/license HTTP/1.1\r\n").await;
            // One byte at a time.
            while client.stream.write_all(b"x").await.is_ok() {
                assert!(began.elapsed() < AT_LAST, "it is still there");
                sleep(Duration::from_millis(20)).await;
            }
        }
        // Between two requests there is as much time as the port gives.
        let mut client = server.connect().await;
        client.send(LICENSE).await;
        client.receive().await;
        sleep(Duration::from_millis(800)).await;
        client.send(LICENSE).await;
        client.receive().await;
        server.stop().await;
    });
}

#[test]
fn answers_that_nobody_reads_are_not_kept_for_ever() {
    block_on(async {
        let server =
            Server::start(&Arc::default(), options(|s| s.slow_timeout = Duration::from_millis(300))).await;
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut client = socket.connect(server.address).await.unwrap();
        let requests = LICENSE.repeat(1000);
        let began = Instant::now();
        // Until the answers fill what lies between, and then until the server gives up.
        while let Ok(ended) = timeout(AT_LAST, client.write_all(requests.as_bytes())).await {
            assert!(began.elapsed() < 2 * AT_LAST, "it is still there");
            if ended.is_err() {
                server.stop().await;
                return;
            }
        }
        panic!("it is still there");
    });
}

#[test]
fn what_is_received_has_a_budget_and_small_requests_their_share() {
    block_on(async {
        let server = Server::start(&Arc::default(), options(|s| s.transfer_bytes = LIMIT_BYTES)).await;
        let held = "x".repeat(LIMIT_BYTES / 2);
        let mut holding = server.connect().await;
        holding.send(&format!("{COMPLETE}content-length: {}\r\n\r\n{held}", held.len() + 1)).await;
        let large = format!("{{\"variables\":{{\"a\":\"{held}\"}}}}");
        let ask = async |body: &str| {
            let mut client = server.connect().await;
            client.send(&format!("{COMPLETE}content-length: {}\r\n\r\n{body}", body.len())).await;
            let (head, body) = client.receive().await;
            (head["HTTP/1.1 ".len()..][..3].to_owned(), head.contains("connection: close"), body)
        };
        let began = Instant::now();
        let refused = loop {
            let answer = ask(&large).await;
            if answer.0 != "204" {
                break answer;
            }
            assert!(began.elapsed() < AT_LAST, "what is held has not arrived");
        };
        assert_eq!((&*refused.0, refused.1), ("503", true));
        assert!(refused.2.contains(r#""title":"RESOURCE_EXHAUSTED""#), "{}", refused.2);
        assert_eq!(ask("{}").await.0, "204");
        drop(holding);
        while ask(&large).await.0 != "204" {
            assert!(began.elapsed() < 2 * AT_LAST, "nothing is given back");
            sleep(Duration::from_millis(10)).await;
        }
        server.stop().await;
    });
}

#[test]
fn unfinished_heads_have_a_budget_and_short_ones_are_answered() {
    block_on(async {
        const BYTES: usize = 256 * 1024;
        let options = options(|s| s.transfer_bytes = BYTES);
        let budget = Arc::clone(&options.connections.budget);
        let server = Server::start(&Arc::default(), options).await;
        let head = format!("{LICENSE_BEGUN}x: {}", "x".repeat(BYTES / 8));
        let (mut open, mut answer) = (vec![], String::new());
        for _ in 0..16 {
            let mut client = server.connect().await;
            client.send(&head).await;
            let came = timeout(Duration::from_millis(200), client.stream.read_to_string(&mut answer)).await;
            if came.is_ok() {
                break;
            }
            open.push(client);
        }
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("connection: close"), "{answer:?}");
        assert!(budget.used() > BYTES / 2 && budget.used() <= BYTES, "{}", budget.used());
        let mut probe = server.connect().await;
        probe.send(LICENSE).await;
        assert!(probe.receive().await.0.starts_with("HTTP/1.1 200 "));
        // A head that ends gives its bytes back, and so does a connection that goes.
        let mut first = open.remove(0);
        first.send("\r\n\r\n").await;
        assert!(first.receive().await.0.starts_with("HTTP/1.1 200 "));
        drop(open);
        let began = Instant::now();
        while budget.used() > 0 {
            assert!(began.elapsed() < AT_LAST, "{} bytes are not given back", budget.used());
            sleep(Duration::from_millis(10)).await;
        }
        server.stop().await;
    });
}

#[test]
fn a_slow_body_ends_by_its_own_deadline_and_a_waiting_poll_by_none() {
    block_on(async {
        let settings = ConnectionSettings {
            head_timeout: Duration::from_millis(200),
            slow_timeout: Duration::from_millis(200),
            ..ConnectionSettings::default()
        };
        let connections = Connections::new(settings);
        let options = Options { connections, body_timeout: Duration::from_millis(600), ..Options::default() };
        let broker = super::fake::FakeBroker { no_jobs: true, ..Default::default() };
        let server = Server::start(&Arc::new(broker), options).await;
        let mut waiting = server.connect().await;
        let poll = r#"{"type":"a","timeout":1,"maxJobsToActivate":1}"#;
        waiting.post("/v2/jobs/activation", poll).await;
        let mut slow = server.connect().await;
        slow.send(&format!("{COMPLETE}content-length: 100\r\n\r\n{{")).await;
        let (head, _) = timeout(AT_LAST, slow.receive()).await.expect("a deadline");
        assert!(head.starts_with("HTTP/1.1 408 "), "{head}");
        let mut byte = [0];
        assert_eq!(slow.stream.read(&mut byte).await.unwrap(), 0);
        // Still waiting, much longer than any deadline of connections.
        server.stop().await;
        assert_eq!(timeout(AT_LAST, waiting.receive()).await.unwrap().1, r#"{"jobs":[]}"#);
    });
}
