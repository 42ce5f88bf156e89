//! The table of results.

use std::time::Duration;

use crate::stores::Fault;
use crate::watch::Seen;

/// Result of one store in one fault.
pub(crate) struct Row {
    pub(crate) store: &'static str,
    pub(crate) fault: Fault,
    /// Creations and completions a second.
    pub(crate) before: f64,
    pub(crate) during: f64,
    pub(crate) seen: Seen,
    pub(crate) caught_up: Duration,
    pub(crate) disk_bytes: u64,
}

impl Row {
    /// A line of a table.
    pub(crate) fn line(&self) -> String {
        let Seen { answered, away, late, backlog_records, spill_bytes, .. } = &self.seen;
        format!(
            "| {} | {} | {:.0} of {:.0} | {answered} found, {away} × 503, {late} × 504 | {backlog_records:.0} | {:.1} s | {:.1} MiB, {:.1} MiB of it records |",
            self.store,
            name(self.fault),
            self.during,
            self.before,
            self.caught_up.as_secs_f64(),
            self.disk_bytes as f64 / f64::from(1 << 20),
            spill_bytes / f64::from(1 << 20),
        )
    }
}

/// All of them.
pub(crate) fn print(rows: &[Row]) {
    println!(
        "| store | fault | processing meanwhile, a second | searches meanwhile | records behind | caught up after | data directory |"
    );
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        println!("{}", row.line());
    }
}

fn name(fault: Fault) -> &'static str {
    match fault {
        Fault::AwayFromTheStart => "away from the start",
        Fault::Away => "away",
        Fault::Restarted => "killed and restarted",
        Fault::Slow => "200 ms for each transaction",
        Fault::Hangs => "hangs",
        Fault::RefusesOne => "refuses one record",
        Fault::Full => "disk full",
        Fault::AwayAndKilled => "away, and the server is killed",
    }
}
