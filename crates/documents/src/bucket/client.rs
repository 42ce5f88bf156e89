//! How a bucket is reached.

use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path as Place;
use object_store::signer::Signer;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};

use super::BucketOptions;
use crate::{Documents, Error};

/// The longest rest between two tries.
const BACKOFF_MAX: Duration = Duration::from_secs(2);

impl BucketOptions {
    /// How connections are made. Without TLS only if the endpoint says so.
    pub(crate) fn client(&self, endpoint: Option<&str>) -> Result<ClientOptions, Error> {
        let mut client = ClientOptions::new()
            .with_connect_timeout(self.connect_timeout)
            .with_timeout(self.request_timeout)
            .with_allow_http(endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")));
        if let Some(path) = &self.authorities {
            let wrong =
                |reason: String| Error::Invalid(format!("authorities '{}': {reason}", path.display()));
            let pem = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
            let found = Certificate::from_pem_bundle(&pem).map_err(|error| wrong(error.to_string()))?;
            if found.is_empty() {
                return Err(wrong("there is no certificate in it".to_owned()));
            }
            client = found.into_iter().fold(client, ClientOptions::with_root_certificate);
        }
        Ok(client)
    }

    pub(crate) fn retries(&self) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig { max_backoff: BACKOFF_MAX, ..BackoffConfig::default() },
            max_retries: self.retries_max,
            retry_timeout: self.request_timeout,
        }
    }

    pub(crate) fn documents<S: ObjectStore + Signer>(
        &self,
        id: &str,
        store: S,
        max_bytes: u64,
    ) -> Result<Documents, Error> {
        let root = Place::parse(&self.prefix)
            .map_err(|error| Error::Invalid(format!("prefix '{}': {error}", self.prefix)))?;
        let store = Arc::new(store);
        let signer: Arc<dyn Signer> = Arc::clone(&store) as _;
        Ok(Documents { root, signer: Some(signer), ..Documents::over(id, store, max_bytes) })
    }
}
