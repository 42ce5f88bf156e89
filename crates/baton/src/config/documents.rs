//! What the sections about documents mean.

use documents::{AzureOptions, BucketOptions, Documents, Error, GcsOptions, S3Options};

use super::Config;
use super::secret::Secret;
use super::value::{DocumentStoreKind, Text};

impl Config {
    /// Where documents are kept.
    pub(crate) fn open_documents(&self) -> Result<Documents, Error> {
        let max_bytes = self.documents.max_bytes.0;
        let documents = match self.documents.kind {
            DocumentStoreKind::Memory => Documents::in_memory("in-memory", max_bytes),
            DocumentStoreKind::Directory => {
                let directory = self.data.directory.join(&self.documents.directory);
                Documents::in_directory("local", &directory, max_bytes)?
            }
            DocumentStoreKind::S3 => {
                let section = &self.documents_s3;
                let secret = text_of(&section.secret_access_key);
                let options = S3Options {
                    region: plain(section.region.as_ref()),
                    endpoint: plain(section.endpoint.as_ref()),
                    credentials: plain(section.access_key_id.as_ref()).zip(secret),
                };
                Documents::in_s3(&self.bucket(), &options, max_bytes)?
            }
            DocumentStoreKind::Gcs => {
                let section = &self.documents_gcs;
                let options = GcsOptions {
                    service_account: section.service_account.clone(),
                    endpoint: plain(section.endpoint.as_ref()),
                };
                Documents::in_gcs(&self.bucket(), &options, max_bytes)?
            }
            DocumentStoreKind::Azure => {
                let section = &self.documents_azure;
                let options = AzureOptions {
                    account: plain(section.account.as_ref()),
                    access_key: text_of(&section.access_key),
                    endpoint: plain(section.endpoint.as_ref()),
                };
                Documents::in_azure(&self.bucket(), &options, max_bytes)?
            }
        };
        Ok(documents.kept_for(self.documents.time_to_live))
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

    /// What is wrong with them, as far as they are in use.
    pub(super) fn contradictions_of_documents(&self) -> Vec<String> {
        let (kind, endpoint) = match self.documents.kind {
            DocumentStoreKind::Memory | DocumentStoreKind::Directory => return Vec::new(),
            DocumentStoreKind::S3 => ("s3", &self.documents_s3.endpoint),
            DocumentStoreKind::Gcs => ("gcs", &self.documents_gcs.endpoint),
            DocumentStoreKind::Azure => ("azure", &self.documents_azure.endpoint),
        };
        let mut wrong = Vec::new();
        match &self.documents_bucket.name {
            None => wrong.push(format!("'documents.kind' {kind} needs 'documents.bucket.name'")),
            Some(Text(name)) if !is_bucket_name(name) => {
                wrong.push(format!("'documents.bucket.name' is '{name}', which is no name of a bucket"));
            }
            Some(_) => {}
        }
        if let Some(Text(prefix)) = &self.documents_bucket.prefix
            && !BucketOptions::is_prefix(prefix)
        {
            wrong.push(format!(
                "'documents.bucket.prefix' is '{prefix}', which is no path without a slash at its ends"
            ));
        }
        // A URL that is wrong is not repeated: it may hold a password.
        if let Some(Text(url)) = endpoint
            && !is_url(url)
        {
            wrong.push(format!("'documents.{kind}.endpoint': expected a URL such as https://host:9000"));
        }
        let s3 = &self.documents_s3;
        if kind == "s3" && s3.access_key_id.is_some() != text_of(&s3.secret_access_key).is_some() {
            let (given, missing) = match &s3.access_key_id {
                Some(_) => ("access_key_id", "secret_access_key"),
                None => ("secret_access_key", "access_key_id"),
            };
            wrong.push(format!("'documents.s3.{given}' needs 'documents.s3.{missing}'"));
        }
        wrong
    }
}

fn plain(text: Option<&Text>) -> Option<String> {
    text.map(|Text(text)| text.clone())
}

fn text_of(secret: &Secret) -> Option<String> {
    (!secret.0.is_empty()).then(|| secret.0.clone())
}

/// What no cloud allows in a name would lead elsewhere.
fn is_bucket_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 255
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn is_url(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty() && !host.contains(|c: char| "@?#".contains(c) || c.is_whitespace())
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::with;

    #[test]
    fn settings_of_buckets_that_do_not_go_together_are_told() {
        for (file, mention) in [
            ("documents: {kind: ftp}", "expected directory, memory, s3, gcs or azure for 'documents.kind'"),
            ("documents: {kind: s3}", "'documents.kind' s3 needs 'documents.bucket.name'"),
            ("documents: {kind: gcs}", "'documents.kind' gcs needs 'documents.bucket.name'"),
            ("documents: {kind: s3, bucket: {name: a/b}}", "'documents.bucket.name' is 'a/b'"),
            (
                "documents: {kind: azure, bucket: {name: a, prefix: ../b}}",
                "'documents.bucket.prefix' is '../b'",
            ),
            ("documents: {kind: azure, bucket: {name: a, prefix: b/}}", "'documents.bucket.prefix' is 'b/'"),
            (
                "documents: {kind: s3, bucket: {name: a}, s3: {endpoint: 'host:9000'}}",
                "'documents.s3.endpoint': expected a URL",
            ),
            (
                "documents: {kind: s3, bucket: {name: a}, s3: {access_key_id: k}}",
                "'documents.s3.access_key_id' needs 'documents.s3.secret_access_key'",
            ),
            (
                "documents: {kind: s3, bucket: {name: a}, s3: {secret_access_key: hush}}",
                "'documents.s3.secret_access_key' needs 'documents.s3.access_key_id'",
            ),
        ] {
            let error = with(file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(mention), "{error}\ndoes not mention\n{mention}");
            assert!(!error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_bucket_is_opened_as_it_is_described() {
        let file = "documents: {kind: s3, bucket: {name: a, prefix: b/c}, s3: {access_key_id: k, secret_access_key: hush}}";
        let config = with(file, &[], &[]).unwrap();
        assert_eq!(config.open_documents().unwrap().store_id(), "aws");
        assert!(!format!("{config:?}").contains("hush"));
        assert_eq!(
            with("documents: {kind: memory}", &[], &[]).unwrap().open_documents().unwrap().store_id(),
            "in-memory"
        );
    }
}
