//! Interpretation of the sections about documents.

#[cfg(feature = "buckets")]
mod buckets;

use documents::{BucketOptions, Documents, Error, Stores};

use super::Config;
use super::secret::Secret;
use super::value::{DocumentStoreKind, Text};

impl Config {
    /// Where documents are kept.
    pub(crate) fn open_documents(&self) -> Result<Stores, Error> {
        let mut stores = Vec::new();
        if self.documents.kind != DocumentStoreKind::None {
            stores.push(self.open_first()?);
        }
        for (name, config) in self.documents.stores.resolved(self) {
            let named = |error: Error| Error::Invalid(format!("store '{name}': {error}"));
            let store =
                config.map_err(Error::Invalid).and_then(|config| config.open_first()).map_err(named)?;
            stores.push(store.called(name));
        }
        Stores::new(self.default_documents().unwrap_or_default(), stores)
    }

    /// ID of the store that is meant if nobody names one.
    fn default_documents(&self) -> Option<&str> {
        let mut names = self.documents.stores.names();
        match (&self.documents.default_store, self.documents.kind) {
            (Some(Text(id)), _) => Some(id),
            (None, DocumentStoreKind::None) => names.next().filter(|_| names.next().is_none()),
            (None, kind) => id_of(kind),
        }
    }

    /// The store that has no name in the configuration.
    fn open_first(&self) -> Result<Documents, Error> {
        let max_bytes = self.documents.max_bytes.0;
        let kind = self.documents.kind;
        let id = id_of(kind).ok_or_else(|| Error::Invalid("'kind' is none".to_owned()))?;
        let documents = match kind {
            DocumentStoreKind::Memory | DocumentStoreKind::None => Documents::in_memory(id, max_bytes),
            DocumentStoreKind::Directory => {
                let directory = self.data.directory.join(&self.documents.directory);
                Documents::in_directory(id, &directory, max_bytes, self.data.min_free_bytes.0)?
            }
            #[cfg(feature = "buckets")]
            DocumentStoreKind::S3 | DocumentStoreKind::Gcs | DocumentStoreKind::Azure => {
                self.open_bucket()?
            }
            #[cfg(not(feature = "buckets"))]
            DocumentStoreKind::S3 | DocumentStoreKind::Gcs | DocumentStoreKind::Azure => {
                unreachable!("no bucket is built in, and the configuration was checked for that")
            }
        };
        Ok(documents.called(id).kept_for(self.documents.time_to_live))
    }

    /// Their errors, as far as they are in use.
    pub(super) fn contradictions_of_documents(&self) -> Vec<String> {
        let mut wrong = self.contradictions_of_first();
        let mut ids: Vec<&str> = id_of(self.documents.kind).into_iter().collect();
        for (name, config) in self.documents.stores.resolved(self) {
            let reasons = match config {
                Ok(config) => config.contradictions_of_first(),
                Err(reason) => vec![reason],
            };
            wrong.extend(reasons.iter().map(|reason| format!("'documents.stores': {name}: {reason}")));
            if ids.contains(&name) {
                wrong.push(format!("'documents.stores': there is a store '{name}' already"));
            }
            ids.push(name);
        }
        match self.default_documents() {
            Some(id) if ids.contains(&id) => {}
            Some(id) => {
                let known = ids.join(", ");
                wrong.push(format!("'documents.default_store' is '{id}', but there are only {known}"));
            }
            None if ids.is_empty() => {
                wrong.push("'documents.kind' none needs 'documents.stores'".to_owned());
            }
            None => wrong.push("several 'documents.stores' need 'documents.default_store'".to_owned()),
        }
        wrong
    }

    /// Errors of the store without a name.
    fn contradictions_of_first(&self) -> Vec<String> {
        let (kind, endpoint) = match self.documents.kind {
            DocumentStoreKind::Memory | DocumentStoreKind::Directory | DocumentStoreKind::None => {
                return Vec::new();
            }
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

/// ID of the store without a name, for clients.
fn id_of(kind: DocumentStoreKind) -> Option<&'static str> {
    match kind {
        DocumentStoreKind::Directory => Some("local"),
        DocumentStoreKind::Memory => Some("in-memory"),
        DocumentStoreKind::S3 => Some("aws"),
        DocumentStoreKind::Gcs => Some("gcp"),
        DocumentStoreKind::Azure => Some("azure"),
        DocumentStoreKind::None => None,
    }
}

fn text_of(secret: &Secret) -> Option<String> {
    (!secret.0.is_empty()).then(|| secret.0.clone())
}

/// A name that no cloud allows would lead elsewhere.
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
    use super::super::Config;
    use super::super::tests::with;

    #[test]
    fn settings_of_buckets_that_do_not_go_together_are_told() {
        for (file, mention) in [
            (
                "documents: {kind: ftp}",
                "expected directory, memory, s3, gcs, azure or none for 'documents.kind'",
            ),
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
        assert_eq!(ids(&config), ["aws"]);
        assert!(!format!("{config:?}").contains("hush"));
        assert_eq!(ids(&with("documents: {kind: memory}", &[], &[]).unwrap()), ["in-memory"]);
    }

    /// The IDs of the stores, the default first.
    fn ids(config: &Config) -> Vec<String> {
        let stores = config.open_documents().unwrap();
        let default = stores.get(None).unwrap().store_id().to_owned();
        let others = stores.iter().map(|store| store.store_id().to_owned()).filter(|id| *id != default);
        std::iter::once(default.clone()).chain(others).collect()
    }

    #[test]
    fn stores_have_names_and_one_is_the_default() {
        let read = |documents: &str| with(&format!("documents: {{{documents}}}"), &[], &[]);
        let two = "stores: 'a kind=memory; b.1 kind=s3 bucket.name=x s3.region=eu-west-1'";
        for (documents, expected) in [
            (format!("kind: memory, {two}"), ["in-memory", "a", "b.1"].as_slice()),
            (format!("kind: memory, default_store: b.1, {two}"), &["b.1", "a", "in-memory"]),
            (format!("kind: none, default_store: a, {two}"), &["a", "b.1"]),
            ("kind: none, stores: 'only kind=memory'".to_owned(), &["only"]),
        ] {
            assert_eq!(ids(&read(&documents).unwrap()), expected, "{documents}");
        }
        for (documents, mention) in [
            ("stores: 'a'", "'documents.stores': a: it needs 'kind'"),
            (
                "stores: 'a kind=ftp'",
                "expected directory, memory, s3, gcs, azure or none for 'documents.kind'",
            ),
            ("stores: 'a kind=s3'", "a: 'documents.kind' s3 needs 'documents.bucket.name'"),
            ("stores: 'a kind=none'", "a: 'kind' none is no store"),
            ("stores: 'a kind=directory'", "a: 'kind' directory needs 'directory'"),
            ("stores: 'a kind=memory color=red'", "a: there is no key 'color'"),
            ("stores: 'a kind=memory stores=b'", "a: there is no key 'stores'"),
            ("stores: 'a/b kind=memory'", "expected stores such as"),
            ("stores: 'a kind'", "expected stores such as"),
            ("stores: 'a kind=memory; a kind=memory'", "there is a store 'a' already"),
            ("stores: 'local kind=memory'", "there is a store 'local' already"),
            ("default_store: b", "'documents.default_store' is 'b', but there are only local"),
            ("kind: none", "'documents.kind' none needs 'documents.stores'"),
            ("kind: none, stores: 'a kind=memory; b kind=memory'", "need 'documents.default_store'"),
            (
                "stores: 'a kind=s3 bucket.name=b s3.access_key_id=k s3.secret_access_key=hush x'",
                "something else",
            ),
            (
                "stores: 'a kind=s3 bucket.name=b s3.secret_access_key=hush'",
                "needs 'documents.s3.access_key_id'",
            ),
        ] {
            let error = read(documents).unwrap_err().to_string();
            assert!(error.contains(mention), "{error}\ndoes not mention\n{mention}");
            assert!(!error.contains("hush"), "{error}");
        }
        let shown = format!("{:?}", read("stores: 'a kind=memory s3.secret_access_key=hush'").unwrap());
        assert!(!shown.contains("hush"), "{shown}");
    }

    #[test]
    fn limits_that_a_store_does_not_say_are_those_of_the_first() {
        let file = "documents: {kind: s3, max_bytes: 7KiB, time_to_live: 1h, bucket: {name: a, prefix: p, retries_max: 9}, \
                    stores: 'b kind=s3 bucket.name=b time_to_live=2h; c kind=memory'}";
        let config = with(file, &[], &[]).unwrap();
        let stores = config.documents.stores.resolved(&config);
        let [(_, Ok(b)), (_, Ok(c))] = &stores[..] else { panic!("{stores:?}") };
        assert_eq!((b.documents.max_bytes.0, c.documents.max_bytes.0), (7 << 10, 7 << 10));
        assert_eq!((b.documents.time_to_live.as_secs(), c.documents.time_to_live.as_secs()), (7200, 3600));
        assert_eq!((b.documents_bucket.retries_max, &b.documents_bucket.prefix), (9, &None));
    }
}
