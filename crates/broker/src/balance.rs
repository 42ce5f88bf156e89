//! Partitions go back to the brokers that are to lead them by their places, so that each broker leads its share.
//!
//! After a fail-over, the brokers that stayed lead all partitions. A leader hands over when the broker that is to
//! lead has been well for some time. One that does not take over is asked again after a pause, which doubles.

use partition::Partition;

use crate::cluster_state::ClusterState;
use crate::node::Node;
use crate::successor::Successor;

/// Whether a partition that this broker leads is to be led by another one, which is well.
fn is_displaced(node: &Node, cluster: &ClusterState, partition: &Partition, preferred: u32) -> bool {
    let number = partition.number();
    let statuses = cluster.statuses.lock();
    let is_well = statuses.get(&preferred).is_some_and(|seen| {
        let is_healthy = |of: &broker_api::PartitionInfo| of.partition_id != number || of.healthy;
        seen.reason.is_none() && seen.broker.partitions.iter().all(is_healthy)
    });
    preferred != node.number() && is_well && cluster.links.rooms.no_room(preferred).is_none()
}

/// Hands partitions that this broker leads to those that are to lead them. With one partition there are no shares.
pub(crate) async fn balance(node: &Node, cluster: &ClusterState) {
    if node.all().len() == 1 || !node.options().balances_leaders {
        return;
    }
    for partition in node.all() {
        let returning = &cluster.part(partition.number()).returning;
        let preferred = node.preferred_leader(partition.number());
        let is_displaced = partition.has_begun_to_lead() && is_displaced(node, cluster, partition, preferred);
        if !returning.is_due(is_displaced) {
            continue;
        }
        let done = node.hand_over_here(cluster, partition, Successor::Broker(preferred)).await;
        returning.handed_over(done.is_ok());
        if let Err(reason) = done {
            tracing::info!(
                partition = partition.number(),
                broker = preferred,
                reason,
                "a broker does not take over a partition that it is to lead; it is asked again later"
            );
        }
    }
}
