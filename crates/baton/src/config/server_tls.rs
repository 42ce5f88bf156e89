//! The keys that the TLS of each port for clients has.

use std::path::PathBuf;

use super::schema::{KeyInfo, read};
use super::source::{Entry, Problem};
use super::value::{ClientCertificateMode, Setting};

/// TLS of a port for clients.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTlsKeys {
    /// PEM file with the certificate chain.
    pub certificate_chain: Option<PathBuf>,
    /// PEM file with the private key.
    pub private_key: Option<PathBuf>,
    /// Whether clients show certificates.
    pub client_certificates: ClientCertificateMode,
    /// PEM file with the authorities for those.
    pub client_authorities: Option<PathBuf>,
}

impl Default for ServerTlsKeys {
    fn default() -> Self {
        Self {
            certificate_chain: None,
            private_key: None,
            client_certificates: ClientCertificateMode::None,
            client_authorities: None,
        }
    }
}

impl ServerTlsKeys {
    /// Sets the key of a name; `key` is its whole path. `None` when there is no such key.
    pub(crate) fn set(&mut self, name: &str, key: &str, entry: &Entry) -> Option<Result<(), Problem>> {
        Some(match name {
            "certificate_chain" => read(entry, key).map(|value| self.certificate_chain = value),
            "private_key" => read(entry, key).map(|value| self.private_key = value),
            "client_certificates" => read(entry, key).map(|value| self.client_certificates = value),
            "client_authorities" => read(entry, key).map(|value| self.client_authorities = value),
            _ => return None,
        })
    }

    /// The keys of a section, in the order of the file.
    pub(crate) fn describe(section: &str) -> Vec<KeyInfo> {
        let defaults = Self::default();
        let keys: [(&str, &'static [&'static str], String); 4] = [
            (
                "certificate_chain",
                &[
                    "PEM file with the certificate chain, the server's own first. Without it connections are not encrypted.",
                ],
                defaults.certificate_chain.show(),
            ),
            ("private_key", &["PEM file with the private key."], defaults.private_key.show()),
            (
                "client_certificates",
                &["Client certificates: none, optional or required."],
                defaults.client_certificates.show(),
            ),
            (
                "client_authorities",
                &["PEM file with the authorities that sign the certificates of clients."],
                defaults.client_authorities.show(),
            ),
        ];
        let info = |(name, docs, default)| KeyInfo { path: format!("{section}.{name}"), docs, default };
        keys.map(info).into()
    }
}
