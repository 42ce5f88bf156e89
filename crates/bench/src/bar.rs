//! How far a measurement is, in one line of a terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

const CELLS: usize = 30;

/// A bar with a message behind it, on the standard error output, drawn anew with each message; not at all if that
/// is no terminal.
pub(crate) struct Bar {
    is_shown: bool,
    percent: usize,
}

impl Bar {
    pub fn new(is_wanted: bool) -> Self {
        Self { is_shown: is_wanted && std::io::stderr().is_terminal(), percent: 0 }
    }

    /// How much is done, from 0 to 1.
    pub fn reach(&mut self, done: f64) {
        self.percent = (done.clamp(0.0, 1.0) * 100.0) as usize;
    }

    pub fn print(&self, message: &str) {
        if self.is_shown {
            draw(&line(self.percent, message));
        }
    }

    pub fn clear(&self) {
        if self.is_shown {
            draw("");
        }
    }
}

fn line(percent: usize, message: &str) -> String {
    let full = CELLS * percent / 100;
    let mut line = "█".repeat(full);
    line.extend(std::iter::repeat_n('░', CELLS - full));
    write!(line, " {percent:>3} % {message}").expect("writing to memory does not fail");
    line
}

/// Replaces the line at the cursor (ECMA-48: erase in line).
fn draw(line: &str) {
    let mut stderr = std::io::stderr().lock();
    // A terminal that has gone shows nothing.
    let _ = write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_fill_with_the_percentage() {
        assert_eq!(line(0, "begins"), format!("{}   0 % begins", "░".repeat(30)));
        assert_eq!(line(50, ""), format!("{}{}  50 % ", "█".repeat(15), "░".repeat(15)));
        let mut bar = Bar::new(false);
        bar.reach(1.7);
        assert_eq!(line(bar.percent, "is done"), format!("{} 100 % is done", "█".repeat(30)));
    }
}
