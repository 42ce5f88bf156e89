//! On whose behalf the engine works: the caller, and what its records refer to.

use std::sync::Arc;

use protocol::{Actor, Caller, Command, Key, Name, ValueType};

use crate::core::step::Step;

/// The caller of a piece of work and the references that its records echo. A context holds one at a time.
#[derive(Clone, Default)]
pub(crate) struct CommandOrigin {
    /// Caller of the command, if known.
    pub caller: Option<Arc<Caller>>,
    /// The tenant that the command names, if it names one.
    pub tenant_id: Option<Name>,
    pub operation_reference: Option<u64>,
    /// The batch operation at work, echoed in records.
    pub batch_operation_reference: Option<Key>,
    /// Actor and subjects of the records; `None` for the engine's own work.
    pub attribution: Option<Attribution>,
}

/// The actor that records are attributed to.
#[derive(Clone)]
pub(crate) struct Attribution {
    pub actor: Actor,
    /// Subjects of its records.
    pub subjects: &'static [ValueType],
}

impl CommandOrigin {
    pub fn of(command: &Command) -> Self {
        let (caller, facts) = (command.caller(), command.facts());
        Self {
            caller: caller.map(|caller| Arc::new(caller.clone())),
            tenant_id: facts.tenant_id.cloned(),
            operation_reference: facts.operation_reference,
            batch_operation_reference: None,
            attribution: Some(Attribution { actor: Actor::of(caller), subjects: command.subjects() }),
        }
    }

    /// Actor of the work, for later steps.
    pub fn actor(&self) -> Option<Actor> {
        self.attribution.as_ref().map(|attribution| attribution.actor.clone())
    }

    /// Notes the references with a step that runs later. Steps of a batch operation read them from its row.
    pub fn noted_with(&self, step: Step) -> Step {
        let Self { operation_reference, batch_operation_reference, .. } = *self;
        let is_known = matches!(
            step,
            Step::WithOrigin { .. }
                | Step::WorkOnBatch { .. }
                | Step::DoBatchItem { .. }
                | Step::ForgetBatches
        );
        if is_known || (operation_reference.is_none() && batch_operation_reference.is_none()) {
            return step;
        }
        Step::WithOrigin { operation_reference, batch_operation_reference, step: Box::new(step) }
    }
}
