//! Whether business IDs are unique is a matter of the configuration; what was decided stands in the log.

use std::time::Duration;

use broker_api::{Broker as _, SubmitError};
use protocol::{Command, CreateInstance, Key, Name, RejectionType, Response};

use crate::support::{Server, instance, task};

fn create() -> CreateInstance {
    CreateInstance { business_id: Some(Name::from("b")), ..instance("{}") }
}

async fn created(server: &Server) -> Result<Key, SubmitError> {
    match server.submit(Command::CreateInstance(create())).await?.response {
        Response::InstanceCreated(created) => Ok(created.process_instance_key),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_second_instance_with_the_same_business_id_is_refused_if_configured() {
    let server = Server::with(|options| options.partition.unique_business_ids = true).await;
    server.deploy(&task("t")).await;
    let first = created(&server).await.unwrap();
    let is_taken = |error: &SubmitError| matches!(error, SubmitError::Rejected(rejection) if rejection.kind == RejectionType::AlreadyExists);
    assert!(is_taken(&created(&server).await.unwrap_err()));
    let awaited = server.create_with_result(None, create(), vec![], Duration::from_secs(5)).await;
    assert!(is_taken(&awaited.unwrap_err()));
    let cancel = Command::CancelInstance { process_instance_key: first, operation_reference: None };
    server.submit(cancel).await.unwrap();
    created(&server).await.unwrap();
}

#[tokio::test]
async fn business_ids_are_shared_by_default() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    created(&server).await.unwrap();
    created(&server).await.unwrap();
}
