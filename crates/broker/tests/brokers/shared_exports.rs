//! An exporter with a target of all brokers: the leader feeds it, without a gap and in order.

use export::{ExportError, Exporter, Factory, Flush, Phase};
use parking_lot::Mutex;
use protocol::Record;

use super::*;

/// Positions of the records that the target has, and how far other brokers know that.
#[derive(Default)]
struct Target {
    stored: Mutex<BTreeSet<u64>>,
    is_down: AtomicBool,
    shown: AtomicU64,
    /// The first record from this position on is refused. 0: none.
    refuse_from: AtomicU64,
    refused: Mutex<BTreeSet<u64>>,
}

impl Target {
    fn last(&self) -> u64 {
        self.stored.lock().last().copied().unwrap_or(0)
    }

    fn check(&self, position: u64) -> Result<(), ExportError> {
        let from = self.refuse_from.load(Ordering::Relaxed);
        if from > 0 && position >= from {
            self.refused.lock().insert(position);
            self.refuse_from.store(0, Ordering::Relaxed);
        }
        if self.refused.lock().contains(&position) {
            return Err(ExportError::Record { position, reason: "a field is too long".to_owned() });
        }
        Ok(())
    }
}

struct ToTarget {
    target: Arc<Target>,
    taken: Vec<u64>,
    last: u64,
}

impl Exporter for ToTarget {
    fn id(&self) -> &'static str {
        "shared"
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.taken.clear();
        self.last = self.target.last();
        // Nothing that is acknowledged is missing, but what is parked.
        let is_parked = self.target.refused.lock().contains(&acknowledged);
        assert!(self.last >= acknowledged || is_parked, "{} of {acknowledged}", self.last);
        Ok(self.last)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in records {
            self.target.check(record.position)?;
            self.taken.push(record.position);
        }
        Ok(())
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        self.target.check(record.position)?;
        self.target.stored.lock().insert(record.position);
        self.last = self.target.last();
        Ok(())
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        if self.target.is_down.load(Ordering::Relaxed) {
            return Err(ExportError::Target("it is down".to_owned()));
        }
        let mut stored = self.target.stored.lock();
        // Fenced: a broker that led before does not write over the one that leads.
        if stored.last().copied().unwrap_or(0) != self.last {
            return Err(ExportError::Target("another broker has written".to_owned()));
        }
        stored.extend(self.taken.drain(..));
        self.last = stored.last().copied().unwrap_or(0);
        Ok(self.last)
    }
}

/// Positions that every broker has, whichever makes them: those of a broker whose exporter has a target of its own.
#[derive(Default)]
struct All(Mutex<BTreeSet<u64>>);

struct ToAll(Arc<All>, u64);

impl Exporter for ToAll {
    fn id(&self) -> &'static str {
        "all"
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.1 = acknowledged;
        Ok(acknowledged)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        self.0.0.lock().extend(records.iter().map(|record| record.position));
        self.1 = records.last().map_or(self.1, |record| record.position);
        Ok(())
    }

    fn replay(&mut self, _: &Record) -> Result<(), ExportError> {
        Ok(())
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        Ok(self.1)
    }
}

fn factories(target: &Arc<Target>, all: &Arc<All>) -> Vec<Factory> {
    let (to, shown) = (Arc::clone(target), Arc::clone(target));
    let shared = Factory {
        make: Arc::new(move |_| Box::new(ToTarget { target: Arc::clone(&to), taken: vec![], last: 0 })),
        unwanted: &[],
        copies: None,
        shown: Some(Arc::new(move |_, position| {
            shown.shown.fetch_max(position, Ordering::Relaxed);
        })),
    };
    let all = Arc::clone(all);
    let own = Factory {
        make: Arc::new(move |_| Box::new(ToAll(Arc::clone(&all), 0))),
        unwanted: &[],
        copies: Some(Arc::new(export::Copies::new(|_| Err("it is not copied".to_owned())))),
        shown: None,
    };
    vec![shared, own]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_leader_feeds_the_target_of_all_brokers_without_a_gap() {
    let (target, all) = (Arc::<Target>::default(), Arc::<All>::default());
    let (of_target, of_all) = (Arc::clone(&target), Arc::clone(&all));
    let mut cluster = Cluster::start_with(Settings {
        exporters: Box::new(move || factories(&of_target, &of_all)),
        log_kept_bytes: 1,
        ..Settings::default()
    })
    .await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let follower = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    let other = BROKERS.into_iter().find(|broker| ![leader, follower].contains(broker)).unwrap();
    created(&cluster.node(leader)).await;

    // A search at a follower finds records that the leader has handed on, once the follower knows.
    let knows = |cluster: &Cluster| !cluster.node(follower).hasten_exports("shared").positions.is_empty();
    cluster.until("the follower knows what is to be handed on", knows).await;
    let wanted = cluster.node(follower).hasten_exports("shared").positions;
    let wanted = wanted.iter().map(|(_, position)| position).max().unwrap();
    assert!(wanted > 0);
    let handed_on = |cluster: &Cluster| {
        // As one who waits: when the leader changes, the question has no answer.
        cluster.node(follower).hasten_exports("shared");
        target.shown.load(Ordering::Relaxed) >= wanted
    };
    cluster.until("the leader's exporter hands on", handed_on).await;

    // The target is down, and a broker is away for so long that it is sent a snapshot: it lacks records then.
    target.is_down.store(true, Ordering::Relaxed);
    cluster.nodes.remove(&follower).unwrap().shutdown().await;
    for _ in 0..20 {
        created(&cluster.node(leader)).await;
    }
    let purged = |cluster: &Cluster| cluster.nodes[&leader].partition().purged_index > 20;
    // Entries that another broker lacked at a flush are purged with a later one only.
    let deadline = Instant::now() + PATIENCE;
    while !purged(&cluster) {
        assert!(Instant::now() < deadline, "the log is not purged");
        created(&cluster.node(leader)).await;
    }
    cluster.start_again(follower).await;
    cluster.agree().await;
    hand_over(&cluster.node(leader), follower).await;
    created(&cluster.node(other)).await;
    target.is_down.store(false, Ordering::Relaxed);
    let everything = || all.0.lock().clone();
    cluster.until("the target has all", |_| *target.stored.lock() == everything()).await;

    // The leader is lost at any moment.
    for _ in 0..3 {
        let leader = cluster.leader().await;
        for _ in 0..5 {
            created(&cluster.node(leader)).await;
        }
        drop(cluster.nodes.remove(&leader));
        cluster.leader().await;
        let survivor = *cluster.nodes.keys().next().unwrap();
        created(&cluster.node(survivor)).await;
        cluster.start_again(leader).await;
    }
    cluster.until("the target has all", |_| *target.stored.lock() == everything()).await;
    cluster.stop().await;
}

/// The state goes on without a record when it takes the position of an exporter, and a snapshot may end right there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_was_sent_a_snapshot_finds_what_the_leader_has_handed_on() {
    let (target, all) = (Arc::<Target>::default(), Arc::<All>::default());
    let (of_target, of_all) = (Arc::clone(&target), Arc::clone(&all));
    let exporters = Box::new(move || factories(&of_target, &of_all));
    let settings = Settings { exporters, log_kept_bytes: 1, ..Settings::default() };
    let mut cluster = Cluster::start_with(settings).await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let follower = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let wanted = loop {
        cluster.nodes.remove(&follower).unwrap().shutdown().await;
        let purged_before = cluster.nodes[&leader].partition().purged_index;
        while cluster.nodes[&leader].partition().purged_index < purged_before + 30 {
            assert!(Instant::now() < deadline, "the log is not purged");
            created(&cluster.node(leader)).await;
        }
        let is_noted = |cluster: &Cluster| {
            let (position, _) = cluster.node(leader).state_hash().unwrap();
            *target.stored.lock() == *all.0.lock() && position > target.last()
        };
        cluster.until("the position of the exporter is in the state", is_noted).await;
        cluster.start_again(follower).await;
        cluster.agree().await;
        let wanted = cluster.node(follower).hasten_exports("shared").positions;
        let wanted = wanted.iter().map(|(_, position)| position).max().unwrap();
        if wanted > target.last() {
            break wanted;
        }
        // The snapshot ended before, and the log brought the last records.
        assert!(Instant::now() < deadline, "no snapshot ends behind the last record, {wanted}");
    };
    let is_shown = |cluster: &Cluster| {
        cluster.node(follower).hasten_exports("shared");
        target.shown.load(Ordering::Relaxed) >= wanted
    };
    cluster.until("the follower knows that all is handed on", is_shown).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_to_exporters_hold_on_all_brokers_also_those_that_were_away() {
    let (target, all) = (Arc::<Target>::default(), Arc::<All>::default());
    let exporters = Box::new(move || factories(&target, &all));
    let mut cluster = Cluster::start_with(Settings { exporters, ..Settings::default() }).await;
    let leader = cluster.leader().await;
    let away = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    let other = BROKERS.into_iter().find(|broker| ![leader, away].contains(broker)).unwrap();
    let phases = |cluster: &Cluster| -> Vec<Phase> {
        cluster.nodes.values().map(|node| node.exporting().unwrap().phase).collect()
    };
    let disabled = |node: &Node| -> Vec<String> {
        let exporters = node.exporting().unwrap().exporters.into_iter();
        exporters.filter(|exporter| !exporter.enabled).map(|exporter| exporter.id).collect()
    };
    cluster.nodes.remove(&away).unwrap().shutdown().await;
    cluster.node(other).set_exporting(Phase::SoftPaused).await.unwrap();
    assert_eq!(phases(&cluster), [Phase::SoftPaused; 2]);
    cluster.node(leader).switch_exporter("all".to_owned(), false, None).await.unwrap();
    let unknown = cluster.node(leader).switch_exporter("none".to_owned(), false, None).await.unwrap_err();
    assert!(unknown.to_string().contains("'none'"), "{unknown}");
    cluster.start_again(away).await;
    cluster.until("it learns of the pause", |cluster| phases(cluster) == [Phase::SoftPaused; 3]).await;
    cluster.until("and what is off", |cluster| disabled(&cluster.nodes[&away]) == ["all"]).await;
    cluster.node(away).set_exporting(Phase::Exporting).await.unwrap();
    cluster.node(away).switch_exporter("all".to_owned(), true, Some("shared".to_owned())).await.unwrap();
    assert_eq!(phases(&cluster), [Phase::Exporting; 3]);
    assert!(cluster.nodes.values().all(|node| disabled(node).is_empty()));
    cluster.stop().await;
}

/// Whether each broker lists and counts what the target refuses, and nothing else.
fn all_have_parked(cluster: &Cluster, target: &Target) -> bool {
    let refused: Vec<u64> = target.refused.lock().iter().copied().collect();
    cluster.nodes.values().all(|node| {
        let exports = node.exports().unwrap();
        let (parked, count) = (exports.parked("shared").unwrap(), exports.parked_count("shared"));
        assert!(parked.iter().all(|one| one.exporter == "shared" && one.reason == "a field is too long"));
        let positions: Vec<u64> = parked.into_iter().map(|one| one.record.position).collect();
        // Between two commands, the one may be read before the other.
        positions == refused && count == refused.len() as u64
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_records_outlive_the_broker_that_parked_them_and_any_has_them_tried_again() {
    let (target, all) = (Arc::<Target>::default(), Arc::<All>::default());
    let (of_target, of_all) = (Arc::clone(&target), Arc::clone(&all));
    let exporters = Box::new(move || factories(&of_target, &of_all));
    let mut cluster = Cluster::start_with(Settings { exporters, ..Settings::default() }).await;
    let everything = || all.0.lock().clone();
    let first = cluster.leader().await;
    deploy(&cluster.node(first)).await;

    // One is parked by a broker that is then lost, and one by the next leader.
    let refuse_one =
        || target.refuse_from.store(all.0.lock().last().map_or(1, |last| last + 1), Ordering::Relaxed);
    refuse_one();
    created(&cluster.node(first)).await;
    let refused = |count: usize| target.refused.lock().len() == count;
    cluster.until("one is parked", |cluster| refused(1) && all_have_parked(cluster, &target)).await;
    drop(cluster.nodes.remove(&first));
    cluster.directories.insert(first, tempfile::tempdir().unwrap());
    let second = cluster.leader().await;
    refuse_one();
    created(&cluster.node(second)).await;
    cluster.until("both are parked", |cluster| refused(2) && all_have_parked(cluster, &target)).await;
    cluster.start_again(first).await;
    cluster.until("the new replica has them", |cluster| all_have_parked(cluster, &target)).await;
    let but_refused = || &everything() - &*target.refused.lock();
    cluster.until("the others are stored", |_| *target.stored.lock() == but_refused()).await;

    // A broker that does not lead has them tried again: first in vain, then one is taken, then the other.
    let leader = cluster.leader().await;
    let other = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    for expected in [(0, 2), (1, 1), (1, 0)] {
        let replayed = cluster.node(other).replay_parked("shared").await.unwrap();
        assert_eq!((replayed.replayed, replayed.refused), expected);
        assert_eq!(replayed.reason.is_some(), expected.1 > 0);
        cluster.until("all know", |cluster| all_have_parked(cluster, &target)).await;
        target.refused.lock().pop_first();
    }
    cluster.until("the target has all", |_| *target.stored.lock() == everything()).await;
    let unknown = cluster.node(other).replay_parked("none").await.unwrap_err();
    assert!(unknown.to_string().contains("'none'"), "{unknown}");
    cluster.stop().await;
}
