//! Kinds of steps of a process instance.

/// A kind of step, as secondary storage keeps it and the API names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    ElementActivated,
    ElementCompleted,
    ElementTerminated,
    VariableSet,
    JobCreated,
    JobActivated,
    JobCompleted,
    JobFailed,
    JobTimedOut,
    JobCanceled,
    IncidentCreated,
    IncidentResolved,
    Modified,
    Migrated,
    Suspended,
    Resumed,
    Canceled,
}

impl StepKind {
    pub const ALL: [Self; 17] = [
        Self::ElementActivated,
        Self::ElementCompleted,
        Self::ElementTerminated,
        Self::VariableSet,
        Self::JobCreated,
        Self::JobActivated,
        Self::JobCompleted,
        Self::JobFailed,
        Self::JobTimedOut,
        Self::JobCanceled,
        Self::IncidentCreated,
        Self::IncidentResolved,
        Self::Modified,
        Self::Migrated,
        Self::Suspended,
        Self::Resumed,
        Self::Canceled,
    ];

    /// Its name in the store and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ElementActivated => "ELEMENT_ACTIVATED",
            Self::ElementCompleted => "ELEMENT_COMPLETED",
            Self::ElementTerminated => "ELEMENT_TERMINATED",
            Self::VariableSet => "VARIABLE_SET",
            Self::JobCreated => "JOB_CREATED",
            Self::JobActivated => "JOB_ACTIVATED",
            Self::JobCompleted => "JOB_COMPLETED",
            Self::JobFailed => "JOB_FAILED",
            Self::JobTimedOut => "JOB_TIMED_OUT",
            Self::JobCanceled => "JOB_CANCELED",
            Self::IncidentCreated => "INCIDENT_CREATED",
            Self::IncidentResolved => "INCIDENT_RESOLVED",
            Self::Modified => "MODIFIED",
            Self::Migrated => "MIGRATED",
            Self::Suspended => "SUSPENDED",
            Self::Resumed => "RESUMED",
            Self::Canceled => "CANCELED",
        }
    }

    /// The kind of a name; `None` if it is that of no kind of this release.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_kinds() {
        for (place, kind) in StepKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
            assert_eq!(StepKind::of(kind.as_str()), Some(kind));
        }
        assert_eq!(StepKind::of("ELEMENT"), None);
    }
}
