//! The exporter of records, with a real node of OpenSearch, and then of Elasticsearch. Where Maven or a JDK is
//! missing, this prints that it was not run. It has no harness, so that not having run never counts as a passed
//! test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

#[path = "../../../../tests/stores/node.rs"]
mod node;
mod record;

use std::process::ExitCode;
use std::time::Duration;

use export::{Exporter, Flush};
use node::{Node, Product};
use opensearch::{Blocking, Method, Options, RecordExporter, RecordOptions};
use protocol::{Document, Intent, MessageRecord, Name, Record};
use record::{record, variable};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let (products, filter) = Product::wanted();
    if !"records_are_documents".contains(&filter) {
        return ExitCode::SUCCESS;
    }
    for product in products {
        let name = product.name();
        let directory = tempfile::tempdir().unwrap();
        match Node::start(product, directory.path()) {
            Ok(mut node) => {
                records_are_documents(&mut node);
                println!("{name}: 1 passed, 0 failed");
            }
            Err(reason) => println!("{name}: not run, {reason}"),
        }
    }
    ExitCode::SUCCESS
}

fn ask(node: &Node, method: Method, path: &str, body: Option<&Value>) -> Value {
    let answer = Blocking::new(&Options::new(node.url())).unwrap().json(method, path, body).unwrap();
    assert!(answer.status.is_success(), "{path}: {}", answer.reason());
    answer.json().unwrap()
}

fn message(position: u64, variables: &str) -> Record {
    let value = MessageRecord {
        name: Name::from("m\nn"),
        correlation_key: Name::from("k"),
        message_id: Name::from(""),
        time_to_live_ms: 1,
        deadline_ms: 2,
        variables: Document::parse(variables.as_bytes().to_vec().into()).unwrap(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    };
    record(position, Intent::Published, value.into())
}

fn export(exporter: &mut RecordExporter, records: &[Record]) {
    let acknowledged = exporter.open(records[0].position - 1).unwrap();
    assert_eq!(acknowledged, records[0].position - 1);
    exporter.export(records).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), records.last().unwrap().position);
}

fn records_are_documents(node: &mut Node) {
    let version = env!("CARGO_PKG_VERSION");
    let options = RecordOptions { delay: Duration::ZERO, ..RecordOptions::new(node.url()) };
    let mut exporter = RecordExporter::new(2, options);
    // Variables of all shapes, each other than the one before.
    let long = "x".repeat(100_000);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(499), "]".repeat(499));
    let mut records = vec![
        message(1, r#"{"a": 1, "b": {"c": "2020-01-01"}}"#),
        message(2, r#"{"a": {"x": []}, "b": "text", "": null, "x.y": 1, "x": 2}"#),
        message(3, "{\n  \"a\": 1e300,\r\n \"b\": 12345678901234567890123456789012345678}"),
        message(4, &deep),
        message(5, &format!("{{\"a\":\"{long}\"}}")),
    ];
    records.extend((6..=30).map(|position| variable(position, 20_000)));
    export(&mut exporter, &records);
    // Some come again.
    export(&mut exporter, &records[2..]);
    ask(node, Method::POST, "/_refresh", None);
    let count =
        |alias: &str| ask(node, Method::GET, &format!("/{alias}/_count"), None)["count"].as_u64().unwrap();
    assert_eq!((count("zeebe-record-message"), count("zeebe-record-variable")), (5, 25));
    let path = format!("/zeebe-record_message_{version}_2023-11-14/_doc/2-5?routing=2");
    let found = ask(node, Method::GET, &path, None);
    let mut line = Vec::new();
    export::write_line(&records[4], &mut line).unwrap();
    let mut shape = serde_json::from_slice::<Value>(&line).unwrap();
    shape["sequence"] = found["_source"]["sequence"].clone();
    assert_eq!(found["_source"], shape);
    // Five were sent, and then three of them again, with new numbers.
    let first = 2_u64 << 51;
    let next = json!({ "query": { "range": { "sequence": { "gt": first + 5, "lte": first + 10 } } },
        "sort": [{ "sequence": "asc" }], "_source": ["position", "sequence"] });
    let found = ask(node, Method::POST, "/zeebe-record-message/_search", Some(&next));
    let numbers: Vec<_> = found["hits"]["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| {
            (
                hit["_source"]["position"].as_u64().unwrap(),
                hit["_source"]["sequence"].as_u64().unwrap() - first,
            )
        })
        .collect();
    assert_eq!(numbers, [(3, 6), (4, 7), (5, 8)]);
    // Fields are found by value, and what is arbitrary has left no fields.
    let query = json!({ "query": { "bool": { "filter": [
        { "term": { "value.correlationKey": "k" } },
        { "term": { "intent": "PUBLISHED" } },
        { "range": { "timestamp": { "gte": "2023-11-14T00:00:00Z", "lt": "2023-11-15T00:00:00Z" } } },
        { "range": { "position": { "lte": 3 } } },
    ] } } });
    let found = ask(node, Method::POST, "/zeebe-record-message/_search", Some(&query));
    assert_eq!(found["hits"]["total"]["value"], 3);
    let mapping = ask(node, Method::GET, "/zeebe-record-message/_mapping", None);
    let mapping = mapping.as_object().unwrap().values().next().unwrap();
    let properties = &mapping["mappings"]["properties"];
    assert_eq!(properties["value"]["properties"]["variables"], json!({ "type": "object", "enabled": false }));
    assert_eq!(properties["value"]["properties"]["correlationKey"]["type"], "keyword");
    // A node that is away is tried until it is back.
    node.kill();
    assert!(exporter.export(&[variable(31, 4)]).and_then(|()| exporter.flush(Flush::Usual)).is_err());
    node.resume();
    while exporter
        .open(30)
        .and_then(|_| exporter.export(&[variable(31, 4)]))
        .and_then(|()| exporter.flush(Flush::Usual))
        .is_err()
    {
        std::thread::yield_now();
    }
    ask(node, Method::POST, "/_refresh", None);
    let found = ask(node, Method::GET, "/zeebe-record-variable/_count", None);
    assert_eq!(found["count"], 26);
}
