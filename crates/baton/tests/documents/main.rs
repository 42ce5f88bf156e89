//! Documents in a bucket, end to end: the real program, and a small S3 beside it.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../../documents/src/tests/fake_s3.rs"]
mod fake_s3;
#[allow(dead_code)]
#[path = "../access/server.rs"]
mod server;

use fake_s3::{FakeS3, fetch};
use serde_json::json;
use server::Server;

fn settings(fake: &FakeS3) -> Vec<String> {
    let settings = [
        ("documents.kind", "s3"),
        ("documents.time_to_live", "1h"),
        ("documents.bucket.name", fake_s3::BUCKET),
        ("documents.bucket.prefix", "baton/documents"),
        ("documents.bucket.request_timeout", "5s"),
        ("documents.bucket.retries_max", "1"),
        ("documents.s3.endpoint", &fake.endpoint),
        ("documents.s3.region", fake_s3::REGION),
        ("documents.s3.access_key_id", fake_s3::ACCESS_KEY),
        ("documents.s3.secret_access_key", fake_s3::SECRET_KEY),
    ];
    settings.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_in_a_bucket_that_servers_share() {
    let fake = FakeS3::start().await;
    let server = Server::start(&settings(&fake));
    let create = server.ask("POST", "/v2/documents?documentId=d&storeId=aws").file("file", "a.txt", "hello");
    let created = create.send().await.expect(201).json();
    assert_eq!(created["storeId"], "aws");
    assert!(created["metadata"]["expiresAt"].is_string(), "{created}");
    let again = server.ask("POST", "/v2/documents?documentId=d").file("file", "a.txt", "other");
    again.send().await.expect(409);
    let names = fake.names();
    assert!(names.iter().all(|name| name.starts_with("baton/documents/")) && names.len() == 3, "{names:?}");

    let other = Server::start(&settings(&fake));
    assert_eq!(other.get("/v2/documents/d").send().await.expect(200).text, "hello");
    other.get("/v2/documents/..%2Fd").send().await.expect(404);

    let link = server.post("/v2/documents/d/links", &json!({"timeToLive": 60_000})).send().await;
    let link = link.expect(201).json();
    let answer = fetch(link["url"].as_str().unwrap()).await;
    assert!(answer.starts_with("HTTP/1.0 200") && answer.ends_with("\r\n\r\nhello"), "{answer}");
    assert!(link["expiresAt"].is_string(), "{link}");
    server.ask("POST", "/v2/documents/d/links").send().await.expect(201);
    for wrong in [0, -1, 604_800_001] {
        let refused = server.post("/v2/documents/d/links", &json!({ "timeToLive": wrong })).send().await;
        assert!(refused.expect(400).text.contains("timeToLive"), "{wrong}");
    }
    let hash = "/v2/documents/d/links?contentHash=00";
    server.post(hash, &json!({})).send().await.expect(400);
    server.post("/v2/documents/nothing/links", &json!({})).send().await.expect(404);

    server.ask("DELETE", "/v2/documents/d").send().await.expect(204);
    other.get("/v2/documents/d").send().await.expect(404);
    assert_eq!(fake.names(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_does_not_answer_is_told_to_clients_and_operators() {
    let fake = FakeS3::start().await;
    let server = Server::start(&settings(&fake));
    fake.fail(u32::MAX);
    for _ in 0..2 {
        let refused = server.get("/v2/documents/d").send().await.expect(503).json();
        assert_eq!(refused["detail"], "the document store cannot answer now");
    }
    let create = server.ask("POST", "/v2/documents").file("file", "a.txt", "hello");
    create.send().await.expect(503);
    fake.fail(0);
    let create = server.ask("POST", "/v2/documents").file("file", "a.txt", "hello");
    create.send().await.expect(201);
    let log = server.log();
    assert_eq!(log.matches("documents cannot be stored or read").count(), 1, "{log}");
    assert_eq!(log.matches("documents can be stored and read again").count(), 1, "{log}");
    assert!(!log.contains(fake_s3::SECRET_KEY), "{log}");
}
