//! When records pile up: limits hold, and let go again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::Pace;
use crate::life::{Life, until};
use crate::report::Row;
use crate::server::Data;
use crate::small_disk::SmallDisk;
use crate::stores::{Fault, Sqlite, Store as _};
use crate::watch::Watch;

/// The smallest room for records that wait.
const SPILL_BYTES: f64 = 16.0 * (1 << 20) as f64;
/// Bytes of variables: the room is full soon.
const LARGE: usize = 50_000;
/// The write limit, records a second: more than there are; and what it is throttled to.
const WRITE_LIMIT: u32 = 5000;
const LIMIT_MIN: u32 = 200;

/// A store that takes nothing for now, and a server with these settings on top.
async fn stuck(settings: &[&str], data: Data, pace: Pace, payload: usize) -> (Sqlite, Life) {
    let mut store = Sqlite::new();
    store.end(Fault::AwayFromTheStart).await;
    let mut all = store.settings();
    all.extend(settings.iter().map(|setting| (*setting).to_owned()));
    let life = Life::start(data, all, pace.per_second, payload).await;
    life.caught_up().await;
    store.begin(Fault::AwayAndKilled).await;
    (store, life)
}

/// The write limit follows a store that takes nothing, and is as it was once that is over.
pub(crate) async fn throttling_engages_and_lets_go(pace: Pace) -> Vec<Row> {
    let (mut store, life) = stuck(&[], Data::new(), pace, 100).await;
    let limit = async || life.metric("zeebe_flow_control_write_rate_limit").await;
    assert!(limit().await < 1.0, "there is a limit that nobody has set");
    // Nothing of this was configured: it is set while the store takes nothing already.
    let throttling = json!({
        "enabled": true, "acceptableBacklog": 1000, "minimumLimit": LIMIT_MIN, "resolution": "1s",
    });
    let write = json!({ "enabled": true, "limit": WRITE_LIMIT, "throttling": throttling });
    life.manage("POST", "/actuator/flowControl", Some(&json!({ "write": write }))).await;
    until("it is throttled", async || (limit().await - f64::from(LIMIT_MIN)).abs() < 1.0).await;
    let waiting = async || life.metric("baton_flow_control_write_waiting").await;
    until("creations wait", async || waiting().await > 0.0).await;
    // The rate of what is begun follows: each instance has ten records and more.
    let ((), throttled) = life.rate_while(tokio::time::sleep(Duration::from_secs(3))).await;
    assert!(
        throttled > 0.0 && throttled < f64::from(LIMIT_MIN) / 4.0,
        "{throttled} creations and completions a second"
    );
    let shown = life.manage("GET", "/actuator/flowControl", None).await;
    assert_eq!(shown["1"]["writeRateLimit"]["currentLimit"].as_f64(), Some(f64::from(LIMIT_MIN)), "{shown}");
    store.end(Fault::AwayAndKilled).await;
    life.caught_up().await;
    until("it is throttled no more", async || (limit().await - f64::from(WRITE_LIMIT)).abs() < 1.0).await;
    println!("throttling: {throttled:.0} creations and completions a second while throttled");
    life.finish().await;
    Vec::new()
}

/// With the room for waiting records full, what begins work is refused and says why; what is begun goes on.
pub(crate) async fn records_stay_within_their_room(pace: Pace) -> Vec<Row> {
    let settings = ["export.max_spill_bytes=16MiB", "export.memory_bytes=1MiB", "state.flush_interval=100ms"];
    let (mut store, life) = stuck(&settings, Data::new(), pace, LARGE).await;
    let watch = Watch::start(life.site.clone());
    let refused = || life.load.ledger.refused.load(Ordering::Relaxed);
    until("creations are refused", async || refused() > 10).await;
    let reason = life.load.ledger.reason();
    assert!(reason.contains("exporter 'secondary-storage' is"), "{reason}");
    tokio::time::sleep(pace.outage).await;
    store.end(Fault::AwayAndKilled).await;
    let seen = watch.end().await;
    assert!(seen.wrong.is_empty(), "{:?}", seen.wrong);
    assert!(seen.spill_bytes > SPILL_BYTES / 2.0, "{seen:?}");
    assert!(seen.spill_bytes <= SPILL_BYTES * 1.25 + LARGE as f64, "{seen:?}");
    let took = life.caught_up().await;
    // It takes up work again by itself.
    let created = life.load.ledger.instances().len();
    until("creations are taken again", async || life.load.ledger.instances().len() > created).await;
    println!("room for records: {} refused, caught up after {:.1} s", refused(), took.as_secs_f64());
    life.finish().await;
    Vec::new()
}

/// With the disk of the data full, requests are refused; when there is room, all goes on.
pub(crate) async fn a_full_disk_loses_nothing(pace: Pace) -> Vec<Row> {
    if !SmallDisk::is_possible() {
        println!("full disk of the data: not run, no file system may be mounted here");
        return Vec::new();
    }
    let data = Data::new();
    std::fs::create_dir(data.path()).unwrap();
    let disk = SmallDisk::mount(&data.path());
    let settings =
        ["data.min_free_bytes=4MiB", "data.min_free_log_bytes=2MiB", "data.disk_check_interval=100ms"];
    let (mut store, life) = stuck(&settings, data, pace, 100).await;
    let watch = Watch::start(life.site.clone());
    disk.fill();
    let refused = || life.load.ledger.refused.load(Ordering::Relaxed);
    until("requests are refused", async || refused() > 10).await;
    let reason = life.load.ledger.reason();
    assert!(reason.contains("disk"), "{reason}");
    tokio::time::sleep(pace.outage).await;
    let created = life.load.ledger.instances().len();
    store.end(Fault::AwayAndKilled).await;
    disk.make_room();
    until("requests are taken again", async || life.load.ledger.instances().len() > created).await;
    let seen = watch.end().await;
    assert!(seen.wrong.is_empty(), "{:?}", seen.wrong);
    let took = life.caught_up().await;
    println!("full disk of the data: {} refused, caught up after {:.1} s", refused(), took.as_secs_f64());
    life.finish().await;
    drop(disk);
    Vec::new()
}
