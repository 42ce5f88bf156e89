//! Clients of the server that layers name.

use std::sync::Arc;

use auth::ClientTls;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use client::{ClientConfig, GrpcClient, GrpcOptions, ManagementClient, RestClient, RestOptions};

use crate::failure::Failure;
use crate::layers::{Credentials, Layers};

/// Commands make few requests at a time.
const CONNECTIONS: usize = 1;
const REST_ADDRESS: &str = "http://localhost:8080";
const GRPC_ADDRESS: &str = "http://localhost:26500";
const MANAGEMENT_ADDRESS: &str = "http://localhost:9600";

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
    Ok(layers.credentials()?.map(|credentials| match credentials {
        Credentials::Token(token) => format!("Bearer {token}"),
        Credentials::Password { username, password } => {
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

/// A client of the gRPC API that the layers name.
pub(crate) fn grpc_client(layers: &Layers) -> Result<GrpcClient, Failure> {
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

/// A client of the management port that the layers name.
pub(crate) fn management_client(layers: &Layers) -> Result<ManagementClient, Failure> {
    let address = layers.first(|settings| settings.management_address.clone());
    let address = address.unwrap_or_else(|| MANAGEMENT_ADDRESS.to_owned());
    ManagementClient::new(&rest_options(layers, address)?).map_err(unusable)
}

fn unusable(error: client::Error) -> Failure {
    Failure::request("use the server", &error)
}
