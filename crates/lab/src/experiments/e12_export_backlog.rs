//! E12: slow, stopped and full secondary storage under load.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bench::{Options, Report};
use client::Protocol;
use serde_json::json;

use super::parts::{STANDARD_RATE, every_job_is_done_once};
use super::storage_fault::{SmallDisk, StorageHold};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, seconds_of};
use crate::load::Load;
use crate::result::{Limit, PlotKind};
use crate::server::Server;
use crate::unit::Unit;
use crate::until::until;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E12",
    title: "Export backlog",
    hypothesis: "While secondary storage is slow, stopped or full, processing goes on within bounds, nothing is lost, \
        and the backlog goes by itself afterwards.",
    set_up: "One broker; the file of its embedded secondary storage on a disk of its own, which can be held by \
        somebody else and filled; where no file system may be mounted it is not filled. Without throttling of the \
        write rate.",
    steady_state: "The standard load over REST.",
    action: "Each transaction takes 200 ms longer for a while; then the file is held all the time; then its disk is \
        full. Hours of the published experiment are scaled to seconds or minutes.",
    measurement: "Instances a second meanwhile, records and bytes that wait, the time until they are gone. In the end \
        each acknowledged instance is found once, and none beside them but those whose creation had no answer.",
    reference: "Exporters fell behind, the disk filled, processing stopped.",
    seconds: (32, 260),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// The part of the load that is done during a fault, of that before.
const KEPT_MIN: f64 = 0.5;
/// Room for records that wait.
const SPILL_BYTES_MAX: f64 = 4.0 * 1024.0 * 1024.0 * 1024.0;
/// The backlog is gone when no more records wait than this many times those of the steady state.
const STEADY_TIMES: f64 = 1.5;
/// Records that wait in quick size, whatever waited in the short steady state.
const QUICK_FEW: f64 = 1500.0;
const SLOW: Duration = Duration::from_millis(200);
/// Instances that are not found after so long never are.
const FOUND_AFTER_MAX: Duration = Duration::from_secs(60);
/// Instances of a page.
const PAGE: usize = 1000;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let place = lab.scratch()?;
    let disk = SmallDisk::mount(place.path());
    let file = place.path().join("storage.sqlite");
    let path = format!("secondary_storage.sqlite.path={}", file.display());
    let server = lab.server(&[&path]).await?;
    lab.phase("steady load");
    let options = Options {
        rate: Some(lab.pick(60.0, STANDARD_RATE)),
        duration: crate::load::UNTIL_ENDED,
        warm_up: Duration::ZERO,
        ..lab.load_options(&server, Protocol::Rest)
    };
    let load = lab.load("load", options);
    let steady = look(lab, &server, lab.seconds(3.0, 15.0)).await?;
    lab.tell("completions", Unit::PerSecond, steady.completions);
    lab.tell("records that wait", Unit::Count, steady.most_waiting);

    lab.fault("storage slow");
    let held = StorageHold::begin(&file, Some(SLOW))?;
    during(lab, &server, &steady).await?;
    drop(held);
    caught_up(lab, &server, &steady).await?;

    lab.fault("storage stopped");
    let held = StorageHold::begin(&file, None)?;
    during(lab, &server, &steady).await?;
    drop(held);
    caught_up(lab, &server, &steady).await?;

    match &disk {
        Ok(disk) => {
            lab.fault("storage full");
            disk.fill()?;
            during(lab, &server, &steady).await?;
            disk.make_room();
            caught_up(lab, &server, &steady).await?;
        }
        Err(error) => lab.remark(&error.to_string()),
    }
    all_is_there(lab, &server, load).await?;
    server.stop().await
}

/// A time of the load.
struct Seen {
    /// Completed jobs a second.
    completions: f64,
    /// The most records that waited for the exporter, as its metric tells.
    most_waiting: f64,
    /// Their bytes in the spill, in the end.
    spilled_bytes: f64,
}

async fn look(lab: &Lab, server: &Server, length: Duration) -> Result<Seen, LabError> {
    let (began, before) = (Instant::now(), server.metrics().await?.jobs().completed);
    let end = began + length;
    let (mut most_waiting, mut spilled_bytes) = (0.0_f64, 0.0);
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let metrics = server.metrics().await?;
        spilled_bytes = metrics.sum("baton_exporter_spill_bytes");
        lab.point(PlotKind::Memory, "records that wait", spilled_bytes / 1024.0 / 1024.0);
        most_waiting = most_waiting.max(metrics.sum("baton_exporter_backlog_records"));
    }
    let completed = server.metrics().await?.jobs().completed - before;
    Ok(Seen { completions: completed / began.elapsed().as_secs_f64(), most_waiting, spilled_bytes })
}

async fn during(lab: &mut Lab, server: &Server, steady: &Seen) -> Result<(), LabError> {
    let seen = look(lab, server, lab.seconds(4.0, 40.0)).await?;
    let kept = seen.completions / steady.completions.max(1e-9);
    lab.expect("completions by those before", Unit::Ratio, Limit::AtLeast(KEPT_MIN), kept);
    lab.tell("records that wait", Unit::Count, seen.most_waiting);
    lab.expect("bytes that wait", Unit::Bytes, Limit::AtMost(SPILL_BYTES_MAX), seen.spilled_bytes);
    Ok(())
}

async fn caught_up(lab: &mut Lab, server: &Server, steady: &Seen) -> Result<(), LabError> {
    lab.phase("storage is back");
    // Some always wait for the next write, which comes every second; on a busy machine, more.
    let few = (steady.most_waiting * STEADY_TIMES).max(lab.pick(QUICK_FEW, 0.0));
    let is_back = async || {
        let metrics = server.metrics().await;
        metrics.is_ok_and(|metrics| metrics.sum("baton_exporter_backlog_records") < few)
    };
    let patience = lab.seconds(60.0, 60.0);
    let took = until(patience, is_back).await;
    let limit = Limit::AtMost(patience.as_secs_f64());
    lab.expect("time until the backlog is gone", Unit::Seconds, limit, seconds_of(took));
    Ok(())
}

/// Every acknowledged instance is completed, and the search finds each once, and no others but those whose creation had
/// no answer.
async fn all_is_there(lab: &mut Lab, server: &Server, load: Load) -> Result<(), LabError> {
    lab.phase("the end");
    let report: Report = lab.end(load).await?;
    let refused: u64 = report.rejections.values().chain(report.failures.values()).sum();
    lab.expect("requests refused or failed", Unit::Count, Limit::Exactly(0.0), refused as f64);
    every_job_is_done_once(lab, server, report.unfinished).await?;
    let wanted = report.acknowledged as f64;
    let mut found = ListedInstances::default();
    let began = Instant::now();
    while began.elapsed() < FOUND_AFTER_MAX && (found.keys.len() as f64) < wanted {
        found = completed(server).await.unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let distinct = found.keys.len() as f64;
    lab.tell("instances acknowledged", Unit::Count, wanted);
    lab.tell("creations without an answer", Unit::Count, report.unanswered as f64);
    let missing = (wanted - distinct).max(0.0);
    lab.expect_fact("acknowledged and not found", Unit::Count, Limit::Exactly(0.0), missing);
    let more = (distinct - wanted - report.unanswered as f64).max(0.0);
    lab.expect_fact("found and never asked for", Unit::Count, Limit::Exactly(0.0), more);
    lab.expect_fact("found twice", Unit::Count, Limit::Exactly(0.0), found.twice);
    Ok(())
}

/// Instances that a search has listed.
#[derive(Default)]
struct ListedInstances {
    keys: HashSet<String>,
    twice: f64,
}

/// Lists completed instances, page by page.
async fn completed(server: &Server) -> Result<ListedInstances, LabError> {
    let mut found = ListedInstances::default();
    let mut page = json!({ "limit": PAGE });
    loop {
        let filter = json!({
            "filter": { "state": "COMPLETED" },
            "sort": [{ "field": "processInstanceKey" }],
            "page": page,
        });
        let answer = server.rest("POST", "/v2/process-instances/search", Some(&filter)).await?;
        let answer = answer.good("search completed instances")?.json();
        let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        for item in items {
            let key = item["processInstanceKey"].as_str().unwrap_or_default();
            found.twice += f64::from(u8::from(!found.keys.insert(key.to_owned())));
        }
        if items.len() < PAGE {
            return Ok(found);
        }
        page = json!({ "limit": PAGE, "after": answer["page"]["endCursor"] });
    }
}
