//! Counts of what happened, for metrics. Not part of the state.

#![expect(missing_docs, reason = "names say what is held")]

use bpmn::graph::{ElementType, EventType};

/// Actions on element instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementAction {
    Activated,
    Completed,
    Terminated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobAction {
    Created,
    /// Handed to a worker.
    Activated,
    Completed,
    Failed,
    TimedOut,
    Canceled,
    ErrorThrown,
    Yielded,
}

impl JobAction {
    /// All, in the order of [`Counters::jobs`].
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Created, "created"),
        (Self::Activated, "activated"),
        (Self::Completed, "completed"),
        (Self::Failed, "failed"),
        (Self::TimedOut, "timed out"),
        (Self::Canceled, "canceled"),
        (Self::ErrorThrown, "error thrown"),
        (Self::Yielded, "yielded"),
    ];
}

/// How many element types there are.
const ELEMENT_TYPES: usize = ElementType::ALL.len();
/// How many types of events there are, [`EventType::Unspecified`] included.
const EVENT_TYPES: usize = EventType::ALL.len();

/// Counts since the engine was opened.
#[derive(Debug, Clone)]
pub struct Counters {
    /// By element type, type of event and action; see [`Counters::element`].
    elements: [[[u64; 3]; EVENT_TYPES]; ELEMENT_TYPES],
    /// Process instances that no other one has called, by action; see [`Counters::roots`].
    roots: [u64; 3],
    pub jobs: [u64; 8],
    pub incidents_created: u64,
    pub incidents_resolved: u64,
    /// Evaluations of decisions that came to a result, by processes and on their own.
    pub decisions_evaluated: u64,
    /// Evaluations of decisions that failed.
    pub decisions_failed: u64,
    /// Decisions in evaluations that came to a result, those that were required included. Without records of an
    /// evaluation, nobody knows what it required: then it counts as one.
    pub decision_elements_evaluated: u64,
    /// Decisions in evaluations that failed, those that were required included; see
    /// [`Self::decision_elements_evaluated`].
    pub decision_elements_failed: u64,
    pub banned_instances: u64,
    pub commands: u64,
    pub steps: u64,
    /// Rows that joins looked at to see who lives in their scope.
    pub join_rows: u64,
    /// Rows looked at to find the instances of an element in a scope.
    pub child_rows: u64,
    /// Rows looked at to find those that a message or a signal reaches.
    pub event_rows: u64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            elements: [[[0; 3]; EVENT_TYPES]; ELEMENT_TYPES],
            roots: [0; 3],
            jobs: [0; 8],
            incidents_created: 0,
            incidents_resolved: 0,
            decisions_evaluated: 0,
            decisions_failed: 0,
            decision_elements_evaluated: 0,
            decision_elements_failed: 0,
            banned_instances: 0,
            commands: 0,
            steps: 0,
            join_rows: 0,
            child_rows: 0,
            event_rows: 0,
        }
    }
}

impl Counters {
    pub(crate) fn count_element(
        &mut self,
        element_type: ElementType,
        event_type: EventType,
        action: ElementAction,
    ) {
        self.elements[element_type as usize][event_type as usize][action as usize] += 1;
    }

    pub(crate) fn count_root(&mut self, action: ElementAction) {
        self.roots[action as usize] += 1;
    }

    pub(crate) fn count_decision(&mut self, is_evaluated: bool, elements: usize) {
        let elements = elements as u64;
        if is_evaluated {
            self.decisions_evaluated += 1;
            self.decision_elements_evaluated += elements;
        } else {
            self.decisions_failed += 1;
            self.decision_elements_failed += elements;
        }
    }

    pub(crate) fn count_job(&mut self, action: JobAction) {
        self.jobs[action as usize] += 1;
    }

    /// How often something happened to process instances that no other one has called.
    pub fn roots(&self, action: ElementAction) -> u64 {
        self.roots[action as usize]
    }

    /// How often something happened to elements of a type.
    pub fn element(&self, element_type: ElementType, event_type: EventType, action: ElementAction) -> u64 {
        self.elements[element_type as usize][event_type as usize][action as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_is_counted_by_itself() {
        let mut counters = Counters::default();
        for (times, element_type) in ElementType::ALL.iter().enumerate() {
            for _ in 0..=times {
                counters.count_element(*element_type, EventType::Timer, ElementAction::Completed);
            }
        }
        for (times, element_type) in ElementType::ALL.iter().enumerate() {
            let count = |event_type| counters.element(*element_type, event_type, ElementAction::Completed);
            assert_eq!(count(EventType::Timer), times as u64 + 1, "{element_type}");
            assert_eq!(count(EventType::None), 0, "{element_type}");
        }
        assert!(ElementType::ALL.contains(&ElementType::AdHocSubProcessInnerInstance));
    }
}
