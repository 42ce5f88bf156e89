//! A hostile model in a loop from three clients, while somebody else works: how long others wait, how much memory
//! it takes, whether it can be cancelled, and whether the program comes back after it was killed.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use client::{CreateInstance, EvaluateExpression, Resource, RestClient};
use tokio::task::JoinSet;

use crate::creation::{self, Creation};
use crate::models::{HOSTILE, Hostile};
use crate::report::Row;
use crate::server::{Data, Server};
use crate::watch::Watch;

/// Clients that run the model.
pub(crate) const ATTACKERS: u32 = 3;
/// An attacker waits for the end of its instance at most so long, before the next.
const ATTACK_WAIT: Duration = Duration::from_secs(1);
/// Pause after a refusal.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);
/// The process of the others.
pub(crate) const OTHERS: &str = "others";
/// Longer than any bound.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long, and what is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) length: Duration,
    pub(crate) per_second: u32,
    /// Answer to others' creations: the one of a hundred that takes longest.
    pub(crate) creation_max: Duration,
    pub(crate) memory_max: u64,
    pub(crate) cancel_max: Duration,
    pub(crate) start_max: Duration,
    /// Answer of a probe on the management port.
    pub(crate) probe_max: Duration,
}

pub(crate) const MIB: u64 = 1024 * 1024;

/// As the issue wants it, of the program as it is shipped.
pub(crate) const FULL: Size = Size {
    length: Duration::from_secs(15),
    per_second: 50,
    creation_max: Duration::from_millis(250),
    memory_max: 400 * MIB,
    cancel_max: Duration::from_secs(1),
    start_max: Duration::from_secs(5),
    probe_max: Duration::from_secs(1),
};

/// For a program with debug assertions on a busy machine: ten times slower, and no larger.
pub(crate) const SHORT: Size = Size {
    length: Duration::from_secs(3),
    per_second: 10,
    creation_max: Duration::from_secs(6),
    memory_max: 400 * MIB,
    cancel_max: Duration::from_secs(5),
    start_max: Duration::from_secs(20),
    probe_max: Duration::from_secs(2),
};

pub(crate) async fn is_withstood(hostile: &Hostile, size: Size) -> Vec<Row> {
    let name = hostile.name;
    let data = Data::new();
    let mut server = Server::spawn(&data, &[]);
    server.ready().await;
    let client = creation::client(server.address("rest"), 64);
    creation::deploy_one_task(&client, OTHERS).await;
    deploy(&client, hostile).await;
    let watch = Watch::start(server.id(), server.address("management"));
    let attack = Attack::start(&client, hostile);
    let others = Creation::start(client.clone(), OTHERS, size.per_second, "{}".to_owned());
    let began = Instant::now();
    tokio::time::sleep(size.length).await;
    // An attacker without an answer has nothing to cancel.
    let cancelled = match attack.keys() {
        Some(keys) => cancel(&client, &keys).await,
        None => f64::INFINITY,
    };
    let created = tokio::time::timeout(PATIENCE, others.end()).await;
    let slowest = created.as_ref().map_or(f64::INFINITY, |created| percentile(&created.latencies(began)));
    let wrong = created.as_ref().map_or(1, |created| created.wrong().len());
    let refused = created.as_ref().map_or(0, |created| created.refused());
    attack.is_over.store(true, Ordering::Relaxed);
    let peak = watch.end().await;
    server.kill_after(Duration::ZERO).await;
    let attacks = attack.end().await;

    let began = Instant::now();
    let mut server = Server::spawn(&data, &[]);
    let ready = tokio::spawn(async move {
        server.ready().await;
        server
    });
    let again = ready.await.ok();
    let start = again.as_ref().map_or(f64::INFINITY, |_| began.elapsed().as_secs_f64());
    let mut rows = vec![
        Row::told(name, "attempts", attacks.created as f64),
        Row::told(name, "refused or not ended in time", attacks.refused as f64),
        Row::at_most(name, "seconds for others' creations, p99", slowest, size.creation_max.as_secs_f64()),
        Row::at_most(name, "others' creations that failed", wrong as f64, 0.0),
        Row::at_most(name, "others' creations refused", refused as f64, 0.0),
        Row::at_most(
            name,
            "MiB at the most",
            peak.resident_bytes as f64 / MIB as f64,
            (size.memory_max / MIB) as f64,
        ),
        Row::at_most(
            name,
            "seconds for a cancellation, at the most",
            cancelled,
            size.cancel_max.as_secs_f64(),
        ),
        Row::at_most(
            name,
            "seconds for a probe, at the most",
            peak.probe.as_secs_f64(),
            size.probe_max.as_secs_f64(),
        ),
        Row::at_most(name, "instances banned", peak.banned as f64, 0.0),
        Row::at_most(name, "seconds to start after kill -9", start, size.start_max.as_secs_f64()),
    ];
    if let Some(server) = again {
        // The work goes on where it stopped, and others are served beside it.
        let watch = Watch::start(server.id(), server.address("management"));
        let client = creation::client(server.address("rest"), 64);
        let others = Creation::start(client, OTHERS, size.per_second, "{}".to_owned());
        let began = Instant::now();
        tokio::time::sleep(size.length / 3).await;
        let created = tokio::time::timeout(PATIENCE, others.end()).await;
        let slowest = created.map_or(f64::INFINITY, |created| percentile(&created.latencies(began)));
        rows.push(Row::at_most(name, "p99 after the start", slowest, size.creation_max.as_secs_f64()));
        let peak = watch.end().await.resident_bytes as f64 / MIB as f64;
        rows.push(Row::at_most(name, "MiB after the start", peak, (size.memory_max / MIB) as f64));
        server.kill_after(Duration::ZERO).await;
    }
    rows
}

pub(crate) async fn deploy(client: &RestClient, hostile: &Hostile) {
    for (name, content) in &hostile.files {
        client.deploy(&[Resource { name, content: content.as_bytes() }], None).await.unwrap();
    }
}

/// The answer that ninety-nine of a hundred do not take longer than.
pub(crate) fn percentile(sorted: &[Duration]) -> f64 {
    let index = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
    sorted.get(index).map_or(f64::INFINITY, Duration::as_secs_f64)
}

/// The longest that a cancellation took to be answered; it may have ended meanwhile.
pub(crate) async fn cancel(client: &RestClient, keys: &[i64]) -> f64 {
    let mut longest = Duration::ZERO;
    for &key in keys {
        let began = Instant::now();
        match tokio::time::timeout(PATIENCE, client.cancel_instance(key)).await {
            Ok(Ok(())) => longest = longest.max(began.elapsed()),
            Ok(Err(error)) if error.is_not_found() => longest = longest.max(began.elapsed()),
            _ => return f64::INFINITY,
        }
    }
    longest.as_secs_f64()
}

#[derive(Default)]
struct Counts {
    created: AtomicU64,
    refused: AtomicU64,
}

struct Attack {
    is_over: Arc<AtomicBool>,
    counts: Arc<Counts>,
    /// Result of each attacker's first creation.
    keys: Arc<Mutex<Vec<Option<i64>>>>,
    tasks: JoinSet<()>,
}

struct Attacks {
    created: u64,
    refused: u64,
}

impl Attack {
    fn start(client: &RestClient, hostile: &Hostile) -> Self {
        let mut attack = Self {
            is_over: Arc::default(),
            counts: Arc::default(),
            keys: Arc::default(),
            tasks: JoinSet::new(),
        };
        for _ in 0..ATTACKERS {
            let (client, variables) = (client.clone(), hostile.variables.clone());
            let expression = hostile.expression.clone();
            let (is_over, counts, keys) =
                (Arc::clone(&attack.is_over), Arc::clone(&attack.counts), Arc::clone(&attack.keys));
            attack.tasks.spawn(async move {
                let command =
                    CreateInstance { variables: Some(&variables), ..CreateInstance::latest(HOSTILE) };
                // The first ones are to be cancelled, so their keys are wanted.
                let first = client.create_instance_key(&command).await;
                keys.lock().push(first.ok());
                while !is_over.load(Ordering::Relaxed) {
                    let is_answered = if let Some(expression) = &expression {
                        let evaluation = EvaluateExpression { expression, variables: None, tenant_id: None };
                        client.evaluate_expression(&evaluation).await.is_ok()
                    } else {
                        client.create_instance_with_result(&command, &[], ATTACK_WAIT).await.is_ok()
                    };
                    counts.created.fetch_add(1, Ordering::Relaxed);
                    if !is_answered {
                        counts.refused.fetch_add(1, Ordering::Relaxed);
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            });
        }
        attack
    }

    /// The first instances, once all attackers have an answer.
    fn keys(&self) -> Option<Vec<i64>> {
        let keys = self.keys.lock();
        (keys.len() == ATTACKERS as usize).then(|| keys.iter().copied().flatten().collect())
    }

    /// To be called when there is no server any more: every request ends.
    async fn end(mut self) -> Attacks {
        self.is_over.store(true, Ordering::Relaxed);
        while self.tasks.join_next().await.is_some() {}
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Attacks { created: read(&self.counts.created), refused: read(&self.counts.refused) }
    }
}
