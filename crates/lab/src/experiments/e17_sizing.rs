//! E17: a realistic process at one to four times its load.

use std::path::Path;

use bench::Options;
use client::Protocol;

use super::parts::nothing_is_lost;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::{Limit, PlotKind};
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E17",
    title: "Sizing with a realistic process",
    hypothesis: "One broker carries four times the published load, with a small part of the CPU.",
    set_up: "One broker; bank dispute handling in our own model of that shape: five disputes an instance in a parallel \
        multi-instance, with three tasks each, and three tasks around them.",
    steady_state: "7 instances and 126 tasks a second.",
    action: "One, two, three and four times that load; then as much as goes through.",
    measurement: "Tasks a second, refusals, CPU for a task.",
    reference: "One to four times the machines: 7, 12, 23, 27 instances/s, 125, 217, 414, 486 tasks/s, 2 to 6 % \
        refused, 8.7 to 34.8 cores.",
    seconds: (18, 160),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const INSTANCES: f64 = 7.0;
const TASKS: f64 = 18.0;
/// The part of the load that must be done.
const DONE_MIN: f64 = 0.95;
const MODEL: &str = include_str!("../../models/dispute.bpmn");
/// Five disputes.
const VARIABLES: &str = r#"{"customer":"C-1","disputes":[{"id":1,"amount":12.5},{"id":2,"amount":80},{"id":3,"amount":310},{"id":4,"amount":7},{"id":5,"amount":44}]}"#;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    let write = |name: &str, text: &str| {
        let path = lab.directory().join(name);
        std::fs::write(&path, text).map_err(|error| LabError::environment("write a model", error))?;
        Ok::<_, LabError>(path)
    };
    let (model, variables) = (write("dispute.bpmn", MODEL)?, write("variables.json", VARIABLES)?);
    lab.published(PlotKind::Rate, "486 tasks/s on 34.8 cores", 486.0);
    let factors: &[f64] = lab.pick(&[1.0, 4.0], &[1.0, 2.0, 3.0, 4.0]);
    for factor in factors {
        let rate = INSTANCES * factor;
        let report = one(lab, &server, (&model, &variables), &format!("load × {factor}"), Some(rate)).await?;
        let share = report.completed_per_second / rate;
        // Few instances: those under way at both ends count.
        lab.expect_in_full("instances ended by the load", Unit::Ratio, Limit::AtLeast(DONE_MIN), share);
        nothing_is_lost(lab, std::slice::from_ref(&report));
    }
    one(lab, &server, (&model, &variables), "as much as goes through", None).await?;
    server.stop().await
}

async fn one(
    lab: &mut Lab,
    server: &crate::server::Server,
    (model, variables): (&Path, &Path),
    name: &str,
    rate: Option<f64>,
) -> Result<bench::Report, LabError> {
    let options = Options {
        process: model.display().to_string(),
        jobs_per_instance: Some(TASKS as u32),
        payload: Some(variables.to_owned()),
        rate,
        concurrency: 32,
        ..lab.load_options(server, Protocol::Rest)
    };
    let report = lab.measure(name, options).await?;
    lab.tell("tasks", Unit::PerSecond, report.completed_per_second * TASKS);
    let cpu = report.server.cpu_micros_per_instance.unwrap_or(f64::INFINITY) / 1e6 / TASKS;
    lab.tell("server CPU for a task", Unit::Seconds, cpu);
    lab.tell("server CPU", Unit::Percent, report.server.cpu_percent_of_core.unwrap_or(f64::INFINITY));
    Ok(report)
}
