//! Stores in clouds.

use documents::{AzureOptions, BucketOptions, Documents, Error, GcsOptions, S3Options};

use super::super::Config;
use super::super::value::DocumentStoreKind;
use super::super::value::Text;
use super::text_of;

impl Config {
    /// The store that has no name in the configuration, if it is in a cloud.
    pub(super) fn open_bucket(&self) -> Result<Documents, Error> {
        let max_bytes = self.documents.max_bytes.0;
        match self.documents.kind {
            DocumentStoreKind::S3 => {
                let section = &self.documents_s3;
                let secret = text_of(&section.secret_access_key);
                let options = S3Options {
                    region: plain(section.region.as_ref()),
                    endpoint: plain(section.endpoint.as_ref()),
                    credentials: plain(section.access_key_id.as_ref()).zip(secret),
                };
                Documents::in_s3(&self.bucket(), &options, max_bytes)
            }
            DocumentStoreKind::Gcs => {
                let section = &self.documents_gcs;
                let options = GcsOptions {
                    service_account: section.service_account.clone(),
                    endpoint: plain(section.endpoint.as_ref()),
                };
                Documents::in_gcs(&self.bucket(), &options, max_bytes)
            }
            DocumentStoreKind::Azure => {
                let section = &self.documents_azure;
                let options = AzureOptions {
                    account: plain(section.account.as_ref()),
                    access_key: text_of(&section.access_key),
                    endpoint: plain(section.endpoint.as_ref()),
                };
                Documents::in_azure(&self.bucket(), &options, max_bytes)
            }
            kind => unreachable!("{kind:?} is in no cloud"),
        }
    }

    fn bucket(&self) -> BucketOptions {
        let section = &self.documents_bucket;
        BucketOptions {
            name: plain(section.name.as_ref()).unwrap_or_default(),
            prefix: plain(section.prefix.as_ref()).unwrap_or_default(),
            connect_timeout: section.connect_timeout,
            request_timeout: section.request_timeout,
            retries_max: section.retries_max,
            authorities: section.authorities.clone(),
        }
    }
}

fn plain(text: Option<&Text>) -> Option<String> {
    text.map(|Text(text)| text.clone())
}
