//! The load generator: starter and worker in one program, measurements in histograms, results as table, JSON and page.
//!
//! [`run`] takes [`Options`] and gives a [`Report`]; [`compare`] and [`page`] put several side by side;
//! [`suite::run`] runs the list of measurements that the project promises. `load` is where a measurement starts;
//! `pace` decides when requests are meant to start, `track` when instances have ended, `record` what counts, `cost`
//! asks what the server spent.
//!
//! This crate sees the server from outside only: its ports, and its process when it started that itself.

mod bar;
mod cost;
mod creation;
mod error;
mod format;
mod histograms;
mod html;
mod jobs;
mod lag;
mod load;
mod mix;
mod model;
mod options;
mod pace;
mod payload;
pub mod plot;
mod record;
pub mod reference;
mod report;
mod schedule;
pub mod suite;
mod track;

pub use cost::{Probe, Spent, get, metric, own_cpu_seconds};
pub use error::Error;
pub use format::{bytes, micros, number};
pub use histograms::{Histograms, merge};
pub use html::{STYLE, page};
pub use load::{run, run_until};
pub use mix::Mix;
pub use model::{BENCHMARK_BPMN, MESSAGE_BPMN, ORDER_BPMN, ORDER_VARIABLES, TEN_TASKS_BPMN};
pub use options::{Options, WorkerTransport, duration};
pub use report::{Latency, Report, Second, ServerCost, Setup, compare, plain_table, table};
pub use schedule::Schedule;
