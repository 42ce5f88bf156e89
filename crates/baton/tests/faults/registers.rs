//! Registers: one writer each, which counts up, and readers at all brokers. Every history must be linearizable.
//!
//! With one writer, whose values grow, that is so if each read finds a value from the latest one that was acknowledged
//! or read before it began, up to the latest one that was asked for before it ended. A write is sent with its
//! idempotency key until it is answered, so that it has no effect after that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cluster::{BROKERS, Cluster};
use crate::http::request;
use crate::pass;

const REGISTERS: usize = 3;
/// Between two requests of a client.
const PAUSE: Duration = Duration::from_millis(40);
/// How many contradictions are shown.
const SHOWN: usize = 20;

/// Values that a register may have.
#[derive(Default)]
struct Known {
    /// Acknowledged or read.
    least: u64,
    /// Asked for.
    most: u64,
}

#[derive(Default)]
struct Register {
    known: Mutex<Known>,
    contradictions: Mutex<Vec<String>>,
    writes: AtomicU64,
    reads: [AtomicU64; BROKERS as usize],
}

impl Register {
    fn least(&self) -> u64 {
        self.known.lock().least
    }

    fn asks_for(&self, value: u64) {
        self.known.lock().most = value;
    }

    fn written(&self, value: u64) {
        let mut known = self.known.lock();
        known.least = known.least.max(value);
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// A read that began when the register was known to have `least` has found this.
    fn found(&self, broker: usize, least: u64, answer: &str) {
        let value: serde_json::Value = serde_json::from_str(answer).unwrap();
        let value = value["value"].as_str().and_then(|text| text.parse().ok());
        let mut known = self.known.lock();
        let expected = least..=known.most;
        match value {
            Some(value) if expected.contains(&value) => known.least = known.least.max(value),
            _ => self.contradiction(format!("broker {broker} has {answer}, expected {expected:?}")),
        }
        self.reads[broker].fetch_add(1, Ordering::Relaxed);
    }

    fn contradiction(&self, text: String) {
        self.contradictions.lock().push(text);
    }
}

pub(crate) struct Registers {
    all: Vec<Arc<Register>>,
    clients: JoinSet<()>,
    stop: CancellationToken,
}

impl Registers {
    /// Creates the registers, and has clients at work until the end, whatever becomes of brokers.
    pub(crate) async fn begin(cluster: &Cluster) -> Self {
        let mut begun = Self { all: Vec::new(), clients: JoinSet::new(), stop: CancellationToken::new() };
        let addresses: Vec<String> = (0..BROKERS).map(|broker| cluster.rest(broker)).collect();
        for number in 0..REGISTERS {
            let body = format!(r#"{{"name":"r{number}","value":0}}"#);
            let path = "/v2/cluster-variables/global";
            let (status, answer) = request(&addresses[0], "POST", path, "", &body).await.unwrap();
            assert_eq!(status, 200, "{answer}");
            let register = Arc::<Register>::default();
            let path = format!("{path}/r{number}");
            for (broker, address) in addresses.iter().enumerate() {
                let (address, path, stop) = (address.clone(), path.clone(), begun.stop.clone());
                begun.clients.spawn(read(broker, address, path, Arc::clone(&register), stop));
            }
            begun.clients.spawn(write(addresses.clone(), path, Arc::clone(&register), begun.stop.clone()));
            begun.all.push(register);
        }
        begun
    }

    pub(crate) fn assert_sound(&self) {
        let found: Vec<String> =
            self.all.iter().flat_map(|register| register.contradictions.lock().clone()).collect();
        let shown = &found[..found.len().min(SHOWN)];
        assert!(shown.is_empty(), "{} reads are not linearizable:\n{}", found.len(), shown.join("\n"));
    }

    /// Ends the clients. Every register was written, and read at every broker.
    pub(crate) async fn end(mut self) {
        self.stop.cancel();
        while let Some(ended) = self.clients.join_next().await {
            ended.unwrap();
        }
        self.assert_sound();
        let sum = |of: &dyn Fn(&Register) -> u64| self.all.iter().map(|register| of(register)).sum::<u64>();
        let writes = sum(&|register| register.writes.load(Ordering::Relaxed));
        let reads: Vec<u64> = (0..usize::from(BROKERS))
            .map(|broker| sum(&|register| register.reads[broker].load(Ordering::Relaxed)))
            .collect();
        println!("registers: {writes} writes, reads at each broker: {reads:?}");
        assert!(writes > 0 && reads.iter().all(|reads| *reads > 0), "registers were not in use");
    }
}

async fn write(addresses: Vec<String>, path: String, register: Arc<Register>, stop: CancellationToken) {
    let mut asked = 0;
    for value in 1u64.. {
        register.asks_for(value);
        let body = format!(r#"{{"value":{value}}}"#);
        let headers = format!("idempotency-key: {path}-{value}\r\n");
        loop {
            if stop.is_cancelled() {
                return;
            }
            asked += 1;
            let address = &addresses[asked % addresses.len()];
            match request(address, "PUT", &path, &headers, &body).await {
                Ok((200, _)) => break,
                Ok((400..500, answer)) => {
                    register.contradiction(format!("{path}: a write is refused: {answer}"));
                }
                Ok(_) | Err(_) => {}
            }
            pass(PAUSE).await;
        }
        register.written(value);
        pass(PAUSE).await;
    }
}

async fn read(
    broker: usize,
    address: String,
    path: String,
    register: Arc<Register>,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        let least = register.least();
        match request(&address, "GET", &path, "", "").await {
            Ok((200, answer)) => register.found(broker, least, &answer),
            Ok((400..500, answer)) => register.contradiction(format!("{path}: a read is refused: {answer}")),
            Ok(_) | Err(_) => {}
        }
        pass(PAUSE).await;
    }
}
