//! The end of a run: all replicas come to one state, and all archives to the same records.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{BROKERS, RECOVERY, World};
use crate::archive;

/// Replicas become equal within this time.
const AGREEMENT: Duration = Duration::from_secs(10);

impl World {
    /// All replicas come to one state.
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
                let asked =
                    life.call(|node| async move { node.state_hash().map_err(|error| error.to_string()) });
                hashes.push(timeout(RECOVERY, asked).await.ok().flatten());
            }
            let difference = archive::difference(&BROKERS);
            if let Some(Ok((position, _))) = hashes[0]
                && hashes.iter().all(|hash| *hash == hashes[0])
                && difference.is_none()
                && BROKERS.iter().all(|broker| archive::of(*broker).is_whole())
                && (1..=position).contains(&archive::last_of(&archive::shared()))
            {
                // Records may be on their way to all of them.
                match self.check_archives() {
                    Err(reason) if Instant::now() > deadline => return Err(reason),
                    Err(_) => {}
                    Ok(()) => return Ok(()),
                }
            }
            let same_position = |a: &Option<Result<(u64, u64), String>>,
                                 b: &Option<Result<(u64, u64), String>>| {
                matches!((a, b), (Some(Ok(a)), Some(Ok(b))) if a.0 == b.0 && a.1 != b.1)
            };
            if Instant::now() > deadline {
                let differ =
                    (0..3).any(|one| (0..one).any(|other| same_position(&hashes[one], &hashes[other])));
                let differ = if differ { "replicas differ" } else { "replicas do not become equal" };
                if hashes.iter().all(|hash| *hash == hashes[0]) {
                    return Err(format!("records differ: {difference:?}"));
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
            let parked = node.exports().map_or(0, |exports| exports.parked_count(archive::SHARED_ID));
            if parked > 0 {
                // It is asked again as long as any is parked.
                let _ = node.replay_parked(archive::SHARED_ID).await;
            }
        });
        let _ = timeout(RECOVERY, asked).await;
    }
}
