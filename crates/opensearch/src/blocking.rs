//! For threads that may block.

use bytes::Bytes;
use export::OwnRuntime;
use http::Method;
use serde_json::Value;

use crate::bulk::{Bulk, Outcome};
use crate::client::{Answer, Client, ClientError};
use crate::options::Options;

/// A client with a runtime of its own. Not for a thread that runs tasks.
pub struct Blocking {
    client: Client,
    runtime: OwnRuntime,
}

impl Blocking {
    /// A client; nothing is connected yet.
    pub fn new(options: &Options) -> Result<Self, ClientError> {
        let runtime = OwnRuntime::new().map_err(|error| ClientError::Connection(error.to_string()))?;
        Ok(Self { client: Client::new(options)?, runtime })
    }

    /// As [`Client::json`].
    pub fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer, ClientError> {
        self.runtime.run(self.client.json(method, path, body))
    }

    /// As [`Client::send`].
    pub fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        self.runtime.run(self.client.send(method, path, content_type, body))
    }

    /// As [`Bulk::send`].
    pub fn bulk(&self, bulk: &mut Bulk) -> Result<Vec<Outcome>, ClientError> {
        self.runtime.run(bulk.send(&self.client))
    }
}
