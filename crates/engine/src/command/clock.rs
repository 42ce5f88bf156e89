//! Pins, moves or resets the clock of the engine.

use protocol::{Clock, ClockRecord, Intent, PartitionMessage, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    /// As a client asks: on all partitions.
    pub(super) fn set_clock(&mut self, clock: &Clock) -> Result<Response, Failure> {
        if self.has_others() {
            self.send_to_all(&PartitionMessage::Clock(clock.clone()))?;
        }
        self.set_clock_here(clock);
        Ok(Response::Done)
    }

    pub(super) fn set_clock_here(&mut self, clock: &Clock) {
        match clock {
            Clock::Pin { timestamp_ms } => self.meta.pinned_ms = Some(*timestamp_ms),
            Clock::Add { offset_ms } => match &mut self.meta.pinned_ms {
                Some(pinned_ms) => *pinned_ms = pinned_ms.saturating_add(*offset_ms),
                None => self.meta.offset_ms = self.meta.offset_ms.saturating_add(*offset_ms),
            },
            Clock::Reset => {
                self.meta.pinned_ms = None;
                self.meta.offset_ms = 0;
            }
        }
        self.meta.set_now();
        // Consumers know nothing between a clock that is pinned and one that runs.
        let intent = if self.meta.pinned_ms.is_some() { Intent::Pinned } else { Intent::Resetted };
        let time_ms = self.meta.now_ms;
        let key = self.next_key();
        self.emit(key, intent, |_| ClockRecord { time_ms });
    }
}
