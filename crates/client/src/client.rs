//! One client for both protocols, for callers that do not care which.

use std::{fmt, str::FromStr, time::Duration};

use crate::{
    ActivateJobs, CompleteJob, CreateInstance, Deployment, Error, FailJob, GrpcClient, Job, ProcessInstance,
    ProcessInstanceResult, PublishMessage, PublishedMessage, Resource, RestClient, SetVariables, ThrowError,
    Topology, UpdateJob,
};

/// Which of the two a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The REST API, version 2.
    #[default]
    Rest,
    /// The gRPC gateway protocol.
    Grpc,
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rest => "rest",
            Self::Grpc => "grpc",
        })
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "rest" | "http" => Ok(Self::Rest),
            "grpc" => Ok(Self::Grpc),
            _ => Err(format!("'{text}' is neither 'rest' nor 'grpc'")),
        }
    }
}

/// A client of either protocol. Cheap to clone; clones share the connections.
///
/// Operations of one protocol (expressions, message correlation, status; job streams) are on that client alone.
#[derive(Clone)]
pub enum Client {
    /// Over REST.
    Rest(RestClient),
    /// Over gRPC.
    Grpc(GrpcClient),
}

macro_rules! either {
    ($client:expr, $inner:ident => $call:expr) => {
        match $client {
            Client::Rest($inner) => $call.await,
            Client::Grpc($inner) => $call.await,
        }
    };
}

impl Client {
    /// Which protocol this one speaks.
    pub fn protocol(&self) -> Protocol {
        match self {
            Self::Rest(_) => Protocol::Rest,
            Self::Grpc(_) => Protocol::Grpc,
        }
    }

    /// The cluster as its gateway sees it.
    pub async fn topology(&self) -> Result<Topology, Error> {
        either!(self, client => client.topology())
    }

    /// Deploys files together: all or none.
    pub async fn deploy(
        &self,
        resources: &[Resource<'_>],
        tenant_id: Option<&str>,
    ) -> Result<Deployment, Error> {
        either!(self, client => client.deploy(resources, tenant_id))
    }

    /// Starts an instance; answers when that is durable.
    pub async fn create_instance(&self, command: &CreateInstance<'_>) -> Result<ProcessInstance, Error> {
        either!(self, client => client.create_instance(command))
    }

    /// Like [`Self::create_instance`], but returns only the instance's key, which is cheaper over REST.
    pub async fn create_instance_key(&self, command: &CreateInstance<'_>) -> Result<i64, Error> {
        match self {
            Self::Rest(client) => client.create_instance_key(command).await,
            Self::Grpc(client) => client.create_instance(command).await.map(|instance| instance.key),
        }
    }

    /// Starts an instance; answers when it has ended, or fails after `wait`.
    pub async fn create_instance_with_result(
        &self,
        command: &CreateInstance<'_>,
        fetch_variables: &[&str],
        wait: Duration,
    ) -> Result<ProcessInstanceResult, Error> {
        either!(self, client => client.create_instance_with_result(command, fetch_variables, wait))
    }

    /// Cancels an instance with everything in it.
    pub async fn cancel_instance(&self, process_instance_key: i64) -> Result<(), Error> {
        either!(self, client => client.cancel_instance(process_instance_key))
    }

    /// Takes jobs; none when there are none in time.
    pub async fn activate_jobs(&self, command: &ActivateJobs<'_>) -> Result<Vec<Job>, Error> {
        either!(self, client => client.activate_jobs(command))
    }

    /// Completes a job.
    pub async fn complete_job(&self, command: &CompleteJob<'_>) -> Result<(), Error> {
        either!(self, client => client.complete_job(command))
    }

    /// Reports that a job could not be done.
    pub async fn fail_job(&self, command: &FailJob<'_>) -> Result<(), Error> {
        either!(self, client => client.fail_job(command))
    }

    /// Reports a business error of a job.
    pub async fn throw_error(&self, command: &ThrowError<'_>) -> Result<(), Error> {
        either!(self, client => client.throw_error(command))
    }

    /// Changes a job's tries or time limit.
    pub async fn update_job(&self, command: &UpdateJob) -> Result<(), Error> {
        either!(self, client => client.update_job(command))
    }

    /// Publishes a message.
    pub async fn publish_message(&self, command: &PublishMessage<'_>) -> Result<PublishedMessage, Error> {
        either!(self, client => client.publish_message(command))
    }

    /// Sets variables at an element instance.
    pub async fn set_variables(&self, command: &SetVariables<'_>) -> Result<(), Error> {
        either!(self, client => client.set_variables(command))
    }

    /// Lets an instance go on after an incident.
    pub async fn resolve_incident(&self, incident_key: i64) -> Result<(), Error> {
        either!(self, client => client.resolve_incident(incident_key))
    }

    /// Deletes a deployed resource.
    pub async fn delete_resource(&self, resource_key: i64) -> Result<(), Error> {
        either!(self, client => client.delete_resource(resource_key))
    }
}
