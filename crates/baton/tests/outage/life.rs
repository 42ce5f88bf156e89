//! A server under load while its store goes through one fault after the other.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Pace;
use crate::http;
use crate::load::{Load, STAYS, WORKED};
use crate::report::Row;
use crate::server::{Data, Server};
use crate::stores::{Fault, POISON, POISON_BYTES, Store};
use crate::watch::{Seen, Site, Watch, metric};

/// Room for records that wait.
const SPILL_BYTES_MAX: f64 = 4.0 * (1 << 30) as f64;
/// The processing rate must stay above this part of what it was before.
const RATE_KEPT_MIN: f64 = 0.5;
/// Log line of searches that cannot be answered.
const AWAY_LOGGED: &str = "secondary storage cannot answer";
/// How often: once, and again if the store goes away again while it comes back.
const LOGGED_MAX: usize = 3;
/// How long nothing here may take, whatever else the machine does; what does has hung.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long a store hangs at least: longer than any of them may take for a query, so that some are late.
const HANGS_MIN: Duration = Duration::from_secs(6);
/// Rows that are asked for at once.
const PAGE: u32 = 1000;
/// Time within which searches must find all changes.
const CAUGHT_UP: Duration = Duration::from_secs(2);
/// Bytes of variables of each instance.
const PAYLOAD_BYTES: usize = 100;

pub(crate) struct Life {
    pub(crate) data: Data,
    settings: Vec<String>,
    server: Option<Server>,
    pub(crate) load: Load,
    pub(crate) site: Site,
}

impl Life {
    /// Starts a server and load.
    pub(crate) async fn start(data: Data, settings: Vec<String>, per_second: u32, payload: usize) -> Self {
        let mut server = Server::spawn(&data, &settings);
        server.ready().await;
        let rest = server.address("rest").to_owned();
        let load = Load::start(&rest, per_second, payload).await;
        let stays = json!({ "processDefinitionId": STAYS });
        let created = http::ask(&rest, "POST", "/v2/process-instances", Some(&stays)).await.unwrap().good();
        let living = created["processInstanceKey"].as_str().unwrap().parse().unwrap();
        load.ledger.instances().insert(living, false);
        let management = server.address("management").to_owned();
        let site = Site { rest, management, data: data.path(), living };
        Self { data, settings, server: Some(server), load, site }
    }

    pub(crate) async fn manage(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        http::ask(&self.site.management, method, path, body).await.unwrap().good()
    }

    pub(crate) async fn metric(&self, name: &str) -> f64 {
        metric(&http::ask(&self.site.management, "GET", "/metrics", None).await.unwrap().body, name)
    }

    /// Kills the server and starts it again.
    async fn kill(&mut self) {
        self.load.moves_to(None);
        self.server.take().unwrap().kill_after(Duration::ZERO).await;
        let mut server = Server::spawn(&self.data, &self.settings);
        server.ready().await;
        server.address("rest").clone_into(&mut self.site.rest);
        server.address("management").clone_into(&mut self.site.management);
        self.load.moves_to(Some(&self.site.rest));
        self.server = Some(server);
    }

    /// Creations and completions a second until something is over.
    pub(crate) async fn rate_while<T>(&self, work: impl Future<Output = T>) -> (T, f64) {
        let done = || {
            let (created, completed) = self.load.ledger.done();
            created + completed
        };
        let (began, before) = (Instant::now(), done());
        let outcome = work.await;
        (outcome, (done() - before) as f64 / began.elapsed().as_secs_f64())
    }

    /// Waits until what is acknowledged is found soon. Returns how long it took.
    pub(crate) async fn caught_up(&self) -> Duration {
        let began = Instant::now();
        while self.find_newest().await > CAUGHT_UP {}
        began.elapsed()
    }

    /// Waits until what was acknowledged last is found. Returns how long it took.
    async fn find_newest(&self) -> Duration {
        let began = Instant::now();
        let newest = *self.load.ledger.instances().last_key_value().unwrap().0;
        let filter = json!({ "filter": { "processInstanceKey": newest.to_string() } });
        until("what was done is found", async || {
            let found = http::ask(&self.site.rest, "POST", "/v2/process-instances/search", Some(&filter));
            let found = found.await.unwrap();
            found.status == 200 && found.json()["items"].as_array().is_some_and(|items| !items.is_empty())
        })
        .await;
        began.elapsed()
    }

    /// Everything that there is of a kind.
    async fn all(&self, kind: &str, filter: Value) -> Vec<Value> {
        let mut all = Vec::new();
        let mut page = json!({ "limit": PAGE });
        loop {
            let query = json!({ "filter": filter, "page": page });
            let path = format!("/v2/{kind}/search");
            let found = http::ask(&self.site.rest, "POST", &path, Some(&query)).await.unwrap().good();
            let Some(items) = found["items"].as_array().filter(|items| !items.is_empty()) else {
                return all;
            };
            all.extend(items.iter().cloned());
            page = json!({ "limit": PAGE, "after": found["page"]["endCursor"] });
        }
    }

    /// Ends the load and looks whether everything is in the store, once, in its final state. Refused
    /// and parked records must have been replayed before.
    pub(crate) async fn finish(mut self) {
        self.load.stop_creating().await;
        let open = json!({ "filter": { "processDefinitionId": WORKED, "state": "ACTIVE" } });
        until("all is worked", async || {
            // Two looks: what was answered last may not be found yet.
            self.find_newest().await;
            let found = http::ask(&self.site.rest, "POST", "/v2/process-instances/search", Some(&open)).await;
            let found = found.unwrap();
            found.status == 200 && found.json()["page"]["totalItems"] == 0
        })
        .await;
        until("nothing waits", async || {
            self.metric("baton_exporter_backlog_records").await + self.metric("baton_exporter_failing").await
                == 0.0
        })
        .await;
        self.verify().await;
        self.server.take().unwrap().stop().await;
        self.load.end().await.assert_sound();
    }

    async fn verify(&self) {
        let mut found = BTreeMap::new();
        for item in self.all("process-instances", json!({})).await {
            let key: i64 = item["processInstanceKey"].as_str().unwrap().parse().unwrap();
            let is_worked = item["processDefinitionId"] == WORKED;
            let state = if is_worked { "COMPLETED" } else { "ACTIVE" };
            assert_eq!(item["state"], state, "{item}");
            assert_eq!(item["endDate"].is_null(), !is_worked, "{item}");
            assert!(found.insert(key, is_worked).is_none(), "{key} occurs twice");
        }
        let ledger = &self.load.ledger;
        let known = ledger.instances().clone();
        let lost: Vec<_> = known.iter().filter(|(key, worked)| found.get(key) != Some(worked)).collect();
        assert!(lost.is_empty(), "{} of {} instances are lost: {lost:?}", lost.len(), known.len());
        let unknown = found.len() - known.len();
        let unanswered = ledger.unanswered.load(Ordering::Relaxed) as usize;
        assert!(unknown <= unanswered, "{unknown} instances that nobody created, {unanswered} unanswered");
        let worked = found.values().filter(|worked| **worked).count();
        for (process, state, wanted) in
            [(WORKED, "COMPLETED", worked), (STAYS, "CREATED", found.len() - worked)]
        {
            let jobs = self.all("jobs", json!({ "processDefinitionId": process })).await;
            assert_eq!(jobs.len(), wanted, "jobs of '{process}'");
            let other = jobs.iter().find(|job| job["state"] != state);
            assert!(other.is_none(), "{other:?}");
        }
        let variables = self.all("variables", json!({ "name": "payload" })).await;
        // One instance was created without.
        assert_eq!(variables.len() + 1, found.len(), "variables");
    }
}

/// Waits for something.
pub(crate) async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Takes a store through all its faults.
pub(crate) async fn survives<S: Store>(mut store: S, pace: Pace) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut faults = store.faults();
    // Picked by their names; the first is how the store gets there.
    if let Ok(wanted) = std::env::var("OUTAGE_FAULTS") {
        let is_wanted = |fault: &Fault| wanted.split(',').any(|name| format!("{fault:?}") == name);
        faults.retain(|fault| *fault == Fault::AwayFromTheStart || is_wanted(fault));
    }
    let mut life = Life::start(Data::new(), store.settings(), pace.per_second, PAYLOAD_BYTES).await;
    // Nearly all instances are completed, too.
    let mut before = f64::from(pace.per_second) * 1.9;
    for (number, fault) in faults.into_iter().enumerate() {
        if fault != Fault::AwayFromTheStart {
            assert!(number > 0, "the store is away at first");
            before = life.rate_while(tokio::time::sleep(pace.before)).await.1;
        }
        let watch = Watch::start(life.site.clone());
        let logged_before = life.data.logged(AWAY_LOGGED);
        // Where the work of both is counted.
        let trouble = async {
            store.begin(fault).await;
            match fault {
                Fault::Restarted => {}
                Fault::RefusesOne => poisoned(&life).await,
                Fault::AwayFromTheStart | Fault::Away => {
                    tokio::time::sleep(pace.outage).await;
                    ended_is_not_denied(&life).await;
                }
                Fault::Full => {
                    // Some room may be left in files that there are.
                    until("it is full", async || life.metric("baton_exporter_failing").await > 0.0).await;
                    tokio::time::sleep(pace.outage).await;
                }
                Fault::Hangs => tokio::time::sleep(pace.outage.max(HANGS_MIN)).await,
                _ => tokio::time::sleep(pace.outage).await,
            }
            if fault == Fault::AwayAndKilled { false } else { ends(&mut store, fault).await }
        };
        let (ended, during) = life.rate_while(trouble).await;
        let mut seen = watch.end().await;
        if !ended {
            life.kill().await;
            let watch = Watch::start(life.site.clone());
            tokio::time::sleep(pace.outage).await;
            ends(&mut store, fault).await;
            seen = watch.end().await;
        }
        let caught_up = life.caught_up().await;
        if fault == Fault::RefusesOne {
            replayed(&life).await;
        }
        check(fault, &seen, during, before);
        if matches!(fault, Fault::AwayFromTheStart | Fault::Away) {
            let logged = life.data.logged(AWAY_LOGGED) - logged_before;
            assert!(
                (1..=LOGGED_MAX).contains(&logged),
                "{fault:?}: logged {logged} times, {} failed",
                seen.away
            );
        }
        let disk_bytes = seen.data_bytes;
        rows.push(Row { store: S::NAME, fault, before, during, seen, caught_up, disk_bytes });
        println!("{}", rows.last().unwrap().line());
    }
    life.finish().await;
    rows
}

async fn ends<S: Store>(store: &mut S, fault: Fault) -> bool {
    store.end(fault).await;
    true
}

fn check(fault: Fault, seen: &Seen, during: f64, before: f64) {
    let wrong = &seen.wrong;
    assert!(wrong.is_empty(), "{fault:?}: {} wrong answers, such as {}", wrong.len(), wrong[0]);
    assert!(during >= RATE_KEPT_MIN * before, "{fault:?}: {during:.0} a second, {before:.0} before");
    assert!(seen.living > 0, "{fault:?}: nobody asked");
    assert!(seen.spill_bytes <= SPILL_BYTES_MAX, "{fault:?}: {} bytes are spilled", seen.spill_bytes);
    match fault {
        Fault::AwayFromTheStart | Fault::Away => {
            assert!(seen.away > 0 && seen.failing > 0.0, "{fault:?}: nobody noticed: {seen:?}");
            assert!(seen.backlog_records > 0.0, "{fault:?}: {seen:?}");
        }
        Fault::Hangs => assert!(seen.late + seen.away > 0, "{fault:?}: {seen:?}"),
        Fault::Slow | Fault::RefusesOne => {
            assert!(seen.answered > 0 && seen.away + seen.late == 0, "{fault:?}: {seen:?}");
        }
        Fault::Full => {
            assert!(seen.answered > 0 && seen.away + seen.late == 0, "{fault:?}: {seen:?}");
            assert!(seen.failing > 0.0 && seen.parked == 0.0, "{fault:?}: {seen:?}");
        }
        Fault::Restarted | Fault::AwayAndKilled => {}
    }
}

/// Ended instances are only in the store: while it is away, reads of them are 503, never 404.
async fn ended_is_not_denied(life: &Life) {
    let ended = life.load.ledger.completed().expect("some were completed");
    let path = format!("/v2/process-instances/{ended}");
    let answer = http::ask(&life.site.rest, "GET", &path, None).await.unwrap();
    assert_eq!(answer.status, 503, "{answer:?}");
}

/// Creates the instance whose variable the store refuses, and waits until that is set aside.
async fn poisoned(life: &Life) {
    let variables = json!({ POISON: "x".repeat(POISON_BYTES), "payload": "small" });
    let create = json!({ "processDefinitionId": STAYS, "variables": variables });
    let created = http::ask(&life.site.rest, "POST", "/v2/process-instances", Some(&create)).await;
    let key = created.unwrap().good()["processInstanceKey"].as_str().unwrap().parse().unwrap();
    life.load.ledger.instances().insert(key, false);
    until("one is parked", async || life.metric("baton_exporter_parked_records").await > 0.0).await;
    life.caught_up().await;
}

/// Parked records are listed, and searchable after their replay.
async fn replayed(life: &Life) {
    let path = "/actuator/exporters/secondary-storage/parked";
    let parked = life.manage("GET", path, None).await;
    let parked = parked["items"].as_array().unwrap();
    assert_eq!(parked.len(), 1, "{parked:?}");
    assert_eq!(parked[0]["record"]["value"]["name"], POISON, "{parked:?}");
    assert!(parked[0]["reason"].as_str().is_some_and(|reason| reason.contains("variable")), "{parked:?}");
    let poison = || life.all("variables", json!({ "name": POISON }));
    assert!(poison().await.is_empty());
    let done = life.manage("POST", &format!("{path}/replay"), None).await;
    assert_eq!((&done["replayed"], &done["refused"]), (&json!(1), &json!(0)), "{done}");
    assert_eq!(poison().await.len(), 1);
    assert_eq!(life.manage("GET", path, None).await["items"], json!([]));
    until("none is parked", async || life.metric("baton_exporter_parked_records").await == 0.0).await;
}
