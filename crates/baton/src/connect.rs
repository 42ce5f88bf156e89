//! Which server a command talks to.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use auth::ClientTls;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use clap::builder::ArgPredicate;
use client::{
    Client, ClientConfig, GrpcClient, GrpcOptions, ManagementClient, Protocol, RestClient, RestOptions,
};

use crate::failure::Failure;

/// Commands make few requests at a time.
const CONNECTIONS: usize = 1;

#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// API: rest or grpc. Default: that of the given address, or REST.
    #[arg(long, default_value = "rest", default_value_ifs = [
        ("rest_address", ArgPredicate::IsPresent, "rest"),
        ("grpc_address", ArgPredicate::IsPresent, "grpc"),
    ])]
    protocol: Protocol,
    /// Address of the REST API.
    #[arg(long, value_name = "URL", default_value = "http://localhost:8080", env = "BATON_REST_ADDRESS")]
    rest_address: String,
    /// Address of the gRPC API.
    #[arg(long, value_name = "URL", default_value = "http://localhost:26500", env = "BATON_GRPC_ADDRESS")]
    grpc_address: String,
    #[command(flatten)]
    access: Access,
}

/// A server's REST API, for what gRPC does not have.
#[derive(Debug, clap::Args)]
pub(crate) struct RestTarget {
    /// Address of the REST API.
    #[arg(long, value_name = "URL", default_value = "http://localhost:8080", env = "BATON_REST_ADDRESS")]
    rest_address: String,
    #[command(flatten)]
    access: Access,
}

/// A server's management port.
#[derive(Debug, clap::Args)]
pub(crate) struct ManagementTarget {
    /// Address of the management port.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://localhost:9600",
        env = "BATON_MANAGEMENT_ADDRESS"
    )]
    management_address: String,
    #[command(flatten)]
    access: Access,
}

/// How a request is made, and by whom.
#[derive(Debug, clap::Args)]
struct Access {
    /// How long a request may take.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = bench::duration)]
    request_timeout: Duration,
    /// User name; the password is read from BATON_PASSWORD.
    #[arg(long, value_name = "NAME", env = "BATON_USERNAME", conflicts_with = "token")]
    username: Option<String>,
    /// Password of the user.
    #[arg(long, env = "BATON_PASSWORD", hide = true, hide_env_values = true, requires = "username")]
    password: Option<String>,
    /// Bearer token of the client.
    #[arg(long, value_name = "TOKEN", env = "BATON_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// PEM file with the authorities that sign the certificates of servers with https. Default: those that the
    /// machine trusts.
    #[arg(long, value_name = "FILE", env = "BATON_AUTHORITIES")]
    authorities: Option<PathBuf>,
    /// PEM file with the certificate chain to show to a server that asks for one.
    #[arg(long, value_name = "FILE", env = "BATON_CERTIFICATE_CHAIN", requires = "private_key")]
    certificate_chain: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    #[arg(long, value_name = "FILE", env = "BATON_PRIVATE_KEY", requires = "certificate_chain")]
    private_key: Option<PathBuf>,
}

impl Access {
    /// How TLS is spoken, if an address asks for it; nothing is read otherwise.
    fn tls(&self, address: &str) -> Result<Option<Arc<ClientConfig>>, Failure> {
        if !address.starts_with("https://") && !address.starts_with("grpcs://") {
            return Ok(None);
        }
        let certificate = self.certificate_chain.clone().zip(self.private_key.clone());
        let tls = ClientTls { authorities: self.authorities.clone(), certificate };
        tls.config(&[]).map(Some).map_err(Failure::usage)
    }

    fn authorization(&self) -> Option<String> {
        if let Some(token) = &self.token {
            return Some(format!("Bearer {token}"));
        }
        let username = self.username.as_ref()?;
        let password = self.password.as_deref().unwrap_or_default();
        Some(format!("Basic {}", STANDARD.encode(format!("{username}:{password}"))))
    }
}

impl RestTarget {
    /// A client of the server.
    pub(crate) fn connect(&self) -> Result<RestClient, Failure> {
        RestClient::new(rest(&self.rest_address, &self.access)?).map_err(unusable)
    }
}

impl ManagementTarget {
    /// A client of the server's management port.
    pub(crate) fn connect(&self) -> Result<ManagementClient, Failure> {
        ManagementClient::new(&rest(&self.management_address, &self.access)?).map_err(unusable)
    }
}

fn rest(address: &str, access: &Access) -> Result<RestOptions, Failure> {
    Ok(RestOptions {
        address: address.to_owned(),
        connections: CONNECTIONS,
        request_timeout: access.request_timeout,
        authorization: access.authorization(),
        tls: access.tls(address)?,
    })
}

fn unusable(error: client::Error) -> Failure {
    Failure::request("use the server", &error)
}

impl Target {
    /// A client of the server.
    pub(crate) fn connect(&self) -> Result<Client, Failure> {
        let client = match self.protocol {
            Protocol::Rest => RestClient::new(rest(&self.rest_address, &self.access)?).map(Client::Rest),
            Protocol::Grpc => GrpcClient::new(GrpcOptions {
                address: self.grpc_address.clone(),
                connections: CONNECTIONS,
                request_timeout: self.access.request_timeout,
                authorization: self.access.authorization(),
                tls: self.access.tls(&self.grpc_address)?,
                ..GrpcOptions::default()
            })
            .map(Client::Grpc),
        };
        client.map_err(unusable)
    }
}
