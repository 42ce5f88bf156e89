//! The idempotency key of a call.

use std::sync::Arc;

use auth::Principal;
use protocol::Idempotency;
use tonic::metadata::MetadataValue;
use tonic::{Request, Status};

use crate::idempotency::{self, IDEMPOTENCY_KEY};

/// An idempotency key with its principal.
pub(super) struct RequestKey {
    key: Vec<u8>,
    principal: Option<Arc<Principal>>,
}

impl RequestKey {
    /// The key of a request, if it has one.
    pub fn of<R>(request: &Request<R>) -> Result<Option<Self>, Status> {
        let keys = request.metadata().get_all(IDEMPOTENCY_KEY).iter().map(MetadataValue::as_encoded_bytes);
        let key = idempotency::read(keys).map_err(Status::invalid_argument)?;
        let principal = || request.extensions().get::<Arc<Principal>>().cloned();
        Ok(key.map(|key| Self { key: key.to_vec(), principal: principal() }))
    }

    /// With the parts of the request.
    pub fn with<'a>(&self, request: impl IntoIterator<Item = &'a [u8]>) -> Idempotency {
        idempotency::of(self.principal.as_deref(), &self.key, 0, request)
    }
}
