//! Pins or resets the clock of the engine.

use protocol::{Clock, Response};

use crate::work::Work;

impl Work<'_> {
    pub(super) fn set_clock(&mut self, clock: &Clock) -> Response {
        match clock {
            Clock::Pin { timestamp_ms } => {
                self.meta.pinned_ms = Some(*timestamp_ms);
                self.meta.now_ms = *timestamp_ms;
            }
            Clock::Reset => {
                self.meta.pinned_ms = None;
                self.meta.now_ms = self.meta.wall_ms;
            }
        }
        Response::Done
    }
}
