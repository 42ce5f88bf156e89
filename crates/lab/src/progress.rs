//! Progress of a run: the experiments under way with their phases, and the time that is left.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

use parking_lot::Mutex;

/// Shared by all experiments of a run.
pub(crate) struct Progress {
    began: Instant,
    state: Mutex<ProgressState>,
    /// Experiments at a time.
    lanes: u32,
}

struct ProgressState {
    /// Experiments under way, with their phases.
    running: BTreeMap<&'static str, (String, Instant, u32)>,
    done: usize,
    all: usize,
    /// Estimated seconds of those that have not begun.
    ahead_seconds: u32,
}

impl Progress {
    pub(crate) fn new(all: usize, seconds: u32, lanes: u32) -> Self {
        let state = ProgressState { running: BTreeMap::new(), done: 0, all, ahead_seconds: seconds };
        Self { began: Instant::now(), state: Mutex::new(state), lanes }
    }

    pub(crate) fn begins(&self, id: &'static str, seconds: u32) {
        {
            let mut state = self.state.lock();
            state.ahead_seconds = state.ahead_seconds.saturating_sub(seconds);
            state.running.insert(id, ("starting".to_owned(), Instant::now(), seconds));
        }
        self.draw();
    }

    pub(crate) fn phase(&self, id: &'static str, phase: &str) {
        if let Some(running) = self.state.lock().running.get_mut(id) {
            phase.clone_into(&mut running.0);
        }
        if std::io::stderr().is_terminal() {
            self.draw();
        } else {
            note(&format!("{:>5.0} s  {id}: {phase}", self.began.elapsed().as_secs_f64()));
        }
    }

    pub(crate) fn ends(&self, id: &'static str) {
        {
            let mut state = self.state.lock();
            state.running.remove(id);
            state.done += 1;
        }
        self.draw();
    }

    /// Draws the line anew.
    pub(crate) fn draw(&self) {
        if std::io::stderr().is_terminal() {
            let mut stderr = std::io::stderr().lock();
            // A terminal that has gone shows nothing.
            let _ = write!(stderr, "\r\x1b[K{}", self.line()).and_then(|()| stderr.flush());
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if std::io::stderr().is_terminal() {
            let mut stderr = std::io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
        }
    }

    fn line(&self) -> String {
        let state = self.state.lock();
        let left = |(_, began, seconds): &(String, Instant, u32)| {
            f64::from(*seconds) - began.elapsed().as_secs_f64()
        };
        let longest = state.running.values().map(left).fold(0.0, f64::max);
        let ahead = f64::from(state.ahead_seconds) / f64::from(self.lanes.max(1));
        let seconds = longest + ahead;
        let names: Vec<String> =
            state.running.iter().map(|(id, (phase, _, _))| format!("{id} {phase}")).collect();
        let left = if seconds >= 90.0 {
            format!("{:.0} min", seconds / 60.0)
        } else {
            format!("{:.0} s", seconds.max(1.0))
        };
        format!("[{}/{}] {}; about {left} left", state.done, state.all, names.join(", "))
    }
}

fn note(line: &str) {
    // Progress that nobody reads is no failure.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_phases_and_the_time_left() {
        let progress = Progress::new(2, 90, 1);
        progress.begins("E1", 30);
        progress.phase("E1", "steady");
        let line = progress.line();
        assert!(line.starts_with("[0/2] E1 steady; about 90 s") || line.contains("2 min"), "{line}");
        progress.ends("E1");
        assert!(progress.line().starts_with("[1/2] "), "{}", progress.line());
    }
}
