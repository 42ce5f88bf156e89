//! Operations of the management port.

use std::collections::BTreeMap;

use http::StatusCode;

use super::operations::{read, text};
use super::{RestClient, RestOptions, problem};
use crate::{BannedInstance, Error, Health, HealthPart};

/// Speaks to the management port. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct ManagementClient(RestClient);

#[derive(serde::Deserialize)]
struct Page {
    items: Vec<BannedInstance>,
}

/// How something is, as the management port tells it.
#[derive(serde::Deserialize)]
struct WireHealth {
    status: String,
    #[serde(default)]
    components: BTreeMap<String, WireHealth>,
    #[serde(default)]
    details: BTreeMap<String, String>,
}

impl From<WireHealth> for Health {
    fn from(wire: WireHealth) -> Self {
        let part = |(name, mut part): (String, WireHealth)| HealthPart {
            name,
            is_up: part.status != "DOWN",
            reason: part.details.remove("reason"),
        };
        Self { is_up: wire.status == "UP", parts: wire.components.into_iter().map(part).collect() }
    }
}

impl ManagementClient {
    /// Prepares a client; connects with the first request.
    pub fn new(options: &RestOptions) -> Result<Self, Error> {
        RestClient::of_management(options).map(Self)
    }

    /// `GET /health`: whether the server takes requests, and how its parts are.
    pub async fn health(&self) -> Result<Health, Error> {
        read::<WireHealth>("health", self.health_for_answer().await?.as_bytes()).map(Health::from)
    }

    /// Like [`Self::health`]; the answer as JSON text.
    pub async fn health_for_answer(&self) -> Result<String, Error> {
        let answer = self.0.exchange(self.0.get(self.0.path("health", &["/health"])?)).await?;
        match answer.status {
            // The body of a server that is not ready says why.
            StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE => text("health", &answer.body),
            _ => Err(problem(&answer)),
        }
    }

    /// `POST /partitions/beginHistory`: the history goes on without the records that are missing for good.
    pub async fn begin_history(&self) -> Result<(), Error> {
        let path = self.0.path("beginHistory", &["/partitions/beginHistory"])?;
        self.0.send(self.0.json(path, super::body::Object::new(2).finish())).await.map(drop)
    }

    /// `GET /bannedInstances`: those after a key, so many at the most.
    pub async fn banned_instances(&self, after: &str, limit: u32) -> Result<Vec<BannedInstance>, Error> {
        let limit = limit.to_string();
        let path = self.0.path("bannedInstances", &["/bannedInstances?after=", after, "&limit=", &limit])?;
        let body = self.0.send(self.0.get(path)).await?;
        read::<Page>("bannedInstances", &body).map(|page| page.items)
    }

    /// `POST /bannedInstances/{key}/release`: the instance goes on where it stood.
    pub async fn release_instance(&self, process_instance_key: i64) -> Result<(), Error> {
        self.0
            .act(
                "releaseInstance",
                "/bannedInstances/",
                process_instance_key,
                "/release",
                super::body::Object::new(2),
            )
            .await
    }

    /// `POST /bannedInstances/{key}/cancellation`: its whole call hierarchy ends.
    pub async fn cancel_instance(&self, process_instance_key: i64) -> Result<(), Error> {
        self.0
            .act(
                "cancelInstance",
                "/bannedInstances/",
                process_instance_key,
                "/cancellation",
                super::body::Object::new(2),
            )
            .await
    }
}
