//! E15: secondary storage goes away, and the server is killed meanwhile.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bench::Options;
use client::Protocol;
use serde_json::json;

use super::parts::PROCESS;
use super::storage_fault::StorageHold;
use super::store_proxy::{Mode, StoreProxy};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, StorePlaces, seconds_of};
use crate::result::Limit;
use crate::server::Server;
use crate::unit::Unit;
use crate::until::until;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E15",
    title: "Secondary storage outage",
    hypothesis: "With storage away, processing goes on also over a restart; queries answer or fail clearly; all is \
        found afterwards.",
    set_up: "One broker with the embedded storage; then with each store that the lab is told of (`--postgres`, \
        `--opensearch`, or all that `scripts/with-stores` can start), in a schema and under a prefix of its own.",
    steady_state: "Instances are created, completed and found.",
    action: "The file of the embedded storage is held by another writer; another store takes connections and answers \
        nothing, then refuses them. Meanwhile searches are asked, and the server is killed (SIGKILL) and started again.",
    measurement: "Status of searches and of reads of live instances, instances created before and after the kill and \
        found in the end.",
    reference: "The exporter is blocked without replicas of its indices; with them more CPU and slower processing.",
    seconds: (14, 110),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// A store that can be taken away.
enum Store {
    File(PathBuf),
    Proxied(StoreProxy),
}

/// The store is away until this ends.
enum Away<'store> {
    Held { _hold: StorageHold },
    Proxied(&'store StoreProxy),
}

impl Store {
    fn take_away(&self) -> Result<Away<'_>, LabError> {
        match self {
            Self::File(file) => Ok(Away::Held { _hold: StorageHold::begin(file, None)? }),
            Self::Proxied(proxy) => {
                proxy.set(Mode::Hang);
                Ok(Away::Proxied(proxy))
            }
        }
    }
}

impl Away<'_> {
    /// From now on connections are refused, where there are any.
    fn refuse(&self) {
        if let Self::Proxied(proxy) = self {
            proxy.set(Mode::Refuse);
        }
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        if let Self::Proxied(proxy) = self {
            proxy.set(Mode::Pass);
        }
    }
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let timeout = "secondary_storage.query_timeout=2s";
    let server = lab.server(&[timeout]).await?;
    let file = server.data().join("data").join("secondary-storage.sqlite");
    outage(lab, server, "SQLite", &Store::File(file)).await?;

    let StorePlaces { postgres, opensearch } = lab.store_places();
    // Rows of earlier runs stay untouched.
    let own = own_name();
    if let Some(url) = &postgres {
        let (proxy, url) = StoreProxy::start(url).await?;
        let url = format!("secondary_storage.postgres.url={url}");
        let schema = format!("secondary_storage.postgres.schema={own}");
        let server = lab.server(&[timeout, "secondary_storage.kind=postgres", &url, &schema]).await?;
        outage(lab, server, "PostgreSQL", &Store::Proxied(proxy)).await?;
    }
    if let Some(url) = &opensearch {
        let (proxy, url) = StoreProxy::start(url).await?;
        let url = format!("secondary_storage.opensearch.urls={url}");
        let prefix = format!("secondary_storage.opensearch.index_prefix={own}");
        let replicas = "secondary_storage.opensearch.number_of_replicas=0";
        let server =
            lab.server(&[timeout, "secondary_storage.kind=opensearch", &url, &prefix, replicas]).await?;
        outage(lab, server, "OpenSearch", &Store::Proxied(proxy)).await?;
    }
    let absent = [("PostgreSQL", postgres.is_none()), ("OpenSearch", opensearch.is_none())];
    for (name, _) in absent.iter().filter(|(_, is_absent)| *is_absent) {
        lab.note(&format!("without {name}, since the lab was told of none"));
    }
    Ok(())
}

/// A name for a schema or indices that no earlier run has taken.
fn own_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("lab_{}", now.as_millis())
}

async fn outage(lab: &mut Lab, mut server: Server, name: &str, store: &Store) -> Result<(), LabError> {
    let before = create(lab, &server, &format!("{name}: before"), false).await?;

    lab.fault(&format!("{name}: away"));
    let away = store.take_away()?;
    let meanwhile = create(lab, &server, &format!("{name}: meanwhile"), true).await?;
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

    lab.fault(&format!("{name}: server killed, storage away"));
    away.refuse();
    server.kill_and_start().await?;
    lab.tell("time of the start", Unit::Seconds, server.ready_after.as_secs_f64());
    let after = create(lab, &server, &format!("{name}: after the kill"), true).await?;
    drop(away);

    lab.phase(&format!("{name}: back"));
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
async fn create(lab: &mut Lab, server: &Server, name: &str, is_deployed: bool) -> Result<f64, LabError> {
    let options = Options {
        rate: Some(lab.pick(50.0, 150.0)),
        no_workers: true,
        warm_up: Duration::ZERO,
        duration: lab.seconds(1.5, 5.0),
        no_deploy: is_deployed,
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
