//! The server of a command and its credentials, from options, variables and profiles.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use auth::ClientTls;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use clap_complete::ArgValueCandidates;
use client::{
    Client, ClientConfig, GrpcClient, GrpcOptions, ManagementClient, Protocol, RestClient, RestOptions,
};

use crate::complete;
use crate::failure::Failure;
use crate::layers::{Layers, ServerSettings};

/// Commands make few requests at a time.
const CONNECTIONS: usize = 1;
const REST_ADDRESS: &str = "http://localhost:8080";
const GRPC_ADDRESS: &str = "http://localhost:26500";
const MANAGEMENT_ADDRESS: &str = "http://localhost:9600";
/// How long a request may take unless told otherwise.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// A server, over either of its protocols.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// API: rest or grpc. Default: that of the given address, or REST.
    #[arg(long, help_heading = "Server")]
    protocol: Option<Protocol>,
    /// Address of the REST API. [default: http://localhost:8080] [env: BATON_REST_ADDRESS]
    #[arg(long, value_name = "URL", help_heading = "Server")]
    rest_address: Option<String>,
    /// Address of the gRPC API. [default: http://localhost:26500] [env: BATON_GRPC_ADDRESS]
    #[arg(long, value_name = "URL", help_heading = "Server")]
    grpc_address: Option<String>,
    #[command(flatten)]
    access: Access,
}

/// A server's REST API, for operations that gRPC does not have.
#[derive(Debug, clap::Args)]
pub(crate) struct RestTarget {
    /// Address of the REST API. [default: http://localhost:8080] [env: BATON_REST_ADDRESS]
    #[arg(long, value_name = "URL", help_heading = "Server")]
    rest_address: Option<String>,
    #[command(flatten)]
    access: Access,
}

/// A server's management port.
#[derive(Debug, clap::Args)]
pub(crate) struct ManagementTarget {
    /// Address of the management port. [default: http://localhost:9600] [env: BATON_MANAGEMENT_ADDRESS]
    #[arg(long, value_name = "URL", help_heading = "Server")]
    management_address: Option<String>,
    #[command(flatten)]
    access: Access,
}

/// How a request is made, and by whom.
#[derive(Debug, clap::Args)]
struct Access {
    /// Profile with the address and the credentials of a server: see `baton profiles`. [env: BATON_PROFILE]
    #[arg(long, value_name = "NAME", help_heading = "Server", add = ArgValueCandidates::new(complete::profiles))]
    profile: Option<String>,
    /// How long a request may take, such as 500ms, 10s or 1m. [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = "Server", value_parser = bench::duration)]
    request_timeout: Option<Duration>,
    /// User name; the password is read from BATON_PASSWORD. [env: BATON_USERNAME]
    #[arg(long, value_name = "NAME", help_heading = "Server", conflicts_with = "token")]
    username: Option<String>,
    /// Bearer token of the client. [env: BATON_TOKEN]
    #[arg(long, value_name = "TOKEN", help_heading = "Server")]
    token: Option<String>,
    /// PEM file with the authorities that sign the certificates of servers with https. Default: those that the
    /// machine trusts. [env: BATON_AUTHORITIES]
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    authorities: Option<PathBuf>,
    /// PEM file with the certificate chain for a server that asks for one. [env: BATON_CERTIFICATE_CHAIN]
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    certificate_chain: Option<PathBuf>,
    /// PEM file with the private key of that certificate. [env: BATON_PRIVATE_KEY]
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    private_key: Option<PathBuf>,
}

impl Access {
    /// The options, these addresses among them, over variables and the profile.
    fn layers(&self, addresses: ServerSettings) -> Result<Layers, Failure> {
        let options = ServerSettings {
            username: self.username.clone(),
            token: self.token.clone(),
            authorities: self.authorities.clone(),
            certificate_chain: self.certificate_chain.clone(),
            private_key: self.private_key.clone(),
            request_timeout: self.request_timeout,
            ..addresses
        };
        Layers::gather(options, self.profile.as_deref())
    }
}

/// How TLS is spoken, if an address asks for it; nothing is read otherwise.
fn tls(layers: &Layers, address: &str) -> Result<Option<Arc<ClientConfig>>, Failure> {
    if !address.starts_with("https://") && !address.starts_with("grpcs://") {
        return Ok(None);
    }
    let authorities = layers.first(|settings| settings.authorities.clone());
    let tls = ClientTls { authorities, certificate: layers.certificate()? };
    tls.config(&[]).map(Some).map_err(Failure::usage)
}

fn authorization(layers: &Layers) -> Result<Option<String>, Failure> {
    use crate::layers::Credentials as C;
    Ok(layers.credentials()?.map(|credentials| match credentials {
        C::Token(token) => format!("Bearer {token}"),
        C::Password { username, password } => {
            format!("Basic {}", STANDARD.encode(format!("{username}:{password}")))
        }
    }))
}

fn rest_options(layers: &Layers, address: String) -> Result<RestOptions, Failure> {
    Ok(RestOptions {
        connections: CONNECTIONS,
        request_timeout: layers.request_timeout(),
        authorization: authorization(layers)?,
        tls: tls(layers, &address)?,
        address,
    })
}

/// A client of the REST API that the layers name.
pub(crate) fn rest_client(layers: &Layers) -> Result<RestClient, Failure> {
    let address = layers.first(|settings| settings.rest_address.clone());
    let address = address.unwrap_or_else(|| REST_ADDRESS.to_owned());
    RestClient::new(rest_options(layers, address)?).map_err(unusable)
}

fn grpc_client(layers: &Layers) -> Result<GrpcClient, Failure> {
    let address = layers.first(|settings| settings.grpc_address.clone());
    let address = address.unwrap_or_else(|| GRPC_ADDRESS.to_owned());
    GrpcClient::new(GrpcOptions {
        connections: CONNECTIONS,
        request_timeout: layers.request_timeout(),
        authorization: authorization(layers)?,
        tls: tls(layers, &address)?,
        address,
        ..GrpcOptions::default()
    })
    .map_err(unusable)
}

fn unusable(error: client::Error) -> Failure {
    Failure::request("use the server", &error)
}

impl RestTarget {
    /// A client of the server.
    pub(crate) fn connect(&self) -> Result<RestClient, Failure> {
        let rest_address = self.rest_address.clone();
        rest_client(&self.access.layers(ServerSettings { rest_address, ..ServerSettings::default() })?)
    }
}

impl ManagementTarget {
    /// A client of the server's management port.
    pub(crate) fn connect(&self) -> Result<ManagementClient, Failure> {
        let management_address = self.management_address.clone();
        let layers =
            self.access.layers(ServerSettings { management_address, ..ServerSettings::default() })?;
        let address = layers.first(|settings| settings.management_address.clone());
        let address = address.unwrap_or_else(|| MANAGEMENT_ADDRESS.to_owned());
        ManagementClient::new(&rest_options(&layers, address)?).map_err(unusable)
    }
}

impl Target {
    /// A client of the server.
    pub(crate) fn connect(&self) -> Result<Client, Failure> {
        let layers = self.layers()?;
        match self.protocol.unwrap_or_else(|| layers.protocol()) {
            Protocol::Rest => rest_client(&layers).map(Client::Rest),
            Protocol::Grpc => grpc_client(&layers).map(Client::Grpc),
        }
    }

    fn layers(&self) -> Result<Layers, Failure> {
        self.access.layers(ServerSettings {
            rest_address: self.rest_address.clone(),
            grpc_address: self.grpc_address.clone(),
            ..ServerSettings::default()
        })
    }
}
