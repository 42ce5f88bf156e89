//! Settings that all brokers of a cluster must have alike.

use std::collections::BTreeMap;

use super::Config;

/// Keys that each broker has its own values of: places on its machine, room in its memory and on its disk, its log, and
/// its place in the cluster. The list of brokers is compared by itself.
const OF_ONE_BROKER: [&str; 33] = [
    "backup.directory",
    "cluster.advertised_host",
    "cluster.brokers",
    "cluster.join",
    "cluster.node_id",
    "data.directory",
    "data.disk_check_interval",
    "data.min_free_bytes",
    "data.min_free_log_bytes",
    "documents.bucket.authorities",
    "documents.directory",
    "documents.gcs.service_account",
    "export.ndjson.directory",
    "export.opensearch.authorities",
    "grpc.listen",
    "log.cache_bytes",
    "logging.format",
    "logging.level",
    "management.listen",
    "peers.listen",
    "peers.tls.authorities",
    "peers.tls.certificate_chain",
    "peers.tls.private_key",
    "rest.listen",
    "secondary_storage.opensearch.authorities",
    "secondary_storage.sqlite.page_cache_bytes",
    "secondary_storage.sqlite.path",
    "secrets.directory",
    "security.authentication.oidc.authorities",
    "security.initialization",
    "state.page_cache_bytes",
    "state.value_cache_bytes",
    "tracing.endpoint",
];

impl Config {
    /// The values of settings that all brokers must have alike, by their keys. None is a secret.
    pub(crate) fn shared_settings(&self) -> BTreeMap<String, String> {
        let is_shared = |(key, _): &(&'static str, String)| !OF_ONE_BROKER.contains(key);
        self.shown().into_iter().filter(is_shared).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::with;
    use super::*;

    #[test]
    fn keys_of_one_broker_exist_and_all_others_are_shared_but_secrets() {
        let config = Config::default();
        let known: BTreeSet<&str> = config.shown().into_iter().map(|(key, _)| key).collect();
        for key in OF_ONE_BROKER {
            assert!(known.contains(key), "there is no key {key}");
        }
        let shared = config.shared_settings();
        assert_eq!(shared.len(), known.len() - OF_ONE_BROKER.len());
        for key in [
            "limits.max_message_bytes",
            "flow_control.max_limit",
            "security.authentication.method",
            "security.authorizations",
            "secondary_storage.kind",
            "secondary_storage.sqlite.copies",
            "multi_tenancy.enabled",
            "idempotency.keep",
            "peers.compression",
        ] {
            assert!(shared.contains_key(key), "{key}");
        }
    }

    #[test]
    fn no_secret_is_told() {
        let hush = "hush-hush-hush-hush-hush-hush-hush";
        let text = format!(
            "peers: {{listen: '127.0.0.1:1', secret: {hush}}}\n\
             secondary_storage.postgres: {{url: 'postgres://user:{hush}@host/db', password: {hush}}}\n\
             documents.s3: {{secret_access_key: {hush}}}\n"
        );
        let config = with(&text, &[], &[]).unwrap();
        assert!(config.shown().iter().all(|(_, value)| !value.contains(hush)));
        let other = with("limits: {max_message_bytes: 1MiB}\n", &[], &[]).unwrap().shared_settings();
        let differs = |(key, value): &(&String, &String)| other.get(*key) != Some(*value);
        let shared = Config::default().shared_settings();
        let differing: Vec<_> = shared.iter().filter(differs).map(|(key, _)| key.as_str()).collect();
        assert_eq!(differing, ["limits.max_message_bytes"]);
    }
}
