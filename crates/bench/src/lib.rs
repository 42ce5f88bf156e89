//! The load generator: starter and worker in one program, measurements in histograms, results as table, JSON and page.
//!
//! [`run`] takes [`Options`] and gives a [`Report`]; [`compare`] and [`page`] put several side by side; `suite` runs
//! the list of measurements that the project promises. `load` is where a measurement starts;
//! `pace` decides when requests are meant to start, `track` when instances have ended, `record` what counts, `cost`
//! asks what the server spent.
//!
//! This crate sees the server from outside only: its ports, and its process when it started that itself.

mod bar;
mod cost;
mod creation;
mod duration;
mod error;
mod format;
mod histograms;
mod html;
mod http;
mod jobs;
mod lag;
mod latency;
mod load;
mod merge;
mod mix;
mod model;
mod options;
mod pace;
mod payload;
pub mod plot;
mod record;
#[cfg(feature = "suite")]
pub mod reference;
mod report;
mod schedule;
#[cfg(feature = "suite")]
pub mod suite;
mod track;

pub use cost::{Probe, Spent, metric, own_cpu_seconds};
pub use duration::duration;
pub use error::Error;
pub use format::{bytes, micros, number};
pub use histograms::Histograms;
pub use html::{STYLE, page};
pub use http::{HttpAnswer, ask, get};
pub use latency::Latency;
pub use load::{run, run_until};
pub use merge::merge;
pub use mix::Mix;
pub use model::{BENCHMARK_BPMN, MESSAGE_BPMN, ORDER_BPMN, ORDER_VARIABLES, TEN_TASKS_BPMN};
pub use options::{Options, WorkerTransport};
pub use report::{Report, Second, ServerCost, Setup, compare, plain_table, table};
pub use schedule::Schedule;
