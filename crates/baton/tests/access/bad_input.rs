//! Requests made to break or to fill a server: each gets a refusal that names the reason, and the server lives on
//! with little memory.

use std::time::{Duration, Instant};

use bytes::{BufMut as _, BytesMut};
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tonic::Code;

use crate::seed::deploy;
use crate::server::{Answer, Server, eventually};

/// Largest memory of the process, in bytes: a few of the largest messages at a time.
const MEMORY_MAX: u64 = 384 << 20;
/// How long an answer to nonsense may take, in a build without optimization on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// Asserts that a request was refused with a status and a detail that says so.
#[track_caller]
fn refused(answer: &Answer, status: u16, mention: &str) {
    assert_eq!(answer.status, status, "{:.1000}", answer.text);
    let problem = answer.json();
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(mention), "{detail:.1000}\ndoes not mention {mention}");
    assert!(detail.len() < 2000, "{} bytes: {detail:.1000}", detail.len());
}

/// Asserts that the server is as well as before.
async fn lives_on(server: &Server) {
    server.get("/v2/topology").send().await.expect(200);
    let memory = server.memory();
    assert!(memory < MEMORY_MAX, "{memory} bytes");
    assert!(!server.log().contains("panicked") && !server.log().contains("ERROR"), "{}", server.log());
}

/// A part of a form with a file.
fn part(head: &str, content: &str) -> String {
    format!("--x\r\ncontent-disposition: form-data; name=\"resources\"; {head}\r\n\r\n{content}\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_that_are_none() {
    let server = Server::start(&[]);
    let form = "multipart/form-data; boundary=x";
    let send = async |media: &str, body: String| {
        let started = Instant::now();
        let answer = server.ask("POST", "/v2/deployments").body(media, body).send().await;
        assert!(started.elapsed() < ANSWER_MAX, "{:?}", started.elapsed());
        answer
    };
    let file = part("filename=\"a.bpmn\"", "a");
    let many = file.repeat(30_000) + "--x--\r\n";
    refused(&send(form, many).await, 400, "more than 1000 parts");
    refused(&send("multipart/form-data", file.clone()).await, 415, "boundary");
    refused(&send("multipart/form-data; boundary=", file.clone()).await, 400, "malformed form");
    let large = "a".repeat(3 << 20);
    // Text before the first boundary, or in a head that does not end.
    refused(&send(form, large.clone()).await, 400, "malformed form");
    refused(&send(form, format!("--x\r\n{large}")).await, 400, "malformed form");
    refused(&send(form, format!("--x\r\nx: {large}\r\n\r\na\r\n--x--\r\n")).await, 400, "");
    let heads = "x: y\r\n".repeat(100_000);
    refused(&send(form, format!("--x\r\n{heads}\r\na\r\n--x--\r\n")).await, 400, "malformed form");
    let long = part(&format!("filename=\"{}\"", "a".repeat(1 << 20)), "a") + "--x--\r\n";
    refused(&send(form, long).await, 400, "resources[0]");
    let unclosed = part("filename=\"a.bpmn\"", &large);
    refused(&send(form, unclosed).await, 400, "malformed form");
    let long = "b".repeat(7000);
    let odd = format!("multipart/form-data; boundary={long}");
    refused(&send(&odd, format!("--{long}\r\n\r\n")).await, 400, "");
    let unknown = format!(
        "--x\r\ncontent-disposition: form-data; name=\"{}\"\r\n\r\na\r\n--x--\r\n",
        "n".repeat(1 << 20)
    );
    refused(&send(form, unknown).await, 400, "unknown part");
    for name in ["../../../etc/passwd", "/etc/passwd", "..", "a\0.bpmn"] {
        let odd = part(&format!("filename=\"{name}\""), "a") + "--x--\r\n";
        let answer = send(form, odd).await;
        assert!([200, 400].contains(&answer.status) && !answer.text.contains("root:"), "{name}: {answer:?}");
    }
    lives_on(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_that_explode() {
    let server = Server::start(&[]);
    let send = async |name: &str, content: &str| {
        let started = Instant::now();
        let answer = server.ask("POST", "/v2/deployments").file("resources", name, content).send().await;
        assert!(started.elapsed() < ANSWER_MAX, "{:?}", started.elapsed());
        answer
    };
    let mut laughs = "<!DOCTYPE l [<!ENTITY l0 \"ha\">".to_owned();
    for level in 1..30 {
        laughs += &format!("<!ENTITY l{level} \"{}\">", format!("&l{};", level - 1).repeat(10));
    }
    let body = |head: &str, name: &str| {
        format!(
            "{head}<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" targetNamespace=\"t\">\
             <process id=\"p\" name=\"{name}\" isExecutable=\"true\"><documentation>{name}</documentation><startEvent id=\"s\"/></process></definitions>"
        )
    };
    for name in ["a.bpmn", "a.dmn"] {
        refused(&send(name, &body(&format!("{laughs}]>"), "&l29;")).await, 400, name);
        let outside = "<!DOCTYPE p [<!ENTITY file SYSTEM \"file:///etc/passwd\">]>";
        let answer = send(name, &body(outside, "&file;")).await;
        refused(&answer, 400, name);
        assert!(!answer.text.contains("root:"), "{answer:?}");
        let deep = "<a>".repeat(400_000);
        refused(&send(name, &deep).await, 400, name);
        let wide = (0..100_000).map(|at| format!(" a{at}=\"\"")).collect::<Vec<_>>().concat();
        refused(&send(name, &format!("<definitions{wide}/>")).await, 400, name);
    }
    let nested = "<subProcess id=\"s\">".repeat(50_000);
    let nested = format!(
        "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"p\">{nested}"
    );
    refused(&send("a.bpmn", &nested).await, 400, "a.bpmn");
    refused(&send("a.form", &"[".repeat(1 << 20)).await, 400, "a.form");
    refused(&send("a.form", &format!("{{\"id\":{}", "[".repeat(1 << 20))).await, 400, "a.form");
    lives_on(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_that_is_too_deep_too_long_or_packed() {
    let server = Server::start(&[]);
    let send = async |path: &str, body: String| {
        let started = Instant::now();
        let answer = server.ask("POST", path).body("application/json", body).send().await;
        assert!(started.elapsed() < ANSWER_MAX, "{:?}", started.elapsed());
        answer
    };
    let deep = |open: &str, close: &str, count| format!("{}1{}", open.repeat(count), close.repeat(count));
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let body = format!("{{\"name\":\"m\",\"variables\":{{\"v\":{}}}}}", deep(open, close, 200_000));
        refused(&send("/v2/messages/publication", body).await, 400, "variables");
        refused(&send("/v2/messages/publication", open.repeat(500_000)).await, 400, "request body");
    }
    let expression = format!("={}", deep("(", ")", 100_000));
    refused(&send("/v2/expression/evaluation", json!({"expression": expression}).to_string()).await, 400, "");
    let keys = (0..100_000).map(|at| format!("\"k{at}\":1,")).collect::<Vec<_>>().concat();
    refused(&send("/v2/messages/publication", format!("{{{keys}\"name\":\"m\"}}")).await, 400, "k0");
    refused(
        &send("/v2/messages/publication", format!("{{\"name\":\"{}\"}}", "n".repeat(5 << 20))).await,
        413,
        "",
    );
    // Packed bodies are not taken, so none can be a bomb.
    for encoding in ["gzip", "deflate", "br", "zstd", "identity, gzip"] {
        let packed = server.post("/v2/messages/publication", &json!({"name": "m"}));
        refused(&packed.header("content-encoding", encoding).send().await, 415, "encod");
    }
    lives_on(&server).await;
}

/// A message of gRPC, packed, whose first field is a text of so many zeros.
fn packed_zeros(count: usize) -> Vec<u8> {
    // A block of DEFLATE that is fixed: a zero, and then copies of 258 bytes from one byte before.
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut push = |code: u32, length: u32| bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
    push(0b0011_0000, 8);
    for _ in 0..count / 258 {
        push(0b1100_0101, 8);
        push(0, 5);
    }
    push(0, 7);
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    for byte in bits.chunks(8) {
        packed.push(byte.iter().rev().fold(0, |value, bit| value << 1 | u8::from(*bit)));
    }
    // The sum is wrong; whoever gets as far as that has unpacked everything.
    packed.extend([0; 8]);
    packed
}

/// The status of a call whose message is packed.
async fn call_packed(server: &Server, packed: &[u8]) -> (Code, String) {
    let stream = TcpStream::connect(server.address("grpc")).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut message = BytesMut::new();
    message.put_u8(1);
    message.put_u32(packed.len() as u32);
    message.put_slice(packed);
    let request = http::Request::post("http://localhost/gateway_protocol.Gateway/PublishMessage")
        .header("content-type", "application/grpc")
        .header("grpc-encoding", "gzip")
        .header("te", "trailers")
        .body(Full::new(message.freeze()))
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    let status = tonic::Status::from_header_map(response.headers()).unwrap();
    (status.code(), status.message().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packed_messages_over_grpc_are_unpacked_up_to_the_limit() {
    let server = Server::start(&[]);
    let packed = packed_zeros(1 << 29);
    assert!(packed.len() < 4 << 20, "{}", packed.len());
    let (code, message) = call_packed(&server, &packed).await;
    assert_eq!(code, Code::InvalidArgument, "{message}");
    assert!(message.contains("limits.max_message_bytes"), "{message}");
    let (code, message) = call_packed(&server, b"\x1f\x8bnot packed").await;
    assert_eq!(code, Code::Internal, "{message}");
    let (code, message) = call_packed(&server, &vec![0; 8 << 20]).await;
    assert_eq!(code, Code::InvalidArgument, "{message}");
    assert!(message.contains("limits.max_message_bytes"), "{message}");
    let mut client = server.grpc().await;
    let deep = format!("{{\"v\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for variables in [&*deep, "[1]", "{", "{\"a\":1}x", "\u{0}"] {
        let message = grpc::PublishMessageRequest {
            name: "m".to_owned(),
            variables: variables.to_owned(),
            ..Default::default()
        };
        let status = client.publish_message(message).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
        assert!(status.message().contains("variables"), "{status}");
    }
    lives_on(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_found_in_their_store_only() {
    let server = Server::start(&[]);
    for id in [
        "..",
        "../../etc/passwd",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "..%2f..%2fdescriptions%2fa",
        "a%00",
        "%2Fetc%2Fpasswd",
        "a%5c..%5cb",
    ] {
        let stored = server.ask("POST", &format!("/v2/documents?documentId={id}"));
        let answer = stored.file("file", "a.txt", "hello").send().await;
        assert_eq!(answer.status, 400, "{id}: {answer:?}");
        for ask in [
            server.get(&format!("/v2/documents/{id}?contentHash=a")),
            server.ask("DELETE", &format!("/v2/documents/{id}")),
        ] {
            let answer = ask.send().await;
            let is_refused = [400, 404, 405].contains(&answer.status);
            assert!(is_refused && !answer.text.contains("root:"), "{id}: {answer:?}");
        }
    }
    for store in ["..", "../../etc", "other", "%00"] {
        let stored = server.ask("POST", &format!("/v2/documents?storeId={store}"));
        let answer = stored.file("file", "a.txt", "hello").send().await;
        assert_eq!(answer.status, 400, "{store}: {answer:?}");
        assert!(answer.json()["detail"].as_str().unwrap().contains("storeId"), "{answer:?}");
    }
    lives_on(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_that_ask_too_much() {
    let server = Server::start(&[]);
    let model = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"><process id="p" isExecutable="true"><startEvent id="s"/><receiveTask id="w" messageRef="m"/></process></definitions>"#;
    let model = model.replace("<receiveTask id=\"w\" messageRef=\"m\"/>", "");
    deploy(&server, "", None, &[("p.bpmn", &model)]).await;
    // Texts that are like a pattern almost.
    let long = "a".repeat(8000);
    for _ in 0..20 {
        let variables = json!({"long": long, "short": "b"});
        let body = json!({"processDefinitionId": "p", "variables": variables});
        server.post("/v2/process-instances", &body).send().await.expect(200);
    }
    let search = async |what: &str, body: Value| {
        let started = Instant::now();
        let answer = server.post(&format!("/v2/{what}/search"), &body).send().await;
        assert!(started.elapsed() < ANSWER_MAX, "{:?} {:.200}", started.elapsed(), body.to_string());
        answer
    };
    let page = json!({"limit": 1});
    eventually("the variables", async || {
        let found = search("variables", json!({"page": {"limit": 5}})).await.expect(200).json();
        (found["page"]["totalItems"] == 40).then_some(())
    })
    .await;
    let filter = |what: Value| json!({"filter": what, "page": page});
    let keys: Vec<_> = (0..100_000).map(|key| key.to_string()).collect();
    refused(
        &search("variables", filter(json!({"variableKey": {"$in": keys}}))).await,
        400,
        "filter.variableKey.$in",
    );
    let conditions: Vec<_> = (0..5000).map(|at| json!({"name": format!("n{at}")})).collect();
    refused(&search("process-instances", filter(json!({"$or": conditions}))).await, 400, "filter");
    let many: Vec<_> = (0..5000).map(|_| json!({"field": "name"})).collect();
    let answer = search("variables", json!({"sort": many})).await;
    assert!([200, 400].contains(&answer.status), "{answer:?}");
    for pattern in ["*a".repeat(5000), "?".repeat(100_000), "\\".repeat(5000)] {
        let like = json!({"value": {"$like": pattern}});
        refused(&search("variables", filter(like)).await, 400, "$like");
    }
    // As many as there may be, and the worst there are.
    for pattern in [format!("{}b", "*a".repeat(499)), format!("*{}b*", "?".repeat(990)), "*".repeat(1000)] {
        let like = json!({"value": {"$like": pattern}});
        let answer = search("variables", filter(like)).await;
        assert!([200, 503, 504].contains(&answer.status), "{answer:?}");
    }
    for (what, name) in [("users", "username"), ("groups", "name"), ("roles", "name")] {
        let like = json!({name: {"$like": "*a".repeat(400) + "b"}});
        assert!([200, 400].contains(&search(what, filter(like)).await.status), "{what}");
    }

    let found = search("variables", json!({})).await.expect(200).json();
    assert_eq!(found["page"]["totalItems"], 40);
    // Cursors of searches in the store where the engine answers, which counts what it knows.
    for what in ["users", "roles", "tenants", "authorizations", "global-task-listeners", "cluster-variables"]
    {
        let elsewhere = json!({"page": {"after": found["page"]["endCursor"]}});
        refused(&search(what, elsewhere).await, 400, "page.after");
        refused(&search(what, json!({"page": {"before": "-1"}})).await, 400, "page.before");
    }
    // Pages past the end, and larger than there may be.
    for what in ["variables", "process-instances", "roles", "batch-operations", "user-tasks"] {
        let past =
            search(what, json!({"page": {"from": i32::MAX, "limit": 10_000}})).await.expect(200).json();
        assert_eq!(past["items"], json!([]), "{what}");
        for (name, number) in
            [("limit", json!(10_001)), ("limit", json!(-1)), ("from", json!(-1)), ("limit", json!(1e30))]
        {
            refused(&search(what, json!({"page": {name: number}})).await, 400, &format!("page.{name}"));
        }
    }
    lives_on(&server).await;
}
