//! The end of a run: all replicas come to one state, and all archives to the same records.

use std::time::Duration;

use broker::Node;
use protocol::FIRST_PARTITION;
use tokio::time::{Instant, sleep, timeout};

use super::{BROKERS, RECOVERY, World};
use crate::archive;

/// Replicas become equal within this time.
const AGREEMENT: Duration = Duration::from_secs(10);

/// Instances that are named when some are left.
const SHOWN: usize = 3;

/// Position of the last record of a partition's state, and a hash of all its rows.
type StateOf = (u64, u64);
/// States of all partitions, as a broker tells them.
type Asked = Option<Result<Vec<StateOf>, String>>;

/// The states of all partitions of a broker. An error: messages to other partitions are on their way, or of instances
/// that have ended something is left.
fn states(node: &Node) -> Result<Vec<StateOf>, String> {
    let partitions = node.partitions();
    let are_several = partitions.len() > 1;
    let mut states = Vec::new();
    for (number, partition) in partitions {
        // With one partition, clients that a purge has overtaken leave instances behind.
        if are_several {
            let engine = partition.engine().lock();
            let tables = engine.tables();
            let running = tables.instances.scan(.., SHOWN).map_err(|error| error.to_string())?;
            if !running.is_empty() {
                let running: Vec<_> = running.iter().map(|(key, of)| (*key, &of.process_id)).collect();
                return Err(format!("partition {number} has the instances {running:?} in the end"));
            }
            let left = [
                ("jobs", tables.jobs.len()),
                ("messages to others", tables.outbox.len()),
                ("subscriptions", tables.remote_subscriptions.len()),
                ("offers", tables.offers.len()),
            ];
            for (rows, count) in left {
                let count = count.map_err(|error| error.to_string())?;
                if count > 0 {
                    return Err(format!("partition {number} has {count} {rows} in the end"));
                }
            }
        }
        states.push(partition.state_hash().map_err(|error| error.to_string())?);
    }
    Ok(states)
}

impl World {
    /// All replicas of each partition come to one state, and nothing is on its way between partitions.
    pub(super) async fn agree(&mut self) -> Result<(), String> {
        // Archives ask each other for what none of them has.
        let times = if self.may_lose_records { 3 } else { 1 };
        let deadline = Instant::now() + AGREEMENT * times;
        loop {
            let mut hashes = Vec::new();
            for broker in BROKERS {
                let Some(life) = self.scene.life(broker) else {
                    return Err(format!("broker {broker} is away"));
                };
                let asked = life.call(|node| async move { states(&node) });
                hashes.push(timeout(RECOVERY, asked).await.ok().flatten());
            }
            let difference = archive::difference(&BROKERS);
            if let Some(Ok(states)) = &hashes[0]
                && let Some((position, _)) = states.first().copied()
                && hashes.iter().all(|hash| *hash == hashes[0])
                && difference.is_none()
                && BROKERS.iter().all(|broker| archive::are_whole(*broker))
                && (1..=position).contains(&archive::last_of(&archive::shared(FIRST_PARTITION)))
            {
                // Records may be on their way to all of them.
                match self.check_archives() {
                    Err(reason) if Instant::now() > deadline => return Err(reason),
                    Err(_) => {}
                    Ok(()) => return Ok(()),
                }
            }
            let differ_at = |(a, b): (&StateOf, &StateOf)| a.0 == b.0 && a.1 != b.1;
            let same_position = |a: &Asked, b: &Asked| matches!((a, b), (Some(Ok(a)), Some(Ok(b))) if a.iter().zip(b).any(differ_at));
            if Instant::now() > deadline {
                let differ =
                    (0..3).any(|one| (0..one).any(|other| same_position(&hashes[one], &hashes[other])));
                let differ = if differ { "replicas differ" } else { "replicas do not become equal" };
                if hashes.iter().all(|hash| *hash == hashes[0]) {
                    let states = &hashes[0];
                    return Err(format!("records differ: {difference:?}, or all brokers say {states:x?}"));
                }
                return Err(format!("{differ}: {hashes:x?}"));
            }
            self.revive();
            self.replay_parked().await;
            self.go_on_without_lost();
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Has parked records tried again, at any broker.
    async fn replay_parked(&mut self) {
        let Some(life) = self.scene.life(*self.random.pick(&BROKERS)) else { return };
        let asked = life.call(|node| async move {
            let parked: u64 = node.hubs().map(|(_, exports)| exports.parked_count(archive::SHARED_ID)).sum();
            if parked > 0 {
                // It is asked again as long as any is parked.
                let _ = node.replay_parked(archive::SHARED_ID).await;
            }
        });
        let _ = timeout(RECOVERY, asked).await;
    }
}
