//! Triggers of events, by the position of the event.

use super::compensation::own_handler;
use super::condition::condition;
use super::error::caught_error;
use super::escalation::caught_escalation;
use super::timer::{TimerUse, timer};
use super::{Definition, KeyNeed, message, signal};
use crate::context::Context;
use crate::graph::{EventType, Trigger};

/// Position of a catching event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Start event of a process.
    ProcessStart,
    /// Start event of an event sub-process.
    EventSubProcess {
        /// Whether it is interrupting: it ends everything else in its scope.
        interrupting: bool,
    },
    Catch,
    Boundary {
        /// Whether it is interrupting: it ends its activity.
        interrupting: bool,
        /// Whether something inside the activity can throw.
        around_others: bool,
    },
}

impl Place {
    fn timer_use(self) -> TimerUse {
        match self {
            Self::ProcessStart => TimerUse::ProcessStart,
            Self::Catch => TimerUse::Catch,
            Self::EventSubProcess { interrupting: true } => TimerUse::InterruptingEventSubProcess,
            Self::EventSubProcess { interrupting: false } => TimerUse::NonInterruptingEventSubProcess,
            Self::Boundary { interrupting: true, .. } => TimerUse::InterruptingBoundary,
            Self::Boundary { interrupting: false, .. } => TimerUse::NonInterruptingBoundary,
        }
    }

    /// Whether errors and escalations thrown inside are caught here.
    fn catches(self) -> bool {
        matches!(self, Self::EventSubProcess { .. } | Self::Boundary { .. })
    }

    fn interrupts(self) -> bool {
        !matches!(
            self,
            Self::EventSubProcess { interrupting: false } | Self::Boundary { interrupting: false, .. }
        )
    }

    fn expectation(self) -> &'static str {
        match self {
            Self::ProcessStart => "a start event must be one of: none, message, timer, signal, conditional",
            Self::EventSubProcess { .. } => {
                "the start event of an event sub-process must be one of: message, timer, error, escalation, signal, conditional, compensation"
            }
            Self::Catch => {
                "an intermediate catch event must be one of: message, timer, signal, link, conditional"
            }
            Self::Boundary { .. } => {
                "a boundary event must be one of: message, timer, error, escalation, signal, conditional, compensation, cancel"
            }
        }
    }
}

/// The trigger that an event definition describes; `None` after a finding, which is reported.
pub(crate) fn trigger(
    cx: &mut Context<'_, '_>,
    definition: Definition,
    place: Place,
) -> Option<(Trigger, EventType)> {
    let found = match definition {
        Definition::Message(node) => {
            let need = if place == Place::ProcessStart { KeyNeed::Optional } else { KeyNeed::Required };
            (Trigger::Message(message(cx, node, need)?), EventType::Message)
        }
        Definition::Timer(node) => (Trigger::Timer(timer(cx, node, place.timer_use())?), EventType::Timer),
        Definition::Error(node) if place.catches() => {
            let trigger = caught_error(cx, node)?;
            if !place.interrupts() {
                cx.problem(match place {
                    Place::Boundary { .. } => "an error boundary event must be interrupting",
                    _ => "an error start event must be interrupting",
                });
                return None;
            }
            (trigger, EventType::Error)
        }
        Definition::Escalation(node) if place.catches() => {
            let trigger = caught_escalation(cx, node)?;
            if matches!(place, Place::Boundary { around_others: false, .. }) {
                cx.problem(
                    "an escalation boundary event must be attached to a sub-process or a call activity",
                );
                return None;
            }
            (trigger, EventType::Escalation)
        }
        Definition::Compensation(_) if matches!(place, Place::EventSubProcess { .. }) => {
            (own_handler(cx)?, EventType::Compensation)
        }
        Definition::Signal(node) => (Trigger::Signal(signal(cx, node)?), EventType::Signal),
        Definition::Condition(node) => (Trigger::Condition(condition(cx, node)?), EventType::Conditional),
        _ => {
            cx.problem(place.expectation());
            return None;
        }
    };
    Some(found)
}
