//! E11: what rejected commands leave behind.

use std::time::Duration;

use super::refusals::{RefusedKind, send};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::server::Server;
use crate::unit::Unit;
use crate::until::until;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E11",
    title: "Rejection cost",
    hypothesis: "A rejected command leaves no record in the export stream, and no entry of the log where its subject \
        is gone.",
    set_up: "One broker with its embedded secondary storage.",
    steady_state: "No load, all records exported.",
    action: "500 rejected commands a second of each kind, over REST and gRPC.",
    measurement: "Records taken by exporters, entries and bytes of the log on the disk.",
    reference: "Rejections are written to the log, exported over and over, and fill the disk.",
    seconds: (8, 50),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// Records that other work of the server may cause meanwhile, such as the clock of retention.
const RECORDS_MAX: f64 = 5.0;

/// Time in which exporters take the records that wait.
const EXPORT_MAX: Duration = Duration::from_secs(30);

/// Waits until exporters have taken all records, those of the start of the server included.
async fn exported(server: &Server) {
    let is_exported = async || {
        server.metrics().await.is_ok_and(|metrics| {
            metrics.sum("zeebe_exporter_events_total") > 0.0
                && metrics.sum("baton_exporter_backlog_records") < 1.0
        })
    };
    until(EXPORT_MAX, is_exported).await;
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    let length = lab.seconds(2.0, 20.0);
    lab.phase("no load");
    exported(&server).await;
    for kind in [RefusedKind::UnknownJob, RefusedKind::UnknownProcess] {
        lab.phase(kind.name());
        let before = server.metrics().await?;
        let refused = send(lab, &server, kind, length).await?;
        exported(&server).await;
        let after = server.metrics().await?;
        let grown = |name: &str| after.sum(name) - before.sum(name);
        let exported = grown("zeebe_exporter_events_total");
        lab.expect("records exported", Unit::Count, Limit::AtMost(RECORDS_MAX), exported);
        let per_thousand = 1000.0 / refused.sent;
        let entries = grown("baton_log_entries_total");
        lab.tell("log entries for 1,000 requests", Unit::Count, entries * per_thousand);
        let written = grown("baton_process_disk_written_bytes_total");
        lab.tell("bytes on disk for 1,000 requests", Unit::Bytes, written * per_thousand);
        if matches!(kind, RefusedKind::UnknownJob) {
            // One batch of the clock now and then is no cost of these requests.
            let entries = (entries - length.as_secs_f64() * 10.0).max(0.0) * per_thousand;
            lab.expect("entries beyond the clock's", Unit::Count, Limit::AtMost(50.0), entries);
        }
        let sent = refused.sent;
        lab.expect("refused with a reason", Unit::Count, Limit::Exactly(sent), refused.with_reason);
    }
    server.stop().await
}
