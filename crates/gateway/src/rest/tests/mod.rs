//! Tests of the REST gateway against a broker that answers from a script.

mod access;
mod administration;
mod agents;
mod attacks;
mod backups;
mod batch_operations;
mod contract;
mod documented;
mod documents;
mod errors;
mod fake;
mod fake_operations;
mod fake_storage;
mod hostile_filters;
mod http;
mod idempotency;
mod identity;
mod migration;
mod modification;
mod operations;
mod positions;
mod random;
mod refused;
mod release_8_10;
mod releases;
mod searches;
mod statistics;
mod user_tasks;
mod views;

use std::sync::Arc;

use ::http::{Request, Response};
use bytes::Bytes;
use fake::FakeBroker;
use fake_operations::FakeOperations;
use fake_storage::FakeStorage;
use http_body_util::Full;
use tokio_util::sync::CancellationToken;

use super::{Gateway, Options};

/// A gateway in front of a fake, which operators see, too.
fn gateway(broker: &Arc<FakeBroker>) -> Gateway {
    gateway_with(broker, running())
}

/// Options of a gateway whose broker runs.
fn running() -> Options {
    Options { operations: Arc::new(FakeOperations::with_backups()).slot(), ..Options::default() }
}

fn gateway_with(broker: &Arc<FakeBroker>, options: Options) -> Gateway {
    Gateway::new(Arc::<FakeBroker>::clone(broker), options, CancellationToken::new())
}

/// One that knows several tenants.
fn tenants_gateway(broker: &Arc<FakeBroker>) -> Gateway {
    let tenancy = crate::Tenancy { is_enabled: true };
    gateway_with(broker, Options { tenancy, ..Options::default() })
}

/// One with secondary storage.
fn stored_gateway(broker: &Arc<FakeBroker>, storage: &Arc<FakeStorage>) -> Gateway {
    gateway_with(broker, Options { storage: Some(storage.storage()), ..running() })
}

/// A request with a JSON body, or none if it is empty.
fn request(method: &str, path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let body = body.into();
    let mut request = Request::builder().method(method).uri(path);
    if !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    request.body(Full::new(body)).unwrap()
}

async fn text(response: Response<super::ReplyBody>) -> (u16, String) {
    use http_body_util::BodyExt as _;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

/// Runs a test's future.
fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
