//! The ports of the server. All are taken before anything else is opened, so that a second server does no harm.

use tokio::net::TcpListener;

use super::ReadyLine;
use super::ready::OpenPorts;
use crate::config::{ClientPort, Config, is_loopback};
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
        let [rest, grpc, management] = config.client_ports();
        Ok(Self {
            rest: bind_for_clients(config, &rest).await?,
            grpc: bind_for_clients(config, &grpc).await?,
            management: bind_for_clients(config, &management).await?,
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

    /// The ports that ask for no credentials.
    pub(super) fn open(&self, config: &Config) -> Result<OpenPorts, Failure> {
        let mut open = OpenPorts { names: Vec::new(), are_reached: false };
        let listeners = [&self.rest, &self.grpc, &self.management];
        for (port, listener) in config.client_ports().iter().zip(listeners) {
            if !port.asks_for_credentials {
                let address = listener.local_addr().map_err(Failure::new)?;
                open.are_reached |= !is_loopback(address.ip());
                open.names.push(format!("{} {address}", port.section));
            }
        }
        Ok(open)
    }
}

/// Takes a port for clients, if it may be open to those who reach its address. A name is looked up once, so that it
/// leads nowhere else when the port is taken.
async fn bind_for_clients(config: &Config, port: &ClientPort<'_>) -> Result<TcpListener, Failure> {
    let (section, address) = (port.section, port.listen.as_str());
    let cannot = |error| cannot_listen(section, address, &error);
    let resolved: Vec<_> = tokio::net::lookup_host(address).await.map_err(cannot)?.collect();
    for one in &resolved {
        config.check_address(port, one.ip()).map_err(Failure::usage)?;
    }
    TcpListener::bind(&*resolved).await.map_err(cannot)
}

async fn bind(section: &str, address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| cannot_listen(section, address, &error))
}

fn cannot_listen(section: &str, address: &str, error: &std::io::Error) -> Failure {
    let failure = Failure::new(format!("cannot listen on {address} ({section}.listen): {error}"));
    let choice =
        if section == "peers" { "--set peers.listen=HOST:PORT" } else { &format!("--{section} HOST:PORT") };
    match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            failure.hint(format!("another server has this port; choose one with {choice}"))
        }
        _ => failure.hint(format!("choose another address with {choice}")),
    }
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
