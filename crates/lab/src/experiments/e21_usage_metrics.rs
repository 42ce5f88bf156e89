//! E21: what usage metrics cost.

use bench::Options;
use client::Protocol;

use super::parts::STANDARD_RATE;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E21",
    title: "Usage metrics",
    hypothesis: "Counting usage costs one row an interval, not one an instance.",
    set_up: "One broker that counts usage by the second.",
    steady_state: "The standard load over gRPC.",
    action: "None.",
    measurement: "Rows of usage in the file of secondary storage, against intervals that passed and instances.",
    reference: "A hot loop wrote to log and state all the time.",
    seconds: (9, 35),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&["usage_metrics.interval=1s"]).await?;
    let options = Options {
        rate: Some(STANDARD_RATE),
        duration: lab.seconds(5.0, 30.0),
        ..lab.load_options(&server, Protocol::Grpc)
    };
    let began = std::time::Instant::now();
    let report = lab.measure("the standard load", options).await?;
    lab.wait(std::time::Duration::from_secs(2)).await;
    let intervals = began.elapsed().as_secs_f64().ceil() + 1.0;
    let file = server.data().join("data").join("secondary-storage.sqlite");
    let rows = rows(&file)?;
    lab.tell("instances counted", Unit::Count, report.created as f64);
    lab.tell("intervals of a second", Unit::Count, intervals);
    lab.expect("rows of usage", Unit::Count, Limit::AtLeast(1.0), rows);
    lab.expect("rows of usage by intervals", Unit::Ratio, Limit::AtMost(1.0), rows / intervals);
    server.stop().await
}

/// Rows of the table of usage.
fn rows(file: &std::path::Path) -> Result<f64, LabError> {
    let cannot = |error: rusqlite::Error| LabError::system("read the rows of usage", error);
    let storage = rusqlite::Connection::open(file).map_err(cannot)?;
    let count: i64 =
        storage.query_row("SELECT count(*) FROM usage_metric", [], |row| row.get(0)).map_err(cannot)?;
    Ok(count as f64)
}
