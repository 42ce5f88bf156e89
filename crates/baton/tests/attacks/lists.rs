//! Requests with lists that have no end, of each kind in turn: as long as may be, and as long as a body has room for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::creation::{self, Creation};
use crate::http::PATIENCE;
use crate::report::Row;
use crate::server::{Data, Server};
use crate::siege::{ATTACKERS, MIB, OTHERS, PAUSE, Size, percentile};
use crate::watch::Watch;

const NAME: &str = "long lists";
/// Entries that one command may have.
const ENTRIES_MAX: usize = 2_000;
/// Bytes of a list that a body has room for.
const BYTES: usize = 3_500_000;
const BOUNDARY: &str = "a-boundary";

/// A request that has one list.
struct Kind {
    name: &'static str,
    path: String,
    /// The list stands between the first two; each entry is made of its number.
    before: &'static str,
    after: &'static str,
    entry: fn(usize) -> String,
}

impl Kind {
    fn new(
        name: &'static str,
        path: &str,
        (before, after): (&'static str, &'static str),
        entry: fn(usize) -> String,
    ) -> Self {
        Self { name, path: path.to_owned(), before, after, entry }
    }

    /// The request with so many entries.
    fn request(&self, entries: usize) -> String {
        let list = (0..entries).map(self.entry);
        let (headers, kind, body) = match self.name {
            "headers" => (list.collect::<String>(), "application/json".to_owned(), "{}".to_owned()),
            "files of a deployment" => {
                let files = list.collect::<String>();
                (
                    String::new(),
                    format!("multipart/form-data; boundary={BOUNDARY}"),
                    format!("{files}--{BOUNDARY}--\r\n"),
                )
            }
            _ => {
                let list = list.collect::<Vec<_>>().join(",");
                (String::new(), "application/json".to_owned(), format!("{}{list}{}", self.before, self.after))
            }
        };
        let (path, length) = (&self.path, body.len());
        format!(
            "POST {path} HTTP/1.0\r\nhost: x\r\n{headers}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    }

    /// As many entries as there is room for.
    fn most(&self) -> usize {
        BYTES / ((self.entry)(100_000).len() + 1)
    }
}

fn kinds(instance: i64) -> Vec<Kind> {
    let create = |list| (list, "]}");
    let element: fn(usize) -> String = |_| r#"{"elementId":"task"}"#.to_owned();
    let text: fn(usize) -> String = |number| format!("\"t{number}\"");
    let instances = "/v2/process-instances";
    vec![
        Kind::new(
            "start instructions",
            instances,
            create(r#"{"processDefinitionId":"others","startInstructions":["#),
            element,
        ),
        Kind::new("tags", instances, create(r#"{"processDefinitionId":"others","tags":["#), text),
        Kind::new(
            "instructions of a modification",
            &format!("{instances}/{instance}/modification"),
            create(r#"{"activateInstructions":["#),
            |_| r#"{"elementId":"none"}"#.to_owned(),
        ),
        Kind::new(
            "instructions of a migration",
            &format!("{instances}/{instance}/migration"),
            create(r#"{"targetProcessDefinitionKey":"1","mappingInstructions":["#),
            |number| format!(r#"{{"sourceElementId":"e{number}","targetElementId":"task"}}"#),
        ),
        Kind::new(
            "alternatives of a filter",
            "/v2/process-instances/search",
            (r#"{"filter":{"$or":["#, "]}}"),
            |number| format!(r#"{{"processDefinitionId":"p{number}"}}"#),
        ),
        Kind::new(
            "values of a filter",
            "/v2/process-instances/search",
            (r#"{"filter":{"processDefinitionId":{"$in":["#, "]}}}"),
            text,
        ),
        Kind::new(
            "variables to fetch",
            "/v2/jobs/activation",
            create(r#"{"type":"others","timeout":1,"maxJobsToActivate":2147483647,"fetchVariable":["#),
            text,
        ),
        Kind::new(
            "elements of a job's result",
            "/v2/jobs/1/completion",
            (r#"{"result":{"type":"adHocSubProcess","activateElements":["#, "]}}"),
            element,
        ),
        Kind::new(
            "permissions of an authorization",
            "/v2/authorizations",
            create(
                r#"{"ownerId":"u","ownerType":"USER","resourceId":"*","resourceType":"RESOURCE","permissionTypes":["#,
            ),
            |_| "\"READ\"".to_owned(),
        ),
        Kind::new("headers", "/v2/process-instances/search", ("", ""), |number| format!("x-{number}: 1\r\n")),
        Kind::new("files of a deployment", "/v2/deployments", ("", ""), |number| {
            format!(
                "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"resources\"; filename=\"f{number}.form\"\r\n\r\n{{}}\r\n"
            )
        }),
    ]
}

/// Sends a request. Returns the status; none when the server cut the connection while it was sent.
async fn send(address: &str, request: &str) -> Option<u16> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        answer.split(' ').nth(1)?.parse().ok()
    };
    tokio::time::timeout(PATIENCE, exchange).await.ok().flatten()
}

/// Outcome of one kind.
#[derive(Default)]
struct Outcome {
    longest: Duration,
    /// Requests that are too long and were not refused, and answers that blame the server.
    wrong: u32,
}

type Outcomes = Arc<parking_lot::Mutex<BTreeMap<&'static str, Outcome>>>;

/// A request, made before the clock runs: making it takes longer than refusing it.
struct Request {
    kind: &'static str,
    text: String,
    entries: usize,
    is_too_long: bool,
}

fn requests(instance: i64) -> Vec<Request> {
    let kinds = kinds(instance);
    let sizes = |kind: &Kind| [(ENTRIES_MAX, false), (kind.most(), true)];
    let of_kind = |kind: &Kind| {
        sizes(kind).map(|(entries, is_too_long)| Request {
            kind: kind.name,
            text: kind.request(entries),
            entries,
            is_too_long,
        })
    };
    kinds.iter().flat_map(of_kind).collect()
}

/// Sends one after the other until it is over; each client begins at another place.
async fn attack(
    address: String,
    requests: Arc<Vec<Request>>,
    first: usize,
    until: Instant,
    outcomes: Outcomes,
) {
    let mut pace = interval(PAUSE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for request in requests.iter().cycle().skip(first) {
        pace.tick().await;
        if Instant::now() >= until {
            return;
        }
        let began = Instant::now();
        let status = send(&address, &request.text).await;
        let is_right = match status {
            Some(status) if request.is_too_long => (400..500).contains(&status),
            Some(status) => status < 500 || status == 503,
            None => request.is_too_long,
        };
        {
            let mut outcomes = outcomes.lock();
            let outcome = outcomes.entry(request.kind).or_default();
            outcome.longest = outcome.longest.max(began.elapsed());
            if !is_right {
                println!("{}: {} entries are answered with {status:?}", request.kind, request.entries);
                outcome.wrong += 1;
            }
        }
    }
}

pub(crate) async fn are_refused(size: Size) -> Vec<Row> {
    let data = Data::new();
    let mut server = Server::spawn(&data, &[]);
    server.ready().await;
    let client = creation::client(server.address("rest"), 64);
    creation::deploy_one_task(&client, OTHERS).await;
    let instance = client.create_instance_key(&client::CreateInstance::latest(OTHERS)).await.unwrap();
    let requests = Arc::new(requests(instance));
    let watch = Watch::start(server.id(), server.address("management"));
    let others = Creation::start(client, OTHERS, size.per_second, "{}".to_owned());
    let (began, outcomes) = (Instant::now(), Outcomes::default());
    let mut attackers = JoinSet::new();
    for attacker in 0..ATTACKERS as usize {
        let (address, until) = (server.address("rest").to_owned(), began + size.length);
        attackers.spawn(attack(address, Arc::clone(&requests), attacker * 8, until, Arc::clone(&outcomes)));
    }
    while attackers.join_next().await.is_some() {}
    let created = others.end().await;
    let peak = watch.end().await;
    server.kill_after(Duration::ZERO).await;
    let again = Instant::now();
    let mut server = Server::spawn(&data, &[]);
    server.ready().await;
    let start = again.elapsed().as_secs_f64();
    server.kill_after(Duration::ZERO).await;

    let bound = size.creation_max.as_secs_f64();
    let mut rows = vec![
        Row::at_most(
            NAME,
            "seconds for others' creations, p99",
            percentile(&created.latencies(began)),
            bound,
        ),
        Row::at_most(NAME, "others' creations that failed", created.wrong().len() as f64, 0.0),
        Row::at_most(NAME, "others' creations refused", created.refused() as f64, 0.0),
        Row::at_most(
            NAME,
            "MiB at the most",
            (peak.resident_bytes / MIB) as f64,
            (size.memory_max / MIB) as f64,
        ),
        Row::at_most(
            NAME,
            "seconds for a probe, at the most",
            peak.probe.as_secs_f64(),
            size.probe_max.as_secs_f64(),
        ),
        Row::at_most(NAME, "seconds to start after kill -9", start, size.start_max.as_secs_f64()),
    ];
    for (kind, Outcome { longest, wrong }) in &*outcomes.lock() {
        rows.push(Row::told(NAME, &format!("{kind}: seconds for an answer"), longest.as_secs_f64()));
        rows.push(Row::at_most(NAME, &format!("{kind}: wrong answers"), f64::from(*wrong), 0.0));
    }
    rows
}
