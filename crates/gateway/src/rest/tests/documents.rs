//! Documents, from the form to the content.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;

use super::super::contract::Operation;
use super::contract::check_response;
use super::{block_on, gateway, request, text};

fn form(path: &str, parts: &[(&str, &str, &str)]) -> ::http::Request<Full<Bytes>> {
    let mut body = String::new();
    for (head, kind, content) in parts {
        body += &format!(
            "--x\r\ncontent-disposition: form-data; {head}\r\ncontent-type: {kind}\r\n\r\n{content}\r\n"
        );
    }
    body += "--x--\r\n";
    ::http::Request::builder()
        .method("POST")
        .uri(path)
        .header("content-type", "multipart/form-data; boundary=x")
        .body(Full::new(Bytes::from(body)))
        .unwrap()
}

const FILE: (&str, &str, &str) = ("name=\"file\"; filename=\"a.txt\"", "text/plain", "hello");
const HASH: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

#[test]
fn a_document_is_stored_read_and_deleted() {
    let gateway = gateway(&Arc::default());
    let ask = |request| block_on(async { text(gateway.answer(request).await).await });
    let metadata =
        ("name=\"metadata\"", "application/json", r#"{"customProperties":{"a":1},"processInstanceKey":"7"}"#);
    let (status, answer) = ask(form("/v2/documents?documentId=d", &[FILE, metadata]));
    check_response(Operation::CreateDocument.spec(), status, &answer);
    assert_eq!(
        answer,
        format!(
            r#"{{"camunda.document.type":"camunda","storeId":"in-memory","documentId":"d","contentHash":"{HASH}","metadata":{{"contentType":"text/plain","fileName":"a.txt","expiresAt":null,"size":5,"processDefinitionId":null,"processInstanceKey":"7","customProperties":{{"a":1}}}}}}"#
        )
    );
    assert_eq!(ask(form("/v2/documents?documentId=d", &[FILE])).0, 409);
    assert_eq!(ask(request("GET", "/v2/documents/d", "")), (200, "hello".to_owned()));
    assert_eq!(ask(request("GET", &format!("/v2/documents/d?contentHash={HASH}"), "")).0, 200);
    assert_eq!(ask(request("GET", "/v2/documents/d?contentHash=00", "")).0, 400);
    assert_eq!(ask(request("GET", "/v2/documents/d?storeId=other", "")).0, 400);
    assert_eq!(ask(request("GET", "/v2/documents/..%2Fd", "")).0, 404);
    assert_eq!(ask(request("POST", "/v2/documents/d/links", "")).0, 400);
    assert_eq!(ask(request("DELETE", "/v2/documents/d", "")).0, 204);
    assert_eq!(ask(request("GET", "/v2/documents/d", "")).0, 404);
}

#[test]
fn a_document_is_nothing_that_browsers_run() {
    let gateway = gateway(&Arc::default());
    block_on(async {
        for (at, (name, kind, media_type, told)) in [
            ("a.txt", "text/plain; charset=utf-8", "text/plain; charset=utf-8", "filename=\"a.txt\""),
            (
                "größe.html",
                "text/html",
                OCTETS,
                "filename=\"gr__e.html\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.html",
            ),
            ("a.svg", "image/svg+xml", OCTETS, "filename=\"a.svg\""),
            ("a.png", "image/png", "image/png", "filename=\"a.png\""),
        ]
        .into_iter()
        .enumerate()
        {
            let head = format!("name=\"file\"; filename=\"{name}\"");
            let stored =
                gateway.answer(form(&format!("/v2/documents?documentId=d{at}"), &[(&head, kind, "x")]));
            let (status, answer) = text(stored.await).await;
            // The stated content type stays with it, for clients that are no browsers.
            assert!(status == 201 && answer.contains(&format!(r#""contentType":"{kind}""#)), "{answer}");
            let response = gateway.answer(request("GET", &format!("/v2/documents/d{at}"), "")).await;
            let headers = response.headers();
            assert_eq!(headers["content-type"], media_type, "{name}");
            assert_eq!(headers["content-disposition"], format!("attachment; {told}"));
            assert_eq!(headers["content-security-policy"], "default-src 'none'; sandbox");
            assert_eq!(headers["x-content-type-options"], "nosniff");
        }
        // No answer is anything else than what it is said to be.
        for path in ["/v2/topology", "/v2/%3Cscript%3E", "/login"] {
            let answer = gateway.answer(request("GET", path, "")).await;
            assert_eq!(answer.headers()["x-content-type-options"], "nosniff", "{path}");
        }
    });
}

const OCTETS: &str = "application/octet-stream";

#[test]
fn a_file_without_a_name_is_called_by_its_metadata_or_its_id() {
    let gateway = gateway(&Arc::default());
    let ask = |path: &str, parts: &[(&str, &str, &str)]| {
        let (status, answer) = block_on(async { text(gateway.answer(form(path, parts)).await).await });
        (status, serde_json::from_str::<serde_json::Value>(&answer).unwrap())
    };
    let metadata = ("name=\"metadata\"", "application/json", r#"{"fileName":"b.txt"}"#);
    let empty = ("name=\"metadata\"", "application/json", r#"{"fileName":""}"#);
    let file = ("name=\"file\"", "text/plain", "hello");
    let unnamed = ("name=\"file\"; filename=\"\"", "text/plain", "hello");
    for (id, parts, expected) in [
        ("a", vec![file, metadata], "b.txt"),
        ("b", vec![metadata, file], "b.txt"),
        ("c", vec![file], "c"),
        ("d", vec![unnamed], "d"),
        ("e", vec![unnamed, empty], "e"),
    ] {
        let (status, answer) = ask(&format!("/v2/documents?documentId={id}"), &parts);
        assert_eq!((status, answer["metadata"]["fileName"].as_str()), (201, Some(expected)), "{answer}");
        let found = block_on(gateway.answer(request("GET", &format!("/v2/documents/{id}"), "")));
        let told = format!("attachment; filename=\"{expected}\"");
        assert_eq!(found.headers()["content-disposition"], told);
    }
    let (status, answer) = ask("/v2/documents", &[file]);
    assert_eq!((status, &answer["metadata"]["fileName"]), (201, &answer["documentId"]));
    let file = ("name=\"files\"", "text/plain", "hello");
    let list = ("name=\"metadataList\"", "application/json", r#"[{"fileName":"b.txt"},{}]"#);
    let (status, answer) = ask("/v2/documents/batch", &[file, file, list]);
    let created = &answer["createdDocuments"];
    assert_eq!((status, &created[0]["metadata"]["fileName"]), (201, &serde_json::json!("b.txt")));
    assert_eq!(created[1]["metadata"]["fileName"], created[1]["documentId"]);
}

#[test]
fn a_batch_tells_what_could_not_be_stored() {
    let gateway = gateway(&Arc::default());
    let ask = |request| block_on(async { text(gateway.answer(request).await).await });
    let file = ("name=\"files\"; filename=\"a.txt\"", "text/plain", "hello");
    let (status, answer) = ask(form("/v2/documents/batch", &[file, file]));
    assert_eq!(status, 201, "{answer}");
    check_response(Operation::CreateDocuments.spec(), status, &answer);
    let good = ("name=\"metadataList\"", "application/json", "{}");
    let bad = ("name=\"metadataList\"", "application/json", r#"{"expiresAt":7}"#);
    let (status, answer) = ask(form("/v2/documents/batch", &[file, file, good, bad]));
    assert_eq!(status, 207, "{answer}");
    check_response(Operation::CreateDocuments.spec(), status, &answer);
    assert_eq!(ask(form("/v2/documents/batch", &[file, file, good])).0, 400);
    assert_eq!(ask(form("/v2/documents", &[FILE, FILE])).0, 400);
    assert_eq!(ask(form("/v2/documents?documentId=..", &[FILE])).0, 400);
}

#[test]
fn a_batch_says_about_each_file_what_it_is() {
    let gateway = gateway(&Arc::default());
    let ask = |request| block_on(async { text(gateway.answer(request).await).await });
    let names = |(status, answer): (u16, String)| {
        assert_eq!(status, 201, "{answer}");
        check_response(Operation::CreateDocuments.spec(), status, &answer);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let created = answer["createdDocuments"].as_array().unwrap().iter();
        let told = created.map(|one| {
            let metadata = &one["metadata"];
            format!("{} {}", metadata["fileName"].as_str().unwrap(), metadata["customProperties"])
        });
        told.collect::<Vec<_>>()
    };
    // In the head of its part, where the Java client has it, which has the name of the part without quotes.
    let with = |metadata: &str| format!("text/plain\r\nX-Document-Metadata: {metadata}");
    let (one, two) = (
        with(r#"{"fileName":"größe.txt","customProperties":{"a":1.50}}"#),
        with(r#"{"customProperties":{"b":2}}"#),
    );
    let head = "name=files; filename=\"a.txt\"";
    let told = names(ask(form("/v2/documents/batch", &[(head, &one, "hello"), (head, &two, "hello")])));
    assert_eq!(told, ["größe.txt {\"a\":1.5}", "a.txt {\"b\":2}"]);
    // As one list beside them, which goes before.
    let list =
        ("name=\"metadataList\"", "application/json", r#" [{"fileName":"b.txt"}, {"fileName":"c.txt"}]"#);
    let file = ("name=\"files\"; filename=\"a.txt\"", one.as_str(), "hello");
    assert_eq!(names(ask(form("/v2/documents/batch", &[file, list, file]))), ["b.txt {}", "c.txt {}"]);
    for wrong in ["[", "[{}, {}", "{}]", "", "[{}]", "[{}, {}, {}]"] {
        let list = ("name=\"metadataList\"", "application/json", wrong);
        assert_eq!(ask(form("/v2/documents/batch", &[file, list, file])).0, 400, "{wrong}");
    }
    let odd = with(r#"{"fileName":7}"#);
    let (status, answer) = ask(form("/v2/documents/batch", &[(head, &odd, "hello"), file]));
    assert_eq!(status, 207, "{answer}");
    assert!(answer.contains("fileName"), "{answer}");
}
