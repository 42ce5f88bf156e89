//! A pause of processing in a cluster: asked of any broker, it holds on all.
//!
//! Each broker refuses on its own what clients ask of it, so all must know. Orders have versions, and the latest is in
//! force. The broker that is asked sends the order to the others; one that was away learns of it when it asks the
//! others how they are. So a pause outlives leaders, and ends at the latest when all brokers have been started anew.

use std::collections::BTreeMap;
use std::time::Duration;

use broker_api::SubmitError;
use bytes::Bytes;

use crate::cluster_state::ClusterState;
use crate::node::Node;
use crate::orders::{Pause, PauseOrder};
use cluster::RequestKind;

/// Time-out of an order to another broker: it applies earlier entries first.
const ORDER_TIMEOUT: Duration = Duration::from_secs(5);
/// Attempts to outdo orders that other brokers gave at the same time.
const ATTEMPTS: u32 = 5;

impl Node {
    /// Obeys an order, if it is later than the one in force. Returns the one in force.
    pub(crate) fn obey_pause(&self, cluster: &ClusterState, order: PauseOrder) -> PauseOrder {
        let mut in_force = cluster.pause.lock();
        if order > *in_force {
            *in_force = order;
            self.all().iter().for_each(|partition| partition.set_paused(order.value.paused));
        }
        *in_force
    }

    /// Pauses processing, or goes on with it, on this broker and all others that can be reached.
    pub(crate) async fn order_pause(&self, cluster: &ClusterState, paused: bool) -> Result<(), SubmitError> {
        for _ in 0..ATTEMPTS {
            let order = cluster.pause.lock().next(Pause { paused });
            self.obey_pause(cluster, order);
            let answers = cluster.order_pause(order).await;
            let Some(later) = answers.into_values().flatten().filter(|other| *other > order).max() else {
                return Ok(());
            };
            self.obey_pause(cluster, later);
        }
        let reason = "Expected to pause or resume processing, but others order the contrary";
        Err(SubmitError::Unavailable(reason.to_owned()))
    }

    /// Whether processing is paused on each broker of the cluster; of one that does not answer it is not known.
    /// Nothing for a broker that is alone.
    pub fn paused_brokers(&self) -> Option<BTreeMap<u32, Option<bool>>> {
        let cluster = self.cluster.as_ref()?;
        let others = cluster.pauses.lock();
        let own = self.options().partition.node_id;
        let of = |broker: &u32| {
            let paused = if *broker == own {
                Some(self.is_processing_paused())
            } else {
                others.get(broker).map(|order| order.value.paused)
            };
            (*broker, paused)
        };
        Some(cluster.links.brokers().keys().map(of).collect())
    }
}

impl ClusterState {
    /// Sends an order to all others, and brings the orders that are in force there.
    async fn order_pause(&self, order: PauseOrder) -> BTreeMap<u32, Option<PauseOrder>> {
        let asked = self.links.ask_all(&RequestKind::Pause.with(&order.encode()), ORDER_TIMEOUT).await;
        let read = |answer: Bytes| PauseOrder::decode(&answer).ok();
        let answers: BTreeMap<u32, Option<PauseOrder>> =
            asked.into_iter().map(|(broker, answer)| (broker, answer.ok().and_then(read))).collect();
        for (broker, order) in &answers {
            self.note_pause(*broker, *order);
        }
        answers
    }

    /// Notes what is in force on another broker, if it tells.
    pub(crate) fn note_pause(&self, broker: u32, order: Option<PauseOrder>) {
        let mut pauses = self.pauses.lock();
        match order {
            Some(order) => drop(pauses.insert(broker, order)),
            None => drop(pauses.remove(&broker)),
        }
    }
}

/// Obeys an order of another broker. Earlier entries are applied here when it is answered, if there is a leader.
pub(crate) async fn obey(node: &Node, order: &[u8]) -> Result<Bytes, String> {
    let order = PauseOrder::decode(order)?;
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    let in_force = node.obey_pause(cluster, order);
    if in_force.value.paused {
        // Without a leader, nothing can come before the pause.
        for partition in node.all() {
            let _ = partition.settle().await;
        }
    }
    Ok(in_force.encode())
}
