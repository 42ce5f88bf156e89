//! The life of documents over REST, the same in every store.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::fake_s3::fetch;
use crate::server::{Answer, Server, eventually};
use crate::stores::Store;

/// The largest document here: larger than the parts that content is sent in.
const BYTES_MAX: usize = 12 << 20;

/// Everything that can happen to documents in a store.
pub(crate) async fn check(store: &Store) {
    let mut settings = store.settings.clone();
    settings.push(format!("documents.max_bytes={BYTES_MAX}B"));
    settings.push(format!("limits.max_message_bytes={}B", BYTES_MAX + (4 << 20)));
    let server = Server::start(&settings);
    it_is_created_read_and_deleted(&server, store).await;
    several_are_created_at_once(&server).await;
    only_one_gets_an_id(&server).await;
    it_is_gone_when_its_time_is_over(&server).await;
    an_id_leads_nowhere_else(&server).await;
    it_may_be_large_but_not_larger(&server).await;
    if store.is_cloud() {
        a_link_is_for_whoever_has_it(&server).await;
        servers_share_a_bucket(&server, &settings).await;
    } else {
        upload(&server, "?documentId=d", "a.txt", "text/plain", "hello").await.expect(201);
        let refused = server.ask("POST", "/v2/documents/d/links").send().await.expect(400);
        assert!(refused.text.contains("does not support links"), "{refused:?}");
        server.ask("DELETE", "/v2/documents/d").send().await.expect(204);
    }
    assert_eq!(store.names().await.unwrap_or_default(), [""; 0], "nothing is left of them");
    let log = server.log();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    it_is_told_that_the_store_is_away(&server, store).await;
}

/// Creates a document of one file.
pub(crate) async fn upload(server: &Server, query: &str, name: &str, kind: &str, content: &str) -> Answer {
    let head =
        format!("content-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\ncontent-type: {kind}");
    let body = format!("--x\r\n{head}\r\n\r\n{content}\r\n--x--\r\n");
    let path = format!("/v2/documents{query}");
    server.ask("POST", &path).body("multipart/form-data; boundary=x", body).send().await
}

async fn delete(server: &Server, id: &str) {
    server.ask("DELETE", &format!("/v2/documents/{id}")).send().await.expect(204);
}

async fn it_is_created_read_and_deleted(server: &Server, store: &Store) {
    let metadata = r#"{"processDefinitionId":"p","processInstanceKey":"7","customProperties":{"a":[1.50]}}"#;
    let body = format!(
        "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"größe ~.txt\"\r\ncontent-type: text/plain; charset=utf-8\r\n\r\nhello\r\n\
         --x\r\ncontent-disposition: form-data; name=\"metadata\"\r\ncontent-type: application/json\r\n\r\n{metadata}\r\n--x--\r\n"
    );
    let path = format!("/v2/documents?documentId=a.b~_-1&storeId={}", store.id);
    let create = server.ask("POST", &path).body("multipart/form-data; boundary=x", body);
    let created = create.send().await.expect(201).json();
    let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let expected = json!({
        "camunda.document.type": "camunda",
        "storeId": store.id,
        "documentId": "a.b~_-1",
        "contentHash": hash,
        "metadata": {
            "contentType": "text/plain; charset=utf-8",
            "fileName": "größe ~.txt",
            "expiresAt": null,
            "size": 5,
            "processDefinitionId": "p",
            "processInstanceKey": "7",
            "customProperties": { "a": [1.5] },
        },
    });
    assert_eq!(created, expected);
    if let Some(names) = store.names().await {
        assert!(names.len() == 2 && names.iter().all(|name| store.is_ours(name)), "{names:?}");
    }
    let path = format!("/v2/documents/a.b~_-1?storeId={}", store.id);
    let read = server.get(&format!("{path}&contentHash={hash}")).send().await.expect(200);
    assert_eq!(
        (read.text.as_str(), read.header("content-type")),
        ("hello", Some("text/plain; charset=utf-8"))
    );
    let other =
        server.get(&format!("{path}&contentHash={}", hash.replace('2', "3"))).send().await.expect(400);
    assert!(other.text.contains("another hash"), "{other:?}");
    let other = server.get("/v2/documents/a.b~_-1?storeId=other").send().await.expect(400);
    assert!(other.text.contains("storeId"), "{other:?}");
    upload(server, "?documentId=a.b~_-1", "x", "text/plain", "other").await.expect(409);
    assert_eq!(server.get("/v2/documents/a.b~_-1").send().await.expect(200).text, "hello");
    let empty = upload(server, "", "a", "text/plain", "").await.expect(201).json();
    let id = empty["documentId"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v2/documents/{id}")).send().await.expect(200).text, "");
    delete(server, id).await;
    delete(server, "a.b~_-1").await;
    for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/links")] {
        let path = format!("/v2/documents/a.b~_-1{path}");
        let gone = server.ask(method, &path).send().await.expect(404);
        assert!(gone.text.contains("a.b~_-1"), "{gone:?}");
    }
}

async fn several_are_created_at_once(server: &Server) {
    let part = |name: &str, text: &str| {
        let head = format!("form-data; name=\"files\"; filename=\"{name}\"");
        format!("--x\r\ncontent-disposition: {head}\r\ncontent-type: text/plain\r\n\r\n{text}\r\n")
    };
    let body = format!("{}{}{}--x--\r\n", part("a.txt", "one"), part("b.txt", "two"), part("c.txt", "three"));
    let create = server.ask("POST", "/v2/documents/batch").body("multipart/form-data; boundary=x", body);
    let created = create.send().await.expect(201).json();
    assert_eq!(created["failedDocuments"], json!([]));
    let created = created["createdDocuments"].as_array().unwrap();
    for (document, (name, text)) in
        created.iter().zip([("a.txt", "one"), ("b.txt", "two"), ("c.txt", "three")])
    {
        assert_eq!(document["metadata"]["fileName"], name);
        let id = document["documentId"].as_str().unwrap();
        assert_eq!(server.get(&format!("/v2/documents/{id}")).send().await.expect(200).text, text);
        delete(server, id).await;
    }
    assert_eq!(created.len(), 3);
}

/// The first one, and no other.
async fn only_one_gets_an_id(server: &Server) {
    let texts: Vec<String> = (0..8).map(|number| format!("by number {number}")).collect();
    let answers =
        join_all(texts.iter().map(|text| upload(server, "?documentId=d", "a", "text/plain", text))).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    let winner = statuses.iter().position(|status| *status == 201).unwrap_or_else(|| panic!("{answers:?}"));
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(server.get("/v2/documents/d").send().await.expect(200).text, texts[winner]);
    delete(server, "d").await;
}

async fn it_is_gone_when_its_time_is_over(server: &Server) {
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(2);
    let body = format!(
        "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhello\r\n\
         --x\r\ncontent-disposition: form-data; name=\"metadata\"\r\n\r\n{{\"expiresAt\":\"{soon}\"}}\r\n--x--\r\n"
    );
    let create =
        server.ask("POST", "/v2/documents?documentId=e").body("multipart/form-data; boundary=x", body);
    let created = create.send().await.expect(201).json();
    let told: jiff::Timestamp = created["metadata"]["expiresAt"].as_str().unwrap().parse().unwrap();
    assert_eq!(told.as_millisecond(), soon.as_millisecond());
    eventually("the end of a document", async || {
        let answer = server.get("/v2/documents/e").send().await;
        let is_over = jiff::Timestamp::now() > soon;
        assert!(answer.status == 200 || answer.status == 404 && is_over, "{answer:?}");
        (answer.status == 404).then_some(())
    })
    .await;
    server.ask("DELETE", "/v2/documents/e").send().await.expect(404);
}

async fn an_id_leads_nowhere_else(server: &Server) {
    let long = "a".repeat(300);
    let hostile =
        ["..", ".", "..%2Fx", "..%2F..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "..%5Cx", "a%00b", "%C3%A4"];
    for id in hostile.into_iter().chain(["a%2Fb", "%252e%252e", "a%0Ab", "contents%2Fx", &long]) {
        let create = upload(server, &format!("?documentId={id}"), "a", "text/plain", "x").await;
        assert!(create.expect(400).text.contains("ID"), "{id}");
        for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/links")] {
            let path = format!("/v2/documents/{id}{path}");
            server.ask(method, &path).send().await.expect(404);
        }
    }
}

async fn it_may_be_large_but_not_larger(server: &Server) {
    let text = "0123456789abcdef".repeat((BYTES_MAX - (3 << 20)) / 16);
    let created = upload(server, "?documentId=large", "a", "text/plain", &text).await.expect(201).json();
    assert_eq!(created["metadata"]["size"], json!(text.len()));
    let hash = created["contentHash"].as_str().unwrap();
    let read = server.get(&format!("/v2/documents/large?contentHash={hash}")).send().await.expect(200);
    assert!(read.text == text, "{} bytes instead of {}", read.text.len(), text.len());
    delete(server, "large").await;
    let refused = upload(server, "", "a", "text/plain", &"x".repeat(BYTES_MAX + 1)).await.expect(413);
    assert!(refused.text.contains(&format!("larger than {BYTES_MAX} bytes")), "{refused:?}");
}

async fn a_link_is_for_whoever_has_it(server: &Server) {
    upload(server, "?documentId=l", "größe.txt", "text/plain", "hello").await.expect(201);
    let link = server.post("/v2/documents/l/links", &json!({"timeToLive": 60_000})).send().await;
    let link = link.expect(201).json();
    let url = link["url"].as_str().unwrap();
    let answer = fetch(url).await;
    let (head, content) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.") && head.contains(" 200 ") && content == "hello", "{answer}");
    let head = head.to_lowercase();
    assert!(head.contains("content-type: text/plain"), "{head}");
    assert!(head.contains("content-disposition: attachment; filename*=utf-8''gr%c3%b6%c3%9fe.txt"), "{head}");
    let told: jiff::Timestamp = link["expiresAt"].as_str().unwrap().parse().unwrap();
    let left = told.duration_since(jiff::Timestamp::now()).as_secs();
    assert!((1..=60).contains(&left), "{link}");
    // The address alone, another document, and a signature of somebody else open nothing.
    let (bare, query) = url.split_once('?').unwrap();
    let (folder, _) = bare.rsplit_once('/').unwrap();
    let forged: String = query.chars().map(|digit| if digit == '0' { '1' } else { digit }).collect();
    for wrong in [bare.to_owned(), format!("{folder}/other?{query}"), format!("{bare}?{forged}")] {
        let answer = fetch(&wrong).await;
        assert!(!answer.lines().next().unwrap().contains(" 200 "), "{wrong}: {answer}");
    }
    for wrong in [0, -1, 604_800_001] {
        let refused = server.post("/v2/documents/l/links", &json!({ "timeToLive": wrong })).send().await;
        assert!(refused.expect(400).text.contains("timeToLive"), "{wrong}");
    }
    server.ask("POST", "/v2/documents/l/links").send().await.expect(201);
    server.post("/v2/documents/l/links?contentHash=00", &json!({})).send().await.expect(400);
    delete(server, "l").await;
    assert!(!fetch(url).await.contains("hello"), "it ends with the document");
}

async fn servers_share_a_bucket(server: &Server, settings: &[String]) {
    let more = ["documents.time_to_live=1h".to_owned()];
    let other = Server::start(&[settings, &more].concat());
    let created = upload(&other, "?documentId=s", "a", "text/plain", "hello").await.expect(201).json();
    assert!(created["metadata"]["expiresAt"].is_string(), "{created}");
    assert_eq!(server.get("/v2/documents/s").send().await.expect(200).text, "hello");
    delete(server, "s").await;
    other.get("/v2/documents/s").send().await.expect(404);
}

async fn it_is_told_that_the_store_is_away(server: &Server, store: &Store) {
    upload(server, "?documentId=kept", "a", "text/plain", "hello").await.expect(201);
    if !store.goes_away() {
        return;
    }
    for _ in 0..2 {
        let refused: Value = server.get("/v2/documents/kept").send().await.expect(503).json();
        assert_eq!(refused["detail"], "the document store cannot answer now");
        upload(server, "", "a", "text/plain", "other").await.expect(503);
        server.ask("DELETE", "/v2/documents/kept").send().await.expect(503);
        let refused = upload_batch_of_one(server).await.expect(207).json();
        assert_eq!(refused["failedDocuments"][0]["status"], 503, "{refused}");
    }
    store.comes_back();
    assert_eq!(server.get("/v2/documents/kept").send().await.expect(200).text, "hello");
    delete(server, "kept").await;
    if let Some(names) = store.names().await {
        assert_eq!(names, [""; 0], "nothing is left");
    }
    let log = server.log();
    assert_eq!(log.matches("documents cannot be stored or read").count(), 1, "{log}");
    assert_eq!(log.matches("documents can be stored and read again").count(), 1, "{log}");
    assert!(!log.contains(&store.secret), "{log}");
}

async fn upload_batch_of_one(server: &Server) -> Answer {
    server.ask("POST", "/v2/documents/batch").file("files", "a.txt", "hello").send().await
}
