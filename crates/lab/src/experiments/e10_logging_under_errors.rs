//! E10: log lines of requests that are refused.

use super::refusals::{RefusedKind, send};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E10",
    title: "Logging under errors",
    hypothesis: "Refused requests are not logged each; at most a summary is.",
    set_up: "One broker with the log level that it is shipped with.",
    steady_state: "No load.",
    action: "500 refused requests a second of each kind, one kind after the other, over REST and gRPC.",
    measurement: "Lines and bytes of the server's log for each thousand requests, connections that broke, CPU.",
    reference: "Logging is a large part of the profile; exceptions are logged without their message.",
    seconds: (10, 75),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// Lines for a thousand refused requests.
const LINES_MAX: f64 = 5.0;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    let length = lab.seconds(2.0, 20.0);
    for kind in RefusedKind::ALL {
        lab.phase(kind.name());
        let (before, cpu) = (server.log(), server.cpu_seconds());
        let refused = send(lab, &server, kind, length).await?;
        let more = &server.log()[before.len()..];
        let thousands = refused.sent / 1000.0;
        let lines = more.lines().count() as f64 / thousands;
        lab.expect("log lines for 1,000 requests", Unit::Count, Limit::AtMost(LINES_MAX), lines);
        lab.tell("log bytes for 1,000 requests", Unit::Bytes, more.len() as f64 / thousands);
        let (sent, broken) = (refused.sent, refused.broken);
        lab.expect("refused with a reason", Unit::Count, Limit::Exactly(sent), refused.with_reason);
        lab.expect("without an answer", Unit::Count, Limit::Exactly(0.0), broken);
        lab.tell("server CPU for a request", Unit::Seconds, (server.cpu_seconds() - cpu) / sent);
    }
    server.stop().await
}
