//! Timer event definitions.

use crate::context::Context;
use crate::graph::{Text, TimerDefinition, TimerKind};
use crate::timer::{Cycle, Interval, parse_date};
use crate::xml::{NodeId, Space};

/// Position of a timer, which decides the forms that it may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum TimerUse {
    /// Start event of a process.
    ProcessStart,
    Catch,
    InterruptingBoundary,
    NonInterruptingBoundary,
    /// Start event of an interrupting event sub-process.
    InterruptingEventSubProcess,
    /// Start event of a non-interrupting event sub-process.
    NonInterruptingEventSubProcess,
}

impl TimerUse {
    fn allows(self, kind: TimerKind) -> bool {
        match self {
            Self::ProcessStart => kind != TimerKind::Duration,
            Self::Catch | Self::InterruptingBoundary | Self::InterruptingEventSubProcess => {
                kind != TimerKind::Cycle
            }
            Self::NonInterruptingBoundary | Self::NonInterruptingEventSubProcess => true,
        }
    }

    fn expectation(self) -> &'static str {
        match self {
            Self::ProcessStart => "a timer start event must have a date or a cycle",
            Self::Catch => "an intermediate timer event must have a date or a duration",
            Self::InterruptingBoundary => {
                "an interrupting timer boundary event must have a date or a duration"
            }
            Self::InterruptingEventSubProcess => {
                "an interrupting event sub-process must start by a date or a duration"
            }
            Self::NonInterruptingBoundary | Self::NonInterruptingEventSubProcess => {
                "a timer must have a date, a duration or a cycle"
            }
        }
    }
}

/// The timer of an event definition.
pub(super) fn timer(
    cx: &mut Context<'_, '_>,
    definition: NodeId,
    place: TimerUse,
) -> Option<TimerDefinition> {
    let document = cx.document;
    let mut forms = document.children(definition).filter_map(|child| {
        let node = document.node(child);
        let kind = match node.name {
            "timeDate" => TimerKind::Date,
            "timeDuration" => TimerKind::Duration,
            "timeCycle" => TimerKind::Cycle,
            _ => return None,
        };
        (node.space == Space::Bpmn).then_some((kind, child))
    });
    let (Some((kind, node)), None) = (forms.next(), forms.next()) else {
        cx.problem("a timer must have exactly one of timeDate, timeDuration and timeCycle");
        return None;
    };
    if !place.allows(kind) {
        cx.problem(place.expectation());
        return None;
    }
    let name = document.node(node).name;
    let text = document.text(node);
    if text.is_empty() {
        cx.problem(format!("{name} must not be empty"));
        return None;
    }
    let text = cx.text(text, name)?;
    if let Text::Static(text) = &text {
        let parsed = match kind {
            TimerKind::Date => parse_date(text).map(|_| ()),
            TimerKind::Duration => Interval::parse(text).map(|_| ()),
            TimerKind::Cycle => Cycle::parse(text).map(|_| ()),
        };
        if let Err(error) = parsed {
            cx.problem(format!("{name}: {error}"));
            return None;
        }
    }
    Some(TimerDefinition { kind, text })
}
