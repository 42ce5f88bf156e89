//! Three brokers with three partitions, each of which has a leader of its own.

use protocol::{PublishMessage, partition_of, partition_of_text};

use super::*;

const COUNT: PartitionId = 3;
const WAITS: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t"><process id="w" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="c"/><intermediateCatchEvent id="c"><messageEventDefinition messageRef="m"/></intermediateCatchEvent></process><message id="m" name="m"><extensionElements><zeebe:subscription correlationKey="=key"/></extensionElements></message></definitions>"#;

async fn start() -> Cluster {
    let cluster = Cluster::start_with(Settings { partitions: COUNT, ..Settings::default() }).await;
    deploy(&cluster.node(0)).await;
    deploy_model(&cluster.node(1), WAITS).await;
    cluster
}

/// The broker that leads each partition.
fn leaders(cluster: &Cluster) -> BTreeMap<PartitionId, u32> {
    let led = cluster.nodes.iter().flat_map(|(broker, node)| {
        let led = node.partitions().into_iter().filter(|(_, partition)| partition.leads());
        led.map(|(partition, _)| (partition, *broker))
    });
    led.collect()
}

fn is_led(cluster: &Cluster) -> bool {
    leaders(cluster).len() == usize::from(COUNT)
}

async fn rebalance(cluster: &Cluster, at: u32) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match cluster.node(at).rebalance().await {
            Ok(led) => return assert_eq!(led, [(1, 0), (2, 1), (3, 2)].into()),
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        look().await;
    }
}

/// A correlation key of a partition.
fn key_of(partition: PartitionId, number: u32) -> String {
    let mut keys = (0..).map(|text| format!("{number}-{text}"));
    keys.find(|key| partition_of_text(key, COUNT) == partition).unwrap()
}

async fn waiting(node: &Node, key: &str) -> Key {
    let definition = DefinitionRef::Id { id: Name::from("w"), version: None };
    let variables = Document::parse(format!(r#"{{"key":"{key}"}}"#).into()).unwrap();
    let create = CreateInstance { variables, ..CreateInstance::of(definition) };
    match submit(node, Command::CreateInstance(create)).await {
        Response::InstanceCreated(created) => created.process_instance_key,
        other => panic!("{other:?}"),
    }
}

/// Publishes until it has surely happened once.
async fn publish(node: &Node, key: &str) {
    let publish = Command::PublishMessage(PublishMessage {
        name: Name::from("m"),
        correlation_key: Name::from(key),
        time_to_live_ms: 600_000,
        message_id: Name::from(key),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    });
    let deadline = Instant::now() + PATIENCE;
    loop {
        match node.submit(publish.clone()).await {
            // The ID is taken when it has happened at an attempt before.
            Ok(_) | Err(SubmitError::Rejected(_)) => return,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        look().await;
    }
}

fn running(cluster: &Cluster, broker: u32) -> u64 {
    let of =
        |partition: &Arc<partition::Partition>| partition.engine().lock().tables().instances.len().unwrap();
    cluster.nodes[&broker].partitions().values().map(of).sum()
}

/// All brokers come to the same states of all partitions.
async fn agree_on_all(cluster: &Cluster) {
    let hashes = |cluster: &Cluster, partition: PartitionId| -> BTreeSet<(u64, u64)> {
        let nodes = cluster.nodes.values();
        nodes.map(|node| node.partitions()[&partition].state_hash().unwrap()).collect()
    };
    let is_equal = |cluster: &Cluster| (1..=COUNT).all(|partition| hashes(cluster, partition).len() == 1);
    cluster.until("replicas of all partitions are equal", is_equal).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_broker_works_for_all_partitions_whoever_leads_them() {
    let cluster = start().await;
    rebalance(&cluster, 2).await;
    cluster
        .until("each partition has its leader", |cluster| leaders(cluster) == [(1, 0), (2, 1), (3, 2)].into())
        .await;
    let mut partitions = BTreeSet::new();
    for broker in BROKERS {
        for _ in 0..COUNT {
            partitions.insert(partition_of(created(&cluster.node(broker)).await));
        }
    }
    assert_eq!(partitions, (1..=COUNT).collect());
    // Jobs of all partitions at one broker, done at another.
    let mut stream = cluster.node(1).stream_jobs(jobs(100)).unwrap();
    for _ in 0..9 {
        let job = timeout(PATIENCE, stream.next()).await.unwrap().unwrap();
        let complete = CompleteJob::of(job.key, Document::empty());
        submit(&cluster.node(2), Command::CompleteJob(complete)).await;
    }
    // A message enters anywhere, and its instance is anywhere.
    for (number, partition) in (1..=COUNT).cycle().take(9).enumerate() {
        let (key, broker) = (key_of(partition, number as u32), number as u32 % 3);
        waiting(&cluster.node(broker), &key).await;
        publish(&cluster.node((broker + 1) % 3), &key).await;
    }
    cluster.until("all instances have ended", |cluster| running(cluster, 0) == 0).await;
    agree_on_all(&cluster).await;
    let compared = cluster.node(1).compare_states().await.unwrap();
    assert_eq!(compared.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(compared.values().all(|compared| compared.differing.is_empty() && compared.hashes.len() == 3));
    let is_shown = |cluster: &Cluster| {
        let topology = cluster.nodes[&2].topology();
        let led = topology.brokers.iter().map(|broker| {
            (broker.partitions.len(), broker.partitions.iter().filter(|partition| partition.leader).count())
        });
        topology.brokers.len() == 3 && led.clone().all(|shown| shown == (3, 1))
    };
    cluster.until("the topology shows one leader of each partition", is_shown).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_between_partitions_outlast_each_broker() {
    let mut cluster = start().await;
    let mut number = 0;
    for crashed in BROKERS {
        let at = cluster.node((crashed + 1) % 3);
        let mut keys = Vec::new();
        for partition in 1..=COUNT {
            for _ in 0..3 {
                number += 1;
                let key = key_of(partition, number);
                waiting(&at, &key).await;
                keys.push(key);
            }
        }
        let node = cluster.nodes.remove(&crashed).unwrap();
        let others = at;
        let publishing = async {
            for key in &keys {
                publish(&others, key).await;
            }
        };
        tokio::join!(publishing, async move { drop(node) });
        cluster.start_again(crashed).await;
        let survivor = (crashed + 1) % 3;
        cluster.until("all instances have ended", |cluster| running(cluster, survivor) == 0).await;
    }
    let is_sent = |cluster: &Cluster| {
        let all = cluster.nodes[&0].partitions();
        all.values().all(|partition| partition.outbox().unwrap().iter().all(|to| to.depth == 0))
    };
    cluster.until("all messages are acknowledged", is_sent).await;
    agree_on_all(&cluster).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_without_its_data_gets_a_replica_of_each_partition() {
    let mut cluster = start().await;
    let lost = 2;
    for _ in 0..6 {
        created(&cluster.node(0)).await;
    }
    drop(cluster.nodes.remove(&lost));
    cluster.directories.insert(lost, tempfile::tempdir().unwrap());
    cluster.until("the others lead all partitions", is_led).await;
    cluster.start_again(lost).await;
    for _ in 0..6 {
        created(&cluster.node(lost)).await;
    }
    agree_on_all(&cluster).await;
    let is_voter = |cluster: &Cluster| {
        cluster.nodes[&lost].partitions().values().all(|partition| {
            let voters = partition.group().members().voters;
            voters.len() == 3 && voters.contains(&(1 << 32 | u64::from(lost)))
        })
    };
    cluster.until("the new replica votes in all partitions", is_voter).await;
    rebalance(&cluster, 0).await;
    created(&cluster.node(1)).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_log_of_one_partition_is_found() {
    let mut cluster = start().await;
    let back = 1;
    cluster.nodes.remove(&back).unwrap().shutdown().await;
    let copied = cluster.copied(back);
    cluster.start_again(back).await;
    for _ in 0..6 {
        created(&cluster.node(back)).await;
    }
    cluster.nodes.remove(&back).unwrap().shutdown().await;
    cluster.put_back(back, &copied, &[]);
    cluster.start_anew(back, 1).await;
    created(&cluster.node(back)).await;
    agree_on_all(&cluster).await;
    cluster.stop().await;
}
