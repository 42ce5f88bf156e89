//! An embedded store of which two of three brokers have copies: a third one asks them, and never one that is behind.

use std::path::{Path, PathBuf};

use broker::{OwnCopy, StoreQueries};
use broker_api::Positions;
use export::{Copies, ExportError, Exporter, Factory, Flush};
use futures::FutureExt;
use parking_lot::Mutex;
use protocol::Record;

use super::*;

const COPIES: [u32; 2] = [0, 1];

/// A copy, kept in a file: the positions of its records.
#[derive(Default)]
struct Copy {
    file: Mutex<PathBuf>,
    stored: Mutex<BTreeSet<u64>>,
    shown: AtomicU64,
    /// It writes nothing.
    is_stuck: AtomicBool,
}

impl Copy {
    fn read(path: &Path) -> BTreeSet<u64> {
        std::fs::read(path).map_or_else(|_| BTreeSet::new(), |bytes| serde_json::from_slice(&bytes).unwrap())
    }

    fn last(&self) -> u64 {
        self.stored.lock().last().copied().unwrap_or(0)
    }

    fn show(&self, position: u64) {
        self.shown.fetch_max(position, Ordering::Relaxed);
    }
}

struct ToCopy {
    copy: Arc<Copy>,
    copies: Arc<Copies>,
    taken: Vec<u64>,
}

impl Exporter for ToCopy {
    fn id(&self) -> &'static str {
        "store"
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.taken.clear();
        let path = self.copy.file.lock().clone();
        *self.copy.stored.lock() = Copy::read(&path);
        if self.copy.last() < acknowledged {
            let fetched = self
                .copies
                .fetch(&[(1, acknowledged)].into())
                .map_err(|error| ExportError::Target(error.to_string()))?;
            // It is durable then: a session that fails reads the file again, as a restart does.
            std::fs::rename(&fetched, &path).map_err(|error| ExportError::Target(error.to_string()))?;
            *self.copy.stored.lock() = Copy::read(&path);
        }
        let position = self.copy.last().max(acknowledged);
        self.copy.show(position);
        Ok(position)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        self.taken.extend(records.iter().map(|record| record.position));
        Ok(())
    }

    fn replay(&mut self, _: &Record) -> Result<(), ExportError> {
        Ok(())
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        if self.copy.is_stuck.load(Ordering::Relaxed) {
            return Err(ExportError::Target("it is stuck".to_owned()));
        }
        let mut stored = self.copy.stored.lock();
        stored.extend(self.taken.drain(..));
        let last = stored.last().copied().unwrap_or(0);
        std::fs::write(&*self.copy.file.lock(), serde_json::to_vec(&*stored).unwrap()).unwrap();
        self.copy.show(last);
        Ok(last)
    }
}

/// The store from the side of each broker.
#[derive(Default)]
struct Stores {
    copies: Mutex<BTreeMap<u32, Arc<Copy>>>,
    queries: Mutex<BTreeMap<u32, Arc<StoreQueries>>>,
    /// How far each broker knows that a copy shows records.
    shown: [AtomicU64; 3],
    /// Brokers that have copies.
    having: Mutex<BTreeSet<u32>>,
}

impl Stores {
    fn set_up(self: &Arc<Self>, options: &mut Options) {
        let broker = options.partition.node_id;
        let all = Arc::clone(self);
        let shown: export::Shown = Arc::new(move |_, position| {
            all.shown[broker as usize].fetch_max(position, Ordering::Relaxed);
        });
        let own = self.having.lock().contains(&broker).then(|| self.copy(broker, options));
        let queries = Arc::new(StoreQueries::new("store", own, shown, PATIENCE));
        self.queries.lock().insert(broker, Arc::clone(&queries));
        options.store = Some(queries);
    }

    fn copy(&self, broker: u32, options: &mut Options) -> OwnCopy {
        let copy = Arc::new(Copy::default());
        *copy.file.lock() = options.partition.data_dir.join("store");
        self.copies.lock().insert(broker, Arc::clone(&copy));
        let made = Arc::clone(&copy);
        let copies = Arc::new(Copies::new(move |target| {
            std::fs::copy(&*made.file.lock(), target).map_err(|error| error.to_string())?;
            Ok([(1, Copy::read(target).last().copied().unwrap_or(0))].into())
        }));
        let (fed, of_others) = (Arc::clone(&copy), Arc::clone(&copies));
        let make = move |_| -> Box<dyn Exporter> {
            Box::new(ToCopy { copy: Arc::clone(&fed), copies: Arc::clone(&of_others), taken: vec![] })
        };
        options.partition.export.others.push(Factory {
            make: Arc::new(make),
            unwanted: &[],
            copies: Some(copies),
            shown: None,
        });
        let answering = Arc::clone(&copy);
        OwnCopy {
            position: Box::new(move |_| copy.shown.load(Ordering::Relaxed)),
            lacking: Box::new(|| None),
            answer: Box::new(move |question| {
                let answer = serde_json::to_vec(&(broker, question.to_vec(), answering.last())).unwrap();
                async move { Ok(answer) }.boxed()
            }),
        }
    }

    fn copy_of(&self, broker: u32) -> Arc<Copy> {
        Arc::clone(&self.copies.lock()[&broker])
    }

    /// How far brokers and copies are.
    fn describe(&self, cluster: &Cluster) -> String {
        let copies: Vec<_> = self
            .copies
            .lock()
            .iter()
            .map(|(broker, copy)| (*broker, copy.shown.load(Ordering::Relaxed), copy.last()))
            .collect();
        let nodes: Vec<_> = cluster
            .nodes
            .iter()
            .map(|(broker, node)| (*broker, node.leads(), node.partition().position, node.exporting()))
            .collect();
        format!("known {:?}, copies {copies:?}, brokers {nodes:?}", self.shown)
    }

    /// A search at a broker that must see all that was acknowledged. Returns who answered, and its last record.
    async fn search(&self, cluster: &Cluster, broker: u32) -> (u32, u64) {
        let node = cluster.node(broker);
        node.catch_up().await.unwrap();
        let wanted = node.hasten_exports("store").positions.iter().map(|(_, at)| at).max().unwrap();
        let queries = Arc::clone(&self.queries.lock()[&broker]);
        let known = || self.shown[broker as usize].load(Ordering::Relaxed);
        let deadline = Instant::now() + PATIENCE;
        while known() < wanted && !queries.is_here(&Positions::at(1, wanted)) {
            assert!(
                Instant::now() < deadline,
                "no copy shows {wanted} at {broker}: {}",
                self.describe(cluster)
            );
            node.hasten_exports("store");
            look().await;
        }
        if queries.is_here(&Positions::at(1, wanted)) {
            return (broker, self.copy_of(broker).last());
        }
        let answer = queries.ask(&Positions::at(1, known()), b"?").await.unwrap();
        let (other, question, last): (u32, Vec<u8>, u64) = serde_json::from_slice(&answer).unwrap();
        assert_eq!(question, b"?");
        (other, last)
    }
}

/// With a log that is kept for others, no broker is sent a snapshot, which has a copy fetch what it lacks.
async fn cluster_with(stores: &Arc<Stores>, log_kept_bytes: u64) -> Cluster {
    *stores.having.lock() = COPIES.into();
    let all = Arc::clone(stores);
    let store: SetUp = Box::new(move |options| all.set_up(options));
    Cluster::start_with(Settings { store: Some(store), log_kept_bytes, ..Settings::default() }).await
}

/// Creates an instance, and returns the position of its last record.
async fn position_of_new(node: &Node) -> u64 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match node.submit(Command::CreateInstance(create())).await {
            Ok(answer) => return answer.position,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        look().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_at_any_broker_see_what_was_written_at_any_whichever_copy_is_away() {
    let stores = Arc::<Stores>::default();
    let mut cluster = cluster_with(&stores, 1 << 30).await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    for writer in BROKERS {
        let position = position_of_new(&cluster.node(writer)).await;
        assert!(position > 0, "broker {writer} tells positions");
        for reader in BROKERS {
            let (answered, last) = stores.search(&cluster, reader).await;
            assert!(last >= position, "{last} of {position} at {reader}");
            assert_eq!(answered == reader, COPIES.contains(&reader));
        }
    }
    for away in COPIES {
        drop(cluster.nodes.remove(&away));
        let position = position_of_new(&cluster.node(2)).await;
        let (answered, last) = stores.search(&cluster, 2).await;
        assert_eq!(answered, 1 - away);
        assert!(last >= position);
        cluster.start_again(away).await;
        cluster.agree().await;
    }
    // Without any copy there is a reason of each broker.
    let queries = Arc::clone(&stores.queries.lock()[&2]);
    for away in COPIES {
        drop(cluster.nodes.remove(&away));
    }
    // A request that is under way may keep a broker for a moment after it was dropped.
    let deadline = Instant::now() + PATIENCE;
    let error = loop {
        match queries.ask(&Positions::default(), b"?").await {
            Ok(_) => assert!(Instant::now() < deadline, "a copy that is away answers"),
            Err(error) => break error,
        }
        look().await;
    };
    assert!(error.contains("broker 0: ") && error.contains("broker 1: "), "{error}");

    // A copy whose broker has not caught up yet may be one that begins to be filled.
    drop(cluster.nodes.remove(&2));
    cluster.start_again(0).await;
    let queries = Arc::clone(&stores.queries.lock()[&0]);
    assert!(!queries.has_caught_up(), "it reaches nobody");
    cluster.start_again(1).await;
    cluster.until("it has caught up", |_| queries.has_caught_up()).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_behind_is_not_asked() {
    let stores = Arc::<Stores>::default();
    let cluster = cluster_with(&stores, 1 << 30).await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    for stuck in COPIES {
        stores.search(&cluster, 2).await;
        stores.copy_of(stuck).is_stuck.store(true, Ordering::Relaxed);
        let position = position_of_new(&cluster.node(leader)).await;
        // The broker of that copy asks the other one, too.
        for reader in [2, stuck] {
            let (answered, last) = stores.search(&cluster, reader).await;
            assert_eq!(
                answered,
                1 - stuck,
                "at {reader}, {last} of {position}: {}",
                stores.describe(&cluster)
            );
            assert!(last >= position);
        }
        let queries = Arc::clone(&stores.queries.lock()[&(1 - stuck)]);
        let refused = queries.ask(&Positions::at(1, position), b"?").await.unwrap_err();
        assert!(refused.contains("goes up to") && refused.contains("it has no copy"), "{refused}");
        stores.copy_of(stuck).is_stuck.store(false, Ordering::Relaxed);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_becomes_a_copy_has_what_came_before() {
    let stores = Arc::<Stores>::default();
    let mut cluster = cluster_with(&stores, 1).await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    for _ in 0..20 {
        created(&cluster.node(leader)).await;
    }
    let purged = |cluster: &Cluster| cluster.nodes[&2].partition().purged_index > 10;
    // Entries that another broker lacked at a flush are purged with a later one only.
    let deadline = Instant::now() + PATIENCE;
    while !purged(&cluster) {
        assert!(Instant::now() < deadline, "the log of the third is not purged");
        created(&cluster.node(leader)).await;
    }
    cluster.nodes.remove(&2).unwrap().shutdown().await;
    stores.having.lock().insert(2);
    created(&cluster.node(0)).await;
    cluster.start_again(2).await;
    let equal = |cluster: &Cluster| {
        let stored = |broker| stores.copy_of(broker).stored.lock().clone();
        cluster.nodes.len() == 3 && !stored(0).is_empty() && stored(0) == stored(2)
    };
    created(&cluster.node(2)).await;
    cluster.until("it has the same", equal).await;

    // A copy whose directory was lost gets all from another one.
    let lost = (0..3).find(|broker| !cluster.node(*broker).leads()).unwrap();
    cluster.nodes.remove(&lost).unwrap().shutdown().await;
    cluster.directories.insert(lost, tempfile::tempdir().unwrap());
    for _ in 0..5 {
        created(&cluster.node((lost + 1) % 3)).await;
    }
    cluster.start_again(lost).await;
    let others = |cluster: &Cluster| {
        let stored = |broker| stores.copy_of(broker).stored.lock().clone();
        cluster.nodes.len() == 3 && stored(lost) == stored((lost + 1) % 3) && stored(lost).len() > 20
    };
    cluster.until("it has the same again", others).await;
    cluster.stop().await;
}

/// Rounds of the next test, or more of them.
const ROUNDS: u64 = 12;

fn rounds() -> u64 {
    std::env::var("STORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

/// A number below a bound, which follows from the one before.
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// Writes, stops in order and crashes come in any order, with or without the store's file, right after a flush or long
/// after one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_that_are_removed_in_any_order_are_whole_or_told() {
    let stores = Arc::<Stores>::default();
    // A log that is purged as soon as it can be.
    let mut cluster = cluster_with(&stores, 1).await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let stored = |broker: u32| stores.copy_of(broker).stored.lock().clone();
    let mut dice = 38;
    for round in 0..rounds() {
        let away = below(&mut dice, 2) as u32;
        for _ in 0..below(&mut dice, 20) {
            created(&cluster.node(below(&mut dice, 3) as u32)).await;
        }
        let node = cluster.nodes.remove(&away).unwrap();
        if below(&mut dice, 3) > 0 {
            node.shutdown().await;
        }
        drop(node);
        for _ in 0..below(&mut dice, 10) {
            created(&cluster.node(2)).await;
        }
        let is_removed = below(&mut dice, 3) > 0;
        if is_removed {
            let _ = std::fs::remove_file(&*stores.copy_of(away).file.lock());
        }
        cluster.start_again(away).await;
        for _ in 0..below(&mut dice, 3) {
            created(&cluster.node(2)).await;
        }
        let equal = |_: &Cluster| stored(0) == stored(1) && !stored(0).is_empty();
        let wanted =
            format!("round {round}: broker {away}, removed: {is_removed}: both copies have the same");
        cluster.until(&wanted, equal).await;
    }
    // Records that both have lost are nowhere: they say so, and none begins with nothing.
    for away in COPIES {
        created(&cluster.node(2)).await;
        cluster.nodes.remove(&away).unwrap().shutdown().await;
        std::fs::remove_file(&*stores.copy_of(away).file.lock()).unwrap();
    }
    for away in COPIES {
        cluster.start_again(away).await;
    }
    let is_told = |cluster: &Cluster| {
        COPIES.iter().all(|broker| {
            let status = cluster.nodes.get(broker).and_then(|node| node.exporting());
            let failure = status.and_then(|status| status.exporters[0].failure.clone());
            failure.is_some_and(|failure| !failure.is_empty()) && stored(*broker).is_empty()
        })
    };
    cluster.until("both tell that they lack records", is_told).await;
    cluster.stop().await;
}
