//! Job delivery: polls that wait or not, batches cut to size, streams that stop when their worker does.

use std::sync::Arc;
use std::time::Duration;

use gateway::grpc::Options;
use grpc as pb;
use tokio::sync::mpsc;
use tonic::Code;

use crate::Server;
use crate::fake::{FakeBroker, MESSAGE_BYTES_MAX, job};

fn poll(request_timeout: i64) -> pb::ActivateJobsRequest {
    pb::ActivateJobsRequest {
        r#type: "work".to_owned(),
        worker: "w".to_owned(),
        timeout: 1000,
        max_jobs_to_activate: 10,
        fetch_variable: vec!["a".to_owned()],
        request_timeout,
        tenant_ids: vec![],
    }
}

fn open() -> pb::StreamActivatedJobsRequest {
    pb::StreamActivatedJobsRequest { r#type: "work".to_owned(), timeout: 1000, ..Default::default() }
}

#[tokio::test]
async fn a_poll_is_held_as_long_as_it_asks() {
    let options = Options { poll_timeout: Duration::from_millis(5), ..Options::default() };
    let server = Server::start_with(FakeBroker::default(), options).await;
    let mut client = server.client().await;
    for request_timeout in [0, -1, 7] {
        let mut jobs = client.activate_jobs(poll(request_timeout)).await.unwrap().into_inner();
        assert_eq!(jobs.message().await.unwrap(), None);
    }
    let asked = server.broker.asked();
    let waits: Vec<_> = asked.iter().map(|(_, wait)| wait.map(|wait| wait.as_millis())).collect();
    assert_eq!(waits, [Some(5), None, Some(7)]);
    let request = &asked[0].0;
    assert_eq!(
        (&*request.job_type, &*request.worker, request.timeout_ms, request.max_jobs),
        ("work", "w", 1000, 10)
    );
    assert_eq!(&*request.tenant_ids[0], "<default>");
    assert_eq!(&*request.fetch_variables[0], "a");
    server.stop().await;
}

#[tokio::test]
async fn a_batch_comes_in_messages_that_clients_accept_and_then_ends() {
    let third = MESSAGE_BYTES_MAX * 2 / 5;
    let jobs = (1..=5).map(|key| job(key, third)).collect();
    let server = Server::start(FakeBroker::with_jobs(jobs)).await;
    let mut client = server.client().await.max_decoding_message_size(MESSAGE_BYTES_MAX);
    let mut batches = client.activate_jobs(poll(0)).await.unwrap().into_inner();
    let mut keys = vec![];
    while let Some(batch) = batches.message().await.unwrap() {
        keys.push(batch.jobs.iter().map(|job| job.key).collect::<Vec<_>>());
    }
    assert_eq!(keys, [vec![1, 2], vec![3, 4], vec![5]]);
    server.stop().await;
}

#[tokio::test]
async fn an_activation_tells_the_position_of_each_partition_that_jobs_came_from() {
    for tells_positions in [true, false] {
        let options = Options { tells_positions, ..Options::default() };
        let server = Server::start_with(FakeBroker::with_jobs(vec![job(9, 1)]), options).await;
        let mut client = server.client().await;
        let some = client.activate_jobs(poll(0)).await.unwrap();
        let told = some.metadata().get("baton-position").map(|value| value.to_str().unwrap());
        assert_eq!(told, tells_positions.then_some("1:42,3:7"));
        let none = client.activate_jobs(poll(-1)).await.unwrap();
        assert!(!none.metadata().contains_key("baton-position"));
        drop((some, none));
        server.stop().await;
    }
}

#[tokio::test]
async fn a_job_carries_what_workers_read() {
    let server = Server::start(FakeBroker::with_jobs(vec![job(9, 1)])).await;
    let mut batches = server.client().await.activate_jobs(poll(0)).await.unwrap().into_inner();
    let batch = batches.message().await.unwrap().unwrap();
    let expected = pb::ActivatedJob {
        key: 9,
        r#type: "work".to_owned(),
        process_instance_key: 12,
        bpmn_process_id: "p".to_owned(),
        process_definition_version: 2,
        process_definition_key: 11,
        element_id: "task".to_owned(),
        element_instance_key: 13,
        custom_headers: "{}".to_owned(),
        worker: "w".to_owned(),
        retries: 3,
        deadline: crate::fake::DEADLINE_MS,
        variables: "{\"p\":\"x\"}".to_owned(),
        tenant_id: "<default>".to_owned(),
        user_task: None,
        kind: 0,
        listener_event_type: 6,
        tags: vec![],
    };
    assert_eq!(batch.jobs, [expected]);
    server.stop().await;
}

#[tokio::test]
async fn jobs_that_a_vanished_worker_did_not_take_are_given_back() {
    // Far more than the windows and buffers between the two hold.
    let jobs: Vec<_> = (1..=200).map(|key| job(key, MESSAGE_BYTES_MAX / 2)).collect();
    let mut broker = FakeBroker::with_jobs(jobs);
    let mut yielded = broker.watch_yields();
    let server = Server::start(broker).await;
    let batches = server.client().await.activate_jobs(poll(0)).await.unwrap();
    drop(batches);
    let keys = yielded.recv().await.unwrap();
    assert_eq!(keys.last(), Some(&200));
    server.stop().await;
}

#[tokio::test]
async fn jobs_that_arrived_are_not_given_back() {
    let mut broker = FakeBroker::with_jobs((1..=3).map(|key| job(key, 10)).collect());
    let mut yielded = broker.watch_yields();
    let server = Server::start(broker).await;
    let mut batches = server.client().await.activate_jobs(poll(0)).await.unwrap().into_inner();
    assert_eq!(batches.message().await.unwrap().expect("a batch").jobs.len(), 3);
    assert!(batches.message().await.unwrap().is_none());
    drop(batches);
    server.stop().await;
    assert_eq!(yielded.recv().await, None);
}

#[tokio::test]
async fn a_stream_answers_before_its_first_job_and_ends_with_its_worker() {
    let (sender, receiver) = mpsc::channel(1);
    let server = Server::start(FakeBroker::streaming(receiver)).await;
    let mut stream = server.client().await.stream_activated_jobs(open()).await.unwrap().into_inner();
    assert_eq!(Arc::strong_count(&server.broker.open_streams), 2);
    sender.send(job(1, 0)).await.unwrap();
    assert_eq!(stream.message().await.unwrap().unwrap().key, 1);
    drop(stream);
    sender.closed().await;
    assert_eq!(Arc::strong_count(&server.broker.open_streams), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_worker_that_does_not_read_stops_the_demand() {
    let (sender, receiver) = mpsc::channel(1);
    let server = Server::start(FakeBroker::streaming(receiver)).await;
    let mut stream = server.client().await.stream_activated_jobs(open()).await.unwrap().into_inner();
    // The channel has one place: it stays full once nobody takes any more.
    let mut taken = 0;
    while tokio::time::timeout(Duration::from_secs(1), sender.send(job(taken + 1, 8 * 1024))).await.is_ok() {
        taken += 1;
        assert!(taken < 200, "{taken} jobs went to a worker that reads none");
    }
    for key in 1..=taken {
        assert_eq!(stream.message().await.unwrap().unwrap().key, key as i64);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_stopping_server_sends_waiting_workers_away_at_once() {
    let (_sender, receiver) = mpsc::channel(1);
    let server = Server::start(FakeBroker::streaming(receiver)).await;
    let mut client = server.client().await;
    let mut stream = client.stream_activated_jobs(open()).await.unwrap().into_inner();
    let polling = tokio::spawn(async move { client.activate_jobs(poll(60_000)).await.map(drop) });
    while server.broker.asked().len() < 2 {
        tokio::task::yield_now().await;
    }
    server.stop().await;
    assert_eq!(polling.await.unwrap().unwrap_err().code(), Code::Unavailable);
    assert_eq!(stream.message().await.unwrap_err().code(), Code::Unavailable);
}
