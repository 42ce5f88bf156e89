//! Requests that are refused, at a steady rate, of several kinds and over both protocols.

use std::time::Duration;

use client::{Client, CompleteJob, CreateInstance, Error, GrpcClient, GrpcOptions};

use super::parts::at_rate;
use crate::error::LabError;
use crate::http::ask;
use crate::lab::Lab;
use crate::server::Server;

/// Refused requests a second of each kind.
pub(crate) const PER_SECOND: u32 = 500;
/// No job has this key.
const NO_JOB: i64 = 2_251_799_813_000_001;

/// A kind of request that is refused.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RefusedKind {
    /// A job that does not exist is completed.
    UnknownJob,
    /// An instance of a process that does not exist is created.
    UnknownProcess,
    /// A body that the contract does not allow.
    InvalidBody,
}

impl RefusedKind {
    pub(crate) const ALL: [Self; 3] = [Self::UnknownJob, Self::UnknownProcess, Self::InvalidBody];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::UnknownJob => "completions of unknown jobs",
            Self::UnknownProcess => "creations of unknown processes",
            Self::InvalidBody => "bodies that are not valid",
        }
    }
}

/// Counts of refusals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RefusalCounts {
    pub(crate) sent: f64,
    /// Refused with a reason, as they must be.
    pub(crate) with_reason: f64,
    /// The connection broke, or nobody answered.
    pub(crate) broken: f64,
}

/// Sends refused requests of a kind for a while, half of them over each protocol.
pub(crate) async fn send(
    lab: &Lab,
    server: &Server,
    kind: RefusedKind,
    length: Duration,
) -> Result<RefusalCounts, LabError> {
    let grpc = GrpcOptions {
        address: format!("http://{}", server.address("grpc")),
        connections: 1,
        window: lab.pick(64, 256),
        ..GrpcOptions::default()
    };
    let grpc = GrpcClient::new(grpc).map_err(|error| LabError::environment("make a client", error))?;
    let clients = [Client::Rest(server.client()?), Client::Grpc(grpc)];
    let rest = server.address("rest").to_owned();
    let answers = at_rate(PER_SECOND, length, |number| {
        let client = clients[number as usize % 2].clone();
        let rest = rest.clone();
        async move {
            match kind {
                RefusedKind::UnknownJob => {
                    outcome(client.complete_job(&CompleteJob { job_key: NO_JOB, variables: None }).await)
                }
                RefusedKind::UnknownProcess => {
                    outcome(client.create_instance_key(&CreateInstance::latest("no-such-process")).await)
                }
                RefusedKind::InvalidBody => {
                    let body = serde_json::json!({ "processDefinitionId": 5, "unheardOf": true });
                    match ask(&rest, "POST", "/v2/process-instances", Some(&body)).await {
                        Ok(answer) => Some(answer.status == 400),
                        Err(_) => None,
                    }
                }
            }
        }
    })
    .await;
    let count = |wanted: Option<bool>| answers.iter().filter(|answer| **answer == wanted).count() as f64;
    Ok(RefusalCounts { sent: answers.len() as f64, with_reason: count(Some(true)), broken: count(None) })
}

/// Whether it was refused with a reason; none if there was no answer.
fn outcome<T>(answer: Result<T, Error>) -> Option<bool> {
    match answer {
        Ok(_) => Some(false),
        Err(Error::Problem { .. } | Error::Grpc { .. }) => Some(true),
        Err(_) => None,
    }
}
