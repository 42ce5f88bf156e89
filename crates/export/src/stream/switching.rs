//! Exporters that are paused, switched off and on.

use super::Stream;
use crate::exporter::Flush;
use crate::phase::Phase;

impl Stream {
    /// Pauses or resumes. Records flushed during a soft pause are acknowledged at its end.
    pub fn set_phase(&self, phase: Phase) {
        let readers = {
            let mut inner = self.lock();
            inner.phase = phase;
            inner.readers.iter().map(|reader| reader.flushed).collect::<Vec<_>>()
        };
        self.work.notify_all();
        if phase == Phase::Exporting {
            for (reader, flushed) in readers.into_iter().enumerate() {
                self.flushed(reader, flushed, Flush::Usual);
            }
        }
    }

    /// Switches an exporter on or off. Off, nothing is kept for it. On, it begins with what comes from now on, or where
    /// another one is.
    pub fn switch(&self, reader: usize, enabled: bool, like: Option<usize>) {
        self.change_needs(|inner| {
            if inner.readers[reader].enabled == enabled {
                return false;
            }
            if enabled {
                let from = like.map(|other| &inner.readers[other]).filter(|other| other.enabled);
                let (position, ordinal) = from.map_or((inner.last, inner.next_ordinal), |other| {
                    (other.acknowledged, other.acknowledged_ordinal)
                });
                inner.readers[reader].switched_on(position, ordinal);
            } else {
                inner.readers[reader].enabled = false;
                inner.readers[reader].failure = None;
            }
            true
        });
    }

    /// Has an exporter begin again where it is.
    pub fn reopen(&self, reader: usize) {
        self.lock().readers[reader].restart = true;
        self.work.notify_all();
    }

    /// Blocks while an exporter is switched off. Returns whether it is to begin.
    pub fn await_enabled(&self, reader: usize) -> bool {
        let mut inner = self.lock();
        while inner.stop.is_none() && !inner.readers[reader].is_at_work() {
            self.work.wait(&mut inner);
        }
        inner.readers[reader].restart = false;
        inner.stop.is_none()
    }
}
