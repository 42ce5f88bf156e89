//! Three partitions in one broker, seen from a gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use broker::{Node, StartError};
use broker_api::{Broker, JobRequest, SubmitError};
use futures::StreamExt;
use partition::Partition;
use protocol::{
    Clock, Command, CompleteJob, CorrelateMessage, Document, Idempotency, Key, Name, PartitionId,
    PublishMessage, Query, QueryReply, RejectionType, Response, compose_key, partition_of, partition_of_text,
};

use crate::support::{Server, complete, create, created, jobs, task, until, within};

const COUNT: PartitionId = 3;

/// A broker whose partitions all have a process.
async fn start() -> Server {
    let server = start_empty().await;
    server.deploy(&task("t")).await;
    server
}

async fn start_empty() -> Server {
    Server::with(|options| *options = options.clone().with_partitions(COUNT)).await
}

async fn create_many(server: &Server, count: usize) -> Vec<Key> {
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push(server.create().await);
    }
    keys
}

fn per_partition(keys: impl IntoIterator<Item = Key>) -> BTreeMap<PartitionId, usize> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(partition_of(key)).or_default() += 1;
    }
    counts
}

fn evenly(count: usize) -> BTreeMap<PartitionId, usize> {
    (1..=COUNT).map(|number| (number, count)).collect()
}

#[tokio::test]
async fn instances_begin_on_each_partition_in_turn_and_end_where_they_began() {
    let server = start().await;
    let keys = create_many(&server, 9).await;
    assert_eq!(per_partition(keys.clone()), evenly(3));
    let taken = server.take(100).await;
    let of_jobs: BTreeSet<Key> = taken.iter().map(|job| job.process_instance_key).collect();
    assert_eq!(of_jobs, keys.iter().copied().collect());
    for job in &taken {
        assert_eq!(partition_of(job.key), partition_of(job.process_instance_key));
        let answer = server.complete(job).await.unwrap();
        assert_eq!(answer.partition, partition_of(job.key));
    }
    for key in keys {
        let error = server.read(Query::ProcessInstance { key }).await.unwrap_err();
        assert!(matches!(&error, SubmitError::Rejected(it) if it.kind == RejectionType::NotFound), "{error}");
    }
}

#[tokio::test]
async fn keys_of_partitions_that_do_not_exist_are_not_found() {
    let server = start().await;
    for job_key in [0, 7, compose_key(COUNT + 1, 1), compose_key(8191, 9), u64::MAX] {
        let complete = Command::CompleteJob(CompleteJob::of(job_key, Document::empty()));
        let error = server.submit(complete).await.unwrap_err();
        assert!(
            matches!(&error, SubmitError::Rejected(it) if it.kind == RejectionType::NotFound),
            "{job_key}: {error}"
        );
        let error = server.read(Query::Incident { key: job_key }).await.unwrap_err();
        assert!(error.to_string().contains(&format!("Incident with key '{job_key}' not found")), "{error}");
    }
}

#[tokio::test]
async fn a_restart_has_all_partitions_and_no_other_number_of_them() {
    let server = start().await;
    let keys = create_many(&server, 6).await;
    let server = server.crash().await;
    for key in &keys {
        server.read(Query::ProcessInstance { key: *key }).await.unwrap();
    }
    assert_eq!(per_partition(create_many(&server, 3).await), evenly(1));
    let crashed = server.kill().with(|options| *options = broker::Options::new(&options.partition.data_dir));
    let refused = crashed.try_start().await.unwrap_err();
    assert!(matches!(refused, StartError::Identity(_)), "{refused}");
    assert!(refused.to_string().contains("cluster.partitions: expected 3"), "{refused}");
}

#[tokio::test]
async fn data_of_one_partition_stay_data_of_one() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let server = server.crash().await;
    assert_eq!(server.take(5).await.len(), 1);
    let crashed = server.kill().with(|options| *options = options.clone().with_partitions(2));
    let refused = crashed.try_start().await.unwrap_err();
    assert!(refused.to_string().contains("cluster.partitions: expected 1"), "{refused}");
}

#[tokio::test]
async fn the_same_idempotency_key_creates_one_instance() {
    let server = start().await;
    for key in 0..6 {
        let once = || create("{}").once(Some(Idempotency { key: [key, 1], fingerprint: [2, 3] }));
        let first = created(&server.submit(once()).await.unwrap());
        assert_eq!(created(&server.submit(once()).await.unwrap()), first);
    }
    assert_eq!(per_partition(server.take(100).await.iter().map(|job| job.key)), evenly(2));
}

#[tokio::test]
async fn a_poll_gets_no_more_than_it_asked_for_and_starves_no_partition() {
    let server = start().await;
    create_many(&server, 12).await;
    let mut firsts = BTreeSet::new();
    for _ in 0..4 {
        let taken = server.take(3).await;
        assert_eq!(taken.len(), 3);
        firsts.insert(partition_of(taken[0].key));
    }
    assert!(firsts.len() > 1, "another partition goes first each time");
    assert!(server.take(3).await.is_empty());
}

#[tokio::test]
async fn a_poll_that_waits_is_woken_by_any_partition() {
    let server = start().await;
    for _ in 0..COUNT {
        let node = server.share();
        let wait = Some(Duration::from_secs(60));
        let poll = tokio::spawn(async move { Node::activate_jobs(&node, jobs("t"), wait).await.unwrap() });
        server.quiet().await;
        assert!(!poll.is_finished());
        let instance = server.create().await;
        let activation = within(poll).await.unwrap();
        assert_eq!(activation.jobs.len(), 1);
        assert_eq!(activation.jobs[0].process_instance_key, instance);
        let told: Vec<PartitionId> = activation.positions.iter().map(|(partition, _)| partition).collect();
        assert!(told.is_empty() || told == [partition_of(instance)], "{told:?}");
    }
}

#[tokio::test]
async fn a_stream_has_the_jobs_of_all_partitions_within_one_credit() {
    let server = start().await;
    create_many(&server, 90).await;
    let mut stream = server.stream("t");
    // The credit of a new stream, for all partitions together.
    let first = server.options.partition.jobs.first_stream_credit as usize;
    until("the stream holds what it may", || server.workers().unwrap()[0].holds as usize == first).await;
    server.quiet().await;
    let workers = server.workers().unwrap();
    assert_eq!((workers.len(), workers[0].holds as usize), (1, first), "and no more");
    let mut done = Vec::new();
    let mut most = 0;
    while done.len() < 90 {
        let job = within(stream.next()).await.unwrap();
        most = most.max(server.workers().unwrap()[0].holds);
        server.submit(complete(job.key)).await.unwrap();
        done.push(job.key);
        if done.len() == 60 {
            let counts = per_partition(done.iter().copied());
            assert!(counts.len() == 3 && counts.values().all(|count| *count >= 10), "{counts:?}");
        }
    }
    assert_eq!(per_partition(done), evenly(30));
    assert!(most as usize <= 10 * first, "{most}");
}

#[tokio::test]
async fn a_stream_that_is_dropped_gives_back_the_jobs_of_all_partitions() {
    let server = start().await;
    create_many(&server, 6).await;
    let stream = server.stream("t");
    until("the stream holds all jobs", || server.workers().unwrap()[0].holds == 6).await;
    drop(stream);
    until("nobody asks", || server.workers().unwrap().is_empty()).await;
    let mut back = 0;
    while back < 6 {
        let wait = Some(Duration::from_secs(10));
        let request = JobRequest { max_jobs: 6, ..jobs("t") };
        back += within(server.activate_jobs(request, wait)).await.unwrap().jobs.len();
    }
    assert_eq!(back, 6);
}

#[tokio::test]
async fn clocks_pauses_and_counts_are_those_of_all_partitions() {
    let server = Server::with(|options| {
        options.partition.controlled_clock = true;
        *options = options.clone().with_partitions(COUNT);
    })
    .await;
    let pin = Command::Clock(Clock::Pin { timestamp_ms: 4_000_000_000_000 });
    server.submit(pin).await.unwrap();
    let is_pinned =
        || server.partitions().values().all(|partition| partition.clock_ms() == 4_000_000_000_000);
    until("all partitions have the clock", is_pinned).await;
    server.pause_processing().await.unwrap();
    let paused =
        |server: &Server| server.partitions().values().all(|partition| partition.is_processing_paused());
    assert!(paused(&server) && server.is_processing_paused());
    server.resume_processing().await.unwrap();
    assert!(!paused(&server));
    let query = Query::RunningDefinitions { process_id: None, limit: 10 };
    let QueryReply::RunningDefinitions { definitions, has_more } = server.read(query).await.unwrap() else {
        unreachable!()
    };
    assert!(definitions.is_empty() && !has_more);
    assert_eq!(server.topology().brokers[0].partitions.len(), 3);
    assert!(server.partition_health().values().cloned().all(|health| health.reason().is_none()));
}

#[tokio::test]
async fn results_come_from_the_partition_of_the_instance() {
    let server = start().await;
    let node: Arc<Node> = server.share();
    let working = tokio::spawn(async move {
        let mut stream = node.stream_jobs(jobs("t")).unwrap();
        while let Some(job) = stream.next().await {
            let _ = node.submit(complete(job.key)).await;
        }
    });
    for _ in 0..COUNT {
        let Command::CreateInstance(command) = create("{}") else { unreachable!() };
        let answer = server.create_with_result(None, command, vec![], Duration::from_secs(20));
        assert!(matches!(within(answer).await.unwrap().response, Response::InstanceCompleted { .. }));
    }
    working.abort();
}

#[tokio::test]
async fn a_purge_and_a_backup_of_several_partitions_are_refused() {
    let server = start().await;
    let error = server.submit(Command::Purge { after: None }).await.unwrap_err();
    assert!(error.to_string().contains("several partitions"), "{error}");
    let error = server.share().take_backup(None).await.unwrap_err();
    assert!(error.to_string().contains("cluster.partitions"), "{error}");
}

#[tokio::test]
async fn deployments_are_found_on_all_partitions_at_once() {
    let server = start_empty().await;
    for version in 1..=5 {
        server.deploy(&task(&format!("t{version}"))).await;
        for _ in 0..COUNT {
            let answer = server.submit(create("{}")).await.unwrap();
            let Response::InstanceCreated(instance) = answer.response else { panic!("{answer:?}") };
            assert_eq!(instance.version, version, "on partition {}", answer.partition);
        }
    }
}

/// A correlation key of a partition.
fn key_of(partition: PartitionId) -> String {
    let mut keys = (0..).map(|number| format!("k{number}"));
    keys.find(|key| partition_of_text(key, COUNT) == partition).unwrap()
}

fn publish(key: &str) -> Command {
    Command::PublishMessage(PublishMessage {
        name: Name::from("m"),
        correlation_key: Name::from(key),
        time_to_live_ms: 600_000,
        message_id: Name::default(),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    })
}

fn running(server: &Server) -> u64 {
    let of = |partition: &Arc<Partition>| partition.engine().lock().tables().instances.len().unwrap();
    server.partitions().values().map(of).sum()
}

#[tokio::test]
async fn messages_find_instances_of_all_partitions() {
    let server = start_empty().await;
    server.deploy_message().await;
    for partition in 1..=COUNT {
        let key = key_of(partition);
        for _ in 0..COUNT {
            server.submit(create(&format!(r#"{{"key":"{key}"}}"#))).await.unwrap();
        }
    }
    assert_eq!(running(&server), 9);
    // Each message is for one instance of the process. Some are there before the subscriptions.
    for partition in 1..=COUNT {
        for _ in 0..COUNT {
            server.submit(publish(&key_of(partition))).await.unwrap();
        }
    }
    until("all instances have had a message", || running(&server) == 0).await;
}

#[tokio::test]
async fn messages_between_partitions_outlast_a_crash() {
    let mut server = start_empty().await;
    server.deploy_message().await;
    for round in 0..3 {
        for partition in 1..=COUNT {
            let key = key_of(partition);
            server.submit(create(&format!(r#"{{"key":"{key}"}}"#))).await.unwrap();
            server.submit(publish(&key)).await.unwrap();
        }
        server = server.crash().await;
        until(&format!("instances of round {round} have had a message"), || running(&server) == 0).await;
    }
    let is_sent = || {
        let outboxes = server.partitions();
        outboxes.values().all(|partition| partition.outbox().unwrap().iter().all(|to| to.depth == 0))
    };
    until("all messages are acknowledged", is_sent).await;
}

#[tokio::test]
async fn a_correlation_waits_for_the_answer_of_another_partition() {
    let server = start_empty().await;
    server.deploy_message().await;
    let correlate = |key: &str| {
        Command::CorrelateMessage(CorrelateMessage {
            name: Name::from("m"),
            correlation_key: Name::from(key),
            variables: Document::empty(),
            tenant_id: Name::default_tenant(),
            business_id: None,
            request_id: None,
        })
    };
    for partition in 1..=COUNT {
        let key = key_of(partition);
        let instance = created(&server.submit(create(&format!(r#"{{"key":"{key}"}}"#))).await.unwrap());
        // A subscription of another partition is known a moment later.
        let answer = loop {
            match within(server.submit(correlate(&key))).await {
                Ok(answer) => break answer.response,
                Err(error) => assert!(error.to_string().contains("but none was found"), "{error}"),
            }
        };
        let Response::MessageCorrelated { process_instance_key, .. } = answer else { panic!("{answer:?}") };
        assert_eq!(process_instance_key, instance);
    }
}
