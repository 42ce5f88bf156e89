//! Observations of a client that polls while a store is in trouble.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::http;

/// Between two rounds of questions.
const PACE: Duration = Duration::from_millis(100);

/// Where to ask, and for whom.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) rest: String,
    pub(crate) management: String,
    pub(crate) data: PathBuf,
    /// An instance that lives.
    pub(crate) living: i64,
}

/// Observations.
#[derive(Debug, Default, Clone)]
pub(crate) struct Seen {
    /// Searches that were answered.
    pub(crate) answered: u32,
    /// Searches that were told that the store is away (503), and that they took too long (504).
    pub(crate) away: u32,
    pub(crate) late: u32,
    /// Answers about the living instance.
    pub(crate) living: u32,
    /// Records that waited, at the most.
    pub(crate) backlog_records: f64,
    pub(crate) failing: f64,
    pub(crate) parked: f64,
    pub(crate) spill_bytes: f64,
    /// Everything below the data directory, at the most.
    pub(crate) data_bytes: u64,
    /// The write limit, at the least; 0 for none.
    pub(crate) write_limit: f64,
    /// Violations.
    pub(crate) wrong: Vec<String>,
}

/// Asks until it is told to stop.
pub(crate) struct Watch {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Seen>,
}

impl Watch {
    pub(crate) fn start(site: Site) -> Self {
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut seen = Seen::default();
            while stopped.try_recv().is_err() {
                look(&site, &mut seen).await;
                tokio::time::sleep(PACE).await;
            }
            seen
        });
        Self { stop, task }
    }

    pub(crate) async fn end(self) -> Seen {
        let _ = self.stop.send(());
        self.task.await.unwrap()
    }
}

async fn look(site: &Site, seen: &mut Seen) {
    let limit = json!({ "page": { "limit": 1 } });
    let searched = http::ask(&site.rest, "POST", "/v2/process-instances/search", Some(&limit));
    let path = format!("/v2/process-instances/{}", site.living);
    let found = http::ask(&site.rest, "GET", &path, None);
    let metrics = http::ask(&site.management, "GET", "/metrics", None);
    // A killed server answers nothing.
    if let Ok(answer) = searched.await {
        match answer.status {
            200 => seen.answered += 1,
            503 if says_who(&answer) => seen.away += 1,
            504 if says_who(&answer) => seen.late += 1,
            _ => seen.wrong.push(format!("a search: {answer:?}")),
        }
    }
    if let Ok(answer) = found.await {
        match answer.status {
            200 => seen.living += 1,
            _ => seen.wrong.push(format!("a living instance: {answer:?}")),
        }
    }
    if let Ok(answer) = metrics.await {
        let largest = |known: &mut f64, name: &str| *known = known.max(metric(&answer.body, name));
        largest(&mut seen.backlog_records, "baton_exporter_backlog_records");
        largest(&mut seen.failing, "baton_exporter_failing");
        largest(&mut seen.parked, "baton_exporter_parked_records");
        largest(&mut seen.spill_bytes, "baton_exporter_spill_bytes");
        let write_limit = metric(&answer.body, "zeebe_flow_control_write_rate_limit");
        if seen.write_limit == 0.0 || write_limit < seen.write_limit {
            seen.write_limit = write_limit;
        }
    }
    seen.data_bytes = seen.data_bytes.max(bytes_below(&site.data));
}

/// Whether an answer names what is away.
fn says_who(answer: &http::Answer) -> bool {
    answer.json()["detail"].as_str().is_some_and(|detail| detail.contains("secondary storage"))
}

/// A metric, of all labels together.
pub(crate) fn metric(text: &str, name: &str) -> f64 {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name));
    let values = lines.filter(|rest| rest.starts_with(['{', ' '])).filter_map(|rest| rest.rsplit(' ').next());
    values.filter_map(|value| value.parse::<f64>().ok()).sum()
}

fn bytes_below(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        // It was there a moment ago.
        Err(_) => 0,
    });
    sizes.sum()
}
