//! Interpretation of the sections about OpenSearch and Elasticsearch.

use opensearch::{Limits, Options, OptionsError, RecordOptions, Secret};
use protocol::ValueType;
use secondary::OpensearchOptions;

use super::Config;
use super::value::{Names, StorageKind};

/// Both sections say in the same words how to reach the nodes, and how to keep things there.
macro_rules! with_nodes {
    ($options:ident, $section:ident, { $($name:ident: $value:expr),* $(,)? }) => {
        $options {
            client: Options {
                urls: $section.urls.0.clone(),
                username: $section.username.clone().map(|username| username.0),
                password: Secret::new(&*$section.password.0),
                authorities: $section.authorities.clone(),
                connect_timeout: $section.connect_timeout,
                request_timeout: $section.write_timeout,
            },
            index_prefix: $section.index_prefix.0.clone(),
            number_of_shards: $section.number_of_shards,
            number_of_replicas: $section.number_of_replicas,
            bulk: Limits { count: $section.bulk_count, bytes: $section.bulk_bytes.0 as usize },
            $($name: $value),*
        }
    };
}

impl Config {
    /// Secondary storage, if it is of this kind.
    pub(crate) fn opensearch_storage(&self) -> OpensearchOptions {
        let section = &self.secondary_storage_opensearch;
        let query_timeout = self.secondary_storage.query_timeout;
        with_nodes!(OpensearchOptions, section, { query_timeout: query_timeout })
    }

    /// The exporter of records.
    pub(crate) fn opensearch_records(&self) -> RecordOptions {
        let section = &self.export_opensearch;
        with_nodes!(RecordOptions, section, {
            delay: section.delay,
            include: value_types(&section.value_types).collect(),
            exclude: value_types(&section.excluded_value_types).collect(),
        })
    }

    /// Their errors, as far as they are in use.
    pub(super) fn contradictions_of_opensearch(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut check = |name: &str, client: &Options, prefix: &str| {
            // A URL that is wrong is not repeated: it may hold a password.
            let urls = |error: OptionsError| wrong.push(format!("'{name}.urls': {error}"));
            let _ = client.check().map_err(urls);
            if !is_prefix(prefix) {
                wrong.push(format!(
                    "'{name}.index_prefix' is '{prefix}', which is no prefix of small letters, digits, '-' and '_'"
                ));
            }
        };
        if self.secondary_storage.kind == StorageKind::Opensearch {
            let options = self.opensearch_storage();
            check("secondary_storage.opensearch", &options.client, &options.index_prefix);
        }
        if self.export_opensearch.enabled {
            let options = self.opensearch_records();
            check("export.opensearch", &options.client, &options.index_prefix);
        }
        let section = &self.export_opensearch;
        for (key, names) in
            [("value_types", &section.value_types), ("excluded_value_types", &section.excluded_value_types)]
        {
            let unknown = names.0.iter().find(|name| ValueType::from_name(name).is_none());
            wrong.extend(unknown.map(|name| format!("'export.opensearch.{key}': '{name}' is no value type")));
        }
        wrong
    }
}

fn value_types(names: &Names) -> impl Iterator<Item = ValueType> {
    names.0.iter().filter_map(|name| ValueType::from_name(name))
}

/// Whether names of indices may begin like this.
fn is_prefix(text: &str) -> bool {
    let is_fine =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    text.bytes().all(is_fine) && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use opensearch::{Limits, RecordOptions};
    use protocol::ValueType;
    use secondary::OpensearchOptions;

    use super::super::tests::with;
    use crate::config::Config;

    #[test]
    fn the_defaults_are_those_of_the_crates() {
        let config = Config::default();
        let url = "http://localhost:9200";
        assert_eq!(
            format!("{:?}", config.opensearch_storage()),
            format!("{:?}", OpensearchOptions::new(url))
        );
        assert_eq!(format!("{:?}", config.opensearch_records()), format!("{:?}", RecordOptions::new(url)));
    }

    #[test]
    fn settings_reach_the_options() {
        let file = "secondary_storage: {kind: opensearch, opensearch: {urls: 'https://a, https://b:1', username: me, password: hush}}\n\
            export: {opensearch: {enabled: true, value_types: 'JOB, VARIABLE', bulk_count: 7, bulk_bytes: 1MiB, delay: 0s}}";
        let config = with(file, &[], &[]).unwrap();
        let storage = config.opensearch_storage();
        assert_eq!(storage.client.urls, ["https://a", "https://b:1"]);
        assert_eq!(storage.client.username.as_deref(), Some("me"));
        assert_eq!(storage.client.password.reveal(), "hush");
        let records = config.opensearch_records();
        assert_eq!(records.include, [ValueType::Job, ValueType::Variable]);
        let Limits { count, bytes } = records.bulk;
        assert_eq!((count, bytes), (7, 1 << 20));
        assert!(!format!("{config:?} {storage:?}").contains("hush"));
    }

    #[test]
    fn what_is_wrong_is_told_without_secrets() {
        let storage =
            |section: &str| format!("secondary_storage: {{kind: opensearch, opensearch: {{{section}}}}}");
        for (file, wanted) in [
            (
                storage("urls: 'http://me:hush@a'"),
                "'secondary_storage.opensearch.urls': URL 1: name and password",
            ),
            (storage("urls: ''"), "'secondary_storage.opensearch.urls': there is no URL"),
            (storage("index_prefix: Upper"), "'secondary_storage.opensearch.index_prefix' is 'Upper'"),
            (storage("index_prefix: 'a,b'"), "is 'a,b'"),
            (
                "export: {opensearch: {value_types: JOBS}}".to_owned(),
                "'export.opensearch.value_types': 'JOBS' is no value type",
            ),
            (
                "export: {opensearch: {enabled: true, urls: 'ftp://a'}}".to_owned(),
                "'export.opensearch.urls': URL 1: it does not begin with",
            ),
        ] {
            let error = with(&file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(wanted) && !error.contains("hush"), "{file}: {error}");
        }
    }
}
