//! Records of a real broker: they reach the files once, in order and whole, whatever happens to the broker.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker::{Node, Options};
use broker_api::{Broker, JobRequest, SubmitError};
use export::Phase;
use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Deploy, Document, Key, Name, RejectionType,
    Resource, Response,
};
use serde_json::Value;

/// Nothing here takes that long; what does has hung.
const PATIENCE: Duration = Duration::from_secs(20);

const MODEL: &str = r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="test"><bpmn:process id="p" isExecutable="true"><bpmn:startEvent id="start"/><bpmn:sequenceFlow id="in" sourceRef="start" targetRef="a"/><bpmn:serviceTask id="a"><bpmn:extensionElements><zeebe:taskDefinition type="t"/></bpmn:extensionElements></bpmn:serviceTask><bpmn:sequenceFlow id="out" sourceRef="a" targetRef="end"/><bpmn:endEvent id="end"/></bpmn:process></bpmn:definitions>"#;

fn options(directory: &Path) -> Options {
    let mut options = Options::new(directory);
    options.disk.min_free_bytes = 0;
    options.partition.log.min_free_bytes = 1;
    options.partition.export.ndjson.enabled = true;
    options.partition.export.ndjson.max_file_bytes = 64 * 1024;
    options.partition.export.ndjson.max_files = 0;
    options.partition.export.stream.flush_interval = Duration::from_millis(5);
    options.partition.export.stream.retry_max = Duration::from_millis(20);
    options
}

async fn start(options: &Options) -> Arc<Node> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The threads of a broker that was dropped let go of the files a moment later.
        match Box::pin(Node::start(options.clone())).await {
            Ok(node) => return node,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn deploy(node: &Node) {
    let resources = vec![Resource { name: Name::from("p.bpmn"), content: MODEL.as_bytes().to_vec() }];
    let deploy = Deploy { resources, tenant_id: Name::default_tenant() };
    node.submit(Command::Deploy(deploy)).await.unwrap();
}

fn create() -> Command {
    Command::CreateInstance(CreateInstance {
        variables: Document::parse(bytes::Bytes::from_static(b"{\"a\":\n1}")).unwrap(),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    })
}

async fn create_instance(node: &Node) -> Key {
    match node.submit(create()).await.unwrap().response {
        Response::InstanceCreated(created) => created.process_instance_key,
        other => panic!("not a creation: {other:?}"),
    }
}

/// Completes up to so many jobs, and returns their process instances.
async fn work(node: &Node, max_jobs: u32) -> Vec<Key> {
    let request = JobRequest {
        job_type: Name::from("t"),
        worker: Name::from("w"),
        timeout_ms: 3_600_000,
        max_jobs,
        fetch_variables: vec![],
        tenant_ids: vec![Name::default_tenant()],
        caller: None,
        with_lease: false,
    };
    let mut done = Vec::new();
    for job in node.activate_jobs(request, None).await.unwrap().jobs {
        let command = CompleteJob::of(job.key, Document::empty());
        node.submit(Command::CompleteJob(command)).await.unwrap();
        done.push(job.process_instance_key);
    }
    done
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Everything that happened until now is in the files.
async fn exported(node: &Node) {
    until("everything is exported", || node.exporting().unwrap().exporters[0].backlog_records == 0).await;
}

fn ndjson(directory: &Path) -> PathBuf {
    directory.join("export").join("ndjson")
}

fn is_spilled(directory: &Path) -> bool {
    let spill = directory.join("export").join("partition-1");
    let entries = std::fs::read_dir(spill).unwrap();
    entries.flatten().any(|entry| entry.path().extension().is_some_and(|extension| extension == "spill"))
}

fn lines(directory: &Path) -> Vec<Value> {
    let entries = std::fs::read_dir(ndjson(directory)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable_by_key(|path| (path.file_name().unwrap() == "partition-1.ndjson", path.clone()));
    let texts: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    texts.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Records of one instance of the model, in order.
const LIFE: &[&str] = &[
    "PROCESS_INSTANCE ELEMENT_ACTIVATING p",
    "PROCESS_INSTANCE ELEMENT_ACTIVATED p",
    "PROCESS_INSTANCE ELEMENT_ACTIVATED start",
    "PROCESS_INSTANCE SEQUENCE_FLOW_TAKEN in",
    "JOB CREATED a",
    "PROCESS_INSTANCE ELEMENT_ACTIVATED a",
    "JOB COMPLETED a",
    "PROCESS_INSTANCE ELEMENT_COMPLETED a",
    "PROCESS_INSTANCE SEQUENCE_FLOW_TAKEN out",
    "PROCESS_INSTANCE ELEMENT_COMPLETED end",
    "PROCESS_INSTANCE ELEMENT_COMPLETED p",
];

/// Checks that positions grow, that the records of each command are there without a gap, and that each instance has
/// its whole life; `done` says which of them are completed.
fn check(lines: &[Value], instances: &BTreeSet<Key>, done: &BTreeSet<Key>) {
    let number = |line: &Value, name: &str| line[name].as_u64().unwrap();
    let mut last = 0;
    let mut lives: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    for line in lines {
        let (position, source) = (number(line, "position"), number(line, "sourceRecordPosition"));
        // A command has the position before its first record.
        assert!(
            position == last + 1 || source > last && position == source + 1,
            "{position} after {last}: {line}"
        );
        last = position;
        let value = &line["value"];
        if let (Some(instance), Some(element)) =
            (value["processInstanceKey"].as_u64(), value["elementId"].as_str())
        {
            let (value_type, intent) = (&line["valueType"], &line["intent"]);
            let event = format!("{} {} {element}", value_type.as_str().unwrap(), intent.as_str().unwrap());
            lives.entry(instance).or_default().push(event);
        }
    }
    assert_eq!(lives.keys().copied().collect::<BTreeSet<_>>(), *instances);
    for (instance, life) in lives {
        let wanted = if done.contains(&instance) { LIFE } else { &LIFE[..6] };
        let mut found = life.iter();
        for event in wanted {
            assert!(found.any(|found| found == event), "{event} of {instance} is missing: {life:#?}");
        }
        let completed = life.iter().filter(|event| *event == LIFE[LIFE.len() - 1]).count();
        assert_eq!(completed, usize::from(done.contains(&instance)), "{instance}");
    }
}

#[tokio::test]
async fn crashes_leave_neither_gaps_nor_repetitions() {
    let directory = tempfile::tempdir().unwrap();
    // Flushes at other times than crashes, exports at other times than both.
    for (round, flush_ms) in [3_600_000, 1, 20, 3, 3_600_000, 7].into_iter().enumerate() {
        let path = directory.path().join(round.to_string());
        let mut options = options(&path);
        options.partition.state.flush_interval = Duration::from_millis(flush_ms);
        options.partition.export.stream.flush_grace = Duration::from_millis(round as u64 % 2);
        let (mut instances, mut done) = (BTreeSet::new(), BTreeSet::new());
        let mut node = start(&options).await;
        deploy(&node).await;
        for count in [1, 30, 7, 60] {
            for _ in 0..count {
                instances.insert(create_instance(&node).await);
            }
            done.extend(work(&node, count / 2).await);
            drop(node);
            node = start(&options).await;
        }
        exported(&node).await;
        check(&lines(&path), &instances, &done);
        instances.insert(create_instance(&node).await);
        node.shutdown().await;
        check(&lines(&path), &instances, &done);
        drop(node);
        let node = start(&options).await;
        exported(&node).await;
        check(&lines(&path), &instances, &done);
    }
}

#[tokio::test]
async fn an_exporter_that_fails_for_long_gets_everything_in_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.partition.state.flush_interval = Duration::from_millis(5);
    std::fs::create_dir(directory.path().join("export")).unwrap();
    std::fs::write(ndjson(directory.path()), "a file in the way").unwrap();
    let mut instances = BTreeSet::new();
    let mut node = start(&options).await;
    deploy(&node).await;
    for _ in 0..3 {
        for _ in 0..20 {
            instances.insert(create_instance(&node).await);
        }
        let position = node.partition().committed_index;
        until("state is flushed", || node.partition().durable_index >= position).await;
        assert!(is_spilled(directory.path()), "the log may be gone by now");
        let exporter = node.exporting().unwrap().exporters.remove(0);
        assert!(exporter.failure.is_some_and(|failure| failure.contains("ndjson")));
        drop(node);
        node = start(&options).await;
    }
    std::fs::remove_file(ndjson(directory.path())).unwrap();
    exported(&node).await;
    check(&lines(directory.path()), &instances, &BTreeSet::new());
    assert!(!is_spilled(directory.path()));
}

#[tokio::test]
async fn work_is_refused_while_the_spill_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.partition.state.flush_interval = Duration::from_millis(1);
    options.partition.export.stream.spill_max_bytes = 50_000;
    options.partition.export.stream.spill_segment_bytes = 10_000;
    std::fs::create_dir(directory.path().join("export")).unwrap();
    std::fs::write(ndjson(directory.path()), "a file in the way").unwrap();
    let node = start(&options).await;
    deploy(&node).await;
    let mut instances = BTreeSet::new();
    let deadline = Instant::now() + PATIENCE;
    let spilled = || node.exporting().unwrap().spill_bytes;
    let refused = loop {
        let before = spilled();
        match node.submit(create()).await {
            Ok(answer) => match answer.response {
                Response::InstanceCreated(created) => instances.insert(created.process_instance_key),
                other => panic!("not a creation: {other:?}"),
            },
            Err(error) => break error,
        };
        assert!(Instant::now() < deadline, "it goes on forever");
        // A flush of many at once would pass the second limit, too, at which jobs are refused.
        until("the records are spilled", || spilled() > before).await;
    };
    assert!(
        matches!(&refused, SubmitError::ResourceExhausted(text) if text.contains("exporter 'ndjson'")),
        "{refused:?}"
    );
    // Work in progress continues.
    let done: BTreeSet<Key> = work(&node, 1).await.into_iter().collect();
    assert_eq!(done.len(), 1);
    std::fs::remove_file(ndjson(directory.path())).unwrap();
    exported(&node).await;
    instances.insert(create_instance(&node).await);
    exported(&node).await;
    check(&lines(directory.path()), &instances, &done);
}

#[tokio::test]
async fn a_flood_of_rejections_leaves_nothing_to_export_and_nothing_on_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.partition.state.flush_interval = Duration::from_millis(5);
    options.partition.log.segment_bytes = 64 << 10;
    options.partition.log.retained_bytes = 128 << 10;
    let payload = Document::parse(bytes::Bytes::from(format!("{{\"x\":\"{}\"}}", "y".repeat(4000)))).unwrap();
    let node = start(&options).await;
    deploy(&node).await;
    create_instance(&node).await;
    exported(&node).await;
    let before = lines(directory.path());
    node.set_exporting(Phase::Paused).await.unwrap();
    for _ in 0..20 {
        let flood = (0..200).map(|n| {
            let unknown = if n % 2 == 0 {
                let complete = CompleteJob::of(7, payload.clone());
                Command::CompleteJob(complete)
            } else {
                let id = Name::from("nowhere");
                Command::CreateInstance(CreateInstance::of(DefinitionRef::Id { id, version: None }))
            };
            node.submit(unknown)
        });
        for answer in futures::future::join_all(flood).await {
            assert!(matches!(answer, Err(SubmitError::Rejected(_))), "{answer:?}");
        }
    }
    let status = node.exporting().unwrap();
    assert_eq!(status.exporters[0].backlog_records, 0);
    assert!(!is_spilled(directory.path()));
    let flooded = node.partition().committed_index;
    // The last entries stay.
    until("the log of the flood is gone", || node.partition().purged_index + 8 > flooded).await;
    node.set_exporting(Phase::Exporting).await.unwrap();
    exported(&node).await;
    assert_eq!(lines(directory.path()), before);
}

#[tokio::test]
async fn exporting_can_be_paused() {
    let directory = tempfile::tempdir().unwrap();
    let options = options(directory.path());
    let node = start(&options).await;
    deploy(&node).await;
    exported(&node).await;
    let before = lines(directory.path()).len();
    node.set_exporting(Phase::Paused).await.unwrap();
    create_instance(&node).await;
    let status = node.exporting().unwrap();
    assert_eq!((status.phase, status.exporters[0].backlog_records > 0), (Phase::Paused, true));
    assert_eq!(lines(directory.path()).len(), before);
    node.set_exporting(Phase::SoftPaused).await.unwrap();
    until("it is exported", || lines(directory.path()).len() > before + 10).await;
    assert!(node.exporting().unwrap().exporters[0].backlog_records > 0);
    node.set_exporting(Phase::Exporting).await.unwrap();
    exported(&node).await;
}

#[tokio::test]
async fn positions_are_replicated() {
    let directory = tempfile::tempdir().unwrap();
    let options = options(directory.path());
    let node = start(&options).await;
    deploy(&node).await;
    create_instance(&node).await;
    exported(&node).await;
    let before = node.partition().committed_index;
    // There are no requests: the position is written, and only once.
    until("the position is in the log", || node.partition().committed_index > before).await;
    node.shutdown().await;
    drop(node);
    // The files are gone, so the exporter itself knows nothing.
    std::fs::remove_dir_all(ndjson(directory.path())).unwrap();
    let node = start(&options).await;
    exported(&node).await;
    node.shutdown().await;
    assert!(lines(directory.path()).is_empty(), "nothing comes again");
}

#[tokio::test]
async fn an_exporter_that_is_not_configured_any_more_is_forgotten_when_asked() {
    let directory = tempfile::tempdir().unwrap();
    let with = options(directory.path());
    let mut without = with.clone();
    without.partition.export.ndjson.enabled = false;
    let node = start(&with).await;
    deploy(&node).await;
    exported(&node).await;
    let before = node.partition().committed_index;
    until("the position is in the log", || node.partition().committed_index > before).await;
    let refused = node.forget_exporter("ndjson").await.unwrap_err();
    assert!(refused.to_string().contains("'ndjson', but it is configured"), "{refused}");
    node.exports().unwrap().set_enabled("ndjson", false, None).unwrap();
    node.shutdown().await;
    drop(node);

    let node = start(&without).await;
    assert_eq!(node.former_exporters(), ["ndjson"]);
    // Also while nothing else is taken.
    node.pause_processing().await.unwrap();
    node.forget_exporter("ndjson").await.unwrap();
    assert!(node.former_exporters().is_empty());
    let unknown = node.forget_exporter("ndjson").await.unwrap_err();
    assert!(
        matches!(&unknown, SubmitError::Rejected(rejection) if rejection.kind == RejectionType::NotFound),
        "{unknown}"
    );
    node.shutdown().await;
    drop(node);

    let node = start(&without).await;
    assert!(node.former_exporters().is_empty(), "it stays forgotten");
    node.shutdown().await;
    drop(node);
    let node = start(&with).await;
    assert!(node.exporting().unwrap().exporters[0].enabled, "one with its ID begins as a new one");
    node.shutdown().await;
}

#[tokio::test]
async fn without_exporters_nothing_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.partition.export.ndjson.enabled = false;
    let node = start(&options).await;
    deploy(&node).await;
    create_instance(&node).await;
    assert_eq!(node.exporting(), None);
    node.set_exporting(Phase::Paused).await.unwrap();
    node.shutdown().await;
    assert!(!directory.path().join("export").exists());
}
