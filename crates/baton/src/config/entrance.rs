//! The keys that say who comes in without credentials, and how the first one does who has some.

use super::schema::{KeyInfo, read};
use super::source::{Entry, Problem};
use super::value::{Setting, Text};

/// A key below its section: name, purpose, default.
type Described = (&'static str, &'static [&'static str], String);

fn below(section: &str, keys: impl IntoIterator<Item = Described>) -> Vec<KeyInfo> {
    let info = |(name, docs, default)| KeyInfo { path: format!("{section}.{name}"), docs, default };
    keys.into_iter().map(info).collect()
}

/// Of all ports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntranceKeys {
    /// Whether ports that ask for no credentials may listen on other addresses than loopback.
    pub open: bool,
    /// Whether the first administrator can be created without credentials; `None`: on loopback.
    pub setup: Option<bool>,
    /// Name of a user that is created with a generated password.
    pub first_administrator: Option<Text>,
}

impl EntranceKeys {
    /// Sets the key of a name; `key` is its whole path. `None` when there is no such key.
    pub(crate) fn set(&mut self, name: &str, key: &str, entry: &Entry) -> Option<Result<(), Problem>> {
        Some(match name {
            "open" => read(entry, key).map(|value| self.open = value),
            "setup" => read(entry, key).map(|value| self.setup = value),
            "first_administrator" => read(entry, key).map(|value| self.first_administrator = value),
            _ => return None,
        })
    }

    /// The keys of a section, in the order of the file.
    pub(crate) fn describe(section: &str) -> Vec<KeyInfo> {
        let Self { open, setup, first_administrator } = Self::default();
        let keys: [Described; 3] = [
            (
                "open",
                &[
                    "Whether ports that ask for no credentials may listen on other addresses than loopback, where",
                    "everybody who reaches them has all permissions.",
                ],
                open.show(),
            ),
            (
                "setup",
                &[
                    "Whether POST /v2/setup/user may create the first administrator without credentials: with method",
                    "basic, while there has never been one, unless security.initialization names users or",
                    "administrators. By default, if rest.listen is a loopback address and there is no",
                    "security.first_administrator.",
                ],
                setup.show(),
            ),
            (
                "first_administrator",
                &[
                    "Name of a user with the role admin, created at start with method basic while there has never been",
                    "one. The password is generated, and is in the file first-administrator of data.directory.",
                ],
                first_administrator.show(),
            ),
        ];
        below(section, keys)
    }
}

/// Of the management port.
#[derive(Debug, Clone, PartialEq)]
pub struct GateKeys {
    /// Whether requests need credentials; `None`: as those of clients.
    pub authentication: Option<bool>,
    /// Whether probes never do.
    pub open_probes: bool,
    /// Whether metrics never do.
    pub open_metrics: bool,
}

impl Default for GateKeys {
    fn default() -> Self {
        Self { authentication: None, open_probes: true, open_metrics: true }
    }
}

impl GateKeys {
    /// Sets the key of a name; `key` is its whole path. `None` when there is no such key.
    pub(crate) fn set(&mut self, name: &str, key: &str, entry: &Entry) -> Option<Result<(), Problem>> {
        Some(match name {
            "authentication" => read(entry, key).map(|value| self.authentication = value),
            "open_probes" => read(entry, key).map(|value| self.open_probes = value),
            "open_metrics" => read(entry, key).map(|value| self.open_metrics = value),
            _ => return None,
        })
    }

    /// The keys of a section, in the order of the file.
    pub(crate) fn describe(section: &str) -> Vec<KeyInfo> {
        let Self { authentication, open_probes, open_metrics } = Self::default();
        let keys: [Described; 3] = [
            (
                "authentication",
                &[
                    "Whether requests need credentials and, with authorizations, SYSTEM READ or UPDATE; by default, if",
                    "security.authentication.method is other than none.",
                ],
                authentication.show(),
            ),
            ("open_probes", &["Whether probes never need credentials."], open_probes.show()),
            ("open_metrics", &["Whether metrics never need credentials."], open_metrics.show()),
        ];
        below(section, keys)
    }
}
