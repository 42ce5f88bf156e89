//! Authentication.

use std::sync::Arc;

use auth::{Authenticator, Basic, Clock, Cost, HashLimits, Hasher, Method, Unavailable, Users};
use futures::future::{BoxFuture, FutureExt, ready};
use gateway::grpc::Options;
use gateway::{Access, AccessOptions};
use grpc as pb;
use protocol::{Caller, Command, Principal, Response};
use tonic::metadata::MetadataValue;
use tonic::{Code, Request};

use crate::Server;
use crate::fake::FakeBroker;

/// One user: ann, with the password "secret".
struct OneUser(Arc<str>);

impl Users for OneUser {
    fn generation(&self) -> u64 {
        0
    }

    fn password_hash<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Option<Arc<str>>, Unavailable>> {
        ready(Ok((user == "ann").then(|| Arc::clone(&self.0)))).boxed()
    }
}

#[tokio::test]
async fn calls_without_credentials_are_unauthenticated_and_others_tell_who_asks() {
    let cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };
    let hasher = Hasher::new(cost, HashLimits::default()).unwrap();
    let hash = hasher.hash("secret").await.unwrap();
    let basic = Basic::new(Arc::new(OneUser(hash.into())), hasher, Clock::system());
    let authenticator = Authenticator::new(Method::Basic(Arc::new(basic)), None, Clock::system());
    let access = Access::new(authenticator, AccessOptions::default());
    let options = Options { access, ..Options::default() };
    let server = Server::start_with(FakeBroker::answering([Ok(Response::Done)]), options).await;
    let mut client = server.client().await;
    let resolve = || pb::ResolveIncidentRequest { incident_key: 7, ..Default::default() };
    // ann:guess
    for credentials in [None, Some("Basic YW5uOmd1ZXNz"), Some("Bearer abc")] {
        let mut request = Request::new(resolve());
        if let Some(text) = credentials {
            request.metadata_mut().insert("authorization", MetadataValue::from_static(text));
        }
        let refused = client.resolve_incident(request).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");
    }
    assert!(server.broker.commands().is_empty());
    let mut request = Request::new(resolve());
    // ann:secret
    let right = MetadataValue::from_static("Basic YW5uOnNlY3JldA==");
    request.metadata_mut().insert("authorization", right);
    client.resolve_incident(request).await.unwrap();
    let command = Command::ResolveIncident { incident_key: 7, operation_reference: None };
    let caller = Caller::unchecked(Principal::user("ann"));
    assert_eq!(server.broker.commands(), [command.asked_by(Some(caller))]);
    server.stop().await;
}
