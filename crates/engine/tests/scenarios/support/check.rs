//! `check(model, script, expected transcript)`.
//!
//! A script is one command a line. `#1` is the first process instance that started, a job, incident or element instance
//! is named by its element (the last one of it; `task@1` is the first). Durations are like `10s`, `500ms`, `2m`, `1h`,
//! `1d`.
//!
//! ```text
//! create PROCESS [v=1] [await=REQUEST] [fetch=a,b] [tags=a,b] [before=ELEMENT,…] [after=ELEMENT,…]
//!     [business=ID] [unique=ID] [JSON]
//! deploy FILE …              delete PROCESS|decisions:ID|form:ID|file:ID v=1
//! evaluate DECISION [v=1] [JSON]
//! cancel #1                  unban #1
//! modify #1 [+ELEMENT[^ANCESTOR] …] [SOURCE>ELEMENT[^ANCESTOR|^inferred|^parent] …] [-SOURCE …] [JSON]
//!     (SOURCE: an element ID, or key:ELEMENT for an instance of it; JSON: variables by ID of the scope)
//! activate TYPE [max=1] [timeout=10s] [fetch=a,b]
//! complete JOB [JSON]        throw JOB CODE [message=text] [JSON]
//! fail JOB [retries=2] [backoff=10s] [message=text] [JSON]
//! update JOB [retries=2] [timeout=10s]    yield JOB …
//! publish NAME KEY [ttl=10s] [id=ID] [business=ID] [unique=ID] [JSON]     (key `-`: none)
//! correlate NAME KEY [business=ID] [unique=ID] [JSON]
//! instruct ELEMENT elements=a,b [cancel=true] [JSON for each]   complete JOB activate=a,b [JSON for each]
//! [fulfilled=true] vars create|update|delete NAME [tenant=ID] [kind=KIND] [metadata=NAME:VALUE,…] JSON
//! broadcast SIGNAL [JSON]    conditions [PROCESS v=1] JSON
//! resolve ELEMENT            set ELEMENT|#1 [local] JSON
//! resolve ELEMENT            set ELEMENT|#1 [local] [await=REQUEST] JSON
//! assign TASK WHO [claim]    unassign TASK    finish TASK [JSON]    change TASK [due=…] [users=a,b] …
//! complete JOB [deny=reason] [assignee=…] [due=…] [users=a,b] [groups=a,b] [priority=5]   (empty: cleared)
//! listener ID type=TYPE [events=creating,…] [priority=5] [retries=3] [after] [update]    unlisten ID
//! migrate #1 PROCESS v=2 [SOURCE:TARGET …]      (`id` is short for `id:id`)
//! batch cancel|resolve|migrate PROCESS v=2 [SOURCE:TARGET …] [id=PROCESS] … (see `batch.rs`)
//! find N (hands over N items of a batch operation that `only` has created)
//! batch modify SOURCE>TARGET … [id=PROCESS] …
//! resolve-all #1             suspend B1    resume B1    stop B1    items B1    step 3 (a `Continue` three times)
//! advance 10s    tick    pin 10s    shift 10s    unpin    reopen    only COMMAND (leaves left-over steps)    go on
//! rows TABLE …               users, groups, roles and the like: see `identity.rs`
//! show jobs incidents …      hide flows …      given COMMAND (another test shows what follows from it)
//! ```

use engine::Options;
use expect_test::Expect;
use protocol::{
    ActivateAdHoc, ActivateElement, ActivationInstruction, AncestorScope, AwaitResult, BatchAction,
    BatchOperationChange, BroadcastSignal, BusinessIdClaim, Clock, Command, CompleteJob, CorrelateMessage,
    CreateBatchOperation, CreateInstance, DecisionRef, DefinitionRef, DeleteHistory, DeleteResource, Deploy,
    Document, ElementMapping, ElementSource, EvaluateConditionals, EvaluateDecision, FailJob, HistoryKind,
    JobResult, Key, MigrateInstance, MigrationPlan, ModifyInstance, MoveElement, Name, PublishMessage,
    RejectionType, Resource, ScopeVariables, SetVariables, ThrowError, UpdateJob,
};

use super::harness::{START_MS, document};
use super::model::{assert_valid, bpmn};
use super::transcript::{KINDS, Transcript};
use super::user_task;
use super::{Harness, batch, cluster_variable, identity};

/// Deploys a model, runs a script and compares the transcript.
pub fn check(model: &str, script: &str, expected: Expect) {
    assert_valid(model);
    let script = format!("deploy test\n{script}");
    check_with(&[("test", model)], Options::default(), &script, expected);
}

/// Runs a script that deploys some of `files` itself, under `options`, and compares the transcript.
pub fn check_with(files: &[(&str, &str)], options: Options, script: &str, expected: Expect) {
    let mut run = Run {
        files: files
            .iter()
            .map(|(name, text)| {
                let content = if name.contains('.') { (*text).to_owned() } else { bpmn(text) };
                ((*name).to_owned(), content)
            })
            .collect(),
        harness: Harness::with_options(options),
        transcript: Transcript::hiding(&["definitions", "slices", "documents", "clock"]),
        seen: 0,
    };
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        run.line(line);
    }
    let leftovers = run.harness.leftovers();
    if !leftovers.is_empty() {
        let rows: Vec<String> = leftovers.iter().map(|(name, rows)| format!("{name} {rows}")).collect();
        run.transcript.text.push_str(&format!("left: {}\n", rows.join(", ")));
    }
    expected.assert_eq(&run.transcript.text);
    for seed in 1..=3 {
        run.harness.verify_replay(seed);
    }
}

struct Run {
    files: Vec<(String, String)>,
    harness: Harness,
    transcript: Transcript,
    seen: usize,
}

/// A line of the script: words, `key=value` options, and JSON at the end.
pub(super) struct Line<'a> {
    pub(super) words: Vec<&'a str>,
    options: Vec<(&'a str, &'a str)>,
    json: Option<Document>,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Self {
        let (head, json) = match line.find('{') {
            Some(at) => (&line[..at], Some(document(&line[at..]))),
            None => (line, None),
        };
        let (options, words) = head.split_whitespace().partition::<Vec<_>, _>(|word| word.contains('='));
        let options = options.into_iter().filter_map(|word| word.split_once('=')).collect();
        Self { words, options, json }
    }

    pub(super) fn word(&self, at: usize) -> &'a str {
        self.words.get(at).unwrap_or_else(|| panic!("a word is missing: {:?}", self.words))
    }

    pub(super) fn option(&self, name: &str) -> Option<&'a str> {
        self.options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// The filter of a batch operation: its options but the version of a migration's target.
    fn filter(&self) -> Name {
        let options = self.options.iter().filter(|(name, _)| *name != "v");
        Name::from(options.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
    }

    pub(super) fn names(&self, name: &str) -> Vec<Name> {
        self.option(name).map(|text| text.split(',').map(Name::from).collect()).unwrap_or_default()
    }

    /// Elements to activate, each with the variables of the line.
    fn elements(&self, name: &str) -> Vec<ActivateElement> {
        let variables = self.variables();
        let element = |element_id| ActivateElement { element_id, variables: variables.clone() };
        self.names(name).into_iter().map(element).collect()
    }

    fn duration(&self, name: &str) -> Option<i64> {
        self.option(name).map(duration)
    }

    /// The business ID of a message.
    fn business_id(&self) -> Option<BusinessIdClaim> {
        let business_id = Name::from(self.option("business").or(self.option("unique"))?);
        Some(BusinessIdClaim { business_id, is_unique: self.option("unique").is_some() })
    }

    pub(super) fn text(&self, name: &str) -> Name {
        Name::from(self.option(name).unwrap_or_default().replace('_', " "))
    }

    pub(super) fn variables(&self) -> Document {
        self.json.clone().unwrap_or_default()
    }

    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.option(name).map(|text| text.parse().unwrap_or_else(|_| panic!("not a number: {text}")))
    }
}

fn duration(text: &str) -> i64 {
    let digits = text.find(|c: char| c.is_alphabetic()).expect("a unit");
    let number: i64 = text[..digits].parse().expect("a number");
    number
        * match &text[digits..] {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            unit => panic!("no such unit: {unit}"),
        }
}

impl Run {
    fn line(&mut self, text: &str) {
        if let Some(text) = text.strip_prefix("given ") {
            let shown = self.transcript.text.len();
            self.line(text);
            let given = self.transcript.text.split_off(shown);
            assert!(!given.contains("= rejected"), "given, but refused: {given}");
            return;
        }
        let line = Line::parse(text);
        match line.word(0) {
            "show" => {
                let wanted = &line.words[1..];
                self.transcript.hidden =
                    KINDS.iter().copied().filter(|kind| !wanted.contains(kind)).collect();
                return;
            }
            "hide" => {
                for kind in &line.words[1..] {
                    self.transcript.hidden.extend(KINDS.iter().find(|known| *known == kind));
                }
                return;
            }
            // Its consequences are irrelevant in most scripts.
            "deploy" if self.seen == 0 && self.transcript.hidden.contains(&"definitions") => {}
            _ => self.transcript.command(text),
        }
        match line.word(0) {
            "activate" => {
                let mut demand = self.harness.demand(line.word(1), line.number("max").unwrap_or(1));
                demand.fetch_variables = line.names("fetch");
                demand.timeout_ms = line.duration("timeout").unwrap_or(demand.timeout_ms);
                let jobs = self.harness.activate_with(demand);
                self.catch_up();
                for job in &jobs {
                    self.transcript.activated(job);
                }
                if jobs.is_empty() {
                    self.transcript.line("< no job");
                }
            }
            "advance" => {
                self.harness.advance(duration(line.word(1)));
                self.catch_up();
            }
            "reopen" => self.harness.flush_and_reopen(),
            "step" => self.step(&line),
            "find" => self.find(&line),
            "rows" => {
                let counts = self.harness.engine().tables().row_counts();
                let of = |table: &&str| counts.iter().find(|(name, _)| name == table).expect("a table");
                let texts = line.words[1..].iter().map(of).map(|(name, rows)| format!("{name} {rows}"));
                self.transcript.line(&texts.collect::<Vec<_>>().join(", "));
            }
            "items" => {
                let text = batch::describe(self.harness.engine(), self.batch(line.word(1)), &self.transcript);
                text.lines().for_each(|line| self.transcript.line(line));
            }
            "go" => {
                self.harness.go_on();
                self.catch_up();
            }
            "only" => {
                let line = Line { words: line.words[1..].to_vec(), ..line };
                let command = self.command(&line);
                let response = self.harness.apply(vec![command], vec![]).responses[0].clone();
                self.catch_up();
                self.transcript.answer(response.as_ref());
            }
            _ => {
                let command = self.command(&line);
                let before = self.harness.content();
                let outcome = self.harness.command(command);
                self.catch_up();
                self.transcript.answer(outcome.as_ref());
                if let Some(Err(rejection)) = outcome
                    && rejection.kind != RejectionType::ProcessingError
                {
                    assert!(before == self.harness.content(), "a refused command changed the state: {text}");
                }
            }
        }
    }

    fn catch_up(&mut self) {
        for effects in &self.harness.history()[self.seen..] {
            self.transcript.effects(effects);
        }
        self.seen = self.harness.history().len();
    }

    fn command(&self, line: &Line) -> Command {
        match line.word(0) {
            "deploy" => Command::Deploy(Deploy {
                resources: line.words[1..].iter().map(|name| self.file(name)).collect(),
                tenant_id: Name::default_tenant(),
            }),
            "delete" => Command::DeleteResource(DeleteResource {
                resource_key: self.definition(line.word(1), line.number("v").expect("a version")),
                operation_reference: None,
                delete_history: false,
            }),
            "forget" => Command::DeleteHistory(DeleteHistory {
                kind: HistoryKind::ProcessInstance,
                key: self.instance(line.word(1)),
                definition_id: Name::from("p"),
                tenant_id: Name::default_tenant(),
                operation_reference: None,
            }),
            "create" => create(line),
            "cancel" => Command::CancelInstance {
                process_instance_key: self.instance(line.word(1)),
                operation_reference: None,
            },
            "modify" => self.modify(line),
            "halt" => Command::SuspendInstance {
                process_instance_key: self.instance(line.word(1)),
                operation_reference: None,
            },
            "release" => Command::ResumeInstance {
                process_instance_key: self.instance(line.word(1)),
                operation_reference: None,
            },
            "name" => Command::AssignBusinessId {
                process_instance_key: self.instance(line.word(1)),
                claim: BusinessIdClaim {
                    business_id: Name::from(line.word(2)),
                    is_unique: line.option("unique").is_some(),
                },
            },
            "unban" => Command::Unban { process_instance_key: self.instance(line.word(1)) },
            "publish" => Command::PublishMessage(PublishMessage {
                name: Name::from(line.word(1)),
                correlation_key: Name::from(line.word(2).trim_start_matches('-')),
                time_to_live_ms: line.duration("ttl").unwrap_or(0),
                message_id: line.text("id"),
                variables: line.variables(),
                tenant_id: Name::default_tenant(),
                business_id: line.business_id(),
            }),
            "correlate" => Command::CorrelateMessage(CorrelateMessage {
                name: Name::from(line.word(1)),
                correlation_key: Name::from(line.word(2).trim_start_matches('-')),
                variables: line.variables(),
                tenant_id: Name::default_tenant(),
                business_id: line.business_id(),
                request_id: None,
            }),
            "broadcast" => Command::BroadcastSignal(BroadcastSignal {
                name: Name::from(line.word(1)),
                variables: line.variables(),
                tenant_id: line.option("tenant").map_or_else(Name::default_tenant, Name::from),
            }),
            "conditions" => Command::EvaluateConditionals(EvaluateConditionals {
                variables: line.variables(),
                tenant_id: Name::default_tenant(),
                definition_key: self.definition_of(line),
            }),
            "resolve" => Command::ResolveIncident {
                incident_key: self.transcript.incidents.get(line.word(1)).copied().unwrap_or(1),
                operation_reference: None,
            },
            "set" => Command::SetVariables(SetVariables {
                element_instance_key: match line.word(1) {
                    instance if instance.starts_with('#') => self.instance(instance),
                    element => nth(&self.transcript.element_instances, element),
                },
                variables: line.variables(),
                local: line.words.get(2) == Some(&"local"),
                operation_reference: None,
                request_id: line.number("await"),
            }),
            "vars" => cluster_variable::change(line),
            "migrate" => Command::MigrateInstance(MigrateInstance {
                process_instance_key: self.instance(line.word(1)),
                plan: self.migration_plan(&line.words[2..], line.number("v").expect("a version")),
                operation_reference: None,
            }),
            "evaluate" => Command::EvaluateDecision(EvaluateDecision {
                decision: match line.number("v") {
                    Some(version) => {
                        DecisionRef::Key(self.definition(&format!("decision:{}", line.word(1)), version))
                    }
                    None => DecisionRef::Id(Name::from(line.word(1))),
                },
                variables: line.variables(),
                tenant_id: Name::default_tenant(),
            }),
            "batch" => Command::CreateBatchOperation(CreateBatchOperation {
                action: self.batch_action(line),
                search: Some(line.filter()),
                operation_reference: None,
            }),
            "resolve-all" => {
                Command::ResolveInstanceIncidents { process_instance_key: self.instance(line.word(1)) }
            }
            "suspend" => self.batch_change(line.word(1), BatchOperationChange::Suspend),
            "resume" => self.batch_change(line.word(1), BatchOperationChange::Resume),
            "stop" => self.batch_change(line.word(1), BatchOperationChange::Cancel),
            "instruct" => Command::ActivateAdHoc(ActivateAdHoc {
                element_instance_key: nth(&self.transcript.element_instances, line.word(1)),
                elements: line.elements("elements"),
                cancel_remaining_instances: line.option("cancel").is_some(),
            }),
            "assign" | "unassign" | "change" | "finish" => {
                user_task::command(line, nth(&self.transcript.user_tasks, line.word(1)))
            }
            "listener" | "unlisten" | "configure" => user_task::global_listener(line),
            verb if identity::VERBS.contains(&verb) => {
                identity::command(line, &self.transcript.authorizations)
            }
            "tick" => Command::Tick,
            "pin" => Command::Clock(Clock::Pin { timestamp_ms: START_MS + duration(line.word(1)) }),
            "unpin" => Command::Clock(Clock::Reset),
            "shift" => Command::Clock(Clock::Add { offset_ms: duration(line.word(1)) }),
            _ => self.job_command(line),
        }
    }

    fn modify(&self, line: &Line) -> Command {
        let element_instance = |name: &str| match name {
            instance if instance.starts_with('#') => self.instance(instance),
            element => nth(&self.transcript.element_instances, element),
        };
        let source = |text: &str| match text.strip_prefix("key:") {
            Some(name) => ElementSource::Key(element_instance(name)),
            None => ElementSource::Id(Name::from(text)),
        };
        let variables = || -> Vec<ScopeVariables> {
            let json = line.variables();
            let sets = json.iter().map(|(scope_id, value)| ScopeVariables {
                scope_id: scope_id.clone(),
                variables: document(value.as_str()),
            });
            sets.collect()
        };
        let mut modify = ModifyInstance::of(self.instance(line.word(1)));
        for word in &line.words[2..] {
            let (what, ancestor) = word.split_once('^').map_or((*word, None), |(what, a)| (what, Some(a)));
            if let Some(id) = what.strip_prefix('+') {
                modify.activate.push(ActivationInstruction {
                    element_id: Name::from(id),
                    ancestor_key: ancestor.map(element_instance),
                    variables: variables(),
                });
            } else if let Some((from, target)) = what.split_once('>') {
                modify.moves.push(MoveElement {
                    source: source(from),
                    target_id: Name::from(target),
                    ancestor: match ancestor {
                        None => AncestorScope::Only,
                        Some("inferred") => AncestorScope::Inferred,
                        Some("parent") => AncestorScope::SourceParent,
                        Some(name) => AncestorScope::Direct(element_instance(name)),
                    },
                    variables: variables(),
                });
            } else {
                let text = what.strip_prefix('-').unwrap_or_else(|| panic!("+, > or -: {word}"));
                modify.terminate.push(source(text));
            }
        }
        Command::ModifyInstance(modify)
    }

    fn job_command(&self, line: &Line) -> Command {
        let job_key = nth(&self.transcript.jobs, line.word(1));
        match line.word(0) {
            "complete" => complete(line, job_key),
            "fail" => Command::FailJob(FailJob {
                job_key,
                retries: line.number("retries").unwrap_or(0),
                retry_backoff_ms: line.duration("backoff").unwrap_or(0),
                error_message: line.text("message"),
                variables: line.variables(),
                lease: None,
            }),
            "throw" => Command::ThrowError(ThrowError {
                job_key,
                error_code: Name::from(line.word(2)),
                error_message: line.text("message"),
                variables: line.variables(),
                lease: None,
            }),
            "update" => Command::UpdateJob(UpdateJob {
                job_key,
                retries: line.number("retries"),
                timeout_ms: line.duration("timeout"),
                operation_reference: None,
                priority: line.number("priority"),
                lease: None,
            }),
            "yield" => Command::YieldJobs {
                job_keys: line.words[1..].iter().map(|job| nth(&self.transcript.jobs, job)).collect(),
                deadlines_ms: None,
            },
            other => panic!("no such command: {other}"),
        }
    }

    /// A file of the test; one that the test does not know has its name as content.
    fn file(&self, name: &str) -> Resource {
        match self.files.iter().find(|(known, _)| known == name) {
            // Anything but a model is a file as it is: `dish@2.dmn` is deployed as `dish.dmn`.
            Some((_, content)) if name.contains('.') => {
                let (stem, extension) = name.rsplit_once('.').expect("an extension");
                let stem = stem.split('@').next().unwrap_or(stem);
                Resource {
                    name: Name::from(format!("{stem}.{extension}")),
                    content: content.clone().into_bytes(),
                }
            }
            Some((_, xml)) => {
                // Versions of a file share its name: `order@2` is deployed as `order.bpmn`.
                let name = name.split('@').next().unwrap_or(name);
                Resource { name: Name::from(format!("{name}.bpmn")), content: xml.clone().into_bytes() }
            }
            None => Resource { name: Name::from(name), content: name.as_bytes().to_vec() },
        }
    }

    fn instance(&self, name: &str) -> Key {
        let number: usize = name.trim_start_matches('#').parse().expect("#1");
        self.transcript.instances.get(number - 1).copied().unwrap_or(1)
    }

    fn batch_action(&self, line: &Line) -> BatchAction {
        match line.word(1) {
            "cancel" => BatchAction::Cancel,
            "halt" => BatchAction::Suspend,
            "release" => BatchAction::Resume,
            "resolve" => BatchAction::Resolve,
            "migrate" => BatchAction::Migrate(
                self.migration_plan(&line.words[2..], line.number("v").expect("a version")),
            ),
            "modify" => {
                BatchAction::Modify(line.words[2..].iter().map(|word| batch::token_move(word)).collect())
            }
            other => panic!("no such action: {other}"),
        }
    }

    fn migration_plan(&self, words: &[&str], version: u32) -> MigrationPlan {
        MigrationPlan {
            target_definition_key: self.definition(words[0], version),
            mappings: words[1..].iter().map(|word| mapping(word)).collect(),
        }
    }

    fn find(&mut self, line: &Line) {
        self.harness.find_items(line.word(1).parse().expect("a number"));
        self.catch_up();
    }

    fn step(&mut self, line: &Line) {
        for _ in 0..line.word(1).parse().expect("a number") {
            self.harness.apply(vec![Command::GO_ON], vec![]);
        }
        self.catch_up();
    }

    fn batch(&self, name: &str) -> Key {
        let number: usize = name.trim_start_matches('B').parse().expect("B1");
        self.transcript.batches.get(number - 1).copied().unwrap_or(1)
    }

    fn batch_change(&self, name: &str, change: BatchOperationChange) -> Command {
        Command::ChangeBatchOperation { batch_operation_key: self.batch(name), change }
    }

    /// The definition that the first word of a line names, if there is one.
    fn definition_of(&self, line: &Line) -> Option<Key> {
        line.words.get(1).map(|id| self.definition(id, line.number("v").unwrap_or(1)))
    }

    fn definition(&self, process_id: &str, version: u32) -> Key {
        self.transcript.definitions.get(&(process_id.to_owned(), version)).copied().unwrap_or(1)
    }
}

fn mapping(text: &str) -> ElementMapping {
    let (source, target) = text.split_once(':').unwrap_or((text, text));
    ElementMapping { source_element_id: Name::from(source), target_element_id: Name::from(target) }
}

fn complete(line: &Line, job_key: Key) -> Command {
    let activate_elements = line.elements("activate");
    let is_fulfilled = line.option("fulfilled").is_some();
    let is_ad_hoc = is_fulfilled || !activate_elements.is_empty();
    let variables = if is_ad_hoc { Document::empty() } else { line.variables() };
    let result = JobResult::AdHocSubProcess {
        activate_elements,
        is_completion_condition_fulfilled: is_fulfilled,
        is_cancel_remaining_instances: line.option("cancel").is_some(),
    };
    let result = if is_ad_hoc { Some(result) } else { user_task::result(line) }.map(Box::new);
    Command::CompleteJob(CompleteJob { job_key, variables, result, lease: None, business_id: None })
}

fn create(line: &Line) -> Command {
    Command::CreateInstance(CreateInstance {
        variables: line.variables(),
        await_result: line
            .number("await")
            .map(|request_id| AwaitResult { request_id, fetch_variables: line.names("fetch") }),
        tags: line.names("tags"),
        business_id: line.option("business").or(line.option("unique")).map(Name::from),
        unique_business_id: line.option("unique").is_some(),
        start_before: line.names("before"),
        terminate_after: line.names("after"),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from(line.word(1)), version: line.number("v") })
    })
}

/// The key under a name: the last one, or `name@n` the nth. Key 1 if there is none.
fn nth(keys: &std::collections::HashMap<String, Vec<Key>>, name: &str) -> Key {
    let (name, number) = match name.split_once('@') {
        Some((name, number)) => (name, number.parse::<usize>().expect("a number")),
        None => (name, usize::MAX),
    };
    let Some(keys) = keys.get(name) else { return 1 };
    keys.get(number.min(keys.len()).saturating_sub(1)).copied().unwrap_or(1)
}
