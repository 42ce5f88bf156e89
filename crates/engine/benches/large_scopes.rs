//! Multi-instance activities with 100,000 instances, on the engine alone, while other instances come and go.
//!
//! Each batch continues what is left over, and creates and completes an instance of a small process: what that
//! instance waits for the engine is the time to apply its batches. Prints, for each kind of activity, how long all
//! of it took, and how long batches took with the large scope and without it.

use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::{Effects, Engine, Options};
use protocol::{
    Batch, Command, CompleteJob, CreateInstance, DefinitionRef, Demand, Deploy, Document, ENGINE_VERSION,
    Key, Name, Resource, Response,
};
use state::Store;

/// Jobs that workers ask for with one batch.
const JOBS: u32 = 64;

/// How much is done.
#[derive(Clone, Copy)]
struct Size {
    /// Instances of the activity.
    items: usize,
    /// Batches without the large scope, to compare with.
    quiet_batches: usize,
}

const MEASURED: Size = Size { items: 100_000, quiet_batches: 5_000 };
/// Enough to run every line, in a test.
const TRIED: Size = Size { items: 500, quiet_batches: 20 };

struct Run {
    engine: Engine,
    now_ms: i64,
    other_job: Option<Key>,
    batches: Vec<Duration>,
    ended: Vec<Key>,
}

impl Run {
    fn new(models: &[String]) -> Self {
        let store = Store::in_memory(state::Options::default()).expect("a store");
        let engine = Engine::open(&store, Options::default()).expect("an engine");
        let mut run = Self { engine, now_ms: 1, other_job: None, batches: Vec::new(), ended: Vec::new() };
        for model in models {
            let content = model.clone().into_bytes();
            let resources = vec![Resource { name: Name::from("model.bpmn"), content }];
            let deploy = Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() });
            let effects = run.apply(vec![deploy], vec![]);
            assert!(effects.responses[0].as_ref().is_some_and(Result::is_ok), "{:?}", effects.responses);
        }
        run
    }

    fn apply(&mut self, commands: Vec<Command>, demand: Vec<Demand>) -> Effects {
        let mut effects = Effects::default();
        self.now_ms += 1;
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: self.now_ms,
            commands,
            demand,
            origin: None,
            digest: None,
        };
        let start = Instant::now();
        self.engine.apply(&batch, &mut effects).expect("the state is in memory");
        self.batches.push(start.elapsed());
        self.ended.extend(effects.ended_instances.iter().map(|(key, _)| *key));
        effects
    }

    /// One batch in which another instance begins and the one before ends, with the jobs of the large scope.
    fn batch(&mut self, mut commands: Vec<Command>, large: bool) -> Effects {
        commands.extend(self.other_job.take().map(complete));
        commands.push(create("other", Document::empty()));
        let mut wanted = vec![demand("o", 1)];
        if large {
            wanted.push(demand("t", JOBS));
        }
        let effects = self.apply(commands, wanted);
        let jobs = effects.deliveries.iter().flat_map(|delivery| &delivery.jobs);
        self.other_job = jobs.filter(|job| *job.job_type == *"o").map(|job| job.key).next();
        effects
    }
}

fn complete(job_key: Key) -> Command {
    let variables = Document::parse(Bytes::from_static(br#"{"r":1}"#)).expect("JSON");
    Command::CompleteJob(CompleteJob::of(job_key, variables))
}

fn create(process_id: &str, variables: Document) -> Command {
    let definition = DefinitionRef::Id { id: Name::from(process_id), version: None };
    Command::CreateInstance(CreateInstance { variables, ..CreateInstance::of(definition) })
}

fn demand(job_type: &str, max_jobs: u32) -> Demand {
    Demand {
        subscriber_id: 1,
        job_type: Name::from(job_type),
        tenant_ids: vec![Name::default_tenant()],
        worker: Name::from("worker"),
        timeout_ms: 300_000,
        max_jobs,
        fetch_variables: vec![Name::from("item")],
        caller: None,
        except: None,
        with_lease: false,
    }
}

fn model(id: &str, activity: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
        <process id="{id}" isExecutable="true"><startEvent id="s"/>{activity}<endEvent id="e"/>
        <sequenceFlow id="f1" sourceRef="s" targetRef="x"/><sequenceFlow id="f2" sourceRef="x" targetRef="e"/></process>
        </definitions>"#
    )
}

fn percentile(batches: &mut [Duration], percent: usize) -> Duration {
    batches.sort_unstable();
    batches[(batches.len() * percent / 100).min(batches.len() - 1)]
}

fn measure(name: &str, tag: &str, extension: &str, is_cancelled: bool, size: Size) {
    let marker = r#"<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=items"
        inputElement="item" outputCollection="results" outputElement="=r"/></extensionElements></multiInstanceLoopCharacteristics>"#;
    let task = |id: &str| format!(r#"<zeebe:taskDefinition type="{id}"/>"#);
    let other =
        format!(r#"<serviceTask id="x"><extensionElements>{}</extensionElements></serviceTask>"#, task("o"));
    let large =
        format!(r#"<{tag} id="x"><extensionElements>{extension}</extensionElements>{marker}</{tag}>"#);
    let mut run = Run::new(&[model("other", &other), model("large", &large)]);
    run.batches.clear();
    for _ in 0..size.quiet_batches {
        run.batch(vec![], false);
    }
    let quiet = percentile(&mut run.batches, 99);
    run.batches.clear();
    let items: Vec<String> = (0..size.items).map(|item| item.to_string()).collect();
    let variables =
        Document::parse(Bytes::from(format!(r#"{{"items":[{}]}}"#, items.join(",")))).expect("JSON");
    let start = Instant::now();
    let mut effects = run.batch(vec![create("large", variables)], true);
    let key = effects.responses.iter().flatten().find_map(|response| match response {
        Ok(Response::InstanceCreated(created)) if *created.process_id == *"large" => {
            Some(created.process_instance_key)
        }
        _ => None,
    });
    let key = key.expect("the large one is created");
    let mut is_cancelling = false;
    while !run.ended.contains(&key) {
        run.ended.clear();
        let mut commands = Vec::new();
        if effects.has_pending_steps {
            commands.push(Command::GO_ON);
        } else if is_cancelled && !is_cancelling {
            is_cancelling = true;
            commands.push(Command::CancelInstance { process_instance_key: key, operation_reference: None });
        }
        if !is_cancelled {
            let jobs = effects.deliveries.iter().flat_map(|delivery| &delivery.jobs);
            commands.extend(jobs.filter(|job| *job.job_type == *"t").map(|job| complete(job.key)));
        }
        effects = run.batch(commands, !is_cancelled);
    }
    let took = start.elapsed();
    let count = run.batches.len();
    let (median, busy) = (percentile(&mut run.batches, 50), percentile(&mut run.batches, 99));
    let longest = run.batches.last().copied().unwrap_or_default();
    println!(
        "{name:<24} {:>7.2} s  {count:>6} batches  a batch: median {:>5} µs, p99 {:>6} µs (alone {:>4} µs)  longest {:>7} µs",
        took.as_secs_f64(),
        median.as_micros(),
        busy.as_micros(),
        quiet.as_micros(),
        longest.as_micros(),
    );
}

fn main() {
    // `cargo bench` says so; `cargo test` does not.
    let size = if std::env::args().any(|argument| argument == "--bench") { MEASURED } else { TRIED };
    let job = r#"<zeebe:taskDefinition type="t"/>"#;
    let script = r#"<zeebe:script expression="=item * 2" resultVariable="r"/>"#;
    measure("manual task", "manualTask", "", false, size);
    measure("script task", "scriptTask", script, false, size);
    measure("service task", "serviceTask", job, false, size);
    measure("service task, cancelled", "serviceTask", job, true, size);
}
