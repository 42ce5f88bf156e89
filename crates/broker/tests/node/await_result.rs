//! Requests that wait for the end of their process instance.

use std::time::{Duration, Instant};

use broker_api::{Answer, Broker, SubmitError};
use protocol::{Name, RejectionType, Response};
use tokio::task::JoinHandle;

use crate::support::{Server, cancel, instance, task, timer, until, within};

type Waiting = JoinHandle<Result<Answer, SubmitError>>;

fn request(server: &Server, fetch: &[&str], timeout: Duration) -> Waiting {
    let node = server.share();
    let fetch = fetch.iter().map(|name| Name::from(*name)).collect();
    tokio::spawn(
        async move { node.create_with_result(None, instance("{\"a\":1,\"b\":2}"), fetch, timeout).await },
    )
}

const LONG: Duration = Duration::from_secs(60);

async fn job(server: &Server) -> protocol::ActivatedJob {
    let wait = Some(Duration::from_secs(10));
    within(server.activate_jobs(crate::support::jobs("t"), wait)).await.unwrap().jobs.remove(0)
}

#[tokio::test]
async fn it_is_answered_at_the_end_with_the_variables_asked_for() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let waiting = request(&server, &["b", "done"], LONG);
    let job = job(&server).await;
    assert!(!waiting.is_finished());
    server.complete(&job).await.unwrap();
    let answer = within(waiting).await.unwrap().unwrap();
    let Response::InstanceCompleted { instance, variables } = answer.response else { panic!("{answer:?}") };
    assert_eq!(instance.process_instance_key, job.process_instance_key);
    assert_eq!(variables.to_json(), r#"{"b":2,"done":true}"#);
}

#[tokio::test]
async fn the_instance_goes_on_when_the_request_does_not() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let began = Instant::now();
    let error = within(request(&server, &[], Duration::from_millis(50))).await.unwrap().unwrap_err();
    assert!(
        matches!(&error, SubmitError::Timeout(text) if text.contains("the instance continues")),
        "{error}"
    );
    assert!(began.elapsed() >= Duration::from_millis(50));
    let job = job(&server).await;
    server.complete(&job).await.unwrap();
    server.submit(cancel(job.process_instance_key)).await.expect_err("it has ended");
}

#[tokio::test]
async fn a_cancelled_instance_answers_at_once() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let waiting = request(&server, &[], LONG);
    let job = job(&server).await;
    server.submit(cancel(job.process_instance_key)).await.unwrap();
    let error = within(waiting).await.unwrap().unwrap_err();
    let SubmitError::Rejected(rejection) = error else { panic!("{error}") };
    assert_eq!(rejection.kind, RejectionType::InvalidState);
    assert!(rejection.reason.contains("terminated"), "{rejection}");
}

#[tokio::test]
async fn a_process_without_anything_to_wait_for_answers_too() {
    let server = Server::start().await;
    server.deploy(&timer("PT0S")).await;
    within(request(&server, &[], LONG)).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stop_ends_the_waiting_and_the_instance_lives_on() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let waiting = request(&server, &[], LONG);
    let job = job(&server).await;
    let began = Instant::now();
    let server = server.restart().await;
    let error = within(waiting).await.unwrap().unwrap_err();
    // Not that it could be sent again: the instance is there.
    assert!(matches!(&error, SubmitError::Timeout(reason) if reason.contains("goes on")), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
    // The answer has nobody to go to any more; the instance ends all the same.
    server.complete(&job).await.unwrap();
    server.submit(cancel(job.process_instance_key)).await.expect_err("it has ended");
    let again = request(&server, &[], LONG);
    let job = self::job(&server).await;
    server.complete(&job).await.unwrap();
    within(again).await.unwrap().unwrap();
    until("places are free", || server.flow_control().status().in_flight == 0).await;
}
