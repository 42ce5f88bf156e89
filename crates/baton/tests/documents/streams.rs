//! Documents that are much larger than what the server may hold of them, and clients that stop in the middle of one.

use std::path::Path;

use ring::digest::{Context, SHA256};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::life::upload;
use crate::server::{PATIENCE, Server, eventually};

const PIECE_BYTES: usize = 1 << 20;
/// The pieces of a large document.
const PIECES: usize = 200;
/// The most that the server may take for it beside what it has, however large it is.
const GROWTH_BYTES_MAX: u64 = 32 << 20;
const HEAD: &str = "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n";

/// One piece of a large document; no two are alike.
fn piece(at: usize) -> Vec<u8> {
    let mut state = at as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()
    };
    (0..PIECE_BYTES / 8).flat_map(|_| next()).collect()
}

pub(crate) async fn check() {
    let directory = tempfile::tempdir().unwrap();
    let settings = [
        format!("documents.directory={}", directory.path().display()),
        format!("documents.max_bytes={}B", PIECES * PIECE_BYTES),
        "rest.body_timeout=2s".to_owned(),
        "connections.slow_timeout=2s".to_owned(),
    ];
    let server = Server::start(&settings);
    upload(&server, "?documentId=small", "a", "text/plain", "hello").await.expect(201);
    a_large_one_needs_little_memory(&server).await;
    one_that_is_too_large_is_refused_at_once(&server).await;
    assert_eq!(files(directory.path()), 4, "two documents");
    clients_that_stop_stop_nobody_else(&server).await;
    it_leaves_nothing_when_it_breaks_off(&server, directory.path()).await;
    let server = it_leaves_nothing_when_the_server_is_killed(server, directory.path()).await;
    assert_eq!(server.get("/v2/documents/small").send().await.expect(200).text, "hello");
}

async fn a_large_one_needs_little_memory(server: &Server) {
    let before = server.memory();
    let mut hash = Context::new(&SHA256);
    let mut client = begin(server, "?documentId=large").await;
    for at in 0..PIECES {
        let piece = piece(at);
        hash.update(&piece);
        send(&mut client, &piece).await;
    }
    // The metadata comes behind the file.
    let metadata = r#"{"fileName":"large.bin","contentType":"image/png","customProperties":{"a":1}}"#;
    send(&mut client, format!("\r\n--x\r\ncontent-disposition: form-data; name=\"metadata\"\r\ncontent-type: application/json\r\n\r\n{metadata}\r\n--x--\r\n").as_bytes()).await;
    client.write_all(b"0\r\n\r\n").await.unwrap();
    let (status, answer) = answer(&mut client).await;
    assert_eq!(status, 201, "{answer}");
    let created: Value = serde_json::from_str(&answer).unwrap();
    let digits = hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
    assert_eq!(created["contentHash"], digits.concat());
    assert_eq!(created["metadata"]["size"], json!(PIECES * PIECE_BYTES));
    assert_eq!(created["metadata"]["fileName"], "large.bin");
    assert_eq!(created["metadata"]["customProperties"], json!({ "a": 1 }));
    let uploaded = server.memory();

    let mut client = ask_for(server, "large").await;
    let head = head(&mut client).await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-type: image/png"), "{head}");
    assert!(head.contains(&format!("content-length: {}\r\n", PIECES * PIECE_BYTES)), "{head}");
    let mut read = vec![0; PIECE_BYTES];
    for at in 0..PIECES {
        timeout(PATIENCE, client.read_exact(&mut read)).await.unwrap().unwrap();
        assert!(read == piece(at), "piece {at}");
    }
    let read = server.memory();
    println!("documents in streams: {before} bytes, after the upload {uploaded}, after the download {read}");
    assert!(
        uploaded - before < GROWTH_BYTES_MAX && read - before < GROWTH_BYTES_MAX,
        "{before} {uploaded} {read}"
    );
}

async fn one_that_is_too_large_is_refused_at_once(server: &Server) {
    let mut client = begin(server, "?documentId=larger").await;
    let piece = piece(0);
    for _ in 0..PIECES {
        send(&mut client, &piece).await;
    }
    // One byte more, and the form is not at its end.
    send(&mut client, b"xx").await;
    send(&mut client, &piece).await;
    let (status, answer) = answer(&mut client).await;
    assert!(status == 413 && answer.contains("documents.max_bytes"), "{status} {answer}");
    server.get("/v2/documents/larger").send().await.expect(404);
}

async fn clients_that_stop_stop_nobody_else(server: &Server) {
    let mut uploads = Vec::new();
    let mut downloads = Vec::new();
    for _ in 0..8 {
        let mut client = begin(server, "").await;
        send(&mut client, &piece(0)).await;
        uploads.push(client);
        downloads.push(ask_for(server, "large").await);
    }
    for at in 0..4 {
        upload(server, &format!("?documentId=n{at}"), "a", "text/plain", "hello").await.expect(201);
        assert_eq!(server.get(&format!("/v2/documents/n{at}")).send().await.expect(200).text, "hello");
        server.ask("DELETE", &format!("/v2/documents/n{at}")).send().await.expect(204);
    }
    for mut client in uploads {
        let (status, answer) = answer(&mut client).await;
        assert_eq!(status, 408, "{answer}");
    }
    eventually("the end of the downloads that nobody reads", async || {
        (server.metric("baton_refused_total{reason=\"slow reader\"}").await >= 8).then_some(())
    })
    .await;
    eventually("an end of what they took", async || {
        (server.metric("baton_transfer_bytes").await < 1 << 20).then_some(())
    })
    .await;
    drop(downloads);
}

async fn it_leaves_nothing_when_it_breaks_off(server: &Server, directory: &Path) {
    let before = files(directory);
    for path in ["", "/batch"] {
        let mut client =
            begin_at(server, &format!("/v2/documents{path}"), if path.is_empty() { "file" } else { "files" })
                .await;
        for at in 0..4 {
            send(&mut client, &piece(at)).await;
        }
        if !path.is_empty() {
            let second = HEAD.replace("file\";", "files\";");
            send(&mut client, format!("\r\n{second}more").as_bytes()).await;
        }
        eventually("a part of it on the disk", async || (files(directory) > before).then_some(())).await;
        drop(client);
        eventually("its end", async || (files(directory) == before).then_some(())).await;
    }
}

async fn it_leaves_nothing_when_the_server_is_killed(server: Server, directory: &Path) -> Server {
    let before = files(directory);
    let mut client = begin(&server, "").await;
    for at in 0..4 {
        send(&mut client, &piece(at)).await;
    }
    eventually("a part of it on the disk", async || (files(directory) > before).then_some(())).await;
    let server = server.restart_after_kill();
    assert_eq!(files(directory), before);
    server
}

/// Begins to create a document.
async fn begin(server: &Server, query: &str) -> TcpStream {
    begin_at(server, &format!("/v2/documents{query}"), "file").await
}

async fn begin_at(server: &Server, path: &str, part: &str) -> TcpStream {
    let mut client = TcpStream::connect(server.address("rest")).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: multipart/form-data; boundary=x\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    client.write_all(head.as_bytes()).await.unwrap();
    send(&mut client, HEAD.replace("file\";", &format!("{part}\";")).as_bytes()).await;
    client
}

/// Sends a chunk.
async fn send(client: &mut TcpStream, bytes: &[u8]) {
    let sending = async {
        client.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await.unwrap();
        client.write_all(bytes).await.unwrap();
        client.write_all(b"\r\n").await.unwrap();
    };
    timeout(PATIENCE, sending).await.unwrap();
}

async fn ask_for(server: &Server, id: &str) -> TcpStream {
    let mut client = TcpStream::connect(server.address("rest")).await.unwrap();
    let head = format!("GET /v2/documents/{id} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    client
}

async fn head(client: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(PATIENCE, client.read_u8()).await.unwrap().unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// Status and body.
async fn answer(client: &mut TcpStream) -> (u16, String) {
    let head = head(client).await;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    client.read_exact(&mut body).await.unwrap();
    (head["HTTP/1.1 ".len()..][..3].parse().unwrap(), String::from_utf8(body).unwrap())
}

fn files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}
