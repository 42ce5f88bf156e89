//! Queries while commands run.

use broker_api::{Broker, SubmitError};
use protocol::{Command, Query, QueryReply, RejectionType, Response};

use crate::support::{Server, cancel, instance, task, within};

#[tokio::test]
async fn who_has_an_answer_finds_what_the_command_did() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    for _ in 0..50 {
        let answer = server.submit(Command::CreateInstance(instance("{\"a\":1}"))).await.unwrap();
        let Response::InstanceCreated(created) = answer.response else { panic!("{answer:?}") };
        let key = created.process_instance_key;
        let reply = within(server.read(Query::ProcessInstance { key })).await.unwrap();
        let QueryReply::ProcessInstance(view) = reply else { panic!("{reply:?}") };
        assert_eq!((view.key, view.has_incident), (key, false));
        server.submit(cancel(key)).await.unwrap();
        let error = within(server.read(Query::ProcessInstance { key })).await.unwrap_err();
        let SubmitError::Rejected(rejection) = error else { panic!("{error}") };
        assert_eq!(rejection.kind, RejectionType::NotFound);
    }
}

#[tokio::test]
async fn scans_and_commands_take_turns() {
    let server = Server::with(|options| options.partition.work.max_entries_per_command = 5000).await;
    server.deploy(&task("t")).await;
    let many: Vec<_> = (0..5000).map(|n| format!("\"v{n}\":1")).collect();
    let variables: &'static str = format!("{{{}}}", many.join(",")).leak();
    server.submit(Command::CreateInstance(instance(variables))).await.unwrap();
    let scans: Vec<_> = (0..40)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move { node.read(Query::Variable { key: 1 }).await })
        })
        .collect();
    for _ in 0..20 {
        within(server.submit(Command::CreateInstance(instance("{}")))).await.unwrap();
    }
    for scan in scans {
        let error = within(scan).await.unwrap().unwrap_err();
        assert!(
            matches!(&error, SubmitError::Rejected(why) if why.kind == RejectionType::NotFound),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_broker_that_stopped_answers_no_queries() {
    let server = Server::start().await;
    let node = server.share();
    node.shutdown().await;
    let error = within(node.read(Query::Incident { key: 1 })).await.unwrap_err();
    assert!(matches!(error, SubmitError::Unavailable(_)), "{error}");
}
