//! Several partitions, and the channels between them: parcels come late, twice, cut short, and across restarts.

use engine::{Options, Outcome};
use protocol::{
    Command, CreateInstance, DefinitionRef, Key, Name, Parcel, PartitionId, PartitionSettings,
    PublishMessage, Response,
};
use protocol::{partition_of, partition_of_text};

use super::Random;
use super::harness::{Harness, document};

/// More rounds than any test needs until nothing is on its way.
const MAX_ROUNDS: usize = 10_000;
const MAX_PARCEL_BYTES: usize = 1 << 20;

pub struct Partitions {
    all: Vec<Harness>,
    /// Late answers that were looked at, by partition.
    seen: Vec<usize>,
    requests: u64,
}

impl Partitions {
    pub fn new(count: PartitionId) -> Self {
        Self::with_options(count, &Options::default())
    }

    pub fn with_options(count: PartitionId, options: &Options) -> Self {
        let open = |partition_id| {
            let partitions = PartitionSettings { count, of_messages: count };
            Harness::with_options(Options { partition_id, partitions, ..options.clone() })
        };
        let all: Vec<Harness> = (1..=count).map(open).collect();
        Self { seen: vec![0; all.len()], all, requests: 0 }
    }

    pub fn count(&self) -> PartitionId {
        PartitionId::try_from(self.all.len()).unwrap()
    }

    pub fn numbers(&self) -> impl Iterator<Item = PartitionId> + use<> {
        1..=self.count()
    }

    pub fn of(&mut self, partition: PartitionId) -> &mut Harness {
        &mut self.all[usize::from(partition) - 1]
    }

    pub fn read(&self, partition: PartitionId) -> &Harness {
        &self.all[usize::from(partition) - 1]
    }

    /// Deploys on partition 1, and has all partitions know it.
    pub fn deploy(&mut self, text: &str) {
        self.of(1).deploy(&[("p.bpmn", text)]).unwrap();
        self.settle();
    }

    /// Creates an instance on a partition.
    pub fn create(&mut self, partition: PartitionId, process_id: &str, variables: &str) -> Key {
        let definition = DefinitionRef::Id { id: Name::from(process_id), version: None };
        let variables = document(variables);
        let command = Command::CreateInstance(CreateInstance { variables, ..CreateInstance::of(definition) });
        match self.of(partition).command(command) {
            Some(Ok(Response::InstanceCreated(created))) => created.process_instance_key,
            answer => panic!("{answer:?}"),
        }
    }

    /// A correlation key whose messages meet their subscriptions on a partition.
    pub fn key_of(&self, partition: PartitionId) -> String {
        let keys = (0..1000).map(|number| format!("k{number}"));
        keys.into_iter().find(|key| partition_of_text(key, self.count()) == partition).unwrap()
    }

    /// Publishes a message where it belongs.
    pub fn publish(&mut self, name: &str, key: &str, time_to_live_ms: i64) -> Option<Outcome> {
        let partition = partition_of_text(key, self.count());
        self.of(partition).command(Command::PublishMessage(PublishMessage {
            name: Name::from(name),
            correlation_key: Name::from(key),
            time_to_live_ms,
            message_id: Name::default(),
            variables: document(r#"{"x":1}"#),
            tenant_id: Name::default_tenant(),
            business_id: None,
        }))
    }

    /// Correlates a message where it belongs, and has everything take its course. Gives the answer.
    pub fn correlate(&mut self, name: &str, key: &str) -> Outcome {
        let partition = partition_of_text(key, self.count());
        self.requests += 1;
        let request_id = self.requests;
        let answer = self.of(partition).command(Command::CorrelateMessage(protocol::CorrelateMessage {
            name: Name::from(name),
            correlation_key: Name::from(key),
            variables: document(r#"{"x":1}"#),
            tenant_id: Name::default_tenant(),
            business_id: None,
            request_id: Some(request_id),
        }));
        match answer.unwrap() {
            Ok(Response::Pending) => {
                self.settle();
                let history = self.read(partition).history();
                let mut late = history.iter().flat_map(|effects| &effects.late_responses);
                let answer = late.find(|(number, _)| *number == request_id).expect("an answer");
                answer.1.clone()
            }
            answer => answer,
        }
    }

    /// Runs a command on the partition of a key.
    pub fn on(&mut self, key: Key, command: Command) -> Option<Outcome> {
        self.of(partition_of(key)).command(command)
    }

    pub fn cancel(&mut self, process_instance_key: Key) -> Option<Outcome> {
        self.on(
            process_instance_key,
            Command::CancelInstance { process_instance_key, operation_reference: None },
        )
    }

    /// Sends one parcel, some messages of it at the most. Gives whether there was one.
    pub fn send(&mut self, source: PartitionId, target: PartitionId, most: usize) -> bool {
        let engine = self.read(source).engine();
        let after = engine.acknowledged_by(target).unwrap();
        let messages = engine.outbox_slice(target, after, most, MAX_PARCEL_BYTES).unwrap();
        if messages.is_empty() {
            return false;
        }
        let up_to = self.receive(target, Parcel { source, first: after + 1, messages }).unwrap();
        self.of(source).command(Command::AcknowledgeMessages { target, up_to });
        true
    }

    /// Sends a parcel whose acknowledgement is lost.
    pub fn send_in_vain(&mut self, source: PartitionId, target: PartitionId, most: usize) {
        let engine = self.read(source).engine();
        let after = engine.acknowledged_by(target).unwrap();
        let messages = engine.outbox_slice(target, after, most, MAX_PARCEL_BYTES).unwrap();
        if !messages.is_empty() {
            self.receive(target, Parcel { source, first: after + 1, messages }).unwrap();
        }
    }

    pub fn receive(&mut self, target: PartitionId, parcel: Parcel) -> Result<u64, String> {
        match self.of(target).command(Command::Receive(Box::new(parcel))).unwrap() {
            Ok(Response::MessagesReceived { up_to }) => Ok(up_to),
            Err(rejection) => Err(rejection.reason),
            Ok(answer) => panic!("{answer:?}"),
        }
    }

    /// Sends until nothing is on its way any more.
    pub fn settle(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let mut has_sent = false;
            for source in self.numbers() {
                for target in self.numbers().filter(|target| *target != source) {
                    has_sent |= self.send(source, target, 100);
                }
            }
            if !has_sent {
                return;
            }
        }
        panic!("messages between partitions without end");
    }

    /// Something that happens between partitions, or to one of them.
    pub fn disturb(&mut self, random: &mut Random) {
        let count = u64::from(self.count());
        let any = |random: &mut Random| PartitionId::try_from(random.below(count) + 1).unwrap();
        let (source, target) = (any(random), any(random));
        let most = random.below(4) as usize + 1;
        match random.below(8) {
            0 => self.of(source).flush_and_reopen(),
            1 | 2 if source != target => self.send_in_vain(source, target, most),
            _ if source != target => {
                self.send(source, target, most);
            }
            _ => {}
        }
    }

    /// Lets time pass on all partitions.
    pub fn advance(&mut self, by_ms: i64) {
        self.all.iter_mut().for_each(|partition| partition.advance(by_ms));
    }

    /// Rows that should be gone when all instances have ended, and messages on their way.
    pub fn leftovers(&self) -> Vec<(PartitionId, &'static str, u64)> {
        let of = |partition| {
            let rows = self.read(partition).leftovers().into_iter();
            rows.map(move |(name, rows)| (partition, name, rows))
        };
        self.numbers().flat_map(of).collect()
    }

    /// Late answers since the last call, as partition and outcome.
    pub fn late_answers(&mut self) -> Vec<(u64, Outcome)> {
        let mut answers = Vec::new();
        for (partition, seen) in self.all.iter().zip(&mut self.seen) {
            let history = partition.history();
            answers.extend(history[*seen..].iter().flat_map(|effects| effects.late_responses.clone()));
            *seen = history.len();
        }
        answers
    }

    /// Asserts that the rows of partition 1 that all have are equal everywhere.
    pub fn assert_distributed(&self) {
        let of = |partition| {
            let tables = self.read(partition).engine().tables();
            [
                tables.definitions.state_hash().unwrap(),
                tables.agent_definitions.state_hash().unwrap(),
                tables.definition_by_id.state_hash().unwrap(),
                tables.definition_by_tag.state_hash().unwrap(),
                tables.definition_by_deployment.state_hash().unwrap(),
                tables.last_version.state_hash().unwrap(),
                tables.decision_requirements.state_hash().unwrap(),
                tables.requirements_by_namespace.state_hash().unwrap(),
                tables.decisions.state_hash().unwrap(),
                tables.forms.state_hash().unwrap(),
                tables.resources.state_hash().unwrap(),
                tables.start_subscriptions.state_hash().unwrap(),
                tables.global_listeners.state_hash().unwrap(),
                tables.cluster_variables.state_hash().unwrap(),
                tables.users.state_hash().unwrap(),
                tables.circles.state_hash().unwrap(),
                tables.mapping_rules.state_hash().unwrap(),
                tables.members.state_hash().unwrap(),
                tables.member_of.state_hash().unwrap(),
                tables.authorizations.state_hash().unwrap(),
                tables.authorization_by_owner.state_hash().unwrap(),
            ]
        };
        for partition in self.numbers() {
            assert_eq!(of(partition), of(1), "rows that all partitions have, on partition {partition}");
        }
    }
}
