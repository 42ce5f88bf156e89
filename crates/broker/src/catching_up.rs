//! A broker of a cluster catches up with its leader before it serves for the first time in its life.

use std::collections::BTreeSet;
use std::sync::Weak;
use std::time::Duration;

use cluster::ReplicaNumber;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::node::Node;

/// Pause before another look for the leader. Each look takes some seconds by itself.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Whether this replica has its vote in all partitions, and no replica is being replaced. Before that, the loss of
/// another broker may be the loss of a majority, and whoever replaces disks one after the other waits for this.
fn has_settled(node: &Node) -> bool {
    let Some(cluster) = &node.cluster else { return false };
    node.all().iter().all(|partition| {
        let voters = partition.group().members().voters;
        let brokers: BTreeSet<u32> = voters.iter().map(|number| ReplicaNumber::of(*number).broker).collect();
        voters.contains(&cluster.replica.number()) && brokers.len() == voters.len()
    })
}

/// Finds out when the broker can serve, until shutdown. Does not keep the node alive.
pub(crate) async fn catch_up(node: Weak<Node>, stop: CancellationToken) {
    let look = async {
        loop {
            let Some(partitions) = node.upgrade().map(|node| node.all().to_vec()) else { return };
            let catching_up = partitions.iter().map(|partition| partition.catch_up());
            let caught_up = futures::future::try_join_all(catching_up).await.is_ok();
            drop(partitions);
            if let Some(node) = node.upgrade().filter(|node| caught_up && has_settled(node)) {
                node.readiness.begin();
                return;
            }
            sleep(LOOK_PAUSE).await;
        }
    };
    stop.run_until_cancelled(look).await;
}
