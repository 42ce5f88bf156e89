//! L2: one instance with 100,000 children.

use std::time::{Duration, Instant};

use bench::Options;
use client::{CreateInstance, Protocol, Resource};

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p99, seconds_of};
use crate::result::Limit;
use crate::unit::Unit;
use crate::until::until;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "L2",
    title: "100,000 children",
    hypothesis: "A multi-instance with 100,000 children is made and cancelled beside others, which do not wait for it.",
    set_up: "One broker; a parallel multi-instance of a user task over a list of 100,000 (5,000 in quick size).",
    steady_state: "Others create and complete instances.",
    action: "The instance is created, and cancelled once all children are there.",
    measurement: "Time until all children are there, time until they are gone, others' latency, memory.",
    reference: "Beyond a size of messages the partition stayed alive, but the instance was set aside silently.",
    seconds: (20, 90),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const MEMORY_MAX: f64 = 512.0 * 1024.0 * 1024.0;
const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="lab"><process id="children" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="task"/><serviceTask id="task"><extensionElements><zeebe:taskDefinition type="nobody"/></extensionElements><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=for i in 1..count return i" inputElement="item"/></extensionElements></multiInstanceLoopCharacteristics></serviceTask><sequenceFlow id="b" sourceRef="task" targetRef="end"/><endEvent id="end"/></process></definitions>"#;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let count = f64::from(lab.count(5_000, 100_000));
    let server = lab.server(&[]).await?;
    let client = server.client()?;
    client.deploy(&[Resource { name: "children.bpmn", content: MODEL.as_bytes() }], None).await?;
    lab.phase("others alone");
    let options = Options {
        rate: Some(lab.pick(20.0, 100.0)),
        warm_up: Duration::ZERO,
        duration: crate::load::UNTIL_ENDED,
        ..lab.load_options(&server, Protocol::Rest)
    };
    let load = lab.load("others", options);
    lab.wait(lab.seconds(1.0, 5.0)).await;

    lab.fault("children are made");
    let variables = format!(r#"{{"count":{count}}}"#);
    let command = CreateInstance { variables: Some(&variables), ..CreateInstance::latest("children") };
    let began = Instant::now();
    let key = client.create_instance_key(&command).await?;
    // Others' jobs are done at once, so that nearly all that are left are children.
    let waiting = async || match server.metrics().await {
        Ok(metrics) => metrics.jobs().created - metrics.jobs().completed,
        Err(_) => 0.0,
    };
    let patience = lab.seconds(60.0, 120.0);
    let made = until(patience, async || waiting().await >= count).await;
    let limit = Limit::AtMost(patience.as_secs_f64());
    lab.expect("time until all children are there", Unit::Seconds, limit, seconds_of(made));
    lab.tell("creation and children", Unit::Seconds, began.elapsed().as_secs_f64());
    lab.expect("resident memory", Unit::Bytes, Limit::AtMost(MEMORY_MAX), server.resident_bytes());

    lab.fault("cancelled");
    client.cancel_instance(key).await?;
    let gone = async || {
        let answer = server.rest("GET", &format!("/v2/process-instances/{key}"), None).await;
        answer.is_ok_and(|answer| answer.status == 404 || answer.body.contains("TERMINATED"))
    };
    let took = until(patience, gone).await;
    lab.expect("time until they are gone", Unit::Seconds, limit, seconds_of(took));
    lab.phase("others again");
    lab.wait(lab.seconds(1.0, 5.0)).await;
    let report = lab.end(load).await?;
    lab.tell("others' request p99", Unit::Seconds, p99(report.request_latency.as_ref()));
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
    server.stop().await
}
