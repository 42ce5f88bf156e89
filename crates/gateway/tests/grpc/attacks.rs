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

/// A client of HTTP/2 that reads what it wants.
async fn raw(server: &Server, window_bytes: u32) -> h2::client::SendRequest<bytes::Bytes> {
    let socket = TcpStream::connect(server.address).await.unwrap();
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(window_bytes).initial_connection_window_size(16 << 20);
    let (client, connection) = builder.handshake(socket).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn call(
    client: &h2::client::SendRequest<bytes::Bytes>,
    method: &str,
    message: &impl prost::Message,
) -> Result<h2::RecvStream, h2::Error> {
    let uri = format!("http://baton/gateway_protocol.Gateway/{method}");
    let request =
        http::Request::post(uri).header("content-type", "application/grpc").header("te", "trailers");
    let mut client = client.clone().ready().await?;
    let (answer, mut body) = client.send_request(request.body(()).unwrap(), false)?;
    let message = message.encode_to_vec();
    let mut bytes = vec![0];
    bytes.extend((message.len() as u32).to_be_bytes());
    bytes.extend(message);
    body.send_data(bytes.into(), true)?;
    Ok(answer.await?.into_body())
}

/// Why a call ends whose data stays where it is.
async fn reason_of_end(mut unread: h2::RecvStream) -> Option<h2::Reason> {
    // The window stays shut, since nothing is released.
    let end = async {
        loop {
            match unread.data().await {
                Some(Ok(_)) => {}
                Some(Err(error)) => break error.reason(),
                None => break None,
            }
        }
    };
    timeout(AT_LAST, end).await.expect("it ends")
}

fn open_stream() -> pb::StreamActivatedJobsRequest {
    pb::StreamActivatedJobsRequest { r#type: "work".to_owned(), timeout: 1000, ..Default::default() }
}

#[tokio::test]
async fn a_job_stream_that_nobody_reads_ends_alone_and_gives_its_jobs_back() {
    for window_bytes in [1000, 65_535] {
        let options = settings(|settings| settings.slow_timeout = Duration::from_millis(600));
        let (jobs, stream) = mpsc::channel(1);
        let mut broker = FakeBroker::streaming(stream);
        let mut yielded = broker.watch_yields();
        let server = Server::start_with(broker, options).await;
        let client = raw(&server, window_bytes).await;
        let unread = call(&client, "StreamActivatedJobs", &open_stream()).await.unwrap();
        let feeding = tokio::spawn(async move {
            let mut key = 0;
            while jobs.send(job(key + 1, 10_000)).await.is_ok() {
                key += 1;
            }
            key
        });
        let ended = tokio::spawn(reason_of_end(unread));
        let mut calls = 0;
        while !ended.is_finished() || calls < 100 {
            let mut topology = call(&client, "Topology", &pb::TopologyRequest {}).await.unwrap();
            assert!(topology.data().await.expect("an answer").expect("of a connection that lives").len() > 5);
            calls += 1;
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(ended.await.unwrap(), Some(h2::Reason::ENHANCE_YOUR_CALM));
        let fed = feeding.await.unwrap();
        assert_eq!(Arc::strong_count(&server.broker.open_streams), 1);
        let back = timeout(AT_LAST, yielded.recv()).await.expect("jobs come back").unwrap();
        let arrived = u64::from(window_bytes) / 10_000;
        assert!(back.iter().all(|key| (arrived + 1..=fed).contains(key)), "{back:?} of {fed}");
        assert!(!back.is_empty() && !back.contains(&arrived));
        server.stop().await;
    }
}

#[tokio::test]
async fn an_answer_that_nobody_reads_ends_alone_whatever_the_window() {
    for window_bytes in [0, 1, 20_000] {
        let options = settings(|settings| settings.slow_timeout = Duration::from_millis(300));
        let server = Server::start_with(FakeBroker::with_jobs(vec![job(1, 50_000)]), options).await;
        let client = raw(&server, window_bytes).await;
        let request = pb::ActivateJobsRequest {
            r#type: "work".to_owned(),
            timeout: 1000,
            max_jobs_to_activate: 1,
            request_timeout: -1,
            ..Default::default()
        };
        let unread = call(&client, "ActivateJobs", &request).await.unwrap();
        assert_eq!(reason_of_end(unread).await, Some(h2::Reason::ENHANCE_YOUR_CALM), "{window_bytes}");
        assert!(matches!(server.broker.commands().as_slice(),
            [protocol::Command::YieldJobs { job_keys, .. }] if job_keys == &[1]));
        // The connection is as good as before.
        let again = call(&client, "ActivateJobs", &request).await.unwrap();
        assert!(again.is_end_stream() || reason_of_end(again).await.is_none());
        server.stop().await;
    }
}

#[tokio::test]
async fn a_slow_reader_that_reads_is_waited_for() {
    let options = settings(|settings| settings.slow_timeout = Duration::from_millis(600));
    let (jobs, stream) = mpsc::channel(1);
    let server = Server::start_with(FakeBroker::streaming(stream), options).await;
    let client = raw(&server, 20_000).await;
    let mut slow = call(&client, "StreamActivatedJobs", &open_stream()).await.unwrap();
    let feeding = tokio::spawn(async move { while jobs.send(job(1, 100_000)).await.is_ok() {} });
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) {
        let bytes = timeout(AT_LAST, slow.data()).await.expect("there is more").unwrap().unwrap();
        slow.flow_control().release_capacity(bytes.len()).unwrap();
        sleep(Duration::from_millis(100)).await;
    }
    drop((slow, client));
    feeding.await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn a_reader_of_single_bytes_is_not() {
    let options = settings(|settings| settings.slow_timeout = Duration::from_millis(600));
    let server = Server::start_with(FakeBroker::with_jobs(vec![job(1, 50_000)]), options).await;
    let client = raw(&server, 100).await;
    let request = pb::ActivateJobsRequest {
        r#type: "work".to_owned(),
        timeout: 1000,
        max_jobs_to_activate: 1,
        ..Default::default()
    };
    let mut dribbling = call(&client, "ActivateJobs", &request).await.unwrap();
    let began = Instant::now();
    let reason = loop {
        assert!(began.elapsed() < AT_LAST, "it goes on and on");
        match timeout(AT_LAST, dribbling.data()).await.expect("something comes").expect("no plain end") {
            Ok(bytes) => dribbling.flow_control().release_capacity(bytes.len()).unwrap(),
            Err(error) => break error.reason(),
        }
        sleep(Duration::from_millis(40)).await;
    };
    assert_eq!(reason, Some(h2::Reason::ENHANCE_YOUR_CALM));
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_answers_no_pings_is_gone_and_one_that_does_stays() {
    let time = Duration::from_millis(200);
    let options = Options { keep_alive_interval: time, keep_alive_timeout: time, ..Options::default() };
    let server = Server::start_with(FakeBroker::default(), options).await;
    let answering = raw(&server, 65_535).await;
    drop(call(&answering, "Topology", &pb::TopologyRequest {}).await.unwrap());
    let mut dumb = connect_from("127.0.0.1", server.address).await;
    dumb.write_all(PREFACE).await.unwrap();
    let began = Instant::now();
    closes(dumb).await;
    assert!(began.elapsed() > time, "{:?}", began.elapsed());
    sleep(4 * time).await;
    drop(call(&answering, "Topology", &pb::TopologyRequest {}).await.unwrap());
    server.stop().await;
}

#[tokio::test]
async fn heads_of_open_calls_have_their_share_of_the_budget() {
    let options = settings(|settings| settings.transfer_bytes = 256 * 1024);
    let server = Server::start_with(FakeBroker::default(), options).await;
    let client = raw(&server, 65_535).await;
    let uri = "http://baton/gateway_protocol.Gateway/CreateProcessInstance";
    let mut open = vec![];
    let mut refused = 0;
    for _ in 0..40 {
        // Over 10 KiB of head, and a message that does not come.
        let request = http::Request::post(uri)
            .header("content-type", "application/grpc")
            .header("padding", "x".repeat(10 * 1024));
        let mut client = client.clone().ready().await.unwrap();
        let (answer, body) = client.send_request(request.body(()).unwrap(), false).unwrap();
        match timeout(Duration::from_millis(100), answer).await {
            Ok(answer) => {
                let code = answer.unwrap().headers()["grpc-status"].clone();
                assert_eq!(code, (Code::ResourceExhausted as i32).to_string());
                refused += 1;
            }
            Err(_) => open.push(body),
        }
    }
    assert!((15..=26).contains(&open.len()), "{} of 256 KiB", open.len());
    assert_eq!(open.len() + refused, 40);
    drop(open);
    drop(client);
    let mut client = server.client().await;
    let began = Instant::now();
    while client.topology(pb::TopologyRequest {}).await.is_err() {
        assert!(began.elapsed() < AT_LAST, "what was held is not given back");
    }
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
