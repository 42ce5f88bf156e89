//! Files of newline-delimited JSON.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use export::{Exporter, Flush, NdjsonExporter, NdjsonOptions};
use protocol::testing::record;
use protocol::{Document, ErrorRecord, Intent, MessageRecord, Name, Record};
use serde_json::Value;

fn published(position: u64, variables: &str) -> Record {
    let text = |text: &str| Name::from(text);
    let message = MessageRecord {
        name: text("m\nn"),
        correlation_key: text("k"),
        message_id: text(""),
        time_to_live_ms: 1,
        deadline_ms: 2,
        variables: Document::parse(Bytes::copy_from_slice(variables.as_bytes())).unwrap(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    };
    Record { operation_reference: Some(5), ..record(position, Intent::Published, message) }
}

fn records(positions: impl IntoIterator<Item = u64>) -> Vec<Record> {
    positions.into_iter().map(|position| published(position, "{\"a\":1}")).collect()
}

fn options(max_file_bytes: u64, max_files: usize) -> NdjsonOptions {
    NdjsonOptions { enabled: true, directory: None, max_file_bytes, max_files }
}

fn opened(directory: &Path, options: &NdjsonOptions, acknowledged: u64) -> (NdjsonExporter, u64) {
    let mut exporter = NdjsonExporter::new(directory, 1, options);
    let position = exporter.open(acknowledged).unwrap();
    (exporter, position)
}

/// Finished files by age, then the one that is written.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable_by_key(|path| (path.file_name().unwrap() == "partition-1.ndjson", path.clone()));
    files
}

fn lines(directory: &Path) -> Vec<Value> {
    let texts = files(directory).into_iter().map(|path| std::fs::read_to_string(path).unwrap());
    let texts: Vec<String> = texts.collect();
    texts.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn positions(directory: &Path) -> Vec<u64> {
    lines(directory).iter().map(|line| line["position"].as_u64().unwrap()).collect()
}

/// No client can make the engine fail, so the reader of the reference gets the record of a failure from a file.
#[test]
fn a_failure_of_the_engine_is_the_line_that_the_suite_of_records_reads() {
    let directory = tempfile::tempdir().unwrap();
    let (mut exporter, _) = opened(directory.path(), &options(u64::MAX, 0), 0);
    let failure = ErrorRecord {
        exception_message: Name::from("a fault at 'work'\nof an instance"),
        stacktrace: Name::default(),
        error_event_position: 6,
        process_instance_key: 2_251_799_813_685_250,
    };
    exporter.export(&[record(7, Intent::Created, failure)]).unwrap();
    exporter.flush(Flush::Usual).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/records/error.ndjson");
    let written = std::fs::read_to_string(&files(directory.path())[0]).unwrap();
    assert_eq!(written, std::fs::read_to_string(path).unwrap());
}

#[test]
fn a_record_is_one_line_in_the_known_shape() {
    let directory = tempfile::tempdir().unwrap();
    let (mut exporter, _) = opened(directory.path(), &options(u64::MAX, 0), 0);
    let pretty = "{\r\n  \"a\": [\n1,\n 2],\n  \"b\": \"line\\nbreak\"\n}";
    exporter.export(&[published(7, pretty), published(9, "{}")]).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 9);
    let lines = lines(directory.path());
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["value"]["variables"], serde_json::json!({ "a": [1, 2], "b": "line\nbreak" }));
    assert_eq!(lines[0]["value"]["name"], "m\nn");
    assert_eq!(lines[0]["valueType"], "MESSAGE");
    assert_eq!(lines[0]["operationReference"], 5);
    assert_eq!(lines[1]["value"]["timeToLive"], 1);
}

#[test]
fn deep_variables_are_written_and_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let (mut exporter, _) = opened(directory.path(), &options(u64::MAX, 0), 0);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(499), "]".repeat(499));
    exporter.export(&[published(1, &deep)]).unwrap();
    exporter.flush(Flush::Usual).unwrap();
    assert_eq!(opened(directory.path(), &options(u64::MAX, 0), 0).1, 1);
}

#[test]
fn files_are_rotated_by_size_and_the_oldest_removed() {
    let directory = tempfile::tempdir().unwrap();
    let mut one = Vec::new();
    serde_json::to_writer(&mut one, &records([1])[0]).unwrap();
    let (mut exporter, _) = opened(directory.path(), &options(3 * one.len() as u64, 2), 0);
    exporter.export(&records(1..=3)).unwrap();
    exporter.export(&records(4..=10)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 10);
    let names: Vec<String> = files(directory.path())
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names[..2],
        [format!("partition-1-{:020}.ndjson", 4), format!("partition-1-{:020}.ndjson", 7)]
    );
    assert_eq!(names[2..], ["partition-1.ndjson"]);
    assert_eq!(positions(directory.path()), (4..=10).collect::<Vec<_>>());
}

#[test]
fn all_files_are_kept_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let (mut exporter, _) = opened(directory.path(), &options(1, 0), 0);
    exporter.export(&records(1..=30)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 30);
    assert_eq!(files(directory.path()).len(), 30);
    // Nothing but finished files: their end is found too.
    assert_eq!(opened(directory.path(), &options(1, 0), 3).1, 30);
}

#[test]
fn a_restart_goes_on_after_the_last_whole_line_wherever_it_broke_off() {
    let options = options(1000, 0);
    let written = tempfile::tempdir().unwrap();
    let (mut exporter, _) = opened(written.path(), &options, 0);
    exporter.export(&records(1..=5)).unwrap();
    exporter.flush(Flush::Usual).unwrap();
    let files = files(written.path());
    assert_eq!(files.len(), 2, "one is finished");
    let finished = std::fs::read_to_string(&files[0]).unwrap();
    let before = finished.lines().count() as u64;
    let active = std::fs::read(&files[1]).unwrap();
    // Around each line break, and here and there: every restart syncs, which takes time.
    let near_break =
        |length: usize| active[length.saturating_sub(2)..active.len().min(length + 1)].contains(&b'\n');
    for length in (0..=active.len()).filter(|length| length % 23 == 0 || near_break(*length)) {
        for garbage in [&b""[..], &[0; 30], b"{\"position\":1}\n"] {
            let directory = tempfile::tempdir().unwrap();
            std::fs::copy(&files[0], directory.path().join(files[0].file_name().unwrap())).unwrap();
            let torn = [&active[..length], garbage].concat();
            std::fs::write(directory.path().join("partition-1.ndjson"), &torn).unwrap();
            let (mut exporter, position) = opened(directory.path(), &options, 0);
            let whole = memchr::memchr_iter(b'\n', &active[..length]).count() as u64;
            assert_eq!(position, before + whole, "cut at {length}");
            // Some come again: they are not written twice.
            exporter.export(&records(position.max(2) - 1..=8)).unwrap();
            assert_eq!(exporter.flush(Flush::Usual).unwrap(), 8);
            assert_eq!(positions(directory.path()), (1..=8).collect::<Vec<_>>());
        }
    }
}

#[test]
fn what_was_not_flushed_before_a_failure_is_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let (mut exporter, _) = opened(directory.path(), &options(u64::MAX, 0), 0);
    exporter.export(&records(1..=2)).unwrap();
    exporter.flush(Flush::Usual).unwrap();
    exporter.export(&records(3..=4)).unwrap();
    assert_eq!(exporter.open(2).unwrap(), 2);
    exporter.export(&records(3..=4)).unwrap();
    assert_eq!(exporter.flush(Flush::Usual).unwrap(), 4);
    assert_eq!(positions(directory.path()), [1, 2, 3, 4]);
}

#[test]
fn a_directory_that_cannot_be_used_is_named_and_works_later() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out");
    std::fs::write(&path, "a file").unwrap();
    let mut exporter = NdjsonExporter::new(&path, 1, &options(u64::MAX, 0));
    let error = exporter.open(0).unwrap_err().to_string();
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(exporter.open(0).unwrap(), 0);
    exporter.export(&records([1])).unwrap();
    exporter.flush(Flush::Usual).unwrap();
    assert_eq!(positions(&path), [1]);
}
