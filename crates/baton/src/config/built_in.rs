//! Parts that a build may leave out, each a cargo feature: settings that need one are refused in a program without it.

use super::Config;
use super::value::{DocumentStoreKind, StorageKind};

/// Whether a kind of store for documents is in a cloud.
fn is_bucket(kind: DocumentStoreKind) -> bool {
    matches!(kind, DocumentStoreKind::S3 | DocumentStoreKind::Gcs | DocumentStoreKind::Azure)
}

impl Config {
    /// Settings that need a part of the program that is not there.
    pub(super) fn not_built_in(&self) -> Vec<String> {
        let kind = self.secondary_storage.kind;
        let has_bucket = is_bucket(self.documents.kind);
        let named = self.documents.stores.resolved(self);
        let has_named_bucket =
            named.into_iter().any(|(_, store)| store.is_ok_and(|store| is_bucket(store.documents.kind)));
        let needs = [
            (kind == StorageKind::Postgres, cfg!(feature = "postgres"), "secondary_storage.kind", "postgres"),
            (
                kind == StorageKind::Opensearch,
                cfg!(feature = "opensearch"),
                "secondary_storage.kind",
                "opensearch",
            ),
            (
                self.export_opensearch.enabled,
                cfg!(feature = "opensearch"),
                "export.opensearch.enabled",
                "opensearch",
            ),
            (self.web.enabled, cfg!(feature = "web"), "web.enabled", "web"),
            (has_bucket, cfg!(feature = "buckets"), "documents.kind", "buckets"),
            (has_named_bucket, cfg!(feature = "buckets"), "documents.stores", "buckets"),
        ];
        let lacks = needs.iter().filter(|(is_needed, is_there, ..)| *is_needed && !is_there);
        lacks
            .map(|(_, _, key, feature)| {
                format!(
                    "'{key}': this program was built without the cargo feature '{feature}', which this needs"
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::with;

    #[test]
    fn what_is_not_built_in_is_refused_by_its_key() {
        for (file, key, is_there) in [
            ("secondary_storage: {kind: postgres}", "secondary_storage.kind", cfg!(feature = "postgres")),
            ("secondary_storage: {kind: opensearch}", "secondary_storage.kind", cfg!(feature = "opensearch")),
            (
                "export: {opensearch: {enabled: true}}",
                "export.opensearch.enabled",
                cfg!(feature = "opensearch"),
            ),
            ("web: {enabled: true}", "web.enabled", cfg!(feature = "web")),
            ("documents: {kind: s3, bucket: {name: abc}}", "documents.kind", cfg!(feature = "buckets")),
        ] {
            match with(file, &[], &[]) {
                Ok(_) => assert!(is_there, "{file}"),
                Err(error) => {
                    let told = format!("{error:?}");
                    assert!(
                        !is_there && told.contains(key) && told.contains("cargo feature"),
                        "{file}: {told}"
                    );
                }
            }
        }
    }
}
