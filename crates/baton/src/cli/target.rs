//! The server of a command and its credentials, from options, variables and profiles.

use std::path::PathBuf;
use std::time::Duration;

use clap_complete::ArgValueCandidates;
use client::{Client, ManagementClient, Protocol, RestClient};

use crate::complete;
use crate::connect::{grpc_client, management_client, rest_client};
use crate::failure::Failure;
use crate::layers::Layers;
use crate::server_settings::ServerSettings;

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
        management_client(
            &self.access.layers(ServerSettings { management_address, ..ServerSettings::default() })?,
        )
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
