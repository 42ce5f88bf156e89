//! TLS for every port: certificates from PEM files, of clients too where asked, and anew when the files change.

#![expect(missing_docs, reason = "names say what is held")]

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use ring::digest::{Context, SHA256};
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// The longest file of certificates or keys, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    /// A file does not hold what it should.
    #[error("{}: {reason}", path.display())]
    Content { path: PathBuf, reason: String },
    /// Certificates and keys do not go together, or are of no use.
    #[error("TLS: {0}")]
    Rejected(String),
    /// The machine has no certificates of authorities, and none are named.
    #[error("there are no trusted authorities: {0}")]
    NoAuthorities(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientCertificates {
    /// A certificate that one of the authorities in this PEM file signed; without it there is no connection.
    Required(PathBuf),
    /// Likewise, if the client shows one at all.
    Optional(PathBuf),
}

/// Where a server's certificates are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain, the server's own first, as PEM.
    pub certificate_chain: PathBuf,
    /// The private key, as PEM (PKCS #8, PKCS #1 or SEC 1).
    pub private_key: PathBuf,
    /// Client certificates; not requested if absent.
    pub clients: Option<ClientCertificates>,
}

impl TlsFiles {
    fn read(&self) -> Result<Contents, TlsError> {
        let authorities = self.clients.as_ref().map(|clients| match clients {
            ClientCertificates::Required(path) | ClientCertificates::Optional(path) => path,
        });
        Ok(Contents {
            chain: read(&self.certificate_chain)?,
            key: read(&self.private_key)?,
            authorities: authorities.map(|path| read(path)).transpose()?.unwrap_or_default(),
        })
    }

    fn config(&self, contents: &Contents, protocols: &[Vec<u8>]) -> Result<Arc<ServerConfig>, TlsError> {
        let chain = certificates(&self.certificate_chain, &contents.chain)?;
        let key = private_key(&self.private_key, &contents.key)?;
        let builder = ServerConfig::builder_with_provider(crypto())
            .with_safe_default_protocol_versions()
            .map_err(rejected)?;
        let builder = match &self.clients {
            None => builder.with_no_client_auth(),
            Some(clients) => {
                let (path, is_required) = match clients {
                    ClientCertificates::Required(path) => (path, true),
                    ClientCertificates::Optional(path) => (path, false),
                };
                let roots = Arc::new(roots(path, &contents.authorities)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, crypto());
                let verifier = if is_required { verifier } else { verifier.allow_unauthenticated() };
                builder.with_client_cert_verifier(verifier.build().map_err(rejected)?)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(rejected)?;
        config.alpn_protocols = protocols.to_vec();
        Ok(Arc::new(config))
    }

    /// A client with the same certificate, which trusts the authorities for clients.
    fn client_config(&self, contents: &Contents) -> Result<Arc<ClientConfig>, TlsError> {
        let (ClientCertificates::Required(path) | ClientCertificates::Optional(path)) =
            self.clients.as_ref().ok_or_else(|| rejected("there are no authorities for the other side"))?;
        let chain = certificates(&self.certificate_chain, &contents.chain)?;
        let key = private_key(&self.private_key, &contents.key)?;
        let config = ClientConfig::builder_with_provider(crypto())
            .with_safe_default_protocol_versions()
            .map_err(rejected)?
            .with_root_certificates(roots(path, &contents.authorities)?)
            .with_client_auth_cert(chain, key)
            .map_err(rejected)?;
        Ok(Arc::new(config))
    }
}

/// Contents of the files.
struct Contents {
    chain: Vec<u8>,
    key: Vec<u8>,
    authorities: Vec<u8>,
}

impl Contents {
    fn fingerprint(&self) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        for part in [&self.chain, &self.key, &self.authorities] {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        context.finish().as_ref().try_into().expect("SHA-256 has 32 bytes")
    }
}

struct Loaded {
    config: Arc<ServerConfig>,
    client: Option<Arc<ClientConfig>>,
    fingerprint: [u8; 32],
    /// The last error, so that it is logged once.
    trouble: Option<String>,
}

/// The TLS of a port.
pub struct ServerTls {
    files: TlsFiles,
    protocols: Vec<Vec<u8>>,
    /// Whether this server connects to others of its kind, too.
    is_mutual: bool,
    loaded: Mutex<Loaded>,
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl ServerTls {
    /// Loads the files. `protocols` are offered to clients in this order, for example `h2` and `http/1.1` (ALPN,
    /// RFC 7301).
    pub fn load(files: TlsFiles, protocols: &[&[u8]]) -> Result<Self, TlsError> {
        Self::load_as(files, protocols, false)
    }

    /// Loads the files of a server that connects to others of its kind: with the same certificate, which it requires
    /// of them, too, and the authorities for clients.
    pub fn load_mutual(chain: PathBuf, key: PathBuf, authorities: PathBuf) -> Result<Self, TlsError> {
        let clients = Some(ClientCertificates::Required(authorities));
        Self::load_as(TlsFiles { certificate_chain: chain, private_key: key, clients }, &[], true)
    }

    fn load_as(files: TlsFiles, protocols: &[&[u8]], is_mutual: bool) -> Result<Self, TlsError> {
        let protocols: Vec<_> = protocols.iter().map(|name| name.to_vec()).collect();
        let contents = files.read()?;
        let config = files.config(&contents, &protocols)?;
        let client = is_mutual.then(|| files.client_config(&contents)).transpose()?;
        let loaded = Loaded { config, client, fingerprint: contents.fingerprint(), trouble: None };
        Ok(Self { files, protocols, is_mutual, loaded: Mutex::new(loaded) })
    }

    /// Accepts a connection with the certificates as they are now: ask for it per connection.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config())
    }

    /// The configuration as it is now.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.loaded.lock().config)
    }

    /// The configuration of connections to others of its kind, as it is now; only after [`Self::load_mutual`].
    pub fn client_config(&self) -> Option<Arc<ClientConfig>> {
        self.loaded.lock().client.clone()
    }

    /// Reads the files again; gives whether they were others than before. Connections that there are go on.
    ///
    /// # Errors
    /// [`TlsError`]; then the former certificates stay in use.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let contents = self.files.read()?;
        let fingerprint = contents.fingerprint();
        if self.loaded.lock().fingerprint == fingerprint {
            return Ok(false);
        }
        let config = self.files.config(&contents, &self.protocols)?;
        let client = self.is_mutual.then(|| self.files.client_config(&contents)).transpose()?;
        *self.loaded.lock() = Loaded { config, client, fingerprint, trouble: None };
        Ok(true)
    }

    /// Reads the files again and again, with `pause` in between, until the future is dropped. Files are compared by
    /// content: what mounts secrets swaps links, and times may stay.
    pub async fn watch(self: Arc<Self>, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            let this = Arc::clone(&self);
            let result = tokio::task::spawn_blocking(move || this.reload()).await;
            match result {
                Ok(Ok(true)) => {
                    tracing::info!(file = ?self.files.certificate_chain, "TLS certificates changed");
                }
                Ok(Ok(false)) => self.loaded.lock().trouble = None,
                Ok(Err(error)) => self.complain(error.to_string()),
                Err(error) => self.complain(error.to_string()),
            }
        }
    }

    fn complain(&self, trouble: String) {
        let mut loaded = self.loaded.lock();
        if loaded.trouble.as_ref() != Some(&trouble) {
            tracing::error!(
                error = trouble,
                "TLS certificates cannot be loaded anew; the former stay in use"
            );
            loaded.trouble = Some(trouble);
        }
    }
}

/// How connections to others are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTls {
    /// Authorities to trust, as a PEM file; without it those that the machine trusts.
    pub authorities: Option<PathBuf>,
    /// Certificate chain and private key to show, as PEM files.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl ClientTls {
    /// Loads the files. `protocols` are offered to the server in this order. Reads files: not for a thread that
    /// must not block.
    pub fn config(&self, protocols: &[&[u8]]) -> Result<Arc<ClientConfig>, TlsError> {
        let roots = match &self.authorities {
            Some(path) => roots(path, &read(path)?)?,
            None => machine_roots()?,
        };
        let builder = ClientConfig::builder_with_provider(crypto())
            .with_safe_default_protocol_versions()
            .map_err(rejected)?
            .with_root_certificates(roots);
        let mut config = match &self.certificate {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let certificates = certificates(chain, &read(chain)?)?;
                builder
                    .with_client_auth_cert(certificates, private_key(key, &read(key)?)?)
                    .map_err(rejected)?
            }
        };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(Arc::new(config))
    }
}

/// Named here once, so that it does not depend on what other crates turn on.
fn crypto() -> Arc<CryptoProvider> {
    Arc::new(provider::default_provider())
}

fn rejected(error: impl fmt::Display) -> TlsError {
    TlsError::Rejected(error.to_string())
}

fn content(path: &Path, reason: impl fmt::Display) -> TlsError {
    TlsError::Content { path: path.to_owned(), reason: reason.to_string() }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let failed = |error| TlsError::File { path: path.to_owned(), error };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(content(path, format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.map_err(|error| content(path, error))?;
    if certificates.is_empty() {
        return Err(content(path, "it has no certificate (PEM)"));
    }
    Ok(certificates)
}

fn private_key(path: &Path, pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    // The error of the parser may quote the file.
    PrivateKeyDer::from_pem_slice(pem)
        .map_err(|_| content(path, "it has no private key (PEM, not encrypted)"))
}

fn roots(path: &Path, pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, pem)? {
        roots.add(certificate).map_err(|error| content(path, error))?;
    }
    Ok(roots)
}

fn machine_roots() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(TlsError::NoAuthorities(errors.join("; ")));
    }
    Ok(roots)
}
