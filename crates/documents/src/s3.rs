//! Documents in a bucket of Amazon S3, or of whatever speaks its language.

use object_store::aws::AmazonS3Builder;

use crate::{BucketOptions, Documents, Error};

/// How the bucket is found and entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct S3Options {
    /// Where the bucket is; us-east-1 if nobody says.
    pub region: Option<String>,
    /// URL of a store that is not Amazon's.
    pub endpoint: Option<String>,
    /// An access key and its secret; without, as the environment or the machine has it.
    pub credentials: Option<(String, String)>,
}

impl Documents {
    /// A store in a bucket of S3.
    pub fn in_s3(bucket: &BucketOptions, options: &S3Options, max_bytes: u64) -> Result<Self, Error> {
        let mut builder = match &options.credentials {
            // The environment could add a session token that belongs to others.
            Some((id, secret)) => {
                AmazonS3Builder::new().with_access_key_id(id).with_secret_access_key(secret)
            }
            None => AmazonS3Builder::from_env(),
        };
        if let Some(region) = &options.region {
            builder = builder.with_region(region);
        }
        if let Some(endpoint) = &options.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        let store = builder
            .with_bucket_name(&bucket.name)
            .with_client_options(bucket.client(options.endpoint.as_deref())?)
            .with_retry(bucket.retries())
            .build()?;
        bucket.documents("aws", store, max_bytes)
    }
}
