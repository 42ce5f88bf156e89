//! Figures of the jobs of each type. The number of types is bounded; the rest is counted together.

use std::collections::BTreeMap;

use protocol::Name;

/// Job types that are counted apart.
const TYPES_MAX: usize = 100;
/// The name of all others.
const OTHERS: &str = "other";

/// The numbers of one job type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JobTypeFigures {
    /// Jobs that they may hold.
    pub credit: u64,
    /// Jobs that they hold.
    pub outstanding: u64,
    /// Jobs among them whose time was over.
    pub overdue: u64,
    /// Jobs handed to streams.
    pub streamed: u64,
    /// Jobs handed to polls.
    pub polled: u64,
    /// Jobs that streams did not answer in time.
    pub timed_out: u64,
    /// Answers for jobs that had ended or were with nobody.
    pub refused: u64,
}

/// The numbers of all job types.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobTypes(BTreeMap<Name, JobTypeFigures>);

impl JobTypes {
    /// Those of a type, or of the others.
    pub fn of(&mut self, job_type: &Name) -> &mut JobTypeFigures {
        if !self.0.contains_key(job_type) && self.0.len() >= TYPES_MAX {
            return self.of_others();
        }
        self.0.entry(job_type.clone()).or_default()
    }

    /// Those of types that are not known, or of which there are too many.
    pub fn of_others(&mut self) -> &mut JobTypeFigures {
        self.0.entry(Name::from(OTHERS)).or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Name, &JobTypeFigures)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_types_are_counted_together() {
        let mut types = JobTypes::default();
        for number in 0..TYPES_MAX + 50 {
            types.of(&Name::from(format!("type-{number}"))).polled += 1;
        }
        assert_eq!(types.iter().count(), TYPES_MAX + 1);
        assert_eq!(types.of_others().polled, 50);
        types.of(&Name::from("type-3")).polled += 1;
        assert_eq!(types.of(&Name::from("type-3")).polled, 2);
    }
}
