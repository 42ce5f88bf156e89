//! Which server a command talks to.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use client::{Client, GrpcClient, GrpcOptions, Protocol, RestClient, RestOptions};

use crate::failure::Failure;

/// Commands make few requests at a time.
const CONNECTIONS: usize = 1;

#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// Which API to use: rest or grpc.
    #[arg(long, default_value = "rest")]
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

/// How a request is made, and by whom.
#[derive(Debug, clap::Args)]
struct Access {
    /// How long a request may take.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = bench::duration)]
    request_timeout: Duration,
    /// Who asks; the password stands in BATON_PASSWORD.
    #[arg(long, value_name = "NAME", env = "BATON_USERNAME", conflicts_with = "token")]
    username: Option<String>,
    /// Password of the user.
    #[arg(long, env = "BATON_PASSWORD", hide = true, hide_env_values = true, requires = "username")]
    password: Option<String>,
    /// Bearer token of who asks.
    #[arg(long, value_name = "TOKEN", env = "BATON_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

impl Access {
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
        rest(&self.rest_address, &self.access).map_err(|error| Failure::request("use the server", &error))
    }
}

fn rest(address: &str, access: &Access) -> Result<RestClient, client::Error> {
    RestClient::new(RestOptions {
        address: address.to_owned(),
        connections: CONNECTIONS,
        request_timeout: access.request_timeout,
        authorization: access.authorization(),
    })
}

impl Target {
    /// A client of the server.
    pub(crate) fn connect(&self) -> Result<Client, Failure> {
        let client = match self.protocol {
            Protocol::Rest => rest(&self.rest_address, &self.access).map(Client::Rest),
            Protocol::Grpc => GrpcClient::new(GrpcOptions {
                address: self.grpc_address.clone(),
                connections: CONNECTIONS,
                request_timeout: self.access.request_timeout,
                authorization: self.access.authorization(),
                ..GrpcOptions::default()
            })
            .map(Client::Grpc),
        };
        client.map_err(|error| Failure::request("use the server", &error))
    }
}
