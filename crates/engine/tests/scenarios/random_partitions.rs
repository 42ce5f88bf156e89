//! Random processes over several partitions whose channels are slow, repeat themselves and break off, and whose engines
//! restart. In the end each message has been correlated once to each process at the most, rows of all partitions are
//! equal, and nothing is left over.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    BroadcastSignal, Command, CorrelateMessage, ElementMapping, Intent, Key, MigrateInstance, MigrationPlan,
    Name, PartitionId, PublishMessage, RecordValue, Response, partition_of, partition_of_text,
};

use crate::support::Random;
use crate::support::document;
use crate::support::partitions::Partitions;

/// A process that waits in several ways.
const WAITING: &str = "process p
    start s
    job t type=t
    boundary note on=t message=n key=key interrupting=false
    boundary stop on=t message=m key=key
    catch c message=m key=key
    end e
    end en
    end es
    s -> t -> c -> e
    note -> en
    stop -> es";

/// Another process that waits for the same messages, and senders.
const OTHERS: [&str; 3] = [
    "process q
    start s
    receive r message=m key=key
    catch g signal=go
    end e message=n to==key
    s -> r -> g -> e
    on cancelled {
      start c message=n key=key
      end ce
      c -> ce
    }",
    "process r
    start s message=start key=key
    end e message=m to==key
    s -> e",
    "process w
    start s
    call p process=q
    end e signal=go
    s -> p -> e",
];

struct Run {
    random: Random,
    partitions: Partitions,
    keys: Vec<String>,
    requests: u64,
    asked: BTreeSet<u64>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let count = random.below(4) as PartitionId + 1;
        let mut run = Self {
            random,
            partitions: Partitions::new(count),
            keys: (0..4).map(|number| format!("k{number}")).collect(),
            requests: 0,
            asked: BTreeSet::new(),
        };
        // A text that is deployed again is no other version.
        let changed = WAITING.replace("end en", "end noted").replace("note -> en", "note -> noted");
        for model in [WAITING, &changed].into_iter().chain(OTHERS) {
            run.partitions.deploy(model);
        }
        let definitions = run.partitions.read(1).engine().tables().definition_by_id.len().unwrap();
        assert_eq!(definitions, 2 + OTHERS.len() as u64, "the process has two versions");
        run
    }

    fn any(&mut self) -> PartitionId {
        let count = u64::from(self.partitions.count());
        self.random.below(count) as PartitionId + 1
    }

    fn key(&mut self) -> String {
        let at = self.random.below(self.keys.len() as u64) as usize;
        self.keys[at].clone()
    }

    fn instance(&mut self) -> Option<Key> {
        let partition = self.any();
        let keys = self.partitions.read(partition).engine().tables().instances.keys(.., 20).unwrap();
        (!keys.is_empty()).then(|| keys[self.random.below(keys.len() as u64) as usize])
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=3 => {
                let (partition, key) = (self.any(), self.key());
                let process = ["p", "p", "q", "w"][self.random.below(4) as usize];
                self.partitions.create(partition, process, &format!(r#"{{"key":"{key}"}}"#));
            }
            4..=6 => self.publish(),
            7 => self.correlate(),
            8 => self.complete_a_job(),
            9 => self.halt(),
            10 => self.migrate(),
            11 if self.random.below(4) == 0 => self.broadcast(),
            12 => self.partitions.advance(3_000),
            13 if self.random.below(3) == 0 => {
                if let Some(key) = self.instance() {
                    self.partitions.cancel(key);
                }
            }
            _ => self.partitions.disturb(&mut self.random),
        }
    }

    fn publish(&mut self) {
        let (key, name) = (self.key(), ["m", "n", "start"][self.random.below(3) as usize]);
        let time_to_live_ms = [0, 5_000, 60_000][self.random.below(3) as usize];
        let message_id = if self.random.below(3) == 0 { "once" } else { "" };
        let command = Command::PublishMessage(PublishMessage {
            name: Name::from(name),
            correlation_key: Name::from(&*key),
            time_to_live_ms,
            message_id: Name::from(message_id),
            variables: document(&format!(r#"{{"key":"{key}"}}"#)),
            tenant_id: Name::default_tenant(),
            business_id: None,
        });
        let partition = partition_of_text(&key, self.partitions.count());
        self.partitions.of(partition).command(command);
    }

    fn correlate(&mut self) {
        let (key, name) = (self.key(), ["m", "n"][self.random.below(2) as usize]);
        self.requests += 1;
        let partition = partition_of_text(&key, self.partitions.count());
        let answer = self.partitions.of(partition).command(Command::CorrelateMessage(CorrelateMessage {
            name: Name::from(name),
            correlation_key: Name::from(&*key),
            variables: document(&format!(r#"{{"key":"{key}"}}"#)),
            tenant_id: Name::default_tenant(),
            business_id: None,
            request_id: Some(self.requests),
        }));
        if answer == Some(Ok(Response::Pending)) {
            self.asked.insert(self.requests);
        }
    }

    fn complete_a_job(&mut self) {
        let partition = self.any();
        for job in self.partitions.of(partition).activate("t", 1) {
            let complete = protocol::CompleteJob::of(job.key, protocol::Document::empty());
            self.partitions.of(partition).command(Command::CompleteJob(complete));
        }
    }

    /// Suspends an instance, or lets it go on.
    fn halt(&mut self) {
        let Some(process_instance_key) = self.instance() else { return };
        let is_suspended = {
            let tables = self.partitions.read(partition_of(process_instance_key)).engine().tables();
            tables.suspended.contains(&process_instance_key).unwrap()
        };
        let command = if is_suspended {
            Command::ResumeInstance { process_instance_key, operation_reference: None }
        } else {
            Command::SuspendInstance { process_instance_key, operation_reference: None }
        };
        self.partitions.on(process_instance_key, command);
    }

    /// Moves an instance of `p` to the other version.
    fn migrate(&mut self) {
        let Some(process_instance_key) = self.instance() else { return };
        let tables = self.partitions.read(partition_of(process_instance_key)).engine().tables();
        let instance = tables.instances.get(&process_instance_key).unwrap().unwrap();
        let definitions = tables.definition_by_id.scan(.., 100).unwrap();
        let versions = definitions.iter().filter(|((_, _, id, _), _)| **id == *instance.process_id);
        let Some((_, target)) = versions.into_iter().find(|(_, key)| **key != instance.definition_key) else {
            return;
        };
        let target_definition_key = **target;
        let mappings = ["t", "c", "note", "stop"].map(|id| ElementMapping {
            source_element_id: Name::from(id),
            target_element_id: Name::from(id),
        });
        let plan = MigrationPlan { target_definition_key, mappings: mappings.into() };
        let migrate = MigrateInstance { process_instance_key, plan, operation_reference: None };
        self.partitions.on(process_instance_key, Command::MigrateInstance(migrate));
    }

    fn broadcast(&mut self) {
        self.partitions.of(1).command(Command::BroadcastSignal(BroadcastSignal {
            name: Name::from("go"),
            variables: protocol::Document::empty(),
            tenant_id: Name::default_tenant(),
        }));
    }

    /// Lets everything end, and checks what holds then.
    fn end(&mut self) {
        for partition in self.partitions.numbers() {
            for key in self.partitions.read(partition).engine().tables().suspended.keys(.., 1000).unwrap() {
                let resume = Command::ResumeInstance { process_instance_key: key, operation_reference: None };
                self.partitions.on(key, resume);
            }
        }
        self.partitions.settle();
        self.check_that_nothing_is_missed();
        while self.partitions.numbers().any(|partition| self.cancel_all(partition)) {
            self.partitions.settle();
        }
        self.partitions.advance(120_000);
        self.partitions.settle();
        assert_eq!(self.partitions.leftovers(), []);
        self.partitions.assert_distributed();
        self.check_correlations();
        self.check_answers();
    }

    fn cancel_all(&mut self, partition: PartitionId) -> bool {
        let keys = self.partitions.read(partition).engine().tables().instances.keys(.., 1000).unwrap();
        for key in &keys {
            self.partitions.cancel(*key);
        }
        !keys.is_empty()
    }

    /// No message is kept beside a subscription that it is for, unless another instance of the process has had it.
    fn check_that_nothing_is_missed(&self) {
        let mut subscriptions = Vec::new();
        for partition in self.partitions.numbers() {
            let tables = self.partitions.read(partition).engine().tables();
            subscriptions.extend(tables.subscriptions.scan(.., 10_000).unwrap());
        }
        for partition in self.partitions.numbers() {
            let engine = self.partitions.read(partition).engine();
            for (key, message) in engine.tables().messages.scan(.., 10_000).unwrap() {
                assert!(message.kept.is_none(), "message {key} is kept after its time: {message:?}");
                let fits = subscriptions.iter().find(|(_, row)| {
                    let correlation = (key, row.process_id.0.clone());
                    row.message_name == message.name
                        && row.correlation_key == message.correlation_key
                        && message.deadline_ms > engine.now_ms()
                        && !engine.tables().message_correlations.contains(&correlation).unwrap()
                });
                if let Some((at, row)) = fits {
                    let remote = engine.tables().remote_subscriptions.get(at).unwrap();
                    let holder = self.partitions.read(partition_of(*at)).engine().tables();
                    let host = holder.element_instances.get(&row.element_instance_key).unwrap();
                    panic!(
                        "message {key} waits beside subscription {at}: {message:?}, {row:?}, {remote:?}, {host:?}"
                    );
                }
            }
        }
    }

    /// Each message was correlated once to each process at the most.
    fn check_correlations(&self) {
        let mut counts: BTreeMap<(Key, Name), usize> = BTreeMap::new();
        for partition in self.partitions.numbers() {
            for record in self.partitions.read(partition).records() {
                let RecordValue::ProcessMessageSubscription(value) = &record.value else { continue };
                if record.intent == Intent::Correlated {
                    let message_key = value.message_key.expect("the message that was correlated");
                    *counts.entry((message_key, value.bpmn_process_id.clone())).or_default() += 1;
                }
            }
        }
        for (correlation, count) in counts {
            assert_eq!(count, 1, "a message is correlated once to each process: {correlation:?}");
        }
    }

    /// Each request that had to wait has one answer.
    fn check_answers(&mut self) {
        let answers = self.partitions.late_answers();
        let answered: BTreeSet<u64> = answers.iter().map(|(number, _)| *number).collect();
        assert_eq!(answered.len(), answers.len(), "each request is answered once: {answers:?}");
        assert_eq!(answered, self.asked, "requests that waited, and those that were answered");
    }
}

fn run(seed: u64) {
    let mut run = Run::new(seed);
    for _ in 0..run.random.below(200) + 20 {
        run.step();
    }
    run.end();
}

#[test]
fn channels_and_restarts_lose_and_repeat_nothing() {
    let seeds = std::env::var("BATON_SEEDS").ok().map_or(40, |seeds| seeds.parse().unwrap());
    let only = std::env::var("BATON_SEED").ok().map(|seed| seed.parse::<u64>().unwrap());
    for seed in only.map_or(0..seeds, |seed| seed..seed + 1) {
        let result = std::panic::catch_unwind(|| run(seed));
        assert!(result.is_ok(), "seed {seed}");
    }
}
