//! The Rust client of the gateway: every command over REST (v2) or gRPC, and a job worker over both.
//!
//! Open [`Client`] for "a command, whatever the protocol", [`RestClient`] or [`GrpcClient`] for one of the two, and
//! [`JobWorker`] for working jobs. Requests beyond a bounded number wait for room; they are never refused locally.
//! Documents (variables, headers, results) are JSON text that is moved, never parsed: who sends malformed JSON is
//! told so by the server.
//!
//! The load generator runs on this crate, so one request must cost little: connections are driven by the task that
//! uses them, bodies are written straight into one buffer, and responses are scanned without building a tree.
//!
//! This crate knows nothing of the broker's internals: it speaks the public API only.

mod address;
mod client;
mod command;
mod error;
mod fault;
mod grpc_client;
mod job;
mod response;
mod rest;
mod stream;
mod worker;

pub use address::Address;
pub use client::{Client, Protocol};
pub use command::{
    ActivateJobs, CompleteJob, CorrelateMessage, CreateInstance, Definition, EvaluateExpression, FailJob,
    PublishMessage, Resource, SetVariables, StreamJobs, ThrowError, UpdateJob,
};
pub use error::Error;
pub use fault::ConnectFault;
pub use grpc_client::{GrpcClient, GrpcOptions, JobStream};
pub use job::Job;
pub use response::{
    BannedInstance, Broker, CorrelatedMessage, Deployed, Deployment, EvaluatedExpression, Found, Health,
    HealthPart, Partition, ProcessInstance, ProcessInstanceResult, PublishedMessage, Topology,
};
pub use rest::{ApiCall, ManagementClient, RestClient, RestOptions};
/// How TLS is spoken: which authorities are trusted, and what certificate is shown.
pub use tokio_rustls::rustls::ClientConfig;
pub use worker::{JobHandler, JobWorker, Outcome, Transport, WorkerHandle, WorkerOptions};
