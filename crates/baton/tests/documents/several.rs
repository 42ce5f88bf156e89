//! Several stores beside each other: each has its documents, its limits and its outages.

use serde_json::json;

use crate::life::upload;
use crate::server::Server;
use crate::stores::Store;

/// A server with a store in memory, one in a directory and one in a bucket.
pub(crate) async fn check() {
    let directory = tempfile::tempdir().unwrap();
    let bucket = Store::in_fake_s3().await;
    let in_bucket: Vec<_> =
        bucket.settings.iter().map(|setting| setting.trim_start_matches("documents.")).collect();
    let files = directory.path().join("files");
    let settings = [
        "documents.kind=memory".to_owned(),
        "documents.max_bytes=1KiB".to_owned(),
        format!(
            "documents.stores=files kind=directory directory={} max_bytes=2KiB; cloud {}",
            files.display(),
            in_bucket.join(" ")
        ),
        "documents.default_store=files".to_owned(),
    ];
    let server = Server::start(&settings);
    for (query, store, content) in [
        ("", "files", "in files"),
        ("&storeId=cloud", "cloud", "in the cloud"),
        ("&storeId=in-memory", "in-memory", ""),
    ] {
        let created = upload(&server, &format!("?documentId=d{query}"), "a", "text/plain", content).await;
        assert_eq!(created.expect(201).json()["storeId"], store);
    }
    for (query, content) in [
        ("", "in files"),
        ("?storeId=files", "in files"),
        ("?storeId=cloud", "in the cloud"),
        ("?storeId=in-memory", ""),
    ] {
        assert_eq!(server.get(&format!("/v2/documents/d{query}")).send().await.expect(200).text, content);
    }
    assert!(files.join("descriptions/d.json").exists());
    assert_eq!(bucket.names().await.unwrap().len(), 2);
    let batch = server.ask("POST", "/v2/documents/batch?storeId=cloud").file("files", "a.txt", "hello");
    let batch = batch.send().await.expect(201).json();
    assert_eq!(batch["createdDocuments"][0]["storeId"], "cloud");

    let kilobyte = "x".repeat(1025);
    upload(&server, "", "a", "text/plain", &kilobyte).await.expect(201);
    let refused = upload(&server, "?storeId=in-memory", "a", "text/plain", &kilobyte).await.expect(413);
    assert!(refused.text.contains("larger than 1024 bytes"), "{refused:?}");
    server.post("/v2/documents/d/links?storeId=cloud", &json!({})).send().await.expect(201);
    server.post("/v2/documents/d/links", &json!({})).send().await.expect(400);

    for (method, path) in [("GET", "d"), ("DELETE", "d"), ("POST", "d/links")] {
        let refused = server.ask(method, &format!("/v2/documents/{path}?storeId=nowhere")).send().await;
        assert!(refused.expect(400).text.contains("storeId: there is no document store 'nowhere'"));
    }
    for path in ["", "/batch"] {
        let create = server.ask("POST", &format!("/v2/documents{path}?storeId=nowhere"));
        let refused = create.file(if path.is_empty() { "file" } else { "files" }, "a", "x").send().await;
        assert!(refused.expect(400).text.contains("storeId: there is no document store 'nowhere'"));
    }

    // One that is away leaves the others alone.
    bucket.goes_away();
    for _ in 0..2 {
        server.get("/v2/documents/d?storeId=cloud").send().await.expect(503);
        server.get("/v2/documents/d").send().await.expect(200);
    }
    bucket.comes_back();
    server.get("/v2/documents/d?storeId=cloud").send().await.expect(200);
    let log = server.log();
    let told: Vec<_> = log.lines().filter(|line| line.contains("documents can")).collect();
    assert!(told.len() == 2 && told.iter().all(|line| line.contains("cloud")), "{log}");
    assert!(!log.contains(&bucket.secret), "{log}");

    server.ask("DELETE", "/v2/documents/d").send().await.expect(204);
    server.get("/v2/documents/d").send().await.expect(404);
    server.get("/v2/documents/d?storeId=cloud").send().await.expect(200);
}
