//! Keys of the secret by which the brokers of a cluster know each other.

use std::path::PathBuf;

use super::schema::{KeyInfo, read};
use super::secret::Secret;
use super::source::{Entry, Problem};
use super::value::Setting;

/// Where the secret is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerSecretKeys {
    /// The secret itself.
    pub secret: Secret,
    /// A file with nothing else in it.
    pub secret_file: Option<PathBuf>,
}

impl PeerSecretKeys {
    /// Sets the key of a name; `key` is its whole path. `None` when there is no such key.
    pub(crate) fn set(&mut self, name: &str, key: &str, entry: &Entry) -> Option<Result<(), Problem>> {
        Some(match name {
            "secret" => read(entry, key).map(|value| self.secret = value),
            "secret_file" => read(entry, key).map(|value| self.secret_file = value),
            _ => return None,
        })
    }

    /// The keys, in the order of the file.
    pub(crate) fn describe(section: &str) -> Vec<KeyInfo> {
        let defaults = Self::default();
        let info = |name, docs, default| KeyInfo { path: format!("{section}.{name}"), docs, default };
        vec![
            info(
                "secret",
                &["A secret of 32 characters or more that all brokers of the cluster have, and nobody else."],
                defaults.secret.show(),
            ),
            info(
                "secret_file",
                &["A file with that secret in it, in place of peers.secret."],
                defaults.secret_file.show(),
            ),
        ]
    }

    pub(super) fn is_given(&self) -> bool {
        !self.secret.0.is_empty() || self.secret_file.is_some()
    }
}
