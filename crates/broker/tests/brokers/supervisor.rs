//! A broker whose partition cannot go on starts it again by itself.

use broker::{Lives, StartError, Supervisor};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;

use super::*;

/// The lives of a broker of a cluster; tells why each has ended.
struct BrokerLives {
    options: Options,
    addresses: BTreeMap<u32, String>,
    ends: Arc<Mutex<Vec<String>>>,
}

impl Lives for BrokerLives {
    fn begin(&self) -> BoxFuture<'_, Result<Arc<Node>, StartError>> {
        async move {
            let listener = TcpListener::bind(&self.addresses[&self.options.partition.node_id]).await?;
            let replica = Replica { brokers: self.addresses.clone(), attachment: listener.into() };
            Box::pin(Node::start_replica(self.options.clone(), replica)).await
        }
        .boxed()
    }

    fn end(&self, reason: &str) {
        self.ends.lock().push(reason.to_owned());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_differs_comes_back_by_itself() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let follower = BROKERS.into_iter().find(|broker| *broker != leader).unwrap();
    cluster.nodes.remove(&follower).unwrap().shutdown().await;

    let (options, ends) = (cluster.options(follower), Arc::default());
    let addresses = cluster.addresses.clone();
    let lives =
        || BrokerLives { options: options.clone(), addresses: addresses.clone(), ends: Arc::clone(&ends) };
    let deadline = Instant::now() + PATIENCE;
    // The node before lets go of its files a moment later.
    let supervisor = loop {
        match Supervisor::start(lives()).await {
            Ok(supervisor) => break supervisor,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        look().await;
    };
    supervisor.node().unwrap().plant_difference();
    while ends.lock().is_empty() {
        assert!(Instant::now() < deadline, "the difference is not found");
        created(&cluster.node(leader)).await;
    }
    assert!(ends.lock()[0].contains("differs from the leader's at log index"), "{ends:?}");
    let waiting = supervisor.topology();
    assert_eq!(waiting.brokers[0].node_id, follower, "it answers between two lives");

    let state = |node: &Node| node.state_hash().unwrap();
    let is_back = || supervisor.node().is_ok_and(|node| state(&node) == state(&cluster.node(leader)));
    while !is_back() {
        assert!(Instant::now() < deadline, "it does not come back: {ends:?}");
        look().await;
    }
    assert!(options.partition.data_dir.join("damaged-1").is_dir(), "the files that differ are kept");
    submit_at(&supervisor).await;
    supervisor.shutdown().await;
    cluster.stop().await;
}

/// Creates an instance at a broker that has just begun another life.
async fn submit_at(supervisor: &Supervisor) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let Ok(node) = supervisor.node() else {
            assert!(Instant::now() < deadline, "it is away again");
            look().await;
            continue;
        };
        created(&node).await;
        return;
    }
}
