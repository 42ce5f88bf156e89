//! Loops of steps that are left over, with and without a write limit: others get on, and the end of a loop is the
//! end of it.

use std::time::{Duration, Instant};

use broker::WriteLimitOptions;
use broker_api::{Broker, JobRequest};
use protocol::{
    BroadcastSignal, Command, CreateInstance, DefinitionRef, Deploy, Document, Key, Name, Resource,
};

use crate::support::{PATIENCE, Server, cancel, created, jobs, next, task, within};

const LIMIT: u64 = 3_000;
/// Instances that others create while a loop runs, of some fifteen records each.
const OTHERS: usize = 40;
/// Several times what it takes on a machine that does nothing else. Without shares, each creation would wait as
/// long as that.
const SOON: Duration = Duration::from_secs(8);

fn model(id: &str, body: &str) -> String {
    format!(
        r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="test"><bpmn:signal id="again" name="again"/><bpmn:process id="{id}" isExecutable="true"><bpmn:startEvent id="s"/>{body}</bpmn:process></bpmn:definitions>"#
    )
}

fn flow(id: &str, from: &str, to: &str) -> String {
    format!(r#"<bpmn:sequenceFlow id="{id}" sourceRef="{from}" targetRef="{to}"/>"#)
}

/// Round and round.
fn straight() -> String {
    let gateways = r#"<bpmn:exclusiveGateway id="a"/><bpmn:exclusiveGateway id="b"/>"#;
    [gateways.to_owned(), flow("f", "s", "a"), flow("g", "a", "b"), flow("h", "b", "a")].concat()
}

/// Each round makes two of one.
fn fork() -> String {
    let gateways = r#"<bpmn:exclusiveGateway id="a"/><bpmn:parallelGateway id="b"/>"#;
    [gateways.to_owned(), flow("f", "s", "a"), flow("g", "a", "b"), flow("h", "b", "a"), flow("i", "b", "a")]
        .concat()
}

/// A call of a process, again and again: by so many instances at once.
fn call(process: &str, instances: usize) -> String {
    let call = format!(
        r#"<bpmn:exclusiveGateway id="a"/><bpmn:callActivity id="b"><bpmn:extensionElements><zeebe:calledElement processId="{process}"/></bpmn:extensionElements><bpmn:multiInstanceLoopCharacteristics><bpmn:extensionElements><zeebe:loopCharacteristics inputCollection="=for i in 1..{instances} return i" inputElement="i"/></bpmn:extensionElements></bpmn:multiInstanceLoopCharacteristics></bpmn:callActivity>"#
    );
    [call, flow("f", "s", "a"), flow("g", "a", "b"), flow("h", "b", "a")].concat()
}

fn multi_instance() -> String {
    call("called", 1000)
}

fn calls() -> String {
    call("called", 1)
}

/// It calls itself twice, and so on.
fn recursion() -> String {
    call("=&quot;loop&quot;", 2)
}

async fn deploy(server: &Server, content: String) {
    let resources = vec![Resource { name: Name::from("p.bpmn"), content: content.into_bytes() }];
    let deploy = Deploy { resources, tenant_id: Name::default_tenant() };
    within(server.submit(Command::Deploy(deploy))).await.unwrap();
}

async fn begin(server: &Server, id: &str) -> Key {
    let definition = DefinitionRef::Id { id: Name::from(id), version: None };
    let command = Command::CreateInstance(CreateInstance::of(definition));
    created(&within(server.submit(command)).await.unwrap())
}

/// How long it takes to create instances one after the other.
async fn others(server: &Server) -> Duration {
    let began = Instant::now();
    for _ in 0..OTHERS {
        within(server.create()).await;
    }
    began.elapsed()
}

async fn with_limit(limit: u64) -> Server {
    let server = Server::with(|options| {
        options.partition.write_limit =
            WriteLimitOptions { enabled: limit > 0, limit, ..WriteLimitOptions::default() };
        // Longer waits are refused: the test fails.
        options.partition.flow_control.max_wait = SOON;
    })
    .await;
    server.deploy(&task("t")).await;
    deploy(&server, model("called", &[r#"<bpmn:endEvent id="e"/>"#, &flow("f", "s", "e")].concat())).await;
    server
}

/// Steps were run since: the loop lives.
async fn goes_on(server: &Server, before: u64) {
    let deadline = Instant::now() + PATIENCE;
    while server.partition().position < before + 500 {
        assert!(Instant::now() < deadline, "the loop stands still");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn a_loop_shares(limit: u64, body: &str) {
    let server = with_limit(limit).await;
    deploy(&server, model("loop", body)).await;
    let key = begin(&server, "loop").await;
    goes_on(&server, server.partition().position).await;
    let while_it_runs = others(&server).await;
    // At this limit, forty instances are the work of a quarter of a second; without it, of the machine, which is busy.
    assert!(while_it_runs < SOON, "{while_it_runs:?}");
    goes_on(&server, server.partition().position).await;
    let began = Instant::now();
    within(server.submit(cancel(key))).await.unwrap();
    assert!(began.elapsed() < SOON / 4, "cancelled after {:?}", began.elapsed());
    let afterwards = others(&server).await;
    assert!(afterwards < SOON, "{afterwards:?}");
    server.places_free().await;
}

#[tokio::test]
async fn a_loop_without_stops_shares_the_write_limit() {
    a_loop_shares(LIMIT, &straight()).await;
}

#[tokio::test]
async fn a_loop_that_forks_shares_the_write_limit() {
    a_loop_shares(LIMIT, &fork()).await;
}

#[tokio::test]
async fn a_loop_of_many_instances_shares_the_write_limit() {
    a_loop_shares(LIMIT, &multi_instance()).await;
}

#[tokio::test]
async fn a_loop_of_calls_shares_the_write_limit() {
    a_loop_shares(LIMIT, &calls()).await;
}

#[tokio::test]
async fn a_recursion_shares_the_write_limit() {
    a_loop_shares(LIMIT, &recursion()).await;
}

#[tokio::test]
async fn loops_share_a_partition_without_a_limit() {
    for body in [straight(), fork(), multi_instance(), calls(), recursion()] {
        a_loop_shares(0, &body).await;
    }
}

/// No instance lives long here, and none can be cancelled: a chain in which each starts the next.
#[tokio::test]
async fn a_chain_of_signals_shares_the_write_limit() {
    let server = with_limit(LIMIT).await;
    let body = r#"<bpmn:startEvent id="by"><bpmn:signalEventDefinition signalRef="again"/></bpmn:startEvent><bpmn:endEvent id="e"><bpmn:signalEventDefinition signalRef="again"/></bpmn:endEvent>"#;
    let body = [body.to_owned(), flow("f", "s", "e"), flow("g", "by", "e")].concat();
    deploy(&server, model("loop", &body)).await;
    let broadcast = BroadcastSignal {
        name: Name::from("again"),
        tenant_id: Name::default_tenant(),
        variables: Document::empty(),
    };
    within(server.submit(Command::BroadcastSignal(broadcast))).await.unwrap();
    goes_on(&server, server.partition().position).await;
    let while_it_runs = others(&server).await;
    assert!(while_it_runs < SOON, "{while_it_runs:?}");
    goes_on(&server, server.partition().position).await;
}

/// Timers that are due at once, again and again, in so many instances.
async fn timers_share(body: &str) {
    let server = with_limit(LIMIT).await;
    deploy(&server, model("loop", body)).await;
    let mut keys = Vec::new();
    for _ in 0..30 {
        keys.push(begin(&server, "loop").await);
    }
    goes_on(&server, server.partition().position).await;
    let while_they_run = others(&server).await;
    assert!(while_they_run < SOON / 2, "{while_they_run:?}");
    goes_on(&server, server.partition().position).await;
    for key in keys {
        within(server.submit(cancel(key))).await.unwrap();
    }
    let afterwards = others(&server).await;
    assert!(afterwards < SOON / 2, "{afterwards:?}");
    server.places_free().await;
}

#[tokio::test]
async fn loops_through_timers_share_the_write_limit() {
    let gateway = r#"<bpmn:exclusiveGateway id="a"/><bpmn:intermediateCatchEvent id="b"><bpmn:timerEventDefinition><bpmn:timeDuration>PT0S</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>"#;
    let flows = [flow("f", "s", "a"), flow("g", "a", "b"), flow("h", "b", "a")].concat();
    timers_share(&[gateway, &flows].concat()).await;
}

#[tokio::test]
async fn short_cycles_share_the_write_limit() {
    let task = r#"<bpmn:serviceTask id="a"><bpmn:extensionElements><zeebe:taskDefinition type="nobody"/></bpmn:extensionElements></bpmn:serviceTask><bpmn:boundaryEvent id="b" attachedToRef="a" cancelActivity="false"><bpmn:timerEventDefinition><bpmn:timeCycle>R/PT0.001S</bpmn:timeCycle></bpmn:timerEventDefinition></bpmn:boundaryEvent><bpmn:endEvent id="e"/>"#;
    timers_share(&[task, &flow("f", "s", "a"), &flow("g", "b", "e")].concat()).await;
}

/// Due timers of one instance, each with a costly step behind it. Without turns, they take more than twenty
/// seconds on a machine that does nothing else; whatever is due after them would wait as long.
#[tokio::test]
async fn a_backlog_of_costly_timers_keeps_nobody_waiting() {
    let server = with_limit(0).await;
    let costly = r#"<bpmn:subProcess id="m"><bpmn:multiInstanceLoopCharacteristics><bpmn:extensionElements><zeebe:loopCharacteristics inputCollection="=for i in 1..1000 return i"/></bpmn:extensionElements></bpmn:multiInstanceLoopCharacteristics><bpmn:startEvent id="b"/><bpmn:intermediateCatchEvent id="c"><bpmn:timerEventDefinition><bpmn:timeDuration>PT1S</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent><bpmn:scriptTask id="x"><bpmn:extensionElements><zeebe:script expression="=count(for i in 1..300000 return 1)" resultVariable="n"/></bpmn:extensionElements></bpmn:scriptTask>"#;
    let inside = [flow("f", "b", "c"), flow("g", "c", "x"), "</bpmn:subProcess>".to_owned()].concat();
    deploy(&server, model("costly", &[costly, &inside, &flow("h", "s", "m")].concat())).await;
    let late = r#"<bpmn:intermediateCatchEvent id="w"><bpmn:timerEventDefinition><bpmn:timeDuration>PT3S</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent><bpmn:serviceTask id="a"><bpmn:extensionElements><zeebe:taskDefinition type="late"/></bpmn:extensionElements></bpmn:serviceTask>"#;
    deploy(&server, model("late", &[late, &flow("f", "s", "w"), &flow("g", "w", "a")].concat())).await;
    let key = begin(&server, "costly").await;
    begin(&server, "late").await;
    server.create().await;
    // It comes again when its time with this worker is over.
    let request = JobRequest { timeout_ms: 3_000, ..jobs("t") };
    let taken = within(server.activate_jobs(request, None)).await.unwrap().jobs;
    assert_eq!(taken.len(), 1);
    let began = Instant::now();
    let (mut late, mut again) = (server.stream("late"), server.stream("t"));
    next(&mut late).await;
    assert_eq!(next(&mut again).await.key, taken[0].key);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    // The backlog is still there.
    within(server.submit(cancel(key))).await.unwrap();
    server.places_free().await;
}
