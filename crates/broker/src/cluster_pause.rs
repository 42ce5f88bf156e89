//! A pause of processing in a cluster: asked of any broker, it holds on all.
//!
//! Each broker refuses on its own what clients ask of it, so all must know. Orders have versions, and the latest is in
//! force. The broker that is asked sends the order to the others; one that was away learns of it when it asks the
//! others how they are. So a pause outlives leaders, and ends at the latest when all brokers have been started anew.

use std::collections::BTreeMap;
use std::time::Duration;

use broker_api::SubmitError;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::cluster::Links;
use crate::node::Node;
use crate::peer_request::RequestKind;

/// Time for another broker to obey: it applies what came before.
const ORDER_TIMEOUT: Duration = Duration::from_secs(5);
/// Orders of others that came at the same time are outdone so often.
const ATTEMPTS: u32 = 5;

/// An order to pause processing, or to go on with it. The latest one is in force; of two at once, the pause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct PauseOrder {
    version: u64,
    pub paused: bool,
}

impl Node {
    /// Obeys an order, if it is later than the one in force. Returns the one in force.
    pub(crate) fn obey_pause(&self, links: &Links, order: PauseOrder) -> PauseOrder {
        let mut in_force = links.pause.lock();
        if order > *in_force {
            *in_force = order;
            self.set_paused(order.paused);
        }
        *in_force
    }

    /// Pauses processing, or goes on with it, on this broker and all others that can be reached.
    pub(crate) async fn order_pause(&self, links: &Links, paused: bool) -> Result<(), SubmitError> {
        for _ in 0..ATTEMPTS {
            let version = links.pause.lock().version + 1;
            let order = PauseOrder { version, paused };
            self.obey_pause(links, order);
            let answers = links.order_pause(order).await;
            let Some(later) = answers.into_values().flatten().filter(|other| *other > order).max() else {
                return Ok(());
            };
            self.obey_pause(links, later);
        }
        let reason = "Expected to pause or resume processing on partition 1, but others order the contrary";
        Err(SubmitError::Unavailable(reason.to_owned()))
    }

    /// Whether processing is paused on each broker of the cluster; of one that does not answer it is not known.
    /// Nothing for a broker that is alone.
    pub fn paused_brokers(&self) -> Option<BTreeMap<u32, Option<bool>>> {
        let links = &self.router.as_ref()?.links;
        let others = links.pauses.lock();
        let own = self.options().node_id;
        let of = |broker: &u32| {
            let paused = if *broker == own {
                Some(self.is_processing_paused())
            } else {
                others.get(broker).map(|order| order.paused)
            };
            (*broker, paused)
        };
        Some(links.brokers().keys().map(of).collect())
    }
}

impl Links {
    /// Sends an order to all others, and brings the orders that are in force there.
    async fn order_pause(&self, order: PauseOrder) -> BTreeMap<u32, Option<PauseOrder>> {
        let asked = self.ask_all(&RequestKind::Pause.with(&encode(order)), ORDER_TIMEOUT).await;
        let read = |answer: Bytes| serde_json::from_slice(&answer).ok();
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

fn encode(order: PauseOrder) -> Bytes {
    serde_json::to_vec(&order).expect("numbers are JSON").into()
}

/// Obeys an order of another broker. Earlier entries are applied here when it is answered, if there is a leader.
pub(crate) async fn obey(node: &Node, order: &[u8]) -> Result<Bytes, String> {
    let order: PauseOrder = serde_json::from_slice(order).map_err(|error| error.to_string())?;
    let router = node.router.as_ref().ok_or("this broker is alone")?;
    let in_force = node.obey_pause(&router.links, order);
    if in_force.paused {
        // Without a leader, nothing can come before the pause.
        let _ = node.settle().await;
    }
    Ok(encode(in_force))
}
