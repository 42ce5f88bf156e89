//! Commands about what is gone: refused as the engine would, without an entry of the log.

use broker_api::{Broker, SubmitError};
use protocol::{
    Command, Document, FailJob, Key, Name, RejectionType, SetVariables, ThrowError, UpdateJob,
    UserTaskCommand, UserTaskOperation,
};

use crate::support::{Server, cancel, complete, create, task, within};

/// One command of each kind, all about the same key.
fn all_about(key: Key) -> Vec<Command> {
    vec![
        complete(key),
        Command::FailJob(FailJob {
            job_key: key,
            retries: 0,
            retry_backoff_ms: 0,
            error_message: Name::default(),
            variables: Document::empty(),
            lease: None,
        }),
        Command::ThrowError(ThrowError {
            job_key: key,
            error_code: Name::from("code"),
            error_message: Name::default(),
            variables: Document::empty(),
            lease: None,
        }),
        Command::UpdateJob(UpdateJob {
            job_key: key,
            retries: Some(1),
            timeout_ms: None,
            operation_reference: None,
            priority: None,
            lease: None,
        }),
        cancel(key),
        Command::ResolveIncident { incident_key: key, operation_reference: None },
        Command::SetVariables(SetVariables {
            element_instance_key: key,
            variables: Document::empty(),
            local: false,
            operation_reference: None,
            request_id: None,
        }),
        Command::UserTask(UserTaskCommand {
            user_task_key: key,
            operation: UserTaskOperation::Complete { variables: Document::empty() },
            action: Name::default(),
            request_id: None,
        }),
    ]
}

/// The last command was rejected: the reason.
async fn rejected(server: &Server, command: Command) -> (RejectionType, String) {
    let outcome = within(server.submit(command)).await;
    let Err(SubmitError::Rejected(rejection)) = outcome else { panic!("not rejected: {outcome:?}") };
    (rejection.kind, rejection.reason)
}

#[tokio::test]
async fn a_second_completion_costs_no_entry() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let job = server.take(1).await.remove(0);
    server.complete(&job).await.unwrap();
    let (index, position) = (server.quiet().await, server.partition().position);
    for _ in 0..200 {
        let (kind, reason) = rejected(&server, complete(job.key)).await;
        assert_eq!(kind, RejectionType::NotFound);
        assert_eq!(
            reason,
            format!("Expected to complete job with key '{}', but no such job was found", job.key)
        );
    }
    for command in all_about(job.key) {
        assert_eq!(rejected(&server, command).await.0, RejectionType::NotFound);
    }
    assert_eq!((server.quiet().await, server.partition().position), (index, position));
    server.places_free().await;
}

/// A key that has not been given out may be by a command on its way: only the log tells.
#[tokio::test]
async fn a_key_of_the_future_is_decided_in_the_log() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let first = server.create().await;
    let index = server.quiet().await;
    let (kind, _) = rejected(&server, complete(first + 1_000)).await;
    assert_eq!((kind, server.quiet().await), (RejectionType::NotFound, index + 1));
}

/// Creations, completions and repeated completions all at once: each job is completed once, and every other answer says
/// that it is gone.
#[tokio::test]
async fn of_many_completions_at_once_one_goes_through() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    for _ in 0..20 {
        server.create().await;
        let job = server.take(1).await.remove(0);
        let mut tasks = Vec::new();
        for number in 0..40 {
            let node = server.share();
            let command = if number % 8 == 0 { create("{}") } else { complete(job.key) };
            tasks.push(tokio::spawn(async move { (number % 8 != 0, node.submit(command).await) }));
        }
        let mut completed = 0;
        for task in tasks {
            match within(task).await.unwrap() {
                (true, Ok(_)) => completed += 1,
                (true, Err(SubmitError::Rejected(rejection))) => {
                    assert_eq!(rejection.kind, RejectionType::NotFound);
                }
                (false, Ok(_)) => {}
                (_, outcome) => panic!("{outcome:?}"),
            }
        }
        assert_eq!(completed, 1);
        for job in server.take(1000).await {
            server.complete(&job).await.unwrap();
        }
    }
    server.places_free().await;
}

/// While processing is paused nobody is told more than that.
#[tokio::test]
async fn a_pause_is_told_before_anything_is_looked_at() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let job = server.take(1).await.remove(0);
    server.complete(&job).await.unwrap();
    server.pause_processing().await.unwrap();
    let error = within(server.submit(complete(job.key))).await.unwrap_err();
    assert!(matches!(&error, SubmitError::Unavailable(text) if text.contains("paused")), "{error}");
    server.resume_processing().await.unwrap();
    assert_eq!(rejected(&server, complete(job.key)).await.0, RejectionType::NotFound);
}
