//! Records that are safe before the state is: acknowledged, or in the spill.

use std::time::Instant;

use super::Stream;
use crate::phase::Phase;
use crate::reader::Reader;
use crate::spill::SpillError;

impl Stream {
    /// See [`crate::Hub::make_durable`].
    pub fn make_durable(&self, position: u64) -> Result<(), SpillError> {
        self.until_durable(position)?;
        let (last, acknowledged) = {
            let inner = self.lock();
            (inner.last_upto(position), inner.acknowledged())
        };
        let mut floor = self.floor.lock();
        floor.note(position, last, acknowledged).map_err(SpillError::file(floor.path()))
    }

    fn until_durable(&self, position: u64) -> Result<(), SpillError> {
        let grace_ends = Instant::now() + self.options.flush_grace;
        let mut inner = self.lock();
        let upto = position.min(inner.last);
        if inner.acknowledged() >= upto {
            return Ok(());
        }
        inner.wanted = upto;
        self.work.notify_all();
        loop {
            let waits = |reader: &Reader| {
                reader.enabled
                    && reader.acknowledged < upto
                    && (reader.is_passive || reader.failure.is_some() || reader.position < inner.memory_floor)
            };
            let hopeless = inner.phase != Phase::Exporting || inner.readers.iter().any(waits);
            let left = grace_ends.saturating_duration_since(Instant::now());
            if inner.acknowledged() >= upto || hopeless || left.is_zero() || inner.stop.is_some() {
                break;
            }
            self.progress.wait_for(&mut inner, left);
        }
        inner.wanted = 0;
        drop(inner);
        self.spill(upto)
    }

    /// Notes before a snapshot as of a position takes the place of the state: no record up to it comes.
    pub fn note_skipped(&self, position: u64) -> std::io::Result<()> {
        self.floor.lock().note(position, position, position)
    }
}
