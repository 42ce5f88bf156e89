//! Documents in a container of Azure Blob Storage.

use object_store::azure::MicrosoftAzureBuilder;

use crate::{BucketOptions, Documents, Error};

/// How the container is found and entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AzureOptions {
    /// The storage account; without, as the environment has it.
    pub account: Option<String>,
    /// Its key; without, as the environment or the machine has it.
    pub access_key: Option<String>,
    /// URL of a store that is not Microsoft's.
    pub endpoint: Option<String>,
}

impl Documents {
    /// A store in a container of Azure.
    pub fn in_azure(bucket: &BucketOptions, options: &AzureOptions, max_bytes: u64) -> Result<Self, Error> {
        let mut builder = match &options.access_key {
            Some(key) => MicrosoftAzureBuilder::new().with_access_key(key),
            None => MicrosoftAzureBuilder::from_env(),
        };
        if let Some(account) = &options.account {
            builder = builder.with_account(account);
        }
        if let Some(endpoint) = &options.endpoint {
            builder = builder.with_endpoint(endpoint.clone());
        }
        let store = builder
            .with_container_name(&bucket.name)
            .with_client_options(bucket.client(options.endpoint.as_deref())?)
            .with_retry(bucket.retries())
            .build()?;
        bucket.documents("azure", store, max_bytes)
    }
}
