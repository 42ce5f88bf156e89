//! E15: secondary storage goes away, and the server is killed meanwhile.

use std::time::Duration;

use bench::Options;
use client::Protocol;
use serde_json::json;

use super::parts::PROCESS;
use super::storage_fault::StorageHold;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, seconds_of, until};
use crate::result::Limit;
use crate::server::Server;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E15",
    title: "Secondary storage outage",
    hypothesis: "With storage away, processing goes on also over a restart; queries answer or fail clearly; all is \
        found afterwards.",
    set_up: "One broker with the embedded storage. Outages of PostgreSQL and of OpenSearch need those stores: `make \
        outage` has them where they are.",
    steady_state: "Instances are created, completed and found.",
    action: "The file of the storage is held by somebody else; meanwhile searches are asked, and the server is killed \
        (SIGKILL) and started again.",
    measurement: "Status of searches and of reads of live instances, instances created before and after the kill and \
        found in the end.",
    reference: "The exporter is blocked without replicas of its indices; with them more CPU and slower processing.",
    seconds: (14, 40),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let mut server = lab.server(&["secondary_storage.query_timeout=2s"]).await?;
    let file = server.data().join("data").join("secondary-storage.sqlite");
    let before = create(lab, &server, "before").await?;

    lab.fault("storage away");
    let held = StorageHold::begin(&file, None)?;
    let meanwhile = create(lab, &server, "meanwhile").await?;
    let answers = ask(&server).await;
    lab.expect("searches neither found nor refused clearly", Unit::Count, Limit::Exactly(0.0), answers);
    let living = server.client()?.create_instance_key(&client::CreateInstance::latest(PROCESS)).await?;
    let read = server.rest("GET", &format!("/v2/process-instances/{living}"), None).await?;
    lab.expect(
        "status of a read of a live instance",
        Unit::Count,
        Limit::Exactly(200.0),
        f64::from(read.status),
    );

    lab.fault("server killed, storage away");
    server.kill_and_start().await?;
    lab.tell("time of the start", Unit::Seconds, server.ready_after.as_secs_f64());
    let after = create(lab, &server, "after the kill").await?;
    drop(held);

    lab.phase("storage is back");
    let wanted = before + meanwhile + after + 1.0;
    let filter = json!({ "filter": { "processDefinitionId": PROCESS }, "page": { "limit": 1 } });
    let found = async || match server.rest("POST", "/v2/process-instances/search", Some(&filter)).await {
        Ok(answer) => answer.json()["page"]["totalItems"].as_f64().unwrap_or(-1.0),
        Err(_) => -1.0,
    };
    let took = until(Duration::from_secs(30), async || found().await >= wanted).await;
    lab.tell("time until all is found", Unit::Seconds, seconds_of(took));
    lab.expect_fact("instances found in the end", Unit::Count, Limit::AtLeast(wanted), found().await);
    server.stop().await
}

/// Creates for a while; how many were acknowledged. None may be refused.
async fn create(lab: &mut Lab, server: &Server, name: &str) -> Result<f64, LabError> {
    let options = Options {
        rate: Some(lab.pick(50.0, 150.0)),
        no_workers: true,
        warm_up: Duration::ZERO,
        duration: lab.seconds(1.5, 5.0),
        no_deploy: name != "before",
        title: Some(name.to_owned()),
        ..lab.load_options(server, Protocol::Rest)
    };
    let load = lab.load(name, options);
    let report = lab.finish(load).await?;
    let refused: u64 = report.rejections.values().chain(report.failures.values()).sum();
    lab.expect("creations refused or failed", Unit::Count, Limit::Exactly(0.0), refused as f64);
    Ok(report.created as f64)
}

/// Searches whose answer is neither a result nor a clear refusal.
async fn ask(server: &Server) -> f64 {
    let mut wrong = 0.0;
    for _ in 0..3 {
        let answer = server.rest("POST", "/v2/process-instances/search", Some(&json!({}))).await;
        let is_clear = answer.is_ok_and(|answer| matches!(answer.status, 200 | 503 | 504));
        wrong += f64::from(u8::from(!is_clear));
    }
    wrong
}
