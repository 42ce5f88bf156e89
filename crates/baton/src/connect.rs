//! Which server a command talks to.

use std::time::Duration;

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
    /// How long a request may take.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = bench::duration)]
    request_timeout: Duration,
}

impl Target {
    /// A client of the server.
    pub(crate) fn connect(&self) -> Result<Client, Failure> {
        let client = match self.protocol {
            Protocol::Rest => RestClient::new(RestOptions {
                address: self.rest_address.clone(),
                connections: CONNECTIONS,
                request_timeout: self.request_timeout,
                ..RestOptions::default()
            })
            .map(Client::Rest),
            Protocol::Grpc => GrpcClient::new(GrpcOptions {
                address: self.grpc_address.clone(),
                connections: CONNECTIONS,
                request_timeout: self.request_timeout,
                ..GrpcOptions::default()
            })
            .map(Client::Grpc),
        };
        client.map_err(|error| Failure::request("use the server", &error))
    }
}
