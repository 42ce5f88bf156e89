//! Whether exporting keeps up with the highest load, however long it lasts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use client::Address;

use super::measure::{Suite, add_errors};
use super::name::EXPORT_BACKLOG;
use super::table::{Table, Target};
use crate::{
    Error, Options,
    cost::metric,
    format::{bytes, micros, number},
    http::get,
};

/// How often the backlog is asked for.
const INTERVAL: Duration = Duration::from_secs(1);
/// The backlog is flat when it is no older in the last third than this many times what it was in the first.
const GROWTH_MAX: f64 = 2.0;
/// A backlog that is younger than this is none.
const AGE_MIN_MICROS: f64 = 500_000.0;

/// Records that wait for exporters, at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Backlog {
    records: f64,
    age_micros: f64,
    spill_bytes: f64,
}

/// Looks again and again until told to stop.
async fn watch(management: Address, stop: Arc<AtomicBool>) -> Vec<Backlog> {
    let mut seen = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        if let Some(text) = get(&management, "/actuator/prometheus").await {
            seen.extend(read(&text));
        }
        tokio::time::sleep(INTERVAL).await;
    }
    seen
}

fn read(text: &str) -> Option<Backlog> {
    Some(Backlog {
        records: metric(text, "baton_exporter_backlog_records")?,
        age_micros: metric(text, "baton_exporter_backlog_seconds")? * 1e6,
        spill_bytes: metric(text, "baton_exporter_spill_bytes")?,
    })
}

/// The means of the first and the last third.
fn thirds(seen: &[Backlog], of: impl Fn(&Backlog) -> f64) -> Option<(f64, f64)> {
    let length = seen.len() / 3;
    let mean = |part: &[Backlog]| part.iter().map(&of).sum::<f64>() / part.len() as f64;
    (length > 0).then(|| (mean(&seen[..length]), mean(&seen[seen.len() - length..])))
}

impl Suite<'_> {
    /// One-task instances as fast as they go, for the time of the option, and what waits for SQLite meanwhile.
    pub(super) async fn backlog(&self, table: &mut Table) -> Result<(), Error> {
        let (server, _data) = self.fresh(&[]).await?;
        let stop = Arc::new(AtomicBool::new(false));
        let management = server
            .probe()
            .management
            .ok_or_else(|| Error::Options("the server's management address cannot be read".to_owned()))?;
        let watched = tokio::spawn(watch(management, Arc::clone(&stop)));
        let whole = self.whole_options(&server, "backlog of exporting");
        let options = Options { duration: self.backlog_window(), ..whole };
        let report = self.run(&server, &options, table).await?;
        stop.store(true, Ordering::Relaxed);
        let seen = watched.await.map_err(|error| Error::Options(error.to_string()))?;
        server.stop().await?;
        let age = thirds(&seen, |backlog| backlog.age_micros);
        let target =
            age.map_or(Target::None, |(first, _)| Target::AtMost((GROWTH_MAX * first).max(AGE_MIN_MICROS)));
        let last = age.map(|(_, last)| last);
        table.add(EXPORT_BACKLOG, "age of waiting records, mean of the last third", target, last, micros);
        let first = age.map(|(first, _)| first);
        table.add(EXPORT_BACKLOG, "of the first third", Target::None, first, micros);
        let records = thirds(&seen, |backlog| backlog.records);
        let (first, last) = (records.map(|(first, _)| first), records.map(|(_, last)| last));
        table.add(EXPORT_BACKLOG, "records that wait, mean of the last third", Target::None, last, number);
        table.add(EXPORT_BACKLOG, "of the first third", Target::None, first, number);
        let spilled = seen.iter().map(|backlog| backlog.spill_bytes).reduce(f64::max);
        table.add(EXPORT_BACKLOG, "spilled to disk, at the most", Target::None, spilled, bytes);
        let rate = Some(report.completed_per_second);
        table.add(EXPORT_BACKLOG, "one-task instances per second", Target::None, rate, number);
        add_errors(table, EXPORT_BACKLOG, &report);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_compared_with_the_end() {
        let of = |records| Backlog { records, ..Backlog::default() };
        let seen = [1.0, 3.0, 50.0, 60.0, 70.0, 7.0, 9.0].map(of);
        assert_eq!(thirds(&seen, |backlog| backlog.records), Some((2.0, 8.0)));
        assert_eq!(thirds(&seen[..2], |backlog| backlog.records), None);
    }

    #[test]
    fn metrics_are_read() {
        let text = "baton_exporter_backlog_records{exporter=\"a\"} 5\nbaton_exporter_backlog_seconds{exporter=\"a\"} 0.25\n\
            baton_exporter_spill_bytes{partition=\"1\"} 7\n";
        let backlog = Backlog { records: 5.0, age_micros: 250_000.0, spill_bytes: 7.0 };
        assert_eq!(read(text), Some(backlog));
        assert_eq!(read("up 1\n"), None);
    }
}
