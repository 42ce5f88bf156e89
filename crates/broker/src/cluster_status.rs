//! The brokers of a cluster tell each other how they are, each second.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use broker_api::{BrokerInfo, PartitionInfo};
use bytes::Bytes;
use protocol::FIRST_PARTITION;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::admission;
use crate::cluster::Links;
use crate::cluster_clock::ClockSample;
use crate::cluster_exporting::ExportOrder;
use crate::cluster_pause::PauseOrder;
use crate::node::Node;
use crate::peer_request::RequestKind;
use crate::peers::ask;

/// How often other brokers are asked how they are.
const STATUS_INTERVAL: Duration = Duration::from_secs(1);
/// A broker that does not say how it is for so long is not shown.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// Rounds of answers in which another broker may say that it leads before this one, which has just started, stands for
/// election: the leader connects to it within that time.
const HEARING_ROUNDS: u32 = 3;

/// Whether a broker that has just started waits for the leader, instead of standing for election. An election that the
/// others refuse makes the next one late: who has seen a longer log stands up to a second later (openraft 0.9).
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    rounds: AtomicU32,
}

impl Hearing {
    /// The others have answered, and one of them leads, or none. Returns whether this broker may stand for election.
    fn may_stand(&self, is_led: bool) -> bool {
        let rounds = if is_led { self.rounds.load(Ordering::Relaxed) + 1 } else { HEARING_ROUNDS };
        self.rounds.store(rounds.min(HEARING_ROUNDS), Ordering::Relaxed);
        rounds >= HEARING_ROUNDS
    }
}

/// A broker, as it tells others about itself.
#[derive(Serialize, Deserialize)]
struct Status {
    host: String,
    port: u16,
    leader: bool,
    healthy: bool,
    #[serde(default)]
    pause: PauseOrder,
    #[serde(default)]
    exporting: ExportOrder,
    /// Time of its clock.
    #[serde(default)]
    clock_ms: Option<i64>,
}

/// Another broker, as it was a moment ago.
struct Told {
    broker: BrokerInfo,
    pause: PauseOrder,
    exporting: ExportOrder,
    clock: Option<ClockSample>,
}

/// The status of this broker for others.
pub(crate) fn status(node: &Node) -> Result<Bytes, String> {
    let (host, port) = (node.options().advertised_host.clone(), node.options().advertised_port);
    let (leader, healthy) = (node.leads(), node.health().partition.is_ok());
    let pause = node.router.as_ref().map(|router| *router.links.pause.lock()).unwrap_or_default();
    let orders = node.router.as_ref().map(|router| router.links.export_orders.in_force());
    let exporting = orders.unwrap_or_default();
    let clock_ms = Some(node.options().wall_clock.now_ms());
    let status = Status { host, port, leader, healthy, pause, exporting, clock_ms };
    serde_json::to_vec(&status).map(Bytes::from).map_err(|error| error.to_string())
}

impl Links {
    /// The other brokers that say how they are.
    pub fn others(&self) -> Vec<BrokerInfo> {
        self.statuses.lock().values().cloned().collect()
    }

    /// Asks the others how they are, again and again.
    pub async fn keep_statuses(self: Arc<Self>, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(STATUS_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = stop.cancelled() => return,
            }
            let asked = self.brokers().keys().map(|broker| self.ask_status(*broker));
            let told: Vec<_> = futures::future::join_all(asked).await.into_iter().flatten().collect();
            let Some(node) = self.node.get().and_then(Weak::upgrade) else { continue };
            self.note_pauses(&node, &told);
            self.follow_export_orders(&node, &told).await;
            self.compare_clocks(&node, &told).await;
            if let Some(router) = node.router.as_ref().filter(|_| node.leads()) {
                tokio::spawn(admission::exchange(Arc::clone(router)));
            }
            *self.statuses.lock() = told.into_iter().map(|told| (told.broker.node_id, told.broker)).collect();
        }
    }

    /// The status of another broker; `None` if it does not answer.
    async fn ask_status(&self, number: u32) -> Option<Told> {
        let peer = self.peers.peer(u64::from(number))?;
        let began = Instant::now();
        let answer = ask(peer, RequestKind::Status.alone(), STATUS_TIMEOUT).await.ok()?;
        let answer_time = began.elapsed();
        let Status { host, port, leader, healthy, pause, exporting, clock_ms } =
            serde_json::from_slice(&answer).ok()?;
        let own_ms = self.node.get().and_then(Weak::upgrade)?.options().wall_clock.now_ms();
        let clock = clock_ms.and_then(|theirs_ms| ClockSample::new(theirs_ms, own_ms, answer_time));
        let partitions = vec![PartitionInfo { partition_id: FIRST_PARTITION, leader, healthy }];
        Some(Told { broker: BrokerInfo { node_id: number, host, port, partitions }, pause, exporting, clock })
    }

    /// Notes where processing is paused, and obeys an order that came while this broker was away.
    fn note_pauses(&self, node: &Node, told: &[Told]) {
        for number in self.brokers().keys() {
            let of_it = told.iter().find(|told| told.broker.node_id == *number);
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
        let ahead_ms = || self.clock.ahead_ms();
        match self.clock.compare(node.options().wall_clock.now_ms(), &clocks) {
            Some(true) => {
                tracing::error!(
                    ahead_ms = ahead_ms(),
                    "the clock of this broker is ahead of the others': it does not lead until that is mended"
                );
            }
            Some(false) => tracing::info!(ahead_ms = ahead_ms(), "the clock is that of the others again"),
            None => {}
        }
        let is_ahead = self.clock.is_ahead();
        let is_led = told.iter().flat_map(|told| &told.broker.partitions).any(|partition| partition.leader);
        node.group().stands_for_election(self.hearing.may_stand(is_led) && !is_ahead);
        if let Some(router) = node.router.as_ref().filter(|_| is_ahead && node.leads())
            && let Err(reason) = node.hand_over_here(router, None).await
        {
            tracing::warn!(reason, "a broker whose clock is ahead leads on");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_that_starts_waits_for_the_leader_but_not_for_ever() {
        let may_stand = |rounds: &[bool]| -> Vec<bool> {
            let hearing = Hearing::default();
            rounds.iter().map(|is_led| hearing.may_stand(*is_led)).collect()
        };
        assert_eq!(may_stand(&[false, true, true]), [true; 3], "nobody leads: it stands, and later too");
        assert_eq!(may_stand(&[true, true, true, true, false]), [false, false, true, true, true]);
        assert_eq!(may_stand(&[true, false, true]), [false, true, true], "the leader is lost meanwhile");
    }
}
