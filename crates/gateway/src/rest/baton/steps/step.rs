//! A step of an instance.

use protocol::{Key, Name};
use search::model::StepKind;

use crate::rest::writer::{Digits, Moment, object};

#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) position: u64,
    pub(super) time_ms: i64,
    pub(super) kind: StepKind,
    pub(super) element_id: Option<Name>,
    pub(super) element_key: Option<Key>,
    pub(super) subject_key: Option<Key>,
    pub(super) name: Option<Name>,
    pub(super) value: Option<Name>,
}

impl Step {
    /// A step of a kind, of which nothing else is known.
    pub(super) const fn of(kind: StepKind) -> Self {
        Self {
            position: 0,
            time_ms: 0,
            kind,
            element_id: None,
            element_key: None,
            subject_key: None,
            name: None,
            value: None,
        }
    }
}

pub(super) fn write(step: &Step, out: &mut Vec<u8>) {
    object(out)
        .with("position", step.position)
        .with("time", Moment(step.time_ms))
        .with("kind", step.kind.as_str())
        .with("elementId", step.element_id.as_ref())
        .with("elementInstanceKey", step.element_key.map(Digits))
        .with("key", step.subject_key.map(Digits))
        .with("name", step.name.as_ref())
        .with("value", step.value.as_ref())
        .end();
}
