//! Pins, moves or resets the clock of the engine.

use protocol::{Clock, ClockRecord, Intent, Response};

use crate::core::context::CommandContext;

impl CommandContext<'_> {
    pub(super) fn set_clock(&mut self, clock: &Clock) -> Response {
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
        Response::Done
    }
}
