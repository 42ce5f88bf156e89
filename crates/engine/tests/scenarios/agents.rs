//! Agents: created for an element instance, told of by the workers of its jobs, ended with the process instance.

use protocol::{
    ActivatedJob, AgentConfiguration, AgentHistoryItem, AgentItemMetrics, AgentJob, AgentMetrics, AgentRole,
    AgentStatus, Command, CompleteJob, CreateAgentInstance, CreateInstance, CreatedHistoryItem,
    DefinitionRef, Document, ElementMapping, FailJob, Intent, Json, Key, MigrateInstance, MigrationPlan,
    Name, RecordValue, RejectionType, Response, UpdateAgentInstance,
};

use crate::random_agents::item;
use crate::support::Harness;

/// A task that is an agent, once more after itself, and one that is none.
const MODEL: &str = "process p
    start s
    job a type=t agent=aiAgentTask
    xor again
    job b type=t
    end e
    s -> a -> again
    again -> a if more
    again -> b default
    b -> e";

struct Agents {
    harness: Harness,
    instance_key: Key,
    job: ActivatedJob,
}

impl Agents {
    /// An instance whose agent has a job with a lease.
    fn new(model: &str) -> Self {
        let mut harness = Harness::new();
        let _ = harness.deploy(&[("p.bpmn", model)]);
        let create = CreateInstance::of(DefinitionRef::Id { id: "p".into(), version: None });
        let outcome = harness.command(Command::CreateInstance(create)).unwrap();
        let Ok(Response::InstanceCreated(created)) = outcome else { panic!("{outcome:?}") };
        let job = activate(&mut harness, true);
        Self { harness, instance_key: created.process_instance_key, job }
    }

    fn job(&self) -> AgentJob {
        AgentJob { key: self.job.key, lease: self.job.lease.clone() }
    }

    fn create(
        &mut self,
        history: Vec<AgentHistoryItem>,
    ) -> Result<(Key, Vec<CreatedHistoryItem>), RejectionType> {
        let configuration = if history.is_empty() {
            item("", AgentRole::Configuration).configuration
        } else {
            AgentConfiguration::default()
        };
        let create = CreateAgentInstance {
            element_instance_key: self.job.element_instance_key,
            configuration,
            job: Some(self.job()),
            history,
        };
        self.ask(Command::CreateAgentInstance(Box::new(create)))
    }

    fn update(
        &mut self,
        agent_instance_key: Key,
        job: AgentJob,
        status: AgentStatus,
        history: Vec<AgentHistoryItem>,
    ) -> Result<Vec<CreatedHistoryItem>, RejectionType> {
        let update = UpdateAgentInstance {
            agent_instance_key,
            element_instance_key: self.job.element_instance_key,
            status: Some(status),
            metrics: AgentMetrics { input_tokens: 5, ..AgentMetrics::default() },
            tools: Some(Json::from_valid("[1]")),
            job: Some(job),
            history,
        };
        self.ask(Command::UpdateAgentInstance(Box::new(update))).map(|(_, history)| history)
    }

    fn ask(&mut self, command: Command) -> Result<(Key, Vec<CreatedHistoryItem>), RejectionType> {
        match self.harness.command(command).unwrap() {
            Ok(Response::AgentInstance { agent_instance_key, history }) => Ok((agent_instance_key, history)),
            Ok(other) => panic!("{other:?}"),
            Err(rejection) => Err(rejection.kind),
        }
    }

    fn complete(&mut self, variables: &str) {
        let variables = Document::parse(bytes::Bytes::from(variables.to_owned())).unwrap();
        let complete =
            CompleteJob { lease: self.job.lease.clone(), ..CompleteJob::of(self.job.key, variables) };
        self.harness.command(Command::CompleteJob(complete)).unwrap().unwrap();
    }

    /// The end of each item of a history, in its order.
    fn ends(&self) -> Vec<(String, Intent)> {
        let mut ends = Vec::new();
        for record in self.harness.records() {
            let RecordValue::AgentHistory(value) = &record.value else { continue };
            if record.intent != Intent::Created {
                ends.push((value.history_item_id.to_string(), record.intent));
            }
        }
        ends
    }

    /// The last record of the agent: its intent, status, model and metrics.
    fn last(&self) -> (Intent, AgentStatus, String, AgentMetrics) {
        let found = self.harness.records().filter_map(|record| match &record.value {
            RecordValue::AgentInstance(value) => {
                Some((record.intent, value.status, value.definition.model.to_string(), value.metrics))
            }
            _ => None,
        });
        found.last().unwrap()
    }
}

fn activate(harness: &mut Harness, with_lease: bool) -> ActivatedJob {
    let mut demand = harness.demand("t", 1);
    demand.with_lease = with_lease;
    harness.activate_with(demand).remove(0)
}

fn said(id: &str, tool_calls: i32) -> AgentHistoryItem {
    AgentHistoryItem { tool_call_count: tool_calls, ..item(id, AgentRole::Assistant) }
}

#[test]
fn an_agent_lives_until_its_process_instance_ends() {
    let mut agents = Agents::new(MODEL);
    let (key, history) =
        agents.create(vec![item("c", AgentRole::Configuration), item("u", AgentRole::User)]).unwrap();
    assert_eq!(history.iter().map(|item| item.is_duplicate).collect::<Vec<_>>(), [false, false]);
    assert_eq!(agents.ends(), [("c".to_owned(), Intent::Committed)], "its first configuration holds at once");
    assert_eq!(agents.create(Vec::new()), Err(RejectionType::AlreadyExists));
    let job = agents.job();
    let told =
        agents.update(key, job.clone(), AgentStatus::Thinking, vec![said("s", 2), said("s", 2)]).unwrap();
    assert_eq!(told.iter().map(|item| item.is_duplicate).collect::<Vec<_>>(), [false, true]);
    assert_eq!(told[0].key, told[1].key);
    let metrics = AgentMetrics { input_tokens: 5, model_calls: 1, tool_calls: 2, ..AgentMetrics::default() };
    assert_eq!(agents.last(), (Intent::Updated, AgentStatus::Thinking, "m".to_owned(), metrics));
    agents.complete(r#"{"more":true}"#);
    let committed = |id: &str| (id.to_owned(), Intent::Committed);
    assert_eq!(agents.ends(), [committed("c"), committed("u"), committed("s")]);
    // The element is entered once more: the agent goes on.
    agents.job = activate(&mut agents.harness, true);
    let job = agents.job();
    let told = agents.update(key, job, AgentStatus::Idle, vec![said("s", 2), said("n", 0)]).unwrap();
    assert_eq!(told.iter().map(|item| item.is_duplicate).collect::<Vec<_>>(), [true, false]);
    agents.complete(r#"{"more":false}"#);
    // The next task is no agent.
    agents.job = activate(&mut agents.harness, true);
    assert_eq!(agents.create(Vec::new()), Err(RejectionType::InvalidArgument));
    agents.complete("{}");
    assert_eq!(agents.last().0, Intent::Completed);
    assert_eq!(agents.last().1, AgentStatus::Completed);
    assert!(agents.harness.is_empty(), "{:?}", agents.harness.leftovers());
    let told = agents.harness.records().filter_map(|record| match &record.value {
        RecordValue::AgentInstance(value) if record.intent == Intent::Completed => {
            Some(value.element_instance_keys.len())
        }
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [2]);
    agents.harness.verify_replay(7);
}

#[test]
fn tokens_of_every_kind_are_counted_and_each_item_has_an_id() {
    let mut agents = Agents::new(MODEL);
    let (key, _) = agents.create(Vec::new()).unwrap();
    let told = AgentItemMetrics {
        output_tokens: Some(1),
        reasoning_token_count: Some(2),
        cache_creation_token_count: Some(3),
        cache_read_token_count: Some(4),
        ..AgentItemMetrics::default()
    };
    let calls = ["s", "t"].map(|id| AgentHistoryItem { metrics: Some(told), ..said(id, 0) });
    let alone = AgentHistoryItem { id: None, ..said("", 0) };
    let job = agents.job();
    agents.update(key, job.clone(), AgentStatus::Thinking, calls.to_vec()).unwrap();
    let [created] = &agents.update(key, job, AgentStatus::Idle, vec![alone]).unwrap()[..] else {
        panic!("one")
    };
    assert_eq!(created.id, Name::from(created.key.to_string()), "one that comes without an ID has its key");
    let metrics = AgentMetrics {
        input_tokens: 10,
        output_tokens: 2,
        model_calls: 2,
        tool_calls: 0,
        reasoning_token_count: 4,
        cache_creation_token_count: 6,
        cache_read_token_count: 8,
    };
    assert_eq!(agents.last().3, metrics);
    let id = created.id.to_string();
    agents.complete(r#"{"more":false}"#);
    let committed = |id: &str| (id.to_owned(), Intent::Committed);
    assert_eq!(agents.ends(), [committed("s"), committed("t"), committed(&id)]);
    agents.job = activate(&mut agents.harness, true);
    agents.complete("{}");
    assert!(agents.harness.is_empty(), "{:?}", agents.harness.leftovers());
    agents.harness.verify_replay(7);
}

#[test]
fn what_a_superseded_activation_told_does_not_hold() {
    let mut agents = Agents::new(MODEL);
    let (key, _) = agents.create(Vec::new()).unwrap();
    let stale = agents.job();
    let configuration = AgentConfiguration {
        model: Some("other".into()),
        ..item("", AgentRole::Configuration).configuration
    };
    let change = AgentHistoryItem { configuration, ..item("c", AgentRole::Configuration) };
    agents.update(key, stale.clone(), AgentStatus::Thinking, vec![change, said("s", 0)]).unwrap();
    let fail = FailJob {
        job_key: stale.key,
        retries: 2,
        retry_backoff_ms: 0,
        error_message: Name::default(),
        variables: Document::empty(),
        lease: None,
    };
    agents.harness.command(Command::FailJob(fail)).unwrap().unwrap();
    assert_eq!(
        agents.update(key, stale.clone(), AgentStatus::Idle, vec![said("t", 0)]),
        Err(RejectionType::NotFound),
        "nobody works on the job"
    );
    agents.job = activate(&mut agents.harness, true);
    let job = agents.job();
    // The same item in the next activation is another one.
    let told = agents.update(key, job, AgentStatus::ToolCalling, vec![said("s", 0)]).unwrap();
    assert!(!told[0].is_duplicate);
    // The tokens of the first worker count; its word on the agent counts no more.
    agents.update(key, stale.clone(), AgentStatus::Idle, vec![said("late", 0)]).unwrap();
    let metrics = AgentMetrics { input_tokens: 15, model_calls: 3, ..AgentMetrics::default() };
    assert_eq!(agents.last(), (Intent::Updated, AgentStatus::ToolCalling, "m".to_owned(), metrics));
    agents.complete(r#"{"more":false}"#);
    let mut ends = agents.ends();
    ends.sort();
    let end = |id: &str, intent| (id.to_owned(), intent);
    let wanted = [
        end("c", Intent::Discarded),
        end("late", Intent::Discarded),
        end("s", Intent::Committed),
        end("s", Intent::Discarded),
    ];
    assert_eq!(ends, wanted);
    assert_eq!(agents.last().2, "m", "a configuration that does not hold changes nothing");
    agents.harness.verify_replay(7);
}

#[test]
fn what_is_told_of_a_job_that_is_cancelled_does_not_hold() {
    let mut agents = Agents::new(MODEL);
    let (key, _) = agents.create(Vec::new()).unwrap();
    let job = agents.job();
    agents.update(key, job, AgentStatus::Thinking, vec![said("s", 0)]).unwrap();
    let process_instance_key = agents.instance_key;
    let cancel = Command::CancelInstance { process_instance_key, operation_reference: None };
    agents.harness.command(cancel).unwrap().unwrap();
    assert_eq!(agents.ends(), [("s".to_owned(), Intent::Discarded)]);
    assert_eq!(agents.last().0, Intent::Completed);
    assert!(agents.harness.is_empty(), "{:?}", agents.harness.leftovers());
}

#[test]
fn commands_of_agents_that_do_not_fit_are_refused() {
    let mut agents = Agents::new(MODEL);
    let wrong = AgentJob { lease: Some("other".into()), ..agents.job() };
    let job = std::mem::replace(&mut agents.job.lease, wrong.lease.clone());
    assert_eq!(agents.create(Vec::new()), Err(RejectionType::InvalidState), "another activation");
    agents.job.lease = job;
    assert_eq!(
        agents.create(vec![item("u", AgentRole::User)]),
        Err(RejectionType::InvalidArgument),
        "no model"
    );
    let element_key = std::mem::replace(&mut agents.job.element_instance_key, 4);
    assert_eq!(agents.create(Vec::new()), Err(RejectionType::NotFound), "no such element instance");
    agents.job.element_instance_key = agents.instance_key;
    assert_eq!(agents.create(Vec::new()), Err(RejectionType::InvalidArgument), "the process is no agent");
    agents.job.element_instance_key = element_key;
    let job = agents.job();
    assert_eq!(agents.update(77, job.clone(), AgentStatus::Idle, Vec::new()), Err(RejectionType::NotFound));
    let (key, _) = agents.create(Vec::new()).unwrap();
    let none = AgentJob { key: 78, lease: None };
    assert_eq!(
        agents.update(key, none, AgentStatus::Idle, Vec::new()),
        Err(RejectionType::NotFound),
        "no such job"
    );
    let process_instance_key = agents.instance_key;
    let suspend = Command::SuspendInstance { process_instance_key, operation_reference: None };
    agents.harness.command(suspend).unwrap().unwrap();
    assert_eq!(agents.update(key, job, AgentStatus::Idle, Vec::new()), Err(RejectionType::InvalidState));
}

#[test]
fn agents_move_with_their_instance_to_agents_of_their_type() {
    let target = |agent: &str| MODEL.replace("agent=aiAgentTask", agent);
    for (agent, is_moved) in [("agent=aiAgentTask", true), ("agent=external", false), ("", false)] {
        let mut agents = Agents::new(MODEL);
        agents.create(Vec::new()).unwrap();
        let outcome = agents.harness.deploy(&[("p.bpmn", &target(&format!("{agent} header:v=2")))]).unwrap();
        let Response::Deployed(deployed) = outcome else { panic!("{outcome:?}") };
        let target_definition_key = deployed.processes[0].process_definition_key;
        let mappings = vec![ElementMapping { source_element_id: "a".into(), target_element_id: "a".into() }];
        let migrate = MigrateInstance {
            process_instance_key: agents.instance_key,
            plan: MigrationPlan { target_definition_key, mappings },
            operation_reference: None,
        };
        let outcome = agents.harness.command(Command::MigrateInstance(migrate)).unwrap();
        assert_eq!(outcome.is_ok(), is_moved, "{agent}: {outcome:?}");
        let moved = agents.harness.records().filter_map(|record| match &record.value {
            RecordValue::AgentInstance(value) if record.intent == Intent::Migrated => {
                Some(value.process_definition_key)
            }
            _ => None,
        });
        let wanted: &[Key] = if is_moved { &[target_definition_key] } else { &[] };
        assert_eq!(moved.collect::<Vec<_>>(), wanted);
    }
}
