//! Another system beside ours: the same scenario on both, and what to bear in mind when their figures are compared.

use bench::{Options, Report};
use client::Protocol;

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p50, p99};
use crate::result::Limit;
use crate::unit::Unit;
use crate::watch::{cpu_seconds, resident_bytes};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "P1",
    title: "A peer beside it",
    hypothesis: "The same scenario costs less CPU and memory here, and is answered sooner.",
    set_up: "A peer that runs already, where `--peer-rest` and `--peer-grpc` say, and a broker of the lab; both on this \
        machine, one loaded after the other.",
    steady_state: "Instances of a process with one task are created and completed as fast as they go through, 16 at a \
        time over gRPC.",
    action: "None.",
    measurement: "Instances a second, latency, and CPU and memory of both processes (`--peer-process`).",
    reference: "",
    seconds: (20, 130),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// Systems that can stand beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PeerChoice {
    /// A broker of Camunda 8, or whatever else speaks its gRPC and REST API.
    Zeebe,
}

/// A peer that the user has started.
#[derive(Debug, Clone)]
pub(crate) struct PeerPlace {
    pub(crate) choice: PeerChoice,
    pub(crate) rest: String,
    pub(crate) grpc: String,
    /// Its process, if it is on this machine.
    pub(crate) process: Option<u32>,
}

/// A system under the scenario.
trait OtherSystem {
    /// Its name in the table.
    fn name(&self) -> &'static str;
    /// Conditions that make its figures better or worse than they would be elsewhere.
    fn notes(&self) -> &'static [&'static str];
    /// The scenario on it.
    fn options(&self, own: &Options) -> Options;
    /// Its process.
    fn process(&self) -> Option<u32>;
}

/// A gateway of Camunda 8.
struct Zeebe(PeerPlace);

impl OtherSystem for Zeebe {
    fn name(&self) -> &'static str {
        "zeebe"
    }

    fn notes(&self) -> &'static [&'static str] {
        &[
            "both are driven by the same load generator of this program, not by the peer's own client",
            "durability, replicas and exporters of the peer are as its user has set them; ours syncs each entry before \
             it answers, with the embedded secondary storage on",
            "a virtual machine gets faster with time: the warm-up is twice as long for the peer",
            "both processes and the load generator share the cores",
        ]
    }

    fn options(&self, own: &Options) -> Options {
        Options {
            rest_address: self.0.rest.clone(),
            grpc_address: self.0.grpc.clone(),
            // Its figures are the kernel's.
            management_address: "http://127.0.0.1:1".to_owned(),
            warm_up: own.warm_up * 2,
            ..own.clone()
        }
    }

    fn process(&self) -> Option<u32> {
        self.0.process
    }
}

/// The results of one of both.
struct Figures {
    report: Report,
    cpu_seconds: Option<f64>,
    resident_bytes: Option<f64>,
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let place = lab.peer().ok_or_else(|| {
        LabError::Environment("P1 needs --against with --peer-rest and --peer-grpc".to_owned())
    })?;
    let peer = match place.choice {
        PeerChoice::Zeebe => Zeebe(place),
    };
    let server = lab.server(&[]).await?;
    let own = Options {
        concurrency: 16,
        warm_up: lab.seconds(1.0, 15.0),
        duration: lab.seconds(4.0, 30.0),
        ..lab.load_options(&server, Protocol::Grpc)
    };
    let theirs = measure(lab, peer.name(), peer.options(&own), peer.process()).await;
    // A peer that does not answer is no fault of ours.
    let theirs =
        theirs.map_err(|error| LabError::Environment(format!("the peer {}: {error}", peer.name())))?;
    if theirs.report.completed == 0 {
        let errors = theirs.report.errors();
        return Err(LabError::Environment(format!(
            "the peer {} completed nothing, {errors} errors",
            peer.name()
        )));
    }
    let ours = measure(lab, "baton", own, Some(server.process())).await?;
    lab.phase("comparison");
    let ratio = |lab: &mut Lab, name: &str, ours: Option<f64>, theirs: Option<f64>| {
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            lab.tell(name, Unit::Ratio, theirs / ours.max(1e-9));
        }
    };
    let rate = |figures: &Figures| Some(figures.report.completed_per_second);
    ratio(lab, "instances, peer by baton", rate(&ours), rate(&theirs));
    let latency = |figures: &Figures| Some(p99(figures.report.request_latency.as_ref()));
    ratio(lab, "request p99, peer by baton", latency(&ours), latency(&theirs));
    ratio(lab, "CPU for an instance, peer by baton", cpu(&ours), cpu(&theirs));
    ratio(lab, "memory, peer by baton", ours.resident_bytes, theirs.resident_bytes);
    lab.expect("instances that ended here", Unit::Count, Limit::AtLeast(1.0), ours.report.completed as f64);
    for note in peer.notes() {
        lab.note(note);
    }
    server.stop().await
}

/// CPU seconds for an instance, warm-up and end included.
fn cpu(figures: &Figures) -> Option<f64> {
    let instances = figures.report.series.iter().map(|row| row.completed_per_second).sum::<f64>();
    figures.cpu_seconds.filter(|_| instances > 0.0).map(|seconds| seconds / instances)
}

async fn measure(
    lab: &mut Lab,
    name: &str,
    options: Options,
    process: Option<u32>,
) -> Result<Figures, LabError> {
    let before = process.and_then(cpu_seconds);
    let report = lab.measure(name, options).await?;
    let after = process.and_then(cpu_seconds);
    let cpu_seconds = before.zip(after).map(|(before, after)| after - before);
    let figures = Figures { report, cpu_seconds, resident_bytes: process.and_then(resident_bytes) };
    lab.tell("instances ended", Unit::PerSecond, figures.report.completed_per_second);
    lab.tell("request latency, p50", Unit::Seconds, p50(figures.report.request_latency.as_ref()));
    lab.tell("request latency, p99", Unit::Seconds, p99(figures.report.request_latency.as_ref()));
    lab.tell("instance, p99", Unit::Seconds, p99(figures.report.execution_latency.as_ref()));
    if let Some(cpu) = cpu(&figures) {
        lab.tell("CPU for an instance", Unit::Seconds, cpu);
    }
    if let Some(bytes) = figures.resident_bytes {
        lab.tell("resident memory", Unit::Bytes, bytes);
    }
    Ok(figures)
}
