//! The ports of the server. All are taken before anything else is opened, so that a second server does no harm.

use gateway::Hosts;
use tokio::net::TcpListener;

use super::ReadyLine;
use crate::config::Config;
use crate::failure::Failure;

/// Where the server listens.
pub(super) struct Ports {
    pub(super) rest: TcpListener,
    pub(super) grpc: TcpListener,
    pub(super) management: TcpListener,
    /// For other brokers; only in a cluster.
    pub(super) peers: Option<TcpListener>,
}

impl Ports {
    pub(super) async fn bind(config: &Config) -> Result<Self, Failure> {
        let peers = if config.is_in_cluster() {
            Some(bind("peers", config.peers.listen.as_str()).await?)
        } else {
            None
        };
        Ok(Self {
            rest: bind("rest", config.rest.listen.as_str()).await?,
            grpc: bind("grpc", config.grpc.listen.as_str()).await?,
            management: bind("management", config.management.listen.as_str()).await?,
            peers,
        })
    }

    /// The ready message; its duration is not known yet.
    pub(super) fn ready_line(&self, config: &Config) -> Result<ReadyLine, Failure> {
        Ok(ReadyLine {
            rest: address_of(&self.rest)?,
            grpc: address_of(&self.grpc)?,
            management: address_of(&self.management)?,
            web: config
                .web
                .enabled
                .then(|| {
                    let has_tls = matches!(config.tls_of_rest(), Ok(Some(_)));
                    web_url(&self.rest, has_tls, config.web.base_path.0.as_str())
                })
                .transpose()?,
            data: config.data.directory.display().to_string(),
            milliseconds: 0,
        })
    }
}

async fn bind(section: &str, address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let failure = Failure::new(format!("cannot listen on {address} ({section}.listen): {error}"));
        let choice = if section == "peers" {
            "--set peers.listen=HOST:PORT"
        } else {
            &format!("--{section} HOST:PORT")
        };
        match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                failure.hint(format!("another server has this port; choose one with {choice}"))
            }
            _ => failure.hint(format!("choose another address with {choice}")),
        }
    })
}

/// The names that a port may be called by.
pub(super) fn hosts(
    listener: &TcpListener,
    config: &Config,
    has_authentication: bool,
) -> Result<Hosts, Failure> {
    let is_loopback = listener.local_addr().map_err(Failure::new)?.ip().is_loopback();
    Ok(config.hosts(is_loopback, has_authentication))
}

/// Where a browser on this machine finds the web application.
fn web_url(rest: &TcpListener, has_tls: bool, path: &str) -> Result<String, Failure> {
    let address = rest.local_addr().map_err(Failure::new)?;
    let scheme = if has_tls { "https" } else { "http" };
    Ok(if address.ip().is_unspecified() {
        format!("{scheme}://localhost:{}{path}", address.port())
    } else {
        format!("{scheme}://{address}{path}")
    })
}

fn address_of(listener: &TcpListener) -> Result<String, Failure> {
    listener.local_addr().map(|address| address.to_string()).map_err(Failure::new)
}
