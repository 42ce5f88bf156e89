//! Measures proposals: cost at a low rate, latency one at a time, throughput of large ones, start-up and idle cost.
//!
//! `cargo run --release -p replication --example measure [directory] [compression threshold in bytes] [rate]`; with
//! `rate`, given as proposals per second, only the cost at that rate and the short loops are measured; with 0, the
//! short loops alone.

#![allow(clippy::unwrap_used, reason = "a measurement may stop at the first surprise")]

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use replication::{ApplyError, Group, GroupOptions, LogOptions, LogStore, Payload, StateMachine};

/// Applies nothing, or spins for a while as an engine would.
struct Spinner {
    busy: Duration,
    durable: u64,
}

impl StateMachine for Spinner {
    fn apply(&mut self, index: u64, _: u64, _: &Payload) -> Result<(), ApplyError> {
        let began = Instant::now();
        while began.elapsed() < self.busy {
            std::hint::spin_loop();
        }
        self.durable = index;
        Ok(())
    }

    fn durable_index(&self) -> u64 {
        self.durable
    }
}

/// Times this process's threads have given up a core to wait, so far.
fn waits() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let statuses = tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("status")).ok());
    statuses
        .map(|status| {
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
        })
        .sum()
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn directory_mib(dir: &std::path::Path) -> u64 {
    let sizes = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    sizes.sum::<u64>() >> 20
}

fn sync_time(dir: &std::path::Path) -> Duration {
    use std::os::unix::fs::FileExt;
    let path = dir.join("sync-time");
    let file = std::fs::File::create(&path).unwrap();
    file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
    file.sync_all().unwrap();
    let mut times: Vec<Duration> = (0..300_u64)
        .map(|round| {
            file.write_all_at(&[2; 256], round * 256).unwrap();
            let began = Instant::now();
            file.sync_data().unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    std::fs::remove_file(path).unwrap();
    times[times.len() / 2]
}

/// JSON-like bytes: some structure, some noise.
fn document(bytes: usize) -> Bytes {
    let mut text = String::from("{\"items\":[");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    while text.len() < bytes {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        write!(text, "{{\"id\":\"{seed:016x}\",\"amount\":{},\"status\":\"OPEN\"}},", seed % 10_000).unwrap();
    }
    text.truncate(bytes);
    Bytes::from(text)
}

async fn sequential(group: &Group, name: &str, bytes: usize, count: u32) {
    let body = document(bytes);
    let mut times = Vec::new();
    let (began, cpu_before) = (Instant::now(), cpu());
    for _ in 0..count {
        let sent = Instant::now();
        group.propose(Payload::new(body.clone())).await.unwrap();
        times.push(sent.elapsed());
    }
    let (total, used) = (began.elapsed(), cpu().saturating_sub(cpu_before));
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_micros();
    println!(
        "{name}: {:.0}/s, {:.1} MiB/s, p50 {} us, p99 {} us, max {} us, {} us CPU each",
        f64::from(count) / total.as_secs_f64(),
        f64::from(count) * bytes as f64 / total.as_secs_f64() / f64::from(1 << 20),
        at(0.5),
        at(0.99),
        at(1.0),
        (used / count).as_micros(),
    );
}

/// Proposals at a fixed rate, as an open loop sends them.
async fn paced(group: &Group, name: &str, rate: u32, seconds: u32) {
    let body = document(200);
    let count = rate * seconds;
    let mut clock = tokio::time::interval(Duration::from_secs(1) / rate);
    let mut times = Vec::new();
    let (waits_before, cpu_before) = (waits(), cpu());
    for _ in 0..count {
        clock.tick().await;
        let sent = Instant::now();
        group.propose(Payload::new(body.clone())).await.unwrap();
        times.push(sent.elapsed());
    }
    let (waited, used) = (waits() - waits_before, cpu().saturating_sub(cpu_before));
    times.sort();
    println!(
        "{name}: {:.2} % of a core, {} us CPU and {:.1} waits each, p50 {} us, p99 {} us",
        used.as_secs_f64() / f64::from(seconds) * 100.0,
        (used / count).as_micros(),
        waited as f64 / f64::from(count),
        times[times.len() / 2].as_micros(),
        times[times.len() * 99 / 100].as_micros(),
    );
}

/// `window` proposals under way at once.
async fn windowed(group: &Group, name: &str, bytes: usize, count: u32, window: u32) {
    let began = Instant::now();
    let tasks: Vec<_> = (0..window)
        .map(|_| {
            let group = group.clone();
            let body = document(bytes);
            tokio::spawn(async move {
                for _ in 0..count / window {
                    group.propose(Payload::new(body.clone())).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    println!("{name}: {:.0}/s", f64::from(count) / began.elapsed().as_secs_f64());
}

async fn start(log: &LogStore, id: u64, busy: Duration, durable: u64) -> Group {
    Group::start(id, 1, log, Spinner { busy, durable }, GroupOptions::default()).await.unwrap()
}

/// The cost at a fixed rate, and the loops that a change to the path of a small proposal should not slow.
async fn brief(log: &LogStore, group: Group, rate: u32) {
    if rate > 0 {
        paced(&group, &format!("{rate}/s of 200 B"), rate, 10).await;
    }
    sequential(&group, "200 B one at a time", 200, 4_000).await;
    windowed(&group, "200 B, 2 under way", 200, 4_000, 2).await;
    windowed(&group, "200 B, 8 under way", 200, 8_000, 8).await;
    let second = start(log, 2, Duration::ZERO, 0).await;
    let began = Instant::now();
    tokio::join!(
        windowed(&group, "two groups, 2 under way each: first", 200, 4_000, 2),
        windowed(&second, "two groups, 2 under way each: second", 200, 4_000, 2),
    );
    println!("two groups: {:.0}/s", 8_000.0 / began.elapsed().as_secs_f64());
    let busy = start(log, 3, Duration::from_micros(200), 0).await;
    sequential(&busy, "200 us of apply, one at a time", 200, 2_000).await;
    windowed(&busy, "200 us of apply, 2 under way", 200, 4_000, 2).await;
    if rate > 0 {
        paced(&busy, &format!("200 us of apply, {rate}/s"), rate, 10).await;
        let (waits_before, cpu_before) = (waits(), cpu());
        tokio::time::sleep(Duration::from_secs(10)).await;
        println!(
            "idle, 3 groups: {} ms CPU, {} waits in 10 s",
            cpu().saturating_sub(cpu_before).as_millis(),
            waits() - waits_before
        );
    }
    for group in [group, second, busy] {
        group.shutdown().await;
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let compression_threshold_bytes = arguments.next().map_or(0, |text| text.parse().unwrap());
    let rate: Option<u32> = arguments.next().map(|text| text.parse().unwrap());
    let dir = tempfile::tempdir_in(parent).unwrap();
    println!("sync of a small overwrite: p50 {} us", sync_time(dir.path()).as_micros());
    let options = LogOptions { compression_threshold_bytes, ..LogOptions::default() };

    let began = Instant::now();
    let log = LogStore::open(dir.path(), options.clone()).unwrap();
    let group = start(&log, 1, Duration::ZERO, 0).await;
    println!("first start: {} us", began.elapsed().as_micros());
    if let Some(rate) = rate {
        return brief(&log, group, rate).await;
    }
    sequential(&group, "200 B one at a time", 200, 10_000).await;
    sequential(&group, "32 KiB one at a time", 32 << 10, 2_000).await;
    sequential(&group, "64 KiB one at a time", 64 << 10, 2_000).await;
    println!("log: {} MiB", directory_mib(dir.path()));
    group.purge(group.metrics().applied_index).await;
    sequential(&group, "200 B after a purge (recycled files)", 200, 10_000).await;
    windowed(&group, "200 B, 2 under way", 200, 10_000, 2).await;

    let second = start(&log, 2, Duration::ZERO, 0).await;
    let (first, again) = tokio::join!(
        tokio::spawn({
            let group = group.clone();
            async move { sequential(&group, "two groups, 200 B: first", 200, 10_000).await }
        }),
        tokio::spawn({
            let second = second.clone();
            async move { sequential(&second, "two groups, 200 B: second", 200, 10_000).await }
        })
    );
    first.unwrap();
    again.unwrap();

    let busy = start(&log, 3, Duration::from_micros(200), 0).await;
    sequential(&busy, "200 us of apply, one at a time", 200, 4_000).await;
    windowed(&busy, "200 us of apply, 2 under way", 200, 4_000, 2).await;
    println!("resident: {} MiB", resident_mib());

    let (began, cpu_before) = (Instant::now(), cpu());
    tokio::time::sleep(Duration::from_secs(5)).await;
    println!(
        "idle: {} ms CPU in {} s",
        cpu().saturating_sub(cpu_before).as_millis(),
        began.elapsed().as_secs()
    );

    for group in [group, second, busy] {
        group.shutdown().await;
    }
    drop(log);
    let began = Instant::now();
    let log = LogStore::open(dir.path(), options).unwrap();
    let opened = began.elapsed();
    let group = start(&log, 3, Duration::ZERO, 0).await;
    println!(
        "restart: open {} us, with {} entries applied again {} us",
        opened.as_micros(),
        group.metrics().applied_index,
        began.elapsed().as_micros()
    );
    group.shutdown().await;
}
