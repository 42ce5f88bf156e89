//! Documents in a bucket of Google Cloud Storage.

use std::path::PathBuf;

use object_store::gcp::GoogleCloudStorageBuilder;

use crate::{BucketOptions, Documents, Error};

/// How the bucket is found and entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcsOptions {
    /// JSON file with the key of a service account; without, as the environment or the machine has it.
    pub service_account: Option<PathBuf>,
    /// URL of a store that is not Google's.
    pub endpoint: Option<String>,
}

impl Documents {
    /// A store in a bucket of Google Cloud Storage.
    pub fn in_gcs(bucket: &BucketOptions, options: &GcsOptions, max_bytes: u64) -> Result<Self, Error> {
        let mut builder = match &options.service_account {
            Some(path) => GoogleCloudStorageBuilder::new().with_service_account_path(path.to_string_lossy()),
            None => GoogleCloudStorageBuilder::from_env(),
        };
        if let Some(endpoint) = &options.endpoint {
            builder = builder.with_base_url(endpoint);
        }
        let store = builder
            .with_bucket_name(&bucket.name)
            .with_client_options(bucket.client(options.endpoint.as_deref())?)
            .with_retry(bucket.retries())
            .build()?;
        bucket.documents("gcp", store, max_bytes)
    }
}
