//! The time, replaceable so that tests need not wait for an expiry.
//!
//! The time of day is for what others have dated: tokens. Times that this process began itself (a session, an age
//! of keys) are measured by a clock that is never set, so that nobody's session ends or goes on because an operator
//! or a time server corrects the time of day.

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

type Read = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Tells the time.
#[derive(Clone)]
pub struct Clock {
    wall: Read,
    steady: Read,
}

impl Clock {
    /// The clocks of the machine.
    pub fn system() -> Self {
        let began = Instant::now();
        Self::from_fns(
            || {
                let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                age.map_or(0, |age| age.as_millis() as u64)
            },
            move || began.elapsed().as_millis() as u64,
        )
    }

    /// Clocks that both say what `now_ms` says.
    pub fn from_fn(now_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        let both: Read = Arc::new(now_ms);
        Self { wall: Arc::clone(&both), steady: both }
    }

    /// A time of day in Unix milliseconds, and a clock that never goes back.
    pub fn from_fns(
        wall_ms: impl Fn() -> u64 + Send + Sync + 'static,
        steady_ms: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self { wall: Arc::new(wall_ms), steady: Arc::new(steady_ms) }
    }

    /// The time of day, in Unix milliseconds.
    pub fn now_ms(&self) -> u64 {
        (self.wall)()
    }

    /// Milliseconds since some moment, whatever becomes of the time of day.
    pub fn steady_ms(&self) -> u64 {
        (self.steady)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({}, {})", self.now_ms(), self.steady_ms())
    }
}
