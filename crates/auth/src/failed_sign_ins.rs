//! The log of failed sign-ins: who was tried, and from where. A flood of them is counted, not logged line by line.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

use parking_lot::Mutex;

use crate::clock::Clock;
use crate::oidc::SignInFailure;
use crate::refusal::Reason;

/// Time after which counts begin anew.
const WINDOW_MS: u64 = 60_000;
/// Lines of one window.
const LINES_MAX: usize = 30;
/// Names with addresses that are told apart in one window.
const PAIRS_MAX: usize = 1000;
/// A line for the first failure, and for each that is so many times as many.
const FACTOR: u64 = 10;
/// The longest name in a line, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Counts of the failures of now.
#[derive(Debug)]
pub(crate) struct FailedSignIns {
    clock: Clock,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    began_ms: u64,
    lines: usize,
    counts: HashMap<(Option<String>, Option<IpAddr>), u64>,
    untold: u64,
}

/// A line of the log.
#[derive(Debug, PartialEq, Eq)]
struct FailureLine {
    /// Failures of this name from this address.
    count: u64,
    /// Failures of the window before that no line told.
    untold: u64,
}

impl FailedSignIns {
    pub fn new(clock: Clock) -> Self {
        Self { clock, window: Mutex::default() }
    }

    /// Notes a failure. Other refusals than those of credentials that somebody tried are none.
    pub fn note(&self, name: Option<&str>, address: Option<IpAddr>, reason: Reason) {
        if !matches!(reason, Reason::Credentials | Reason::Resting { .. } | Reason::Token(_)) {
            return;
        }
        self.tell(name, address, &reason);
    }

    /// Notes an answer of the issuer that signs nobody in. An issuer that is away is no failure of anybody.
    pub fn note_at_issuer(&self, address: Option<IpAddr>, failure: SignInFailure) {
        if failure != SignInFailure::Unavailable {
            self.tell(None, address, &failure);
        }
    }

    fn tell(&self, name: Option<&str>, address: Option<IpAddr>, reason: &dyn fmt::Display) {
        let name = name.map(shortened);
        let Some(FailureLine { count, untold }) = self.count(name.clone(), address) else { return };
        if untold > 0 {
            tracing::info!("{untold} more failed sign-ins in the minute before");
        }
        let user = OrDash(name.as_deref().map(|name| format!("{name:?}")));
        let address = OrDash(address.map(|address| address.to_canonical()));
        tracing::info!(%user, %address, count, "a sign-in failed: {reason}");
    }

    fn count(&self, name: Option<String>, address: Option<IpAddr>) -> Option<FailureLine> {
        let now_ms = self.clock.steady_ms();
        let mut window = self.window.lock();
        let mut untold = 0;
        if now_ms.saturating_sub(window.began_ms) >= WINDOW_MS {
            untold = window.untold;
            *window = Window { began_ms: now_ms, ..Window::default() };
        }
        let has_room = window.counts.len() < PAIRS_MAX;
        let pair = (name, address);
        if !has_room && !window.counts.contains_key(&pair) {
            window.untold += 1;
            return None;
        }
        let count = window.counts.entry(pair).or_default();
        *count += 1;
        let count = *count;
        if !is_power(count) || window.lines >= LINES_MAX {
            window.untold += 1;
            return None;
        }
        window.lines += 1;
        Some(FailureLine { count, untold })
    }
}

/// Whether it is 1, 10, 100 and so on.
fn is_power(mut count: u64) -> bool {
    while count >= FACTOR && count.is_multiple_of(FACTOR) {
        count /= FACTOR;
    }
    count == 1
}

fn shortened(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

/// A value, or a dash.
struct OrDash<T>(Option<T>);

impl<T: fmt::Display> fmt::Display for OrDash<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn fixture() -> (FailedSignIns, Arc<AtomicU64>) {
        let now_ms = Arc::new(AtomicU64::new(1_000_000));
        let of_clock = Arc::clone(&now_ms);
        (FailedSignIns::new(Clock::from_fn(move || of_clock.load(Ordering::Relaxed))), now_ms)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn a_flood_of_one_name_is_few_lines() {
        let (failed, now_ms) = fixture();
        let name = || Some("ann".to_owned());
        let told: Vec<_> = (0..2000).filter_map(|_| failed.count(name(), Some(address(1)))).collect();
        let counts: Vec<_> = told.iter().map(|line| line.count).collect();
        assert_eq!(counts, [1, 10, 100, 1000]);
        assert_eq!(failed.count(name(), Some(address(2))), Some(FailureLine { count: 1, untold: 0 }));
        now_ms.fetch_add(WINDOW_MS, Ordering::Relaxed);
        assert_eq!(failed.count(name(), Some(address(1))), Some(FailureLine { count: 1, untold: 1996 }));
    }

    #[test]
    fn a_flood_of_many_names_is_bounded_too() {
        let (failed, now_ms) = fixture();
        let told = (0..5000).filter_map(|n: u32| failed.count(Some(n.to_string()), Some(address(1)))).count();
        assert_eq!((told, failed.window.lock().counts.len()), (LINES_MAX, PAIRS_MAX));
        now_ms.fetch_add(WINDOW_MS, Ordering::Relaxed);
        let line = failed.count(None, None).unwrap();
        assert_eq!(line, FailureLine { count: 1, untold: 5000 - LINES_MAX as u64 });
    }

    #[test]
    fn names_cannot_forge_lines() {
        let name = shortened(&format!("ann\nWARN \u{202e}forged\u{1b}[31m{}", "x".repeat(100)));
        let told = format!("{name:?}");
        assert!(told.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{told}");
        assert!(told.starts_with(r#""ann\nWARN"#) && name.chars().count() == NAME_CHARS_MAX);
    }
}
