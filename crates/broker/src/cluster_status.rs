//! The brokers of a cluster tell each other how they are, each second.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use broker_api::{BrokerInfo, PartitionInfo};
use bytes::Bytes;
use cluster::{AgreementStatus, ClockSample, HeardHere, KnownReplica, ReplicaNumber, RequestKind, ask};
use protocol::{FIRST_PARTITION, PartitionId};
use replication::{Group, Role};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::cluster_state::ClusterState;
use crate::hearing::Seen;
use crate::node::Node;
use crate::orders::{ExportOrder, PauseOrder};
use crate::successor::Successor;
use crate::{admission, balance, giving_way};
use partition::{Partition, term};

/// Interval at which other brokers are asked for their status.
const STATUS_INTERVAL: Duration = Duration::from_secs(1);
/// Time-out of a status; a broker that does not answer is not shown.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// A broker, as it tells others about itself.
#[derive(Serialize, Deserialize)]
struct Status {
    host: String,
    port: u16,
    #[serde(flatten)]
    first: ReplicaStatus,
    /// The partitions after the first one.
    #[serde(default)]
    further: BTreeMap<PartitionId, ReplicaStatus>,
    #[serde(default)]
    pause: PauseOrder,
    #[serde(default)]
    exporting: ExportOrder,
    /// Time of its clock.
    #[serde(default)]
    clock_ms: Option<i64>,
    #[serde(default)]
    agreement: AgreementStatus,
    /// Why its disk has no room.
    #[serde(default)]
    no_room: Option<String>,
    /// Why it is not ready.
    #[serde(default)]
    reason: Option<String>,
    /// Its replica, unless that takes no part yet.
    #[serde(default)]
    replica: Option<KnownReplica>,
}

/// The replica of one partition.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct ReplicaStatus {
    leader: bool,
    healthy: bool,
    /// The term of its role.
    #[serde(default)]
    term: u64,
}

impl ReplicaStatus {
    fn of(node: &Node, partition: &Partition) -> Self {
        // One look: leading belongs to the term.
        let role = *partition.group().role().borrow();
        let healthy = node.health_of(partition).partition.is_ok();
        Self { leader: matches!(role, Role::Leader { .. }), healthy, term: term(role) }
    }
}

/// Another broker, as it was a moment ago.
struct Told {
    seen: Seen,
    pause: PauseOrder,
    exporting: ExportOrder,
    clock: Option<ClockSample>,
    agreement: AgreementStatus,
    no_room: Option<String>,
    replica: Option<KnownReplica>,
}

/// The status of this broker for others.
pub(crate) fn status(node: &Node) -> Result<Bytes, String> {
    let (host, port) = (node.options().advertised_host.clone(), node.options().advertised_port);
    let health = node.health();
    let mut further: BTreeMap<PartitionId, ReplicaStatus> =
        node.all().iter().map(|partition| (partition.number(), ReplicaStatus::of(node, partition))).collect();
    let first = further.remove(&FIRST_PARTITION).expect("each broker has a replica of the first partition");
    let pause = node.cluster.as_ref().map(|cluster| *cluster.pause.lock()).unwrap_or_default();
    let orders = node.cluster.as_ref().map(|cluster| cluster.export_orders.in_force());
    let exporting = orders.unwrap_or_default();
    let clock_ms = Some(node.options().partition.wall_clock.now_ms());
    let agreement = node.cluster.as_ref().map(|cluster| cluster.links.agreement_status()).unwrap_or_default();
    let (no_room, reason) = (node.no_room(), health.reason());
    let replica = node.cluster.as_ref().and_then(|cluster| cluster.as_known(node));
    let status = Status {
        host,
        port,
        first,
        further,
        pause,
        exporting,
        clock_ms,
        agreement,
        no_room,
        reason,
        replica,
    };
    serde_json::to_vec(&status).map(Bytes::from).map_err(|error| error.to_string())
}

impl ClusterState {
    /// This replica as others may remember it; `None` as long as it takes no part.
    fn as_known(&self, node: &Node) -> Option<KnownReplica> {
        if node.all().iter().any(|partition| partition.group().is_quarantined()) {
            return None;
        }
        let number = self.replica.number();
        let own = node.all().iter().map(|partition| {
            let acknowledged = partition.group().acknowledged(number).remove(&number)?;
            Some((partition.number(), acknowledged))
        });
        Some(KnownReplica::of(&self.links.identity, self.replica, own.collect::<Option<_>>()?))
    }

    /// The last entries that replicas have acknowledged in the groups of this broker.
    pub fn heard_here(&self, node: &Node) -> HeardHere {
        let own = self.replica.number();
        node.all().iter().map(|partition| (partition.number(), partition.group().acknowledged(own))).collect()
    }

    /// Asks the leader of a group, which is another broker, for so long at the most. An error is why there is no
    /// answer.
    pub async fn ask_leader(&self, group: &Group, request: Bytes, time: Duration) -> Result<Bytes, String> {
        let role = *group.role().borrow();
        let Role::Follower { leader: Some(leader), .. } = role else {
            return Err("no other broker leads".to_owned());
        };
        let peer = self.links.peers.peer(leader).ok_or("the leader has no address")?;
        ask(peer, request, time).await
    }

    /// All brokers that say how they are, `own` first. One leads a partition at the most: what a former leader told a
    /// moment ago counts no more once this broker follows another, and the other way round.
    pub fn brokers_with(&self, own: BrokerInfo, roles: &BTreeMap<PartitionId, Role>) -> Vec<BrokerInfo> {
        let others: Vec<Seen> = self.statuses.lock().values().cloned().collect();
        let leaders: BTreeMap<PartitionId, Option<u32>> = roles
            .iter()
            .map(|(partition, role)| (*partition, leader_of(*partition, *role, own.node_id, &others)))
            .collect();
        let all = std::iter::once(own).chain(others.into_iter().map(|seen| seen.broker));
        all.map(|mut broker| {
            for partition in &mut broker.partitions {
                let leader = leaders.get(&partition.partition_id).copied().flatten();
                partition.leader = leader == Some(broker.node_id);
            }
            broker
        })
        .collect()
    }

    /// Why other brokers are not ready, as they told a moment ago.
    pub fn reasons(&self) -> BTreeMap<u32, String> {
        let seen = self.statuses.lock();
        seen.iter().filter_map(|(broker, seen)| Some((*broker, seen.reason.clone()?))).collect()
    }

    /// The status of another broker; `None` if it does not answer.
    async fn ask_status(&self, node: &Node, number: u32) -> Option<Told> {
        let peer = self.links.peers.peer(u64::from(number))?;
        let began = Instant::now();
        let answer = ask(peer, RequestKind::Status.alone(), STATUS_TIMEOUT).await.ok()?;
        let answer_time = began.elapsed();
        let Status {
            host,
            port,
            first,
            mut further,
            pause,
            exporting,
            clock_ms,
            agreement,
            no_room,
            reason,
            replica,
        } = serde_json::from_slice(&answer).ok()?;
        let own_ms = node.options().partition.wall_clock.now_ms();
        let clock = clock_ms.and_then(|theirs_ms| ClockSample::new(theirs_ms, own_ms, answer_time));
        further.insert(FIRST_PARTITION, first);
        let partitions = further.iter().map(|(partition_id, replica)| PartitionInfo {
            partition_id: *partition_id,
            leader: replica.leader,
            healthy: replica.healthy,
        });
        let partitions = partitions.collect();
        let terms = further.iter().map(|(partition, replica)| (*partition, replica.term)).collect();
        let broker = BrokerInfo { node_id: number, host, port, partitions };
        Some(Told {
            seen: Seen { broker, reason, terms },
            pause,
            exporting,
            clock,
            agreement,
            no_room,
            replica,
        })
    }

    /// Applies the statuses of the others: replicas, pauses, orders, clocks and settings.
    async fn take_in(self: &Arc<Self>, node: &Arc<Node>, told: Vec<Told>) {
        self.note_replicas(node, &told).await;
        self.note_pauses(node, &told);
        self.follow_export_orders(node, &told).await;
        self.links.rooms.note(told.iter().map(|told| (told.seen.broker.node_id, told.no_room.clone())));
        self.compare_clocks(node, &told).await;
        for told in &told {
            let own = node.options().partition.node_id;
            self.links.compare_settings(told.seen.broker.node_id, &told.agreement, own).await;
        }
        giving_way::give_way(node, &self.links.rooms).await;
        for partition in node.led() {
            tokio::spawn(admission::exchange(Arc::clone(self), partition));
        }
        *self.statuses.lock() = told.into_iter().map(|told| (told.seen.broker.node_id, told.seen)).collect();
        balance::balance(node, self).await;
    }

    /// Notes how far the other replicas are.
    async fn note_replicas(&self, node: &Node, told: &[Told]) {
        let replicas: Vec<_> =
            told.iter().filter_map(|told| Some((told.seen.broker.node_id, told.replica.clone()?))).collect();
        let (known, heard) = (Arc::clone(&self.links.known), self.heard_here(node));
        let learned = move || known.learn(replicas.into_iter(), &heard);
        let learned = tokio::task::spawn_blocking(learned).await;
        if let Err(error) = learned.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            tracing::warn!(%error, "the memory of the other replicas cannot be written; it is tried again");
        }
    }

    /// Notes where processing is paused, and obeys an order that came while this broker was away.
    fn note_pauses(&self, node: &Node, told: &[Told]) {
        for number in self.links.brokers().keys() {
            let of_it = told.iter().find(|told| told.seen.broker.node_id == *number);
            self.note_pause(*number, of_it.map(|told| told.pause));
        }
        if let Some(latest) = told.iter().map(|told| told.pause).max() {
            node.obey_pause(self, latest);
        }
    }

    /// Obeys an order to exporters that came while this broker was away.
    async fn follow_export_orders(self: &Arc<Self>, node: &Node, told: &[Told]) {
        let Some(latest) = told.iter().map(|told| &told.exporting).max() else { return };
        if *latest > self.export_orders.in_force()
            && let Err(error) = node.obey_export_order(self, latest.clone()).await
        {
            tracing::warn!(%error, "an order to exporters cannot be obeyed; it is tried again");
        }
    }

    /// Compares the clocks. While that of this broker is ahead, it does not lead. It does not stand for election
    /// before another broker has answered once, and as long as the leader is likely to be on its way to it.
    async fn compare_clocks(&self, node: &Node, told: &[Told]) {
        if told.is_empty() {
            return;
        }
        let clocks: Vec<ClockSample> = told.iter().filter_map(|told| told.clock).collect();
        let ahead_ms = || self.links.clock.ahead_ms();
        match self.links.clock.compare(node.options().partition.wall_clock.now_ms(), &clocks) {
            Some(true) => {
                tracing::error!(
                    ahead_ms = ahead_ms(),
                    "the clock of this broker is ahead of the others': it does not lead until that is mended"
                );
            }
            Some(false) => tracing::info!(ahead_ms = ahead_ms(), "the clock is that of the others again"),
            None => {}
        }
        let is_ahead = self.links.clock.is_ahead();
        for partition in node.all() {
            let number = partition.number();
            let is_led = told.iter().any(|told| told.seen.leads(number));
            let may_stand = giving_way::may_stand(node, partition, &self.links.rooms);
            let has_heard = self.part(number).hearing.may_stand(is_led);
            partition.group().stands_for_election(has_heard && !is_ahead && may_stand);
        }
        for partition in node.led().iter().filter(|_| is_ahead) {
            if let Err(reason) = node.hand_over_here(self, partition, Successor::AnyInNeed).await {
                tracing::warn!(
                    partition = partition.number(),
                    reason,
                    "a broker whose clock is ahead leads on"
                );
            }
        }
    }
}

/// The broker that leads a partition, as this one knows by its role and others have told.
fn leader_of(partition: PartitionId, role: Role, own: u32, others: &[Seen]) -> Option<u32> {
    let told = others.iter().filter(|seen| seen.leads(partition));
    let told = told.map(|seen| (seen.term(partition), seen.broker.node_id));
    let known = match role {
        Role::Leader { term } => Some((term, own)),
        Role::Follower { term, leader: Some(leader) } => Some((term, ReplicaNumber::of(leader).broker)),
        Role::Follower { leader: None, .. } | Role::Unavailable => None,
    };
    told.chain(known).max().map(|(_, broker)| broker)
}

/// Asks the others for their status periodically, until shutdown. Does not keep the node alive.
pub(crate) async fn keep_statuses(node: Weak<Node>, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(STATUS_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = stop.cancelled() => return,
        }
        let Some(node) = node.upgrade() else { return };
        let Some(cluster) = &node.cluster else { return };
        let asked = cluster.links.brokers().keys().map(|broker| cluster.ask_status(&node, *broker));
        let asked = futures::future::join_all(asked);
        let Some(told) = stop.run_until_cancelled(asked).await else { return };
        let told: Vec<_> = told.into_iter().flatten().collect();
        cluster.take_in(&node, told).await;
    }
}
