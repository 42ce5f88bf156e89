//! A leader whose disk has no room while the others have some: it hands over, and commands are answered.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{ANSWER, BROKERS, LOOK, LOW_BYTES, RECOVERY, World};

/// Then another one leads. New instances are created as soon as after any other fault.
const HANDED_OVER: Duration = Duration::from_secs(4);

impl World {
    /// Takes the room of the leader while all else is well and clients are at work.
    pub(super) async fn fill_leader(&mut self) -> Result<(), String> {
        // A reason that keeps brokers from being ready is found when they do not agree.
        let Some(leader) = self.leader_of_all().await else { return Ok(()) };
        self.say(format!("the disk of broker {leader}, which leads, has {LOW_BYTES} bytes of room"));
        let free_bytes = &self.free_bytes[leader as usize];
        free_bytes.store(LOW_BYTES, Ordering::Relaxed);
        let filled = Instant::now();
        let mut created_before = None;
        loop {
            if created_before.is_none() && self.another_leads(leader).await {
                created_before = Some(self.scene.ledger().instances());
            }
            let created = self.scene.ledger().instances();
            if created_before.is_some_and(|before| created > before) {
                break;
            }
            if created_before.is_none() && filled.elapsed() > HANDED_OVER {
                return Err(format!("broker {leader} leads on without room for {HANDED_OVER:?}"));
            }
            if filled.elapsed() > RECOVERY {
                return Err(format!("no instance is created after broker {leader} had no room any more"));
            }
            sleep(LOOK).await;
        }
        self.free_bytes[leader as usize].store(u64::MAX, Ordering::Relaxed);
        Ok(())
    }

    async fn another_leads(&self, former: u32) -> bool {
        for broker in BROKERS.into_iter().filter(|broker| *broker != former) {
            let Some(life) = self.scene.life(broker) else { continue };
            let asked = life.call(|node| async move { node.leads() });
            if timeout(ANSWER, asked).await.ok().flatten() == Some(true) {
                return true;
            }
        }
        false
    }
}
