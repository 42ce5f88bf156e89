//! Clients that hold connections for nothing: silent, half-spoken, never reading.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use gateway::grpc::Options;
use gateway::{ConnectionSettings, Connections};
use grpc as pb;
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tonic::Code;
use tonic::codegen::Service as _;

use crate::Server;
use crate::fake::{FakeBroker, job};

/// By then, whatever a test waits for has happened.
const AT_LAST: Duration = Duration::from_secs(20);
/// The preface of HTTP/2 and empty settings (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const GOAWAY: u8 = 7;

fn settings(change: impl FnOnce(&mut ConnectionSettings)) -> Options {
    let mut settings = ConnectionSettings::default();
    change(&mut settings);
    Options { connections: Connections::new(settings), ..Options::default() }
}

async fn connect_from(source: &str, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
    socket.connect(server).await.unwrap()
}

async fn closes(mut stream: TcpStream) -> Vec<u8> {
    let mut answer = vec![];
    // Closed either way; a reset instead of an end is fine, too.
    let _ = timeout(AT_LAST, stream.read_to_end(&mut answer)).await.expect("it is closed");
    answer
}

#[tokio::test]
async fn silent_sockets_of_any_address_keep_nobody_out() {
    for sources in [vec!["127.0.0.1"], vec!["127.0.0.2", "127.0.0.3", "127.0.0.4"]] {
        let options = Options { connections_max: 8, ..Options::default() };
        let server = Server::start_with(FakeBroker::default(), options).await;
        let mut silent = vec![];
        for source in sources.iter().cycle().take(30) {
            silent.push(connect_from(source, server.address).await);
            silent.last_mut().unwrap().write_all(&PREFACE[..20]).await.unwrap();
        }
        let began = Instant::now();
        let mut client = server.client().await;
        client.topology(pb::TopologyRequest {}).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        // Still so many, and the client is not the one that goes.
        for _ in 0..30 {
            silent.push(connect_from("127.0.0.1", server.address).await);
        }
        client.topology(pb::TopologyRequest {}).await.unwrap();
        server.stop().await;
    }
}

#[tokio::test]
async fn a_preface_that_does_not_end_is_given_up() {
    let options = settings(|settings| settings.head_timeout = Duration::from_millis(200));
    let server = Server::start_with(FakeBroker::default(), options).await;
    let silent = connect_from("127.0.0.1", server.address).await;
    let mut half = connect_from("127.0.0.1", server.address).await;
    half.write_all(&PREFACE[..30]).await.unwrap();
    closes(silent).await;
    closes(half).await;
    server.stop().await;
}

#[tokio::test]
async fn half_a_message_is_given_up_and_the_connection_lives_on() {
    let options = Options { message_timeout: Duration::from_millis(200), ..Options::default() };
    let server = Server::start_with(FakeBroker::default(), options).await;
    let mut channel = server.channel().await;
    for half in [&b"\0\0\0"[..], b"\0\0\0\0\x10half"] {
        let body = stream::iter([Ok::<_, tonic::Status>(Frame::data(half.into()))]).chain(stream::pending());
        let request = http::Request::post("/gateway_protocol.Gateway/Topology")
            .header("content-type", "application/grpc")
            .body(tonic::body::Body::new(StreamBody::new(body)))
            .unwrap();
        poll_fn(|context| channel.poll_ready(context)).await.unwrap();
        let answer = timeout(AT_LAST, channel.call(request)).await.expect("it is given up").unwrap();
        assert_eq!(answer.headers()["grpc-status"], (Code::DeadlineExceeded as i32).to_string());
    }
    let mut client = pb::gateway_client::GatewayClient::new(channel);
    client.topology(pb::TopologyRequest {}).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn an_idle_connection_is_told_to_go_and_an_open_call_keeps_it() {
    let options = Options { idle_timeout: Duration::from_millis(200), ..Options::default() };
    let (jobs, stream) = mpsc::channel(1);
    let server = Server::start_with(FakeBroker::streaming(stream), options).await;
    let open =
        pb::StreamActivatedJobsRequest { r#type: "work".to_owned(), timeout: 1000, ..Default::default() };
    let mut client = server.client().await;
    let mut working = client.stream_activated_jobs(open).await.unwrap().into_inner();
    let mut idle = connect_from("127.0.0.1", server.address).await;
    idle.write_all(PREFACE).await.unwrap();
    let mut kinds = vec![];
    while kinds.last() != Some(&GOAWAY) {
        let mut head = [0; 9];
        timeout(AT_LAST, idle.read_exact(&mut head)).await.expect("it is told").unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        idle.read_exact(&mut vec![0; length as usize]).await.unwrap();
        kinds.push(head[3]);
    }
    sleep(Duration::from_millis(500)).await;
    jobs.send(job(1, 1)).await.unwrap();
    let came = timeout(AT_LAST, working.message()).await.unwrap().unwrap().unwrap();
    assert_eq!(came.key, 1, "it was idle by design");
    server.stop().await;
}

#[tokio::test]
async fn a_job_stream_that_nobody_reads_is_cut() {
    let options = settings(|settings| settings.slow_timeout = Duration::from_millis(300));
    let (jobs, stream) = mpsc::channel(1);
    let server = Server::start_with(FakeBroker::streaming(stream), options).await;
    let open =
        pb::StreamActivatedJobsRequest { r#type: "work".to_owned(), timeout: 1000, ..Default::default() };
    let mut client = server.client().await;
    let unread = client.stream_activated_jobs(open).await.unwrap().into_inner();
    // Until the window is full and the server takes no more.
    let feeding = tokio::spawn(async move { while jobs.send(job(1, 10_000)).await.is_ok() {} });
    let began = Instant::now();
    while Arc::strong_count(&server.broker.open_streams) > 1 {
        assert!(began.elapsed() < AT_LAST, "it is still there");
        sleep(Duration::from_millis(10)).await;
    }
    feeding.await.unwrap();
    drop(unread);
    server.stop().await;
}

#[tokio::test]
async fn what_is_received_has_a_budget_and_small_calls_their_share() {
    let options = settings(|settings| settings.transfer_bytes = 80 * 1024);
    let server = Server::start_with(FakeBroker::default(), options).await;
    let mut holding = server.channel().await;
    let (pieces, body) = mpsc::channel::<Result<Frame<bytes::Bytes>, tonic::Status>>(1);
    let request = http::Request::post("/gateway_protocol.Gateway/Topology")
        .header("content-type", "application/grpc")
        .body(tonic::body::Body::new(StreamBody::new(tokio_stream::wrappers::ReceiverStream::new(body))))
        .unwrap();
    poll_fn(|context| holding.poll_ready(context)).await.unwrap();
    let held = tokio::spawn(async move { holding.call(request).await });
    pieces.send(Ok(Frame::data(b"\0\0\0\xf0\0"[..].into()))).await.unwrap();
    pieces.send(Ok(Frame::data(vec![0; 50 * 1024].into()))).await.unwrap();
    let large = || pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        variables: format!("{{\"a\":\"{}\"}}", "x".repeat(30_000)),
        ..Default::default()
    };
    let mut client = server.client().await;
    let began = Instant::now();
    loop {
        // Without an answer in the fake, a call that is taken never ends.
        match timeout(Duration::from_millis(200), client.create_process_instance(large())).await {
            Ok(refused) => {
                let refused = refused.unwrap_err();
                assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
                break;
            }
            Err(_) => assert!(began.elapsed() < AT_LAST, "what is held has not arrived"),
        }
    }
    client.topology(pb::TopologyRequest {}).await.unwrap();
    held.abort();
    drop(pieces);
    server.stop().await;
}
