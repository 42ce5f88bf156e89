//! Random models and workers: every instance ends, no row is left over, and the log can be replayed.
//!
//! `BATON_RANDOM_SEEDS` says how many seeds to try (default 60), `BATON_RANDOM_FIRST` where to begin, and
//! `BATON_RANDOM_HOSTILE` of how many seeds one gets a hostile model (default 8; 1 is each, 0 none):
//! `random_hostile.rs` has the checks of those. With `BATON_RANDOM_ALL` all seeds are tried, and failing seeds are
//! listed. Otherwise a seed that fails is tried again with smaller models, then with fewer actions and with lines of
//! the model taken away; the smallest that fails in the same way is printed with its actions.

use std::fmt::Write as _;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::entity::ErrorType;
use engine::{FaultPoint, Options, WorkLimits};
use models::{CODES, Model, check_mappings, generate};
use protocol::{
    ActivateElement, ActivatedJob, BatchAction, BroadcastSignal, Command, CompleteJob, CreateBatchOperation,
    CreateInstance, DefinitionRef, Document, FailJob, Intent, JobKind, JobListenerEventType, JobResult, Key,
    Name, PublishMessage, RecordValue, SetVariables, ThrowError, UpdateJob, UserTaskChanges, UserTaskCommand,
    UserTaskOperation,
};

use crate::random_consistency::check_consistency;
use crate::random_hostile;
use crate::random_migration::{parsed, versions};
use crate::random_modification::element_ids;
use crate::support::harness::jobs_of;
use crate::support::model::bpmn as to_xml;
use crate::support::{Harness, Random, document};

/// Approximate number of elements of a model.
const SIZE: usize = 40;
/// Actions on the instances before the rounds that end them.
const ACTIONS: u64 = 120;
/// Rounds that end the instances; more than most models need.
const ROUNDS: usize = 400;
/// Rounds that end the instances where they are modified: then some may never end.
const ROUNDS_MODIFIED: usize = 60;
/// Number of cancellations of everything if the engine fails: one in vain, one after a message has started another
/// instance, and one for each listener of a user task.
const CANCELLATIONS: usize = 8;
/// Jobs that a failure message shows.
const SHOWN_JOBS: usize = 10;
/// Rounds for models with loops inside loops; far more than any model needs, unless it is stuck.
const MAX_ROUNDS: usize = 4_000;

/// Values with parts, and some that can have none.
const PARTS: [&str; 7] = [
    r#"{"a":1,"b":2}"#,
    r#"{"b":{"a":"x","c":{"a":3}},"c":null}"#,
    r#"{"a":{"a":{"a":1}},"b":"[1,2]","c":true}"#,
    r#"{"a":"text","c":{"c":{"b":1.5}}}"#,
    "{}",
    "7",
    "null",
];

pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

#[test]
fn every_process_ends_and_leaves_nothing() {
    let first = number("BATON_RANDOM_FIRST", 1);
    let end = first + number("BATON_RANDOM_SEEDS", 60);
    let (next, failed) = (AtomicU64::new(first), AtomicU64::new(u64::MAX));
    let goes_on = std::env::var_os("BATON_RANDOM_ALL").is_some();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || !goes_on && failed.load(Ordering::Relaxed) != u64::MAX {
                        break;
                    }
                    if let Some(failure) = Case::of(seed, SIZE).failure() {
                        failed.fetch_min(seed, Ordering::Relaxed);
                        if goes_on {
                            println!("seed {seed}: {:.300}", failure.why);
                        }
                    }
                }
            });
        }
    });
    let seed = failed.into_inner();
    if seed == u64::MAX {
        return;
    }
    assert!(!goes_on, "seed {seed} fails, and maybe others");
    let small = (0..=SIZE).map(|size| Case::of(seed, size)).find(|case| case.failure().is_some());
    let case = small.expect("fails at its full size").shrunk();
    let Failure { actions, why } = case.failure().expect("shrunk while it fails");
    panic!(
        "seed {seed} fails: {why}\n\nmodel:\n{}\ndecisions:\n{:?}\nlimits: {:?}\nactions:\n{actions}",
        case.model, case.decisions, case.hostile
    );
}

/// A model and the actions on it, both derived from the numbers.
#[derive(Clone)]
struct Case {
    seed: u64,
    model: String,
    decisions: Option<String>,
    /// The limits of a hostile case.
    hostile: Option<WorkLimits>,
    random: Random,
    actions: u64,
}

/// The actions until a failure, and its message.
struct Failure {
    actions: String,
    why: String,
}

impl Failure {
    /// The beginning of the message without numbers: the kind of the failure.
    fn kind(&self) -> String {
        self.why.chars().filter(|c| !c.is_ascii_digit()).take(30).collect()
    }
}

impl Case {
    fn of(seed: u64, size: usize) -> Self {
        let mut random = Random::new(seed);
        if random_hostile::is_meant(seed) {
            let (work, hostility) = models::limits(&mut random);
            let Model { text, decisions } = models::generate_hostile(&mut random, size, hostility);
            let actions = random_hostile::ACTIONS;
            return Self { seed, model: text, decisions, hostile: Some(work), random, actions };
        }
        let model = generate(&mut random, size);
        Self { seed, model, decisions: None, hostile: None, random, actions: ACTIONS }
    }

    fn failure(&self) -> Option<Failure> {
        let mut random = self.random.clone();
        let steps = [1, 3, 100][random.below(3) as usize];
        let element_ids = element_ids(&self.model);
        let is_hostile = self.hostile.is_some();
        let fault = (!is_hostile && self.seed % 5 == 2 && !element_ids.is_empty()).then(|| {
            let points = [FaultPoint::Activate, FaultPoint::Complete, FaultPoint::Terminate];
            let element_id = &element_ids[random.below(element_ids.len() as u64) as usize];
            (points[random.below(3) as usize], element_id.clone())
        });
        let options = Options {
            max_steps_per_command: steps,
            max_children_per_step: 2,
            // Each step has enough, but two heavy ones are too much for one batch.
            work: match self.hostile {
                Some(work) => work,
                None if self.seed % 4 == 3 => {
                    WorkLimits { max_fuel_per_command: 60, max_fuel_per_step: 3_000, ..WorkLimits::default() }
                }
                None => WorkLimits::default(),
            },
            fault: fault.clone(),
            ..Options::default()
        };
        let mut run = Run {
            harness: Harness::with_options(options),
            random,
            held: Vec::new(),
            actions: Vec::new(),
            modifies: self.seed.is_multiple_of(3),
            migrates: !is_hostile && self.seed % 4 == 1,
            fails: fault.is_some(),
            is_hostile,
            versions: parsed(&versions(&self.model)),
            element_ids,
        };
        let result = catch_unwind(AssertUnwindSafe(|| {
            if is_hostile {
                run.all_hostile(&self.model, self.decisions.as_deref(), self.actions);
                check_mappings(std::slice::from_ref(&self.model), run.harness.records());
            } else {
                run.all(&self.model, self.actions);
                check_mappings(&versions(&self.model), run.harness.records());
            }
            run.harness.verify_replay(self.seed);
        }));
        let panic = result.err()?;
        let why = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default();
        Some(Failure { actions: run.actions.join("\n"), why })
    }

    /// Fewer actions and fewer lines of the model, as long as it fails in the same way. A line is not removed if the
    /// failure is a model that does not end: without a line, every model may fail to end.
    fn shrunk(mut self) -> Self {
        let Some(kind) = self.failure().map(|failure| failure.kind()) else { return self };
        let fails = |case: &Self| case.failure().is_some_and(|failure| failure.kind() == kind);
        for actions in 0..self.actions {
            let fewer = Self { actions, ..self.clone() };
            if fails(&fewer) {
                self = fewer;
                break;
            }
        }
        // From the end: flows follow the elements that they connect.
        let mut at = self.model.lines().count();
        while (self.hostile.is_some() || !kind.starts_with("left over")) && at > 0 {
            at -= 1;
            let lines = self.model.lines().enumerate().filter(|(number, _)| *number != at);
            let model: String = lines.flat_map(|(_, line)| [line, "\n"]).collect();
            let shorter = Self { model, ..self.clone() };
            if is_valid(&shorter.model) && fails(&shorter) {
                self = shorter;
            }
        }
        self
    }
}

/// Whether a model can be deployed. One from which a line was taken may not even be BPMN.
fn is_valid(model: &str) -> bool {
    catch_unwind(|| bpmn::parse(to_xml(model).as_bytes(), &bpmn::Limits::default()).is_ok()).unwrap_or(false)
}

pub struct Run {
    pub harness: Harness,
    pub random: Random,
    held: Vec<ActivatedJob>,
    actions: Vec<String>,
    /// Whether instances are modified meanwhile.
    pub modifies: bool,
    /// Whether instances are migrated meanwhile.
    migrates: bool,
    /// Whether the engine fails on an element.
    fails: bool,
    /// Whether the model may be hostile: then no check waits for its end.
    pub is_hostile: bool,
    /// The versions of the model that are deployed.
    pub versions: Vec<Vec<bpmn::Process>>,
    /// IDs of the elements of the model.
    pub element_ids: Vec<Name>,
}

impl Run {
    fn all(&mut self, model: &str, actions: u64) {
        let dish = ("dish.dmn", include_str!("models/dish.dmn"));
        let versions = if self.migrates { versions(model).to_vec() } else { vec![model.to_owned()] };
        let deploy = |run: &mut Self| {
            for model in &versions {
                run.harness
                    .deploy(&[("main.bpmn", model), dish])
                    .unwrap_or_else(|rejection| panic!("{rejection}"));
            }
        };
        deploy(self);
        let purged_at = self.random.percent(15).then(|| self.random.below(ACTIONS));
        for action in 0..actions {
            if purged_at == Some(action) {
                self.purge();
                deploy(self);
            }
            if action % (ACTIONS / 3) == 0 {
                self.create(action / (ACTIONS / 3));
            }
            self.act();
            if self.random.percent(70) {
                self.settle();
            }
        }
        if self.random.percent(20) {
            self.cancel_all();
        }
        self.resume_all();
        if self.fails {
            self.cancel_until_empty();
        } else {
            self.help();
        }
        assert!(self.harness.is_empty(), "left over: {:?}\n{}", self.harness.leftovers(), self.describe());
    }

    /// Nothing is left, whatever went on, and jobs of before are unknown.
    fn purge(&mut self) {
        assert!(self.run_alone(Command::Purge { after: None }), "nothing else changes the cluster");
        let tables = self.harness.engine().tables();
        assert!(self.harness.is_empty(), "left after a purge: {:?}", self.harness.leftovers());
        assert!(tables.definitions.is_empty().unwrap() && tables.messages.is_empty().unwrap());
        let change = self.harness.engine().cluster_change().expect("it has begun");
        assert!(self.run_alone(Command::EndChange(change.id)));
        if let Some(job) = self.held.pop() {
            let command = Command::CompleteJob(CompleteJob::of(job.key, Document::empty()));
            assert!(!self.run_alone(command), "a job of before is done");
        }
    }

    pub fn create(&mut self, number: u64) {
        let parts = self.parts(80);
        let command = Command::CreateInstance(CreateInstance {
            variables: document(&format!(r#"{{"key":"k{}","r":{number}{parts}}}"#, number % 2)),
            start_before: if self.modifies { self.start_instructions() } else { vec![] },
            ..CreateInstance::of(DefinitionRef::Id { id: Name::from("main"), version: None })
        });
        self.run(command);
    }

    /// Sometimes the variables `o` and `q`, of which mappings make parts.
    fn parts(&mut self, percent: u64) -> String {
        let mut variables = String::new();
        for name in ["o", "q"] {
            if self.random.percent(percent) {
                let _ = write!(
                    variables,
                    ",\"{name}\":{}",
                    PARTS[self.random.below(PARTS.len() as u64) as usize]
                );
            }
        }
        variables
    }

    /// Applies a command, sometimes with demand, and leaves its left-over steps to later ones.
    pub fn run(&mut self, command: Command) {
        let demand = if self.random.percent(30) { vec![self.harness.demand("t", 2)] } else { vec![] };
        self.actions.push(format!("{command:?} with demand for {}", demand.len()));
        let effects = self.harness.apply(vec![command], demand);
        assert!(self.fails || effects.banned.is_empty(), "the engine failed: {:?}", effects.banned);
        let jobs = jobs_of(&effects.deliveries);
        self.held.extend(jobs);
    }

    /// Applies a command and nothing else. Whether it was accepted.
    pub fn run_alone(&mut self, command: Command) -> bool {
        self.actions.push(format!("{command:?}"));
        let effects = self.harness.apply(vec![command], vec![]);
        assert!(self.fails || effects.banned.is_empty(), "the engine failed: {:?}", effects.banned);
        let outcome = effects.responses[0].as_ref().expect("an answer");
        if let (Err(rejection), true) = (outcome, std::env::var_os("BATON_RANDOM_TELL").is_some()) {
            println!("{rejection}");
        }
        outcome.is_ok()
    }

    /// Runs left-over steps to their end, then the rows must be consistent.
    pub fn settle(&mut self) {
        self.actions.push("go on".to_owned());
        if self.is_hostile {
            return self.settle_for_a_while();
        }
        self.harness.go_on();
        if !self.fails {
            check_consistency(&self.harness);
        }
    }

    pub fn act(&mut self) {
        match self.random.below(23) {
            20 => self.suspend(),
            21 => self.resume_all(),
            22 => self.update_a_job(),
            0..=2 => {
                let mut demand = self.harness.demand("t", 3);
                if self.random.percent(30) {
                    // Like a stream that still holds jobs after their timeout.
                    let mut keys: Vec<_> = self.held.iter().map(|job| job.key).collect();
                    keys.sort_unstable();
                    demand.except = Some(keys);
                }
                self.actions.push("activate".to_owned());
                self.held.extend(self.harness.activate_with(demand));
            }
            3..=8 => self.work(),
            9 => {
                let by_ms = 1000 * (1 + self.random.below(12)) as i64;
                self.advance(by_ms);
            }
            10 => self.advance(660_000),
            11 => self.publish(),
            12 => self.start(),
            13 => self.broadcast(),
            14 => self.use_tasks(false),
            15 => self.resolve_incidents(false),
            16 => {
                self.actions.push("flush and reopen".to_owned());
                self.harness.flush_and_reopen();
            }
            17 => {
                let (r, c, d) = (self.random.below(10), self.random.percent(20), self.random.below(8));
                // A list that collections are set to has places for all values, or not.
                let list = ["", r#","list":[6,5,4,3,2,1]"#, r#","list":[]"#, r#","list":0"#]
                    [self.random.below(8).saturating_sub(4) as usize];
                let roots = self.roots();
                // A variable of parts is only set where no input mappings make it.
                let (scope, parts) = match self.random.below(3) {
                    0 if !roots.is_empty() => {
                        let root = roots[self.random.below(roots.len() as u64) as usize];
                        (Some(root), self.parts(50))
                    }
                    _ => (self.any_element_instance(), String::new()),
                };
                if let Some(element_instance_key) = scope {
                    self.run(Command::SetVariables(SetVariables {
                        element_instance_key,
                        variables: document(&format!(r#"{{"r":{r},"c":{c},"d":{d}{list}{parts}}}"#)),
                        local: r.is_multiple_of(2),
                        operation_reference: None,
                        request_id: None,
                    }));
                }
            }
            18 if self.migrates => self.migrate(),
            18 | 19 if self.modifies => self.modify(),
            18 if self.random.percent(25) => {
                if let Some(key) = self.roots().first().copied() {
                    self.cancel(key);
                }
            }
            // All forms that a log may have: the current one, the one of the write limit, and an old one.
            _ => {
                let max_records = [Some(u32::MAX), Some(self.random.below(20) as u32), None];
                let max_records = max_records[self.random.below(3) as usize];
                self.run(Command::Continue { max_records });
            }
        }
    }

    pub fn advance(&mut self, by_ms: i64) {
        self.actions.push(format!("advance {by_ms} ms"));
        if self.is_hostile {
            return self.advance_for_a_while(by_ms);
        }
        self.harness.advance(by_ms);
    }

    fn work(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let at = self.random.below(self.held.len() as u64) as usize;
        let job = self.held.swap_remove(at);
        self.tell_of_agent(&job);
        if job.kind == JobKind::TaskListener {
            return self.listen(&job);
        }
        let (job_key, result) = (job.key, decision(&job, self.random.below(4)));
        let d =
            if self.random.percent(20) { format!(r#","d":{}"#, self.random.below(8)) } else { String::new() };
        let parts = if job.kind == JobKind::BpmnElement { self.parts(10) } else { String::new() };
        let variables = document(&format!(r#"{{"r":{}{d}{parts}}}"#, self.random.below(10)));
        let command = match self.random.below(10) {
            0 => Command::FailJob(FailJob {
                job_key,
                retries: self.random.below(3) as i32,
                retry_backoff_ms: 1000 * self.random.below(3) as i64,
                error_message: Name::from("failed"),
                variables,
                lease: None,
            }),
            1 | 2 => Command::ThrowError(ThrowError {
                job_key,
                error_code: Name::from(CODES[self.random.below(3) as usize]),
                error_message: Name::default(),
                variables,
                lease: None,
            }),
            3 => Command::YieldJobs { job_keys: vec![job_key], deadlines_ms: None },
            _ => Command::CompleteJob(CompleteJob {
                job_key,
                variables,
                result,
                lease: None,
                business_id: None,
            }),
        };
        self.run(command);
    }

    /// Completes the job of a task listener.
    fn listen(&mut self, job: &ActivatedJob) {
        let can_deny = job.listener_event_type == JobListenerEventType::Updating;
        let priority = Some(self.random.below(100) as i32).filter(|_| !can_deny);
        let result = JobResult::UserTask {
            denied: can_deny && self.random.percent(50),
            denied_reason: Name::default(),
            corrections: UserTaskChanges { priority, ..UserTaskChanges::default() },
        };
        self.run(Command::CompleteJob(CompleteJob {
            job_key: job.key,
            variables: Document::empty(),
            result: Some(Box::new(result)),
            lease: None,
            business_id: None,
        }));
    }

    /// Acts on a user task, or completes all of them.
    fn use_tasks(&mut self, complete: bool) {
        for user_task_key in self.harness.engine().tables().user_tasks.keys(.., self.at_once()).unwrap() {
            let operation = match self.random.below(4) {
                0 if !complete => {
                    UserTaskOperation::Assign { assignee: Name::from("bob"), allow_override: true }
                }
                1 if !complete => UserTaskOperation::Update(UserTaskChanges {
                    priority: Some(self.random.below(100) as i32),
                    ..UserTaskChanges::default()
                }),
                _ => UserTaskOperation::Complete { variables: Document::empty() },
            };
            self.run(Command::UserTask(UserTaskCommand {
                user_task_key,
                operation,
                action: Name::default(),
                request_id: None,
            }));
        }
    }

    /// Resolves incidents; with `for_good`, an incident that cannot be resolved ends its instance.
    fn resolve_incidents(&mut self, for_good: bool) {
        let incidents = self.harness.engine().tables().incidents.scan(.., self.at_once()).unwrap();
        for (incident_key, incident) in incidents {
            match incident.job_key {
                Some(job_key) => {
                    let retries = Some(2);
                    self.run(Command::UpdateJob(UpdateJob {
                        job_key,
                        retries,
                        timeout_ms: None,
                        operation_reference: None,
                        priority: None,
                        lease: None,
                    }));
                }
                None if for_good && incident.error_type == ErrorType::UnhandledErrorEvent => {
                    let instances = &self.harness.engine().tables().instances;
                    if let Some(instance) = instances.get(&incident.process_instance_key).unwrap() {
                        let root_key = instance.root_key;
                        self.cancel(root_key);
                    }
                    continue;
                }
                None => {}
            }
            self.run(Command::ResolveIncident { incident_key, operation_reference: None });
        }
    }

    /// Cancels all instances by a batch operation.
    fn cancel_all(&mut self) {
        self.run(Command::CreateBatchOperation(CreateBatchOperation {
            action: BatchAction::Cancel,
            search: Some(Name::from("state=ACTIVE")),
            operation_reference: None,
        }));
        self.harness.find_items(usize::MAX);
    }

    /// Cancels everything. Instances that the engine fails on meanwhile end by the next cancellation.
    fn cancel_until_empty(&mut self) {
        for _ in 0..CANCELLATIONS {
            self.settle();
            for key in self.roots() {
                self.cancel(key);
                self.settle();
            }
            // Listeners of cancelled user tasks get jobs unless the engine has failed.
            let demand = self.harness.demand("t", 1000);
            for job in self.harness.activate_with(demand) {
                let (job_key, variables) = (job.key, Document::empty());
                self.run(Command::CompleteJob(CompleteJob::of(job_key, variables)));
            }
            // Activated jobs time out, and messages may start other instances.
            self.advance(700_000);
        }
        self.settle();
    }

    pub fn cancel(&mut self, process_instance_key: Key) {
        self.run(Command::CancelInstance { process_instance_key, operation_reference: None });
    }

    pub fn roots(&self) -> Vec<Key> {
        let instances = self.harness.engine().tables().instances.scan(.., usize::MAX).unwrap();
        instances.into_iter().filter(|(_, instance)| instance.parent.is_none()).map(|(key, _)| key).collect()
    }

    /// The running elements, for the failure message.
    pub fn describe(&self) -> String {
        let tables = self.harness.engine().tables();
        let activated = self.harness.records().filter_map(|record| match &record.value {
            RecordValue::ProcessInstance(value) if record.intent == Intent::ElementActivating => {
                Some((record.key, value.instance.process_instance_key, &value.element_id))
            }
            _ => None,
        });
        let activated: Vec<_> = activated.collect();
        let (mut out, mut times) = (String::new(), std::collections::BTreeMap::new());
        for (_, instance_key, id) in &activated {
            if tables.instances.contains(instance_key).unwrap() {
                *times.entry((instance_key, id)).or_insert(0) += 1;
            }
        }
        let _ = writeln!(out, "activated: {times:?}");
        let _ = writeln!(out, "jobs: {:?}", tables.jobs.scan(.., SHOWN_JOBS).unwrap());
        for (key, instance_key, id) in &activated {
            if let Some(row) = tables.element_instances.get(key).unwrap() {
                let _ = writeln!(out, "{id} in {instance_key}: {row:?}");
            }
        }
        out
    }

    pub fn any_element_instance(&mut self) -> Option<Key> {
        let keys = self.harness.engine().tables().element_instances.keys(.., usize::MAX).unwrap();
        if keys.is_empty() { None } else { Some(keys[self.random.below(keys.len() as u64) as usize]) }
    }

    /// Acts until the instances end.
    fn help(&mut self) {
        self.held.clear();
        let rounds = if self.modifies { ROUNDS_MODIFIED } else { ROUNDS };
        for round in 0..MAX_ROUNDS {
            self.settle();
            let roots = self.roots();
            if roots.is_empty() {
                break;
            }
            if round >= rounds && roots.iter().all(|root| self.is_stuck(*root)) {
                assert!(self.modifies, "stuck:\n{}", self.describe());
                // Listeners of the cancellation may still need help.
                self.cancel_stuck();
            }
            self.resolve_incidents(true);
            self.settle();
            self.advance(700_000);
            self.settle();
            let demand = self.harness.demand("t", 1000);
            let jobs = self.harness.activate_with(demand);
            self.held.clear();
            self.use_tasks(true);
            for job in jobs {
                self.run(Command::CompleteJob(CompleteJob {
                    job_key: job.key,
                    variables: Document::empty(),
                    result: decision(&job, 0),
                    lease: None,
                    business_id: None,
                }));
            }
            // `d` is constant in the last rounds, since loops that wait for its changes would never end.
            let d = 3 + round.min(4);
            let scopes = self.harness.engine().tables().element_instances.keys(.., usize::MAX).unwrap();
            for element_instance_key in scopes {
                self.run(Command::SetVariables(SetVariables {
                    element_instance_key,
                    variables: document(&format!(r#"{{"c":true,"d":{d},"list":[1,2,3,4,5,6]}}"#)),
                    local: false,
                    operation_reference: None,
                    request_id: None,
                }));
            }
            for name in 0..3 {
                self.run(Command::BroadcastSignal(BroadcastSignal {
                    name: Name::from(format!("g{name}")),
                    variables: Document::empty(),
                    tenant_id: Name::default_tenant(),
                }));
            }
            for name in 0..4 {
                for key in 0..2 {
                    self.run(Command::PublishMessage(PublishMessage {
                        name: Name::from(format!("m{name}")),
                        correlation_key: Name::from(format!("k{key}")),
                        time_to_live_ms: 0,
                        message_id: Name::default(),
                        variables: Document::empty(),
                        tenant_id: Name::default_tenant(),
                        business_id: None,
                    }));
                }
            }
        }
        self.advance(60_000);
        self.settle();
    }
}

/// Decision of the worker of an ad-hoc sub-process: 0 ends it, 1 waits for the running elements, others activate
/// more.
fn decision(job: &ActivatedJob, choice: u64) -> Option<Box<JobResult>> {
    if job.kind != JobKind::AdHocSubProcess {
        return None;
    }
    let elements = job.variables.get("adHocSubProcessElements").expect("a list of the elements to activate");
    let ids = elements.as_str().split(r#""elementId":""#).skip(1);
    let ids = ids.map(|rest| Name::from(&rest[..rest.find('"').expect("the end of an ID")]));
    let activate_elements = match choice {
        0 | 1 => Vec::new(),
        _ => ids.map(|element_id| ActivateElement { element_id, variables: Document::empty() }).collect(),
    };
    Some(Box::new(JobResult::AdHocSubProcess {
        activate_elements,
        is_completion_condition_fulfilled: choice <= 1,
        is_cancel_remaining_instances: choice == 0,
    }))
}
