//! E20: models that loop without waiting.

use std::time::Duration;

use bench::Options;
use client::{CreateInstance, Protocol, Resource};

use super::parts::every_job_is_done_once;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p99};
use crate::result::Limit;
use crate::server::Server;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E20",
    title: "Endless process loop",
    hypothesis: "A loop shares the partition fairly: others are served in bounded time, with a write limit and without, \
        and have everything back soon after it is cancelled.",
    set_up: "One broker; four kinds of loops: gateways alone, a script, a call activity, two processes that call each \
        other.",
    steady_state: "Others create and complete instances.",
    action: "Two loops of a kind run for a while and are cancelled; once with a write limit of 2,000 records/s, once \
        without.",
    measurement: "Others' creations and completions, p99 beside loops by p99 without, time of a cancellation.",
    reference: "Log and export backlog explode; a limit of the write rate contains it.",
    seconds: (60, 170),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const LOOPS: usize = 2;
/// Enough requests for a p99 that is not the slowest of some thirty.
const WINDOW_MIN: Duration = Duration::from_secs(3);
const LIMIT: [&str; 2] = ["flow_control.write.enabled=true", "flow_control.write.limit=2000"];
/// The others' part of their demand beside loops, and two seconds after them.
const SHARE_MIN: f64 = 0.9;
/// On any machine they get something.
const SHARE_ANYWHERE_MIN: f64 = 0.01;
const RATIO_MAX: f64 = 3.0;
/// Milliseconds more are no matter, whatever the ratio.
const NO_MATTER: f64 = 0.050;
const CANCEL_MAX: f64 = 2.0;

const HEAD: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="lab">"#;

/// A kind of loop: its name, and its files.
fn kinds() -> [(&'static str, Vec<(&'static str, String)>); 4] {
    let process = |id: &str, body: &str| {
        format!(
            r#"{HEAD}<process id="{id}" isExecutable="true"><startEvent id="start"/>{body}</process></definitions>"#
        )
    };
    let flow = |from: &str, to: &str| {
        format!(r#"<sequenceFlow id="{from}-{to}" sourceRef="{from}" targetRef="{to}"/>"#)
    };
    let called = |id: &str| {
        format!(
            r#"<callActivity id="task"><extensionElements><zeebe:calledElement processId="{id}"/></extensionElements></callActivity>"#
        )
    };
    let merge = r#"<exclusiveGateway id="merge"/>"#;
    let back = [flow("start", "merge"), flow("merge", "task"), flow("task", "merge")].concat();
    let once = |element: &str| {
        format!("{element}{}{}<endEvent id=\"end\"/>", flow("start", "task"), flow("task", "end"))
    };
    let script = r#"<scriptTask id="task"><extensionElements><zeebe:script expression="=1 + 1" resultVariable="r"/></extensionElements></scriptTask>"#;
    let nothing = r#"<intermediateThrowEvent id="task"/>"#;
    // A loop within one file would be refused at its deployment, so the rest is in another one.
    [
        (
            "events",
            vec![
                ("once.bpmn", process("once", &once(nothing))),
                ("loop.bpmn", process("loop", &format!("{}{merge}{back}", called("once")))),
            ],
        ),
        (
            "script",
            vec![
                ("once.bpmn", process("once", &once(script))),
                ("loop.bpmn", process("loop", &format!("{}{merge}{back}", called("once")))),
            ],
        ),
        (
            "calls",
            vec![
                ("once.bpmn", process("once", &once(&called("loop")))),
                ("loop.bpmn", process("loop", &once(&called("once")))),
            ],
        ),
        (
            "fork",
            vec![(
                "loop.bpmn",
                process(
                    "loop",
                    &format!(
                        "{merge}<parallelGateway id=\"task\"/>{back}<sequenceFlow id=\"more\" sourceRef=\"task\" targetRef=\"merge\"/>"
                    ),
                ),
            )],
        ),
    ]
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let kinds = kinds();
    // In quick size one light kind without a limit and one heavy kind with it.
    let chosen: Vec<(usize, bool)> = lab.pick(
        vec![(1, false), (3, true)],
        (0..kinds.len()).flat_map(|kind| [(kind, false), (kind, true)]).collect(),
    );
    for (kind, is_limited) in chosen {
        let (name, files) = &kinds[kind];
        let limit: &[&str] = if is_limited { &LIMIT } else { &[] };
        let server = lab.server(limit).await?;
        let what = format!("{name}, {}", if is_limited { "write limit" } else { "no limit" });
        one(lab, &server, &what, files).await?;
        server.stop().await?;
    }
    Ok(())
}

fn others(lab: &Lab, server: &Server) -> Options {
    Options {
        rate: Some(lab.pick(20.0, 40.0)),
        warm_up: Duration::ZERO,
        duration: lab.seconds(3.0, 6.0).max(WINDOW_MIN),
        ..lab.load_options(server, Protocol::Rest)
    }
}

async fn one(
    lab: &mut Lab,
    server: &Server,
    name: &str,
    files: &[(&'static str, String)],
) -> Result<(), LabError> {
    let wanted = lab.pick(20.0, 40.0);
    let client = server.client()?;
    let options = others(lab, server);
    let before = lab.measure(&format!("{name}: before"), options.clone()).await?;
    for (name, content) in files {
        client.deploy(&[Resource { name, content: content.as_bytes() }], None).await?;
    }
    lab.fault(&format!("{name}: loops"));
    let mut keys = Vec::new();
    for _ in 0..LOOPS {
        keys.push(client.create_instance_key(&CreateInstance::latest("loop")).await?);
    }
    // The first steps of the loops are a debt of the write limit, of a second at the most.
    lab.wait(Duration::from_secs_f64(lab.pick(0.5, 2.0))).await;
    let load = lab.load(name, Options { no_deploy: true, ..options.clone() });
    let beside = lab.finish(load).await?;
    let share = beside.created_per_second / wanted;
    lab.expect(
        "others' creations by their demand",
        Unit::Ratio,
        Limit::AtLeast(lab.pick(SHARE_ANYWHERE_MIN, SHARE_MIN)),
        share,
    );
    let (without, with) = (p99(before.request_latency.as_ref()), p99(beside.request_latency.as_ref()));
    lab.tell("others' request p99 without loops", Unit::Seconds, without);
    lab.tell("others' request p99", Unit::Seconds, with);
    let ratio = if with <= NO_MATTER { 1.0 } else { with / without.max(1e-9) };
    lab.expect_in_full("p99 by that without, beyond 50 ms", Unit::Ratio, Limit::AtMost(RATIO_MAX), ratio);

    let mut longest = 0.0_f64;
    for key in keys {
        let began = std::time::Instant::now();
        client.cancel_instance(key).await?;
        longest = longest.max(began.elapsed().as_secs_f64());
    }
    lab.expect("cancellation at the most", Unit::Seconds, Limit::AtMost(lab.pick(10.0, CANCEL_MAX)), longest);
    lab.wait(Duration::from_secs(2)).await;
    let after = lab.measure(&format!("{name}: after"), Options { no_deploy: true, ..options }).await?;
    let share = after.completed_per_second / wanted;
    lab.expect_in_full("others' completions by their demand", Unit::Ratio, Limit::AtLeast(SHARE_MIN), share);
    every_job_is_done_once(lab, server, after.unfinished).await
}
