//! For threads that may block.

use bytes::Bytes;
use http::Method;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::bulk::{Bulk, Outcome};
use crate::client::{Answer, Client, ClientError};
use crate::options::Options;

/// A client with a runtime of its own. Not for a thread that runs tasks.
pub struct Blocking {
    client: Client,
    /// There until it is dropped.
    runtime: Option<Runtime>,
}

impl Blocking {
    /// A client; nothing is connected yet.
    pub fn new(options: &Options) -> Result<Self, ClientError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ClientError::Connection(error.to_string()))?;
        Ok(Self { client: Client::new(options)?, runtime: Some(runtime) })
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.as_ref().expect("it is there until the end").block_on(future)
    }

    /// As [`Client::json`].
    pub fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer, ClientError> {
        self.block_on(self.client.json(method, path, body))
    }

    /// As [`Client::send`].
    pub fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        self.block_on(self.client.send(method, path, content_type, body))
    }

    /// As [`Bulk::send`].
    pub fn bulk(&self, bulk: &mut Bulk) -> Result<Vec<Outcome>, ClientError> {
        self.block_on(bulk.send(&self.client))
    }
}

impl Drop for Blocking {
    /// Does not wait, since it may happen where that is not allowed.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
