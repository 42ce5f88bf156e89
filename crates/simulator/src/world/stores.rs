//! Archives that are removed, or put back as they were before, in any order of stop, removal and start: each is whole
//! in the end, or tells what is missing.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{BROKERS, LOOK, RECOVERY, World};
use crate::archive::{self, ArchiveState};
use crate::host::LifeEnd;

/// Time of a broker to stop in order.
const STOP_TIME: Duration = Duration::from_secs(8);

#[derive(Debug, Clone, Copy)]
enum StoreStep {
    Stop,
    Remove,
    Start,
}

impl World {
    /// Brokers stop, lose their archives and start, while clients are at work: each in this order, all in any order.
    pub(super) async fn remove_stores(&mut self, brokers: u64) {
        // A reason that keeps brokers from being ready is found when they do not agree.
        if self.leader_of_all().await.is_none() || !self.are_whole().await {
            return;
        }
        let one_by_one = self.random.one_in(2);
        // Otherwise the last whole archive may go before another one is whole again.
        self.may_lose_records = !one_by_one && brokers == BROKERS.len() as u64;
        let first = self.random.below(BROKERS.len() as u64) as u32;
        let mut left: Vec<(u32, Vec<StoreStep>)> = (0..brokers as u32)
            .map(|number| ((first + number) % 3, vec![StoreStep::Start, StoreStep::Remove, StoreStep::Stop]))
            .collect();
        while !left.is_empty() {
            let place = if one_by_one { 0 } else { self.random.below(left.len() as u64) as usize };
            let broker = left[place].0;
            match left[place].1.pop() {
                Some(step) => self.take_step(broker, step).await,
                None => drop(left.remove(place)),
            }
            if one_by_one && left.first().is_some_and(|(_, steps)| steps.is_empty()) {
                // One that is not whole in time is found when they do not agree.
                let _ = self.are_whole().await;
            }
            let most_ms = *self.random.pick(&[10, 100, 1_000]);
            sleep(Duration::from_millis(self.random.between(1, most_ms))).await;
        }
    }

    async fn take_step(&mut self, broker: u32, step: StoreStep) {
        match step {
            StoreStep::Stop => self.stop(broker).await,
            StoreStep::Remove if self.random.one_in(3) => {
                let upto = self.random.below(archive::of(broker).upto() + 1);
                self.say(format!("the archive of broker {broker} is put back as it was at {upto}"));
                archive::put_back(broker, upto);
            }
            StoreStep::Remove => {
                self.say(format!("the archive of broker {broker} is removed"));
                archive::forget(broker);
            }
            StoreStep::Start => {
                self.say(format!("broker {broker} starts"));
                self.start(broker);
            }
        }
    }

    /// Stops a broker, in order or not.
    async fn stop(&mut self, broker: u32) {
        let Some(life) = self.scene.life(broker) else { return };
        let how = *self.random.pick(&[LifeEnd::Killed, LifeEnd::PowerLost]);
        if self.random.one_in(2) {
            self.say(format!("broker {broker} stops in order"));
            life.stop();
            let until = Instant::now() + STOP_TIME;
            while life.failure().is_none() && Instant::now() < until {
                sleep(LOOK).await;
            }
        } else {
            self.say(format!("broker {broker} is gone: {how:?}"));
        }
        drop(life);
        self.end(broker, how);
    }

    /// Waits until all archives are whole.
    async fn are_whole(&mut self) -> bool {
        let until = Instant::now() + RECOVERY;
        while Instant::now() < until {
            if BROKERS.iter().all(|broker| archive::are_whole(*broker)) {
                return true;
            }
            self.revive();
            sleep(LOOK).await;
        }
        false
    }

    /// Has the archive with the most records go on without what is lost, if none is whole any more.
    pub(super) fn go_on_without_lost(&mut self) {
        let archives = BROKERS.map(|broker| (broker, archive::of(broker)));
        if !self.may_lose_records || archives.iter().any(|(_, archive)| archive.is_whole()) {
            return;
        }
        let lost = archives.iter().filter(|(_, archive)| matches!(archive.state, ArchiveState::Lost(_)));
        if let Some((broker, _)) = lost.max_by_key(|(_, archive)| archive.upto()) {
            self.say(format!("the archive of broker {broker} goes on without what is lost"));
            archive::go_on(*broker);
        }
    }

    /// Archives have all that was acknowledged, or tell that records are missing; and that only if they may be.
    pub(super) fn check_archives(&self) -> Result<(), String> {
        for broker in BROKERS {
            let archive = archive::of(broker);
            if archive::have_gaps(broker) && !self.may_lose_records {
                return Err(format!(
                    "broker {broker} lacks records, though another one had them: {}",
                    archive.upto()
                ));
            }
            let lacking = archive::lacks(broker, self.scene.ledger().current());
            if !lacking.is_empty() {
                return Err(format!("the archive of broker {broker} has nothing of instances {lacking:?}"));
            }
        }
        Ok(())
    }
}
