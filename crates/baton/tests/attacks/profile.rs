//! E22: what a CPU profile of an idle broker costs in memory.

use std::time::Duration;

use crate::http;
use crate::report::Row;
use crate::server::{Data, Server};
use crate::watch::{Watch, resident_bytes};

const NAME: &str = "profile of an idle broker";
const GROWTH_MAX_MIB: f64 = 32.0;
/// Returned memory may take a moment.
const BACK_AFTER: Duration = Duration::from_secs(2);

pub(crate) async fn is_cheap() -> Vec<Row> {
    let data = Data::new();
    let mut server = Server::spawn(&data, &[]);
    server.ready().await;
    let management = server.address("management").to_owned();
    // The cost of the first scrape is excluded.
    http::ask(&management, "GET", "/actuator/prometheus", None).await.unwrap();
    let mib = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    let before = resident_bytes(server.id()).unwrap();
    let watch = Watch::start(server.id(), &management);
    let profile = http::ask(&management, "GET", "/actuator/profile?seconds=3", None).await.unwrap();
    tokio::time::sleep(BACK_AFTER).await;
    let peak = watch.end().await.resident_bytes;
    let kept = resident_bytes(server.id()).unwrap();
    server.stop().await;
    let growth = |bytes: u64| mib(bytes.saturating_sub(before));
    vec![
        Row::at_least(NAME, "flame graphs", f64::from(u8::from(profile.body.contains("<svg"))), 1.0),
        Row::told(NAME, "MiB before", mib(before)),
        Row::at_most(NAME, "MiB more at the most", growth(peak), GROWTH_MAX_MIB),
        Row::at_most(NAME, "MiB more two seconds later", growth(kept), GROWTH_MAX_MIB),
    ]
}
