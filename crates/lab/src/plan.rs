//! How long rows take, and how much they are shortened to end within a budget of time.

use std::time::{Duration, Instant};

use crate::experiment::{Body, Experiment};
use crate::lab::Size;

/// Rows are not shortened to less than this part of their length: they would show nothing.
const SCALE_MIN: f64 = 0.1;

/// Expected seconds of a row.
pub(crate) fn seconds(experiment: &Experiment, size: Size) -> f64 {
    let (quick, full) = (f64::from(experiment.seconds.0), f64::from(experiment.seconds.1));
    match (&experiment.body, size) {
        (Body::NotRun(_), _) => 0.0,
        (Body::Run(_), Size::Quick) => quick,
        // Starts, ends and what is worked off are about as long at any scale.
        (Body::Run(_), Size::Full(scale)) => quick + (full - quick) * scale,
    }
}

/// Expected seconds of several rows, one after the other.
pub(crate) fn seconds_of_all(rows: &[&Experiment], size: Size) -> f64 {
    rows.iter().map(|row| seconds(row, size)).sum()
}

/// Time for all rows of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeBudget {
    pub(crate) began: Instant,
    pub(crate) all: Duration,
    /// Rows at a time.
    pub(crate) lanes: u32,
}

impl TimeBudget {
    /// The size of the first of the rows that are left; `None` if there is no time for it.
    pub(crate) fn size(&self, left: &[&Experiment]) -> Option<Size> {
        let rest = self.all.checked_sub(self.began.elapsed())?;
        Some(Size::Full(scale(left, rest.as_secs_f64() * f64::from(self.lanes))))
    }
}

/// The scale at which rows take so many seconds.
fn scale(rows: &[&Experiment], seconds: f64) -> f64 {
    let (least, most) = (seconds_of_all(rows, Size::Full(0.0)), seconds_of_all(rows, Size::Full(1.0)));
    ((seconds - least) / (most - least).max(1.0)).clamp(SCALE_MIN, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::ALL;

    #[test]
    fn a_budget_shortens_what_is_left() {
        let budget =
            |seconds| TimeBudget { began: Instant::now(), all: Duration::from_secs(seconds), lanes: 1 };
        let Some(Size::Full(scale)) = budget(1500).size(ALL) else { panic!("there is time") };
        assert!((0.1..0.9).contains(&scale), "{scale}");
        let takes = seconds_of_all(ALL, Size::Full(scale));
        assert!((1450.0..1550.0).contains(&takes), "{takes}");
        assert_eq!(budget(1_000_000).size(ALL), Some(Size::Full(1.0)));
        assert_eq!(budget(1).size(ALL), Some(Size::Full(SCALE_MIN)));
        assert_eq!(budget(0).size(ALL), None);
        // The time that a short row leaves is for the others.
        let Some(Size::Full(later)) = budget(1500).size(&ALL[5..]) else { panic!("there is time") };
        assert!(later > scale);
    }
}
