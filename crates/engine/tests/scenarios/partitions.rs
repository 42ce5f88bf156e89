//! Several partitions: messages, signals, definitions and batch operations between them.

use engine::{FaultPoint, Options};
use protocol::{
    BatchAction, Clock, ClusterVariable, Command, CreateBatchOperation, Deploy, IdentityCommand, Intent, Key,
    Name, Parcel, PartitionMessage, Query, QueryReply, RejectionType, Resource, Response,
};

use crate::support::partitions::Partitions;

const WAIT: &str = "process p
    start s
    catch wait message=m key=key
    end e
    s -> wait -> e";

const NOTES: &str = "process p
    start s
    job t type=t
    boundary note on=t message=m key=key interrupting=false
    end e
    end n
    s -> t -> e
    note -> n";

fn waiting(key: &str) -> String {
    format!(r#"{{"key":"{key}"}}"#)
}

/// How many instances have completed on all partitions.
fn completed(partitions: &Partitions) -> usize {
    let of = |partition| {
        let history = partitions.read(partition).history().iter();
        history.flat_map(|effects| &effects.ended_instances).filter(|(_, completed)| *completed).count()
    };
    partitions.numbers().map(of).sum()
}

fn instances(partitions: &Partitions) -> u64 {
    let of = |partition| partitions.read(partition).engine().tables().instances.len().unwrap();
    partitions.numbers().map(of).sum()
}

#[test]
fn deployments_reach_all_partitions_with_their_keys_and_versions() {
    let mut partitions = Partitions::new(3);
    partitions.deploy(WAIT);
    partitions.deploy(NOTES);
    partitions.assert_distributed();
    for partition in partitions.numbers() {
        let key = partitions.create(partition, "p", &waiting("k"));
        assert_eq!(protocol::partition_of(key), partition);
        let instance = partitions.read(partition).engine().tables().instances.get(&key).unwrap().unwrap();
        assert_eq!(instance.version, 2);
    }
    let history = partitions.read(2).history().iter().flat_map(|effects| &effects.records);
    let told = history.filter(|record| record.value.value_type() == protocol::ValueType::Process).count();
    assert_eq!(told, 0, "partition 1 alone records definitions");
}

#[test]
fn large_files_are_distributed_one_by_one() {
    let mut partitions = Partitions::new(2);
    let resources = (0..5).map(|number| {
        let name = Name::from(format!("{number}.txt"));
        Resource { name, content: vec![b'x'; 100_000] }
    });
    let deploy = Deploy { resources: resources.collect(), tenant_id: Name::default_tenant() };
    partitions.of(1).command(Command::Deploy(deploy)).unwrap().unwrap();
    let slice = |max_bytes| partitions.read(1).engine().outbox_slice(2, 0, 100, max_bytes).unwrap().len();
    assert_eq!(slice(usize::MAX), 6, "each file, and the small rows of all");
    assert_eq!(slice(1), 1, "one message fits always");
    partitions.settle();
    partitions.assert_distributed();
}

#[test]
fn a_message_reaches_an_instance_of_another_partition() {
    let mut partitions = Partitions::new(3);
    partitions.deploy(WAIT);
    for on in partitions.numbers() {
        for of in partitions.numbers() {
            let key = partitions.key_of(of);
            partitions.create(on, "p", &waiting(&key));
            partitions.settle();
            let before = completed(&partitions);
            partitions.publish("m", &key, 0).unwrap().unwrap();
            partitions.settle();
            assert_eq!(completed(&partitions), before + 1, "message on {of}, instance on {on}");
        }
    }
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_buffered_message_waits_for_an_instance_of_another_partition() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(WAIT);
    let key = partitions.key_of(1);
    partitions.publish("m", &key, 60_000).unwrap().unwrap();
    partitions.create(2, "p", &waiting(&key));
    partitions.create(2, "p", &waiting(&key));
    partitions.settle();
    // Each process has it once.
    assert_eq!((completed(&partitions), instances(&partitions)), (1, 1));
    partitions.publish("m", &key, 60_000).unwrap().unwrap();
    partitions.settle();
    assert_eq!((completed(&partitions), instances(&partitions)), (2, 0));
    partitions.advance(120_000);
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_correlation_is_answered_with_the_instance_or_not_found() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(WAIT);
    let key = partitions.key_of(2);
    let instance = partitions.create(1, "p", &waiting(&key));
    partitions.settle();
    match partitions.correlate("m", &key) {
        Ok(Response::MessageCorrelated { process_instance_key, .. }) => {
            assert_eq!(process_instance_key, instance);
        }
        answer => panic!("{answer:?}"),
    }
    assert_eq!(partitions.correlate("m", &key).unwrap_err().kind, RejectionType::NotFound);
    // It is there when the message comes, and gone when the offer does.
    let instance = partitions.create(1, "p", &waiting(&key));
    partitions.settle();
    partitions.cancel(instance).unwrap().unwrap();
    assert_eq!(partitions.correlate("m", &key).unwrap_err().kind, RejectionType::NotFound);
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_refused_message_goes_to_the_next_instance() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(WAIT);
    let key = partitions.key_of(2);
    let first = partitions.create(1, "p", &waiting(&key));
    let second = partitions.create(1, "p", &waiting(&key));
    partitions.settle();
    partitions.cancel(first).unwrap().unwrap();
    // The message comes before the end of the first subscription is known there.
    match partitions.correlate("m", &key) {
        Ok(Response::MessageCorrelated { process_instance_key, .. }) => {
            assert_eq!(process_instance_key, second);
        }
        answer => panic!("{answer:?}"),
    }
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_suspended_instance_has_its_message_when_it_goes_on() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(WAIT);
    let key = partitions.key_of(2);
    let process_instance_key = partitions.create(1, "p", &waiting(&key));
    partitions.settle();
    let suspend = Command::SuspendInstance { process_instance_key, operation_reference: None };
    partitions.on(process_instance_key, suspend).unwrap().unwrap();
    partitions.publish("m", &key, 600_000).unwrap().unwrap();
    partitions.settle();
    assert_eq!(completed(&partitions), 0);
    let resume = Command::ResumeInstance { process_instance_key, operation_reference: None };
    partitions.on(process_instance_key, resume).unwrap().unwrap();
    partitions.settle();
    assert_eq!(completed(&partitions), 1);
    partitions.advance(1_200_000);
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_catch_event_that_stays_open_has_one_message_after_the_other() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(NOTES);
    let key = partitions.key_of(2);
    partitions.create(1, "p", &waiting(&key));
    partitions.settle();
    for _ in 0..3 {
        partitions.publish("m", &key, 60_000).unwrap().unwrap();
    }
    partitions.settle();
    let correlated = |record: &&protocol::Record| {
        record.intent == Intent::Correlated
            && record.value.value_type() == protocol::ValueType::ProcessMessageSubscription
    };
    let correlated = partitions.read(1).records().filter(correlated).count();
    assert_eq!(correlated, 3);
}

#[test]
fn an_element_sends_its_message_to_its_partition() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(WAIT);
    partitions.deploy("process q\n start s\n end e message=m to==key\n s -> e");
    let key = partitions.key_of(2);
    for on in [1, 2] {
        partitions.create(on, "p", &waiting(&key));
        partitions.settle();
        partitions.create(3 - on, "q", &waiting(&key));
        partitions.settle();
    }
    assert_eq!(completed(&partitions), 4);
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_message_of_another_partition_is_refused() {
    let mut partitions = Partitions::new(2);
    let (key, message) = (partitions.key_of(2), Name::from("m"));
    let refused = partitions.of(1).command(Command::PublishMessage(protocol::PublishMessage {
        name: message,
        correlation_key: Name::from(&*key),
        time_to_live_ms: 0,
        message_id: Name::default(),
        variables: protocol::Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    }));
    let refusal = refused.unwrap().unwrap_err();
    assert_eq!(refusal.kind, RejectionType::InvalidState);
    assert!(refusal.reason.contains("belongs to partition 2"), "{}", refusal.reason);
}

#[test]
fn definitions_and_grants_begin_on_the_first_partition() {
    let mut partitions = Partitions::new(2);
    for command in [Command::Identity(IdentityCommand::SetUp), Command::Clock(Clock::Reset)] {
        let refusal = partitions.of(2).command(command).unwrap().unwrap_err();
        assert!(refusal.reason.contains("this is partition 2"), "{}", refusal.reason);
    }
    assert_eq!(partitions.read(2).engine().grants_version(), 0);
}

#[test]
fn signals_reach_all_partitions_and_start_one_instance() {
    let mut partitions = Partitions::new(3);
    partitions.deploy("process p\n start s\n catch wait signal=go\n end e\n s -> wait -> e");
    partitions.deploy("process q\n start s signal=go\n end e\n s -> e");
    partitions.deploy("process r\n start s\n end e signal=go\n s -> e");
    for partition in partitions.numbers() {
        partitions.create(partition, "p", "{}");
    }
    partitions.create(2, "r", "{}");
    partitions.settle();
    assert_eq!(completed(&partitions), 3 + 2, "those that wait, the sender, and one that its signal starts");
    let broadcast = protocol::BroadcastSignal {
        name: Name::from("go"),
        variables: protocol::Document::empty(),
        tenant_id: Name::default_tenant(),
    };
    partitions.of(1).command(Command::BroadcastSignal(broadcast)).unwrap().unwrap();
    partitions.settle();
    assert_eq!(completed(&partitions), 3 + 2 + 1, "and an instance that the signal starts on partition 1");
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_definition_goes_when_no_partition_runs_it() {
    let mut partitions = Partitions::new(3);
    partitions.deploy(WAIT);
    let (_, key) = partitions.read(1).engine().tables().definition_by_id.first(..).unwrap().unwrap();
    let instances: Vec<Key> = [2, 3].map(|on| partitions.create(on, "p", &waiting("k"))).into();
    partitions.settle();
    let delete =
        protocol::DeleteResource { resource_key: *key, operation_reference: None, delete_history: false };
    partitions.of(1).command(Command::DeleteResource(delete)).unwrap().unwrap();
    partitions.settle();
    let is_there = |partitions: &Partitions, partition| {
        partitions.read(partition).engine().tables().definitions.contains(&key).unwrap()
    };
    for instance in instances {
        assert!(partitions.numbers().all(|partition| is_there(&partitions, partition)));
        partitions.cancel(instance).unwrap().unwrap();
        partitions.settle();
    }
    assert!(!partitions.numbers().any(|partition| is_there(&partitions, partition)));
    let deleted = |record: &&protocol::Record| {
        record.intent == Intent::Deleted && record.value.value_type() == protocol::ValueType::Process
    };
    assert_eq!(partitions.read(1).records().filter(deleted).count(), 1);
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn cluster_variables_and_grants_reach_all_partitions() {
    let mut partitions = Partitions::new(2);
    partitions.of(1).command(Command::Identity(IdentityCommand::SetUp)).unwrap().unwrap();
    partitions.deploy("process p\n start s\n end e in:y==camunda.vars.env.x\n s -> e");
    let set = |value: &str| {
        Command::ClusterVariable(ClusterVariable {
            action: protocol::ClusterVariableAction::Create,
            tenant_id: None,
            name: Name::from(value),
            value: protocol::Json::from_valid("1"),
            metadata: None,
            kind: None,
        })
    };
    let before = partitions.read(2).engine().grants_version();
    partitions.of(1).command(set("x")).unwrap().unwrap();
    partitions.settle();
    partitions.assert_distributed();
    assert_eq!(partitions.read(2).engine().grants_version(), before, "no grant has changed");
    assert!(before > 0);
    partitions.create(2, "p", "{}");
    let y = |record: &&protocol::Record| record.value.value_type() == protocol::ValueType::Variable;
    assert_eq!(partitions.read(2).records().filter(y).count(), 1);
}

#[test]
fn the_clock_is_that_of_all_partitions() {
    let mut partitions = Partitions::new(2);
    partitions.of(1).command(Command::Clock(Clock::Pin { timestamp_ms: 7 })).unwrap().unwrap();
    partitions.settle();
    assert!(partitions.numbers().all(|partition| partitions.read(partition).engine().now_ms() == 7));
}

#[test]
fn a_batch_operation_works_on_all_partitions_and_counts_once() {
    let mut partitions = Partitions::new(3);
    partitions.deploy(WAIT);
    let mut keys: Vec<Key> = Vec::new();
    for number in 0..200 {
        keys.push(partitions.create(number % 3 + 1, "p", &waiting("k")));
    }
    keys.sort_unstable();
    partitions.settle();
    let gone = keys[150];
    partitions.cancel(gone).unwrap().unwrap();
    let create = CreateBatchOperation {
        action: BatchAction::Cancel,
        operation_reference: None,
        search: Some(Name::from("{")),
    };
    let answer = partitions.of(1).command(Command::CreateBatchOperation(create));
    let Some(Ok(Response::BatchOperationCreated(created))) = answer else { panic!("{answer:?}") };
    let items = keys.iter().map(|key| protocol::BatchOperationItem {
        item_key: *key,
        process_instance_key: *key,
        root_process_instance_key: *key,
    });
    let add = protocol::AddBatchItems {
        batch_operation_key: created.batch_operation_key,
        items: items.collect(),
        is_last: true,
        error: None,
        owners: Vec::new(),
    };
    partitions.of(1).command(Command::AddBatchItems(add)).unwrap().unwrap();
    partitions.settle();
    assert_eq!(instances(&partitions), 0);
    let query = Query::BatchOperation { key: created.batch_operation_key };
    let Ok(QueryReply::BatchOperation(view)) = partitions.of(1).read(&query) else { panic!("a view") };
    assert_eq!((view.total, view.completed, view.failed), (200, 200, 0));
    assert_eq!(view.state, protocol::BatchOperationState::Completed);
    assert_eq!(partitions.leftovers(), []);
}

#[test]
fn a_purge_removes_the_data_of_all_partitions() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(WAIT);
    let key = partitions.key_of(2);
    for on in [1, 2] {
        partitions.create(on, "p", &waiting(&key));
    }
    // Some of it is on its way.
    partitions.publish("m", &key, 60_000).unwrap().unwrap();
    partitions.of(1).command(Command::Purge { after: None }).unwrap().unwrap();
    partitions.settle();
    assert_eq!(instances(&partitions), 0);
    let before = completed(&partitions);
    partitions.assert_distributed();
    assert_eq!(partitions.leftovers(), []);
    partitions.deploy(WAIT);
    partitions.create(1, "p", &waiting(&key));
    partitions.publish("m", &key, 60_000).unwrap().unwrap();
    partitions.settle();
    assert_eq!((completed(&partitions), instances(&partitions)), (before + 1, 0));
}

#[test]
fn messages_are_received_once_and_without_gaps() {
    let mut partitions = Partitions::new(2);
    partitions.deploy(WAIT);
    let key = partitions.key_of(1);
    partitions.publish("m", &key, 60_000).unwrap().unwrap();
    partitions.create(2, "p", &waiting(&key));
    let opened = partitions.read(2).engine().outbox_slice(1, 0, 10, usize::MAX).unwrap();
    assert!(matches!(opened[..], [PartitionMessage::OpenSubscription(_)]), "{opened:?}");
    let parcel =
        |first, messages: &[PartitionMessage]| Parcel { source: 2, first, messages: messages.to_vec() };
    // The assertion of generations would find one that is taken twice.
    assert_eq!(partitions.receive(1, parcel(1, &opened)), Ok(1));
    assert_eq!(partitions.receive(1, parcel(1, &opened)), Ok(1));
    let gap = partitions.receive(1, parcel(3, &opened)).unwrap_err();
    assert!(gap.contains("Expected message 2 of partition 2"), "{gap}");
    for source in [1, 3, 0] {
        let forged = Parcel { source, first: 1, messages: opened.clone() };
        let refusal = partitions.receive(1, forged).unwrap_err();
        assert!(refusal.contains("is none"), "{refusal}");
    }
}

#[test]
fn a_message_that_the_engine_fails_on_stops_nothing() {
    let fault = Some((FaultPoint::Complete, Name::from("stop")));
    let mut partitions = Partitions::with_options(2, &Options { fault, ..Options::default() });
    partitions.deploy(WAIT);
    partitions.deploy("process broken\n start s\n catch stop message=m key=key\n end e\n s -> stop -> e");
    let key = partitions.key_of(2);
    partitions.create(1, "broken", &waiting(&key));
    partitions.create(1, "p", &waiting(&key));
    partitions.settle();
    partitions.publish("m", &key, 0).unwrap().unwrap();
    partitions.settle();
    assert_eq!(completed(&partitions), 1, "the other one goes on");
    assert_eq!(partitions.read(1).engine().tables().banned.len().unwrap(), 1);
    let outbox = partitions.read(1).engine().outbox().unwrap();
    assert_eq!((outbox[0].failed, outbox[0].depth, outbox[0].since_ms), (1, 0, None));
}
