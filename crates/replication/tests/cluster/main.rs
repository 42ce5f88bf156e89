//! Several voters: the same code, with a transport made of method calls.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

mod snapshots;

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use replication::{
    ApplyError, Group, GroupOptions, LogOptions, LogStore, MembershipError, Payload, PeerError, PeerFuture,
    PeerRequest, ProposeError, Role, SnapshotError, SnapshotSource, StateMachine, Transport,
};
use tempfile::TempDir;
use tokio::sync::watch;

type Entries = BTreeMap<u64, String>;

/// Data of one replica. They outlive the replica as a disk would.
#[derive(Clone)]
struct Ledger {
    /// Applied entries; a watch, so that a test can wait for them.
    applied: watch::Sender<Entries>,
    durable: Arc<Mutex<u64>>,
    installed: Arc<Mutex<u32>>,
    /// Whether the disk fails once a snapshot is in the place of the state.
    is_unsure: Arc<Mutex<bool>>,
}

impl Ledger {
    fn new() -> Self {
        Self {
            applied: watch::channel(Entries::new()).0,
            durable: Arc::default(),
            installed: Arc::default(),
            is_unsure: Arc::default(),
        }
    }

    fn texts(&self) -> Vec<String> {
        self.applied.borrow().values().cloned().collect()
    }

    async fn reaches(&self, count: usize) {
        self.applied.subscribe().wait_for(|entries| entries.len() >= count).await.unwrap();
    }

    fn flush(&self) -> u64 {
        let last = self.applied.borrow().keys().next_back().copied().unwrap_or(0);
        *self.durable.lock() = last;
        last
    }
}

impl StateMachine for Ledger {
    fn apply(&mut self, index: u64, _: u64, payload: &Payload) -> Result<(), ApplyError> {
        let text = String::from_utf8(payload.bytes.to_vec()).map_err(ApplyError::new)?;
        let mut before = None;
        self.applied.send_modify(|entries| before = entries.insert(index, text));
        if before.is_some() && index <= self.durable_index() {
            return Err(ApplyError::new(format!("entry {index} was applied twice")));
        }
        Ok(())
    }

    fn durable_index(&self) -> u64 {
        *self.durable.lock()
    }

    fn snapshot(&mut self) -> Result<Box<dyn SnapshotSource>, SnapshotError> {
        let index = self.durable_index();
        Ok(Box::new(View { index, entries: self.applied.borrow().clone().split_off(&0) }))
    }

    fn install_snapshot(&mut self, index: u64, source: &Path) -> Result<(), SnapshotError> {
        let text = std::fs::read_to_string(source).map_err(|error| SnapshotError::Failed(error.into()))?;
        let entries = text.lines().map(|line| line.split_once(' ').unwrap());
        self.applied
            .send_replace(entries.map(|(index, text)| (index.parse().unwrap(), text.to_owned())).collect());
        *self.durable.lock() = index;
        *self.installed.lock() += 1;
        if *self.is_unsure.lock() {
            return Err(SnapshotError::Unsure("the disk fails".into()));
        }
        Ok(())
    }
}

struct View {
    index: u64,
    entries: Entries,
}

impl SnapshotSource for View {
    fn index(&self) -> u64 {
        self.index
    }

    fn write_to(self: Box<Self>, target: &Path) -> Result<(), SnapshotError> {
        let lines: Vec<String> =
            self.entries.range(..=self.index).map(|(index, text)| format!("{index} {text}")).collect();
        std::fs::write(target, lines.join("\n")).map_err(|error| SnapshotError::Failed(error.into()))
    }
}

/// Nodes that call each other's groups directly.
#[derive(Default)]
struct Wire {
    nodes: Mutex<HashMap<u64, Group>>,
    logs: Mutex<HashMap<u64, LogStore>>,
    /// A node that is heard and hears nothing.
    deaf: Mutex<Option<u64>>,
    /// A node that is not heard and hears nothing.
    cut_off: Mutex<Option<u64>>,
}

/// The end of the wire at a node.
struct Line {
    wire: Arc<Wire>,
    node: u64,
}

impl Transport for Line {
    fn call<'a>(&'a self, _: u64, node: u64, address: &'a str, request: PeerRequest) -> PeerFuture<'a> {
        assert_eq!(address, format!("node-{node}"));
        let target = self.wire.nodes.lock().get(&node).cloned();
        let is_deaf = |node| *self.wire.deaf.lock() == Some(node);
        let is_cut_off = |node| *self.wire.cut_off.lock() == Some(node);
        Box::pin(async move {
            match target {
                Some(_) if is_cut_off(node) || is_cut_off(self.node) => {
                    Err(PeerError::Unreachable("it is cut off".to_owned()))
                }
                Some(_) if is_deaf(node) => Err(PeerError::Unreachable("it hears nothing".to_owned())),
                Some(group) => {
                    let answer = group.answer(request).await;
                    let lost = || PeerError::Unreachable("the answer is not heard".to_owned());
                    if is_deaf(self.node) { Err(lost()) } else { answer }
                }
                None => Err(PeerError::Unreachable("unplugged".to_owned())),
            }
        })
    }
}

/// Time for the others to learn of a leader, before somebody looks who leads now.
const SETTLED_LOOK: Duration = Duration::from_secs(1);

struct Cluster {
    wire: Arc<Wire>,
    dirs: BTreeMap<u64, TempDir>,
    ledgers: BTreeMap<u64, Ledger>,
    voters: Vec<u64>,
    /// The shortest and the longest, in milliseconds.
    election_timeout_ms: (u64, u64),
}

impl Cluster {
    async fn of_three() -> Self {
        Self::of(3, (100, GroupOptions::default().election_timeout_max_ms)).await
    }

    async fn of(count: u64, election_timeout_ms: (u64, u64)) -> Self {
        let dirs = (1..=count).map(|node| (node, tempfile::tempdir().unwrap())).collect();
        let ledgers = (1..=count).map(|node| (node, Ledger::new())).collect();
        let voters = (1..=count).collect();
        let cluster = Self { wire: Arc::default(), dirs, ledgers, voters, election_timeout_ms };
        for node in 1..=count {
            cluster.plug(node).await;
        }
        cluster
    }

    async fn plug(&self, node: u64) {
        self.start(node, false).await;
    }

    async fn start(&self, node: u64, joins: bool) {
        self.start_with(node, |options| options.joins = joins).await;
    }

    async fn start_with(&self, node: u64, change: impl FnOnce(&mut GroupOptions)) {
        let log = LogStore::open(self.dirs[&node].path(), LogOptions::default()).unwrap();
        let mut options = GroupOptions {
            voters: self.voters.iter().map(|node| (*node, format!("node-{node}"))).collect(),
            heartbeat_interval_ms: 20,
            election_timeout_ms: self.election_timeout_ms.0,
            election_timeout_max_ms: self.election_timeout_ms.1,
            transport: Arc::new(Line { wire: self.wire.clone(), node }),
            log_kept_bytes_max: 0,
            ..GroupOptions::default()
        };
        change(&mut options);
        // Of what was applied, only what was flushed is there after a restart.
        let ledger = self.ledgers[&node].clone();
        let durable = ledger.durable_index();
        ledger.applied.send_modify(|entries| entries.retain(|index, _| *index <= durable));
        let group = Group::start(1, node, &log, ledger, options).await.unwrap();
        self.wire.nodes.lock().insert(node, group);
        self.wire.logs.lock().insert(node, log);
    }

    async fn unplug(&self, node: u64) {
        let group = self.wire.nodes.lock().remove(&node).unwrap();
        group.shutdown().await;
        // Requests from other nodes may still hold the group.
        let log = self.wire.logs.lock().remove(&node).unwrap();
        log.close().await;
    }

    fn groups(&self) -> Vec<(u64, Group)> {
        self.wire.nodes.lock().iter().map(|(node, group)| (*node, group.clone())).collect()
    }

    async fn leader(&self) -> (u64, Group) {
        let waits = self.groups().into_iter().map(|(node, group)| {
            Box::pin(async move {
                let mut role = group.role();
                role.wait_for(|role| matches!(role, Role::Leader { .. })).await.unwrap();
                (node, group)
            })
        });
        first(waits.collect()).await
    }

    /// Waits until all name the same leader: the first elections, which all nodes begin with, may overtake each other.
    async fn settled(&self) -> (u64, Group) {
        loop {
            let (leader, group) = self.leader().await;
            let follows =
                |role: &Role| matches!(role, Role::Follower { leader: Some(known), .. } if *known == leader);
            let mut all_follow = true;
            for (_, other) in self.groups().into_iter().filter(|(node, _)| *node != leader) {
                let mut role = other.role();
                all_follow &= tokio::time::timeout(SETTLED_LOOK, role.wait_for(follows)).await.is_ok();
            }
            if all_follow && group.is_leader() {
                return (leader, group);
            }
        }
    }

    /// Proposes at whoever leads, until it is acknowledged.
    async fn propose(&self, text: &str) {
        loop {
            let (_, group) = self.leader().await;
            match group.propose(Payload::new(Bytes::from(text.to_owned()))).await {
                Ok(_) => return,
                Err(ProposeError::NotLeader { .. }) => tokio::task::yield_now().await,
                Err(other) => panic!("{other}"),
            }
        }
    }

    async fn stop(self) {
        for (node, _) in self.groups() {
            self.unplug(node).await;
        }
    }
}

/// The first of several futures to be ready.
async fn first<F: Future + Unpin>(mut futures: Vec<F>) -> F::Output {
    std::future::poll_fn(|context| {
        for future in &mut futures {
            if let std::task::Poll::Ready(output) = std::pin::Pin::new(future).poll(context) {
                return std::task::Poll::Ready(output);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_voters_agree_and_outlive_their_leader() {
    let cluster = Cluster::of_three().await;
    let mut expected = Vec::new();
    for life in 0..3 {
        for number in 0..20 {
            let text = format!("{life}-{number}");
            cluster.propose(&text).await;
            expected.push(text);
        }
        let (leader, _) = cluster.leader().await;
        cluster.unplug(leader).await;
        let text = format!("{life}-without-{leader}");
        cluster.propose(&text).await;
        expected.push(text);
        cluster.plug(leader).await;
    }
    for ledger in cluster.ledgers.values() {
        ledger.reaches(expected.len()).await;
        assert_eq!(ledger.texts(), expected);
    }
    let (leader, _) = cluster.leader().await;
    let (follower, group) = cluster.groups().into_iter().find(|(node, _)| *node != leader).unwrap();
    let refused = group.propose(Payload::new(Bytes::from_static(b"not here"))).await;
    assert!(matches!(refused, Err(ProposeError::NotLeader { .. })), "{follower}: {refused:?}");
    cluster.stop().await;
}

/// Longer than any of these takes on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_restarts_does_not_lead_before_it_is_elected() {
    let cluster = Cluster::of_three().await;
    cluster.propose("before").await;
    let (leader, _) = cluster.leader().await;
    for (node, _) in cluster.groups() {
        cluster.unplug(node).await;
    }
    // Others may have synced what it had not, so that it must ask them first, in a term of its own.
    cluster.plug(leader).await;
    let (_, alone) = cluster.groups().remove(0);
    assert!(matches!(alone.metrics().role, Role::Follower { .. }), "{:?}", alone.metrics().role);
    assert!(alone.propose(Payload::new(Bytes::from_static(b"too early"))).await.is_err());
    for node in [1, 2, 3].into_iter().filter(|node| *node != leader) {
        cluster.plug(node).await;
    }
    cluster.propose("after").await;
    for ledger in cluster.ledgers.values() {
        ledger.reaches(2).await;
        assert_eq!(ledger.texts(), ["before", "after"]);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_data_are_lost_is_replaced_by_another() {
    for is_purged in [false, true] {
        let mut cluster = Cluster::of_three().await;
        cluster.propose("before").await;
        let (leader, group) = cluster.leader().await;
        let lost = [1, 2, 3].into_iter().find(|node| *node != leader).unwrap();
        cluster.unplug(lost).await;
        for number in 0..40 {
            cluster.propose(&format!("{number}")).await;
        }
        if is_purged {
            cluster.ledgers[&leader].flush();
            group.purge(u64::MAX).await;
        }
        cluster.dirs.insert(4, tempfile::tempdir().unwrap());
        cluster.ledgers.insert(4, Ledger::new());
        cluster.start(4, true).await;
        group.add_learner(4, "node-4").await.unwrap();
        assert_eq!(group.members().learners, [4].into());
        cluster.propose("meanwhile").await;
        cluster.ledgers[&4].reaches(42).await;
        assert_eq!(*cluster.ledgers[&4].installed.lock(), u32::from(is_purged));
        let voters: BTreeSet<u64> = [1, 2, 3, 4].into_iter().filter(|node| *node != lost).collect();
        while group.lag(4) != Some(0) {
            tokio::task::yield_now().await;
        }
        group.set_voters(voters.clone()).await.unwrap();
        assert_eq!((group.members().voters, group.lag(lost)), (voters, None));
        // Its vote counts: without the leader, the new node and the other one are a majority.
        cluster.unplug(leader).await;
        cluster.propose("after").await;
        for (node, ledger) in cluster.ledgers.iter().filter(|(node, _)| ![leader, lost].contains(node)) {
            ledger.reaches(43).await;
            assert_eq!(ledger.texts().last().unwrap(), "after", "{node}");
        }
        // It is a member after a restart, too, and begins no group of its own.
        cluster.unplug(4).await;
        cluster.start(4, true).await;
        cluster.propose("last").await;
        cluster.ledgers[&4].reaches(44).await;
        cluster.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_hears_nobody_gives_way() {
    let cluster = Cluster::of_three().await;
    cluster.propose("before").await;
    let (deaf, _) = cluster.leader().await;
    *cluster.wire.deaf.lock() = Some(deaf);
    let others = || cluster.groups().into_iter().filter(|(node, _)| *node != deaf);
    let meanwhile = async {
        let leads = |(_, group): &(u64, Group)| matches!(*group.role().borrow(), Role::Leader { .. });
        loop {
            if let Some((_, leader)) = others().find(leads)
                && leader.propose(Payload::new(Bytes::from_static(b"meanwhile"))).await.is_ok()
            {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(30), meanwhile).await;
    done.expect("the others elect another leader, though they hear the former one");

    *cluster.wire.deaf.lock() = None;
    cluster.propose("after").await;
    for ledger in cluster.ledgers.values() {
        let mut applied = ledger.applied.subscribe();
        applied
            .wait_for(|entries| entries.values().next_back().is_some_and(|last| last == "after"))
            .await
            .unwrap();
        // A proposal that fails may still be done.
        let mut texts = ledger.texts();
        texts.dedup();
        assert_eq!(texts, ["before", "meanwhile", "after"]);
    }
    cluster.stop().await;
}

/// Longer than hand-overs take on any machine, and half of a lease.
const HAND_OVER_MAX: Duration = Duration::from_millis(1500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaders_hand_over_one_after_the_other_without_waiting_for_leases() {
    for voters in [3, 5] {
        let cluster = Cluster::of(voters, (2000, 3000)).await;
        cluster.propose("before").await;
        for round in 0..6 {
            let (leader, group) = cluster.settled().await;
            let target = leader % voters + 1;
            let began = Instant::now();
            let pause = group.pause_for(target).await.unwrap();
            let follower = cluster.wire.nodes.lock()[&target].clone();
            follower.stand_for_election().await.unwrap();
            let mut role = follower.role();
            let leads = role.wait_for(|role| matches!(role, Role::Leader { .. }));
            tokio::time::timeout(HAND_OVER_MAX, leads)
                .await
                .expect("it is elected within the lease")
                .unwrap();
            let mut former = group.role();
            let follows =
                |role: &Role| matches!(role, Role::Follower { leader: Some(leads), .. } if *leads == target);
            former.wait_for(follows).await.unwrap();
            drop(pause);
            assert!(began.elapsed() < HAND_OVER_MAX, "{voters} voters, round {round}: {:?}", began.elapsed());
            cluster.propose("after").await;
        }
        for ledger in cluster.ledgers.values() {
            ledger.reaches(7).await;
        }
        cluster.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_has_acknowledged_is_known_to_others_also_after_their_restart() {
    let cluster = Cluster::of_three().await;
    for number in 0..10 {
        cluster.propose(&format!("{number}")).await;
    }
    for ledger in cluster.ledgers.values() {
        ledger.reaches(10).await;
    }
    // On a busy machine another one may lead meanwhile.
    let (leader, known) = loop {
        let (leader, group) = cluster.leader().await;
        let known = group.acknowledged(leader);
        for (node, of_it) in cluster.groups() {
            assert!(
                known.get(&node).is_none_or(|promised| *promised <= of_it.position()),
                "{node}: {known:?}"
            );
        }
        // A follower knows a leader's term, not one of its own. The memory is stored with the next entry.
        let leads = known[&leader].node == leader;
        if leads && group.propose(Payload::new(Bytes::from_static(b"next"))).await.is_ok() {
            break (leader, known);
        }
    };
    let last = known[&leader].index;
    let others = known.iter().filter(|(node, promised)| **node != leader && promised.index >= last);
    assert!(others.count() >= 1, "a majority has it: {known:?}");
    cluster.unplug(leader).await;
    cluster.plug(leader).await;
    let (_, again) = cluster.groups().into_iter().find(|(node, _)| *node == leader).unwrap();
    let stored = again.acknowledged(leader);
    for (node, promised) in known.iter().filter(|(node, _)| **node != leader) {
        assert!(stored.get(node).is_some_and(|of_it| of_it >= promised), "{node}: {stored:?}, not {known:?}");
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_in_quarantine_has_no_vote_and_answers_nobody() {
    let cluster = Cluster::of_three().await;
    cluster.propose("before").await;
    let (leader, _) = cluster.leader().await;
    let [held, other] = [1, 2, 3].into_iter().filter(|node| *node != leader).collect::<Vec<_>>()[..] else {
        panic!("three nodes");
    };
    cluster.ledgers[&held].reaches(1).await;
    cluster.unplug(held).await;
    cluster.start_with(held, |options| options.quarantined = true).await;
    let (_, group) = cluster.groups().into_iter().find(|(node, _)| *node == held).unwrap();
    assert!(group.stand_for_election().await.is_err());
    let before = group.position();
    cluster.propose("without it").await;
    cluster.ledgers[&other].reaches(2).await;
    cluster.unplug(leader).await;
    // The two that are left are a majority, if it had a vote.
    let (_, left) = cluster.groups().into_iter().find(|(node, _)| *node == other).unwrap();
    left.stand_for_election().await.unwrap();
    let mut role = left.role();
    let led = tokio::time::timeout(
        Duration::from_secs(1),
        role.wait_for(|role| matches!(role, Role::Leader { .. })),
    );
    assert!(led.await.is_err(), "it has voted");
    assert_eq!(group.position(), before);
    group.end_quarantine();
    cluster.propose("with it").await;
    drop((group, left));
    cluster.stop().await;
}
