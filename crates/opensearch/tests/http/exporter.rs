//! The exporter of records, when the store does not take them.

use parking_lot::Mutex;
use std::time::Duration;

use export::{ExportError, Exporter, Flush};
use opensearch::{Limits, RecordExporter, RecordOptions};
use protocol::{Document, Intent, MessageRecord, Name, Record};
use serde_json::{Value, json};

use crate::record::{record, variable};
use crate::stub::{Answer, Stub, good, items, script};

fn options(stub: &Stub) -> RecordOptions {
    RecordOptions {
        bulk: Limits { count: 3, bytes: 10_000 },
        delay: Duration::ZERO,
        ..RecordOptions::new(stub.url())
    }
}

fn records(positions: impl IntoIterator<Item = u64>) -> Vec<Record> {
    positions.into_iter().map(|position| variable(position, 4)).collect()
}

fn opened(options: RecordOptions) -> RecordExporter {
    let mut exporter = RecordExporter::new(2, options);
    assert_eq!(exporter.open(0).unwrap(), 0);
    exporter
}

/// IDs of each bulk request so far.
fn sent(stub: &Stub) -> Vec<Vec<String>> {
    let bulks = stub.asked.try_iter().filter(|asked| asked.line.contains("_bulk"));
    bulks.map(|asked| asked.ids()).collect()
}

fn ids(positions: impl IntoIterator<Item = u64>) -> Vec<String> {
    positions.into_iter().map(|position| format!("2-{position}")).collect()
}

#[test]
fn records_go_in_bulks_after_their_template() {
    let stub = Stub::start(script(vec![]));
    let mut exporter = opened(options(&stub));
    exporter.export(&records(1..=7)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 7);
    let asked: Vec<_> = stub.asked.try_iter().collect();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(asked[0].line, format!("PUT /_index_template/zeebe-record_variable_{version}"));
    let bulks: Vec<_> = asked.iter().filter(|asked| asked.line.contains("_bulk")).collect();
    assert_eq!(bulks.iter().map(|asked| asked.ids().len()).collect::<Vec<_>>(), [3, 3, 1]);
    let mut lines = bulks[0].body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let index = format!("zeebe-record_variable_{version}_2023-11-14");
    let action = json!({ "index": { "_index": index, "_id": "2-1", "routing": "2" } });
    assert_eq!(lines.next().unwrap(), action);
    let mut shape = Vec::new();
    export::write_line(&records([1])[0], &mut shape).unwrap();
    let mut shape = serde_json::from_slice::<Value>(&shape).unwrap();
    shape["sequence"] = json!((2_u64 << 51) + 1);
    assert_eq!(lines.next().unwrap(), shape);
    // Large ones go before there are as many.
    exporter.export(&[variable(8, 9_900)]).unwrap();
    assert_eq!(sent(&stub), [ids([8])]);
}

#[test]
fn records_wait_until_there_is_enough_or_it_takes_too_long() {
    let stub = Stub::start(script(vec![]));
    let mut exporter = opened(RecordOptions { delay: Duration::from_secs(3600), ..options(&stub) });
    exporter.export(&records(1..=2)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 0, "nothing is acknowledged that was not sent");
    exporter.export(&records(3..=4)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 3);
    assert_eq!(sent(&stub), [ids(1..=3)]);
    let mut exporter = opened(RecordOptions { delay: Duration::from_millis(1), ..options(&stub) });
    exporter.export(&records([1])).unwrap();
    while exporter.flush(Flush::Usual).unwrap() != 1 {}
    assert_eq!(sent(&stub), [ids([1])]);
}

#[test]
fn what_is_not_wanted_is_done_without_being_sent() {
    let stub = Stub::start(script(vec![]));
    let mut exporter =
        opened(RecordOptions { exclude: vec![protocol::ValueType::Variable], ..options(&stub) });
    exporter.export(&records(1..=5)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 5);
    assert_eq!(stub.asked.try_iter().count(), 0);
}

#[test]
fn a_store_that_is_busy_gets_the_same_again() {
    for trouble in [
        Answer::Body(429, json!({ "error": "too much" })),
        Answer::Body(503, json!({ "error": "not now" })),
        items(&[200, 429, 200]),
        items(&[200, 503, 400]),
        items(&[200]),
        Answer::Body(200, json!("no answer")),
    ] {
        let stub = Stub::start(script(vec![good_first(), trouble]));
        let mut exporter = opened(options(&stub));
        exporter.export(&records(1..=3)).unwrap();
        let error = exporter.export(&records(4..=6)).unwrap_err();
        assert!(matches!(error, ExportError::Target(_)), "{error}");
        // Nothing counts but what was acknowledged: all of it comes again, in other parts.
        assert_eq!(exporter.open(2).unwrap(), 2);
        exporter.export(&records(3..=7)).unwrap();
        assert_eq!(exporter.flush(Flush::Usual).unwrap(), 7);
        assert_eq!(sent(&stub), [ids(1..=3), ids(4..=6), ids(3..=5), ids(6..=7)]);
    }
}

fn good_first() -> Answer {
    items(&[201; 3])
}

#[test]
fn a_connection_that_breaks_is_replaced_once() {
    let stub =
        Stub::start(script(vec![good_first(), Answer::Break, good_first(), Answer::Break, Answer::Break]));
    let mut exporter = opened(options(&stub));
    exporter.export(&records(1..=6)).unwrap();
    let error = exporter.export(&records(7..=9)).unwrap_err();
    assert!(matches!(error, ExportError::Target(_)), "{error}");
    assert_eq!(sent(&stub), [ids(1..=3), ids(4..=6), ids(4..=6), ids(7..=9), ids(7..=9)]);
}

#[test]
fn a_record_that_is_refused_is_named() {
    let stub = Stub::start(script(vec![items(&[200, 400, 400])]));
    let mut exporter = opened(options(&stub));
    let error = exporter.export(&records(1..=3)).unwrap_err();
    assert!(matches!(error, ExportError::Record { position: 2, .. }), "{error}");
    assert!(error.to_string().contains("so it is"), "{error}");
    // It is passed over, and tried again later.
    exporter.open(0).unwrap();
    exporter.export(&records([1, 3])).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 3);
    exporter.replay(&records([2])[0]).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 3);
    assert_eq!(sent(&stub), [ids(1..=3), ids([1, 3]), ids([2])]);
}

#[test]
fn a_template_that_cannot_be_made_stops_it() {
    let stub = Stub::start(|_| Answer::Body(400, json!({ "error": "no template" })));
    let error = opened(options(&stub)).export(&records([1])).unwrap_err();
    assert!(matches!(&error, ExportError::Target(reason) if reason.contains("no template")), "{error}");
    assert_eq!(sent(&stub), Vec::<Vec<String>>::new());
}

#[test]
fn a_slow_store_is_waited_for() {
    let stub = Stub::start(|request| {
        std::thread::sleep(Duration::from_millis(200));
        if request.line.contains("_bulk") { good(request) } else { Answer::Body(200, json!({})) }
    });
    let mut exporter = opened(options(&stub));
    exporter.export(&records(1..=6)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 6);
    assert_eq!(sent(&stub), [ids(1..=3), ids(4..=6)]);
}

/// A store that keeps the document in which sequences are noted, and answers bulks as the test says.
fn noting(bulks: Vec<Answer>) -> Stub {
    let noted: Mutex<Option<Value>> = Mutex::default();
    let bulks = script(bulks);
    Stub::start(move |request| {
        let (method, path) = request.line.split_once(' ').unwrap();
        let mut noted = noted.lock();
        match (method, path) {
            ("PUT", "/sequences-of-zeebe-record") => Answer::Body(200, json!({ "acknowledged": true })),
            ("PUT", "/sequences-of-zeebe-record/_doc/2") => {
                *noted = Some(serde_json::from_str(&request.body).unwrap());
                Answer::Body(201, json!({ "result": "created" }))
            }
            ("GET", "/sequences-of-zeebe-record/_doc/2") => match &*noted {
                Some(source) => Answer::Body(200, json!({ "found": true, "_source": source })),
                None => Answer::Body(404, json!({ "error": "no such index" })),
            },
            _ => bulks(request),
        }
    })
}

/// Position and sequence within the partition of each document that was sent.
fn sequences(stub: &Stub) -> Vec<(u64, u64)> {
    let bulks = stub.asked.try_iter().filter(|asked| asked.line.contains("_bulk"));
    let documents = bulks.flat_map(|asked| {
        let lines = asked.body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line.get("position").is_some()).collect::<Vec<_>>()
    });
    let numbers = documents.map(|document| {
        let sequence = document["sequence"].as_u64().unwrap();
        assert_eq!(sequence >> 51, 2, "the partition");
        (document["position"].as_u64().unwrap(), sequence & ((1 << 51) - 1))
    });
    numbers.collect()
}

#[test]
fn records_of_a_type_are_numbered_without_gaps_over_restarts() {
    let stub = noting(vec![]);
    let message = |position| {
        let text = || Name::from("m");
        let value = MessageRecord {
            name: text(),
            correlation_key: text(),
            message_id: text(),
            time_to_live_ms: 1,
            deadline_ms: 2,
            variables: Document::default(),
            tenant_id: Name::default_tenant(),
            business_id: None,
        };
        record(position, Intent::Published, value.into())
    };
    let mut exporter = opened(options(&stub));
    exporter.export(&[variable(1, 4), message(2), variable(3, 4), message(7), variable(9, 4)]).unwrap();
    exporter.flush(Flush::Usual).unwrap();
    assert_eq!(sequences(&stub), [(1, 1), (2, 1), (3, 2), (7, 2), (9, 3)]);
    let mut exporter = RecordExporter::new(2, options(&stub));
    exporter.open(9).unwrap();
    exporter.export(&[message(10), variable(11, 4)]).unwrap();
    exporter.flush(Flush::Usual).unwrap();
    assert_eq!(sequences(&stub), [(10, 3), (11, 4)]);
}

#[test]
fn no_number_is_given_twice_whatever_becomes_of_a_bulk() {
    let stub = noting(vec![good_first(), items(&[200, 429, 200]), Answer::Break, Answer::Break]);
    let mut exporter = opened(options(&stub));
    exporter.export(&records(1..=3)).unwrap();
    exporter.export(&records(4..=6)).unwrap_err();
    exporter.open(3).unwrap();
    exporter.export(&records(4..=6)).unwrap_err();
    exporter.open(3).unwrap();
    exporter.export(&records(4..=6)).unwrap();
    let sent: std::collections::BTreeSet<_> = sequences(&stub).into_iter().collect();
    let numbers: std::collections::BTreeSet<_> = sent.iter().map(|(_, sequence)| sequence).collect();
    assert_eq!(sent.len(), numbers.len(), "{sent:?}");
    // The final documents have the highest ones, in order.
    let last = sent.range((4, 0)..).fold([0; 3], |mut last, (position, sequence)| {
        last[(position - 4) as usize] = *sequence;
        last
    });
    assert_eq!(last, [10, 11, 12]);
}
