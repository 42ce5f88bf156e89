//! L3: models that want everything.

use std::time::{Duration, Instant};

use bench::Options;
use client::{CreateInstance, Protocol, Resource};

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p99};
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "L3",
    title: "Poison models",
    hypothesis: "No model takes the partition from others, or its memory.",
    set_up: "One broker for each model: expressions that are long, texts that double, lists that copy themselves. \
        More of them are in `cargo test -p baton --test attacks`.",
    steady_state: "Others create and complete instances.",
    action: "Three clients run the model in a loop; then the server is killed in the midst of it and started again.",
    measurement: "Others' latency, refusals and ends, memory, time of the start.",
    reference: "",
    seconds: (26, 120),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const MEMORY_MAX: f64 = 400.0 * 1024.0 * 1024.0;
const P99_MAX: f64 = 0.25;
const START_MAX: f64 = 5.0;
const ATTACKERS: usize = 3;
/// An attacker waits for the end of its instance at most so long.
const ATTACK_WAIT: Duration = Duration::from_secs(1);

fn model(mappings: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="lab"><process id="poison" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="task"/><serviceTask id="task"><extensionElements><zeebe:taskDefinition type="poison"/><zeebe:ioMapping>{mappings}</zeebe:ioMapping></extensionElements></serviceTask><sequenceFlow id="b" sourceRef="task" targetRef="end"/><endEvent id="end"/></process></definitions>"#
    )
}

/// Models by their names.
fn models() -> [(&'static str, String); 3] {
    let input =
        |source: &str, target: &str| format!(r#"<zeebe:input source="={source}" target="{target}"/>"#);
    let long: String = (0..350).fold(String::new(), |text, number| {
        text + &input("count(for i in 1..2400000 return 1)", &format!("t{number}"))
    });
    let doubled = input("&quot;0123456789abcdef&quot;", "t") + &input("t + t", "t").repeat(60);
    let copied: String = (1..60).fold(input("for i in 1..1000 return i", "t0"), |text, number| {
        let before = number - 1;
        text + &input(&format!("[t{before}, t{before}]"), &format!("t{number}"))
    });
    [
        ("long expressions", model(&long)),
        ("texts that double", model(&doubled)),
        ("lists that copy", model(&copied)),
    ]
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let count = lab.pick(2, 3);
    for (name, model) in models().into_iter().take(count) {
        one(lab, name, &model).await?;
    }
    Ok(())
}

async fn one(lab: &mut Lab, name: &str, model: &str) -> Result<(), LabError> {
    let mut server = lab.server(&[]).await?;
    let client = server.client()?;
    client.deploy(&[Resource { name: "poison.bpmn", content: model.as_bytes() }], None).await?;
    lab.fault(name);
    let attack = async {
        let attackers = (0..ATTACKERS).map(|_| async {
            loop {
                let command = CreateInstance::latest("poison");
                if client.create_instance_with_result(&command, &[], ATTACK_WAIT).await.is_err() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        });
        futures::future::join_all(attackers).await;
    };
    let options = Options {
        rate: Some(lab.pick(10.0, 50.0)),
        warm_up: Duration::ZERO,
        duration: lab.seconds(4.0, 15.0),
        ..lab.load_options(&server, Protocol::Rest)
    };
    let load = lab.load(name, options);
    let report = tokio::select! {
        report = lab.finish(load) => report?,
        () = attack => return Err(LabError::System("an attack has ended".to_owned())),
    };
    let p99 = p99(report.request_latency.as_ref());
    lab.expect_in_full("others' request p99", Unit::Seconds, Limit::AtMost(P99_MAX), p99);
    lab.expect(
        "others' requests refused or failed",
        Unit::Count,
        Limit::Exactly(0.0),
        report.errors() as f64,
    );
    lab.expect(
        "others' instances not seen to end",
        Unit::Count,
        Limit::Exactly(0.0),
        report.unfinished as f64,
    );
    lab.expect("resident memory", Unit::Bytes, Limit::AtMost(MEMORY_MAX), server.resident_bytes());
    let began = Instant::now();
    server.kill_and_start().await?;
    let start = began.elapsed().as_secs_f64();
    lab.expect_in_full("time of the start", Unit::Seconds, Limit::AtMost(START_MAX), start);
    server.stop().await
}
