//! The lab: published load and chaos experiments, run again on real server processes with one command.
//!
//! [`run`] takes a [`LabCommand`] and gives an exit code. `experiments` has a file for each experiment, which reads
//! like its report; `lab` is what such a file is written in: servers, load, workers, phases, figures with limits.
//! `result` is what comes of it; `table`, `page` and `document` show it on a terminal, in a browser and in docs.
//! `peer` puts another system beside ours. `worker` is a job worker that runs in a process of its own.
//!
//! This crate sees the system from outside only: its ports, its metrics, its processes and files.

mod arguments;
mod cluster;
mod command;
mod cpu_limit;
mod document;
mod error;
mod experiment;
mod experiments;
mod http;
mod lab;
mod load;
mod machine;
pub mod metrics;
mod output;
mod page;
mod peer;
mod plan;
mod progress;
mod result;
mod run;
mod server;
mod table;
mod unit;
mod until;
mod watch;
pub mod worker;

pub use arguments::{LabArguments, LabCommand, RunArguments};
pub use command::run;
pub use error::LabError;
pub use experiments::PLANTED_SYNC_MS;
pub use peer::PeerChoice;
pub use result::{ExperimentResult, Finding, Judgement, LabRun, Limit};
pub use unit::Unit;
