//! From records to rows: one file for each kind of record that leaves a trace. A projection looks at one record at a
//! time and remembers only names that models give; the rest is in the rows.

mod agent;
mod audit_log;
mod batch_operation;
mod decision;
mod definition;
mod duration;
mod element;
mod history;
mod incident;
mod job;
mod message;
mod names;
mod step;
mod usage;
mod user_task;
mod variable;
mod wait_state;

use std::time::Duration;

use duration::Durations;
use protocol::{Record, RecordValue};
use usage::Usage;

pub use audit_log::{AuditCategory, AuditSettings};
pub use names::{DeployedModel, Loader, Names};

use crate::change::Batch;
use crate::count::Counted;
use crate::store::Writer;
use search::StoreError;

/// Turns records into changes.
pub struct Projection {
    names: Names,
    audit: AuditSettings,
    counted: job::Counted,
    ended: Counted,
    usage: Usage,
    /// Whether steps of instances are kept.
    steps: bool,
    /// Counters of durations, where these are kept.
    durations: Option<Durations>,
}

impl Projection {
    /// A projection that asks a loader for models which were deployed before it began.
    pub fn new(loader: Box<dyn Loader>) -> Self {
        Self {
            names: Names::new(loader),
            audit: AuditSettings::default(),
            counted: job::Counted::default(),
            ended: Counted::default(),
            usage: Usage::every(Usage::INTERVAL),
            steps: false,
            durations: None,
        }
    }

    /// Sets the choice of what the audit log keeps.
    #[must_use]
    pub fn with_audit(self, audit: AuditSettings) -> Self {
        Self { audit, ..self }
    }

    /// Sets the interval that usage is counted by.
    #[must_use]
    pub fn with_usage_interval(self, interval: Duration) -> Self {
        Self { usage: Usage::every(interval), ..self }
    }

    /// Sets whether the steps of instances are kept.
    #[must_use]
    pub fn with_steps(self, steps: bool) -> Self {
        Self { steps, ..self }
    }

    /// Sets whether the durations of elements are counted.
    #[must_use]
    pub fn with_durations(self, durations: bool) -> Self {
        Self { durations: durations.then(Durations::default), ..self }
    }

    /// Adds what was counted since the last call to the changes of the same records. The writer has all that came
    /// before them.
    pub fn settle(&mut self, batch: &mut Batch, writer: &mut dyn Writer) -> Result<(), StoreError> {
        self.durations.as_mut().map_or(Ok(()), |durations| durations.settle(batch, writer))
    }

    /// Forgets what was counted and is not among the changes yet.
    pub fn discard(&mut self) {
        if let Some(durations) = &mut self.durations {
            durations.discard();
        }
    }

    /// The reason why names were missing since the last call. Rows made of records
    /// since then must not be written.
    pub fn take_failure(&mut self) -> Option<StoreError> {
        self.names.take_failure()
    }

    /// Adds what a record changes. Records come in their order, and perhaps again.
    pub fn apply(&mut self, record: &Record, batch: &mut Batch) {
        audit_log::apply(record, &self.audit, &mut self.names, batch);
        self.usage.apply(record, batch);
        wait_state::apply(record, batch);
        if self.steps {
            step::apply(record, batch);
        }
        if let Some(durations) = &mut self.durations {
            durations.apply(record, batch);
        }
        self.apply_value(record, batch);
    }

    /// The rows that the record's value is shown in.
    fn apply_value(&mut self, record: &Record, batch: &mut Batch) {
        match &record.value {
            RecordValue::ProcessInstance(value) => {
                element::apply(record, value, &mut self.names, &mut self.ended, batch);
            }
            RecordValue::Variable(value) => variable::apply(record, value, batch),
            RecordValue::Job(value) => job::apply(record, value, &mut self.counted, batch),
            RecordValue::Incident(value) => incident::apply(record, value, batch),
            RecordValue::UserTask(value) => user_task::apply(record, value, &mut self.names, batch),
            RecordValue::ProcessMessageSubscription(value) => {
                message::subscription(record, value, &mut self.names, batch);
            }
            RecordValue::MessageStartEventSubscription(value) => {
                message::start(record, value, &mut self.names, batch);
            }
            RecordValue::Process(value) => definition::process(record, value, &mut self.names, batch),
            RecordValue::Decision(value) => definition::decision(record, value, batch),
            RecordValue::DecisionRequirements(value) => definition::requirements(record, value, batch),
            RecordValue::Form(value) => definition::form(record, value, batch),
            RecordValue::DecisionEvaluation(value) => decision::apply(record, value, batch),
            RecordValue::BatchOperationCreation(value) => batch_operation::creation(record, value, batch),
            RecordValue::BatchOperationInitialization(value) => {
                batch_operation::initialization(record, value, batch);
            }
            RecordValue::HistoryDeletion(value) => history::deletion(record, value, batch),
            RecordValue::BatchOperationChunk(value) => batch_operation::chunk(record, value, batch),
            RecordValue::BatchOperationExecution(value) => batch_operation::execution(record, value, batch),
            RecordValue::BatchOperationLifecycleManagement(value) => {
                batch_operation::lifecycle(record, value, batch);
            }
            RecordValue::AgentDefinition(value) => agent::define(record, value, batch),
            RecordValue::AgentInstance(value) => agent::instance(record, value, batch),
            RecordValue::AgentHistory(value) => agent::item(record, value, batch),
            // They make no row of their own: the engine is asked for their things, or they go with another record.
            #[rustfmt::skip]
            RecordValue::Deployment(_) | RecordValue::Message(_) | RecordValue::MessageSubscription(_)
            | RecordValue::Timer(_) | RecordValue::ProcessInstanceCreation(_) | RecordValue::Error(_)
            | RecordValue::ResourceDeletion(_) | RecordValue::CompensationSubscription(_)
            | RecordValue::Signal(_) | RecordValue::SignalSubscription(_) | RecordValue::Escalation(_)
            | RecordValue::ConditionalSubscription(_) | RecordValue::ConditionalEvaluation(_)
            | RecordValue::ProcessInstanceMigration(_) | RecordValue::ProcessInstanceModification(_)
            | RecordValue::RuntimeInstruction(_) | RecordValue::ClusterVariable(_) | RecordValue::Resource(_)
            | RecordValue::BatchOperationPartitionLifecycle(_) | RecordValue::ProcessInstanceBatch(_)
            | RecordValue::MultiInstance(_) | RecordValue::AdHocSubProcessInstruction(_)
            | RecordValue::GlobalListener(_) | RecordValue::VariableDocument(_) | RecordValue::Clock(_)
            | RecordValue::User(_) | RecordValue::Group(_) | RecordValue::Role(_) | RecordValue::Tenant(_)
            | RecordValue::MappingRule(_) | RecordValue::Authorization(_) | RecordValue::Purge(_) => {}
        }
    }
}
