//! Limits and switches of the engine. Those that users configure and that decide what a command does are settings of
//! the partition (`settings.rs`); the rest are constants of a release, or make no difference to the state.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use protocol::{
    ENTRIES_SETTING, FIRST_PARTITION, IdempotencySettings, Intent, Name, PartitionId, PartitionSettings,
};

/// Where a test can make the engine fail.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// An element is activated.
    Activate,
    /// An element is completed.
    Complete,
    /// A job of an element is handed to a worker.
    Deliver,
    /// An element has been terminated, and its scope is told.
    Terminate,
}

/// Limits of the work of commands. The result of the log depends on these limits, as it does on no others that users
/// set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLimits {
    /// Fuel that the expressions and decisions of one command may use; the rest of its steps goes on in a later
    /// command.
    pub max_fuel_per_command: u64,
    /// Fuel that those of one step may use, or those of a command before its steps. Beyond it, the step ends in an
    /// incident and the command is refused.
    pub max_fuel_per_step: u64,
    /// Bytes of the values that one step may make.
    pub max_bytes_per_step: usize,
    /// Bytes of memory of the values that the expressions and decisions of one step may make on the way, whether
    /// they are stored or not.
    pub max_evaluation_bytes: u64,
    /// Bytes of one variable, as JSON.
    pub max_variable_bytes: usize,
    /// Bytes of an output collection, and of the items of a multi-instance body.
    pub max_collection_bytes: usize,
    /// Bytes of the large variables of a process instance: of those with [`LARGE_BYTES`] or more.
    pub max_instance_variable_bytes: u64,
    /// Bytes of the records of one command, about, whether they are made or not; the rest of its steps goes on in a
    /// later command.
    pub max_record_bytes_per_command: u64,
    /// Entries of all lists of one command: variables, instructions, elements. More are refused.
    pub max_entries_per_command: usize,
    /// Variables of one scope, and targets of the mappings of one element.
    pub max_scope_variables: usize,
}

/// A limit of [`WorkLimits`] that ends a step in an incident or refuses a command, which name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkLimit {
    /// Fuel of a step.
    Fuel,
    /// Bytes that a step makes to be stored.
    StepBytes,
    /// Bytes that evaluations make on the way.
    EvaluationBytes,
    /// Bytes of a variable.
    VariableBytes,
    /// Bytes of a collection.
    CollectionBytes,
    /// Bytes of the variables of a process instance.
    InstanceVariableBytes,
    /// Entries of a command.
    Entries,
    /// Variables of a scope.
    ScopeVariables,
}

impl WorkLimit {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Fuel,
        Self::StepBytes,
        Self::EvaluationBytes,
        Self::VariableBytes,
        Self::CollectionBytes,
        Self::InstanceVariableBytes,
        Self::Entries,
        Self::ScopeVariables,
    ];

    /// Name of the setting.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Fuel => "limits.max_fuel_per_step",
            Self::StepBytes => "limits.max_bytes_per_step",
            Self::EvaluationBytes => "limits.max_evaluation_bytes",
            Self::VariableBytes => "limits.max_variable_bytes",
            Self::CollectionBytes => "limits.max_collection_bytes",
            Self::InstanceVariableBytes => "limits.max_instance_variable_bytes",
            Self::Entries => ENTRIES_SETTING,
            Self::ScopeVariables => "limits.max_scope_variables",
        }
    }

    /// Its value.
    pub fn figure(self, limits: &WorkLimits) -> u64 {
        // All fields are named, so that a new one is thought of here.
        let WorkLimits {
            // Of these the rest goes on later.
            max_fuel_per_command: _,
            max_record_bytes_per_command: _,
            max_fuel_per_step,
            max_bytes_per_step,
            max_evaluation_bytes,
            max_variable_bytes,
            max_collection_bytes,
            max_instance_variable_bytes,
            max_entries_per_command,
            max_scope_variables,
        } = *limits;
        match self {
            Self::Fuel => max_fuel_per_step,
            Self::StepBytes => max_bytes_per_step as u64,
            Self::EvaluationBytes => max_evaluation_bytes,
            Self::VariableBytes => max_variable_bytes as u64,
            Self::CollectionBytes => max_collection_bytes as u64,
            Self::InstanceVariableBytes => max_instance_variable_bytes,
            Self::Entries => max_entries_per_command as u64,
            Self::ScopeVariables => max_scope_variables as u64,
        }
    }
}

/// From this size on, variables count for the limit of their instance. Smaller ones are not worth the counting.
pub const LARGE_BYTES: usize = 1024;

impl Default for WorkLimits {
    fn default() -> Self {
        // A variable takes some 20 µs, with its rows and records.
        // A unit takes 15 to 45 ns whatever it pays for (`crates/feel/benches/fuel.rs`), so a step takes some 50 ms
        // at worst, and a batch not much more than two of them.
        Self {
            max_fuel_per_command: 150_000,
            max_fuel_per_step: 1_500_000,
            max_bytes_per_step: 16 * 1024 * 1024,
            max_evaluation_bytes: 32 * 1024 * 1024,
            max_variable_bytes: 4 * 1024 * 1024,
            max_collection_bytes: 4 * 1024 * 1024,
            max_instance_variable_bytes: 32 * 1024 * 1024,
            max_record_bytes_per_command: 16 * 1024 * 1024,
            max_entries_per_command: 2_000,
            max_scope_variables: 5_000,
        }
    }
}

/// Options of the engine.
#[derive(Debug, Clone)]
pub struct Options {
    /// The partition; part of every key.
    pub partition_id: PartitionId,
    /// How many partitions there are.
    pub partitions: PartitionSettings,
    /// Whether records are made.
    pub records: bool,
    /// Intents whose records are not made. They take positions, too.
    pub unwanted_records: Vec<Intent>,
    /// Steps that one command may cause; the rest goes on in a later command.
    pub max_steps_per_command: usize,
    /// Items of each kind that one tick triggers. It puts ten times as many due timers into the queue.
    pub max_due_per_tick: usize,
    /// Elements of a scope that are terminated in one step.
    pub max_children_per_step: usize,
    /// Element instances, variables, timers, subscriptions and tokens of an instance that can be migrated.
    pub max_rows_per_migration: usize,
    /// Process instances or incidents that one step of a batch operation looks at.
    pub max_batch_scan_per_step: usize,
    /// Batch operations that are kept after their end.
    pub max_ended_batch_operations: usize,
    /// Items of all of these together.
    pub max_ended_batch_items: u64,
    /// Calls above each other.
    pub max_call_depth: u32,
    /// Bytes of the variables of the jobs of one delivery.
    pub max_delivery_bytes: usize,
    /// Characters of an incident's message.
    pub max_error_message_chars: usize,
    /// Characters of a message name, correlation key, job type and the like.
    pub max_name_chars: usize,
    /// Characters of the name of a cluster variable.
    pub max_cluster_variable_name_chars: usize,
    /// Bytes of the value of a cluster variable, as JSON.
    pub max_cluster_variable_bytes: usize,
    /// Groups that one user, client, role and the like may be in; roles and tenants alike.
    pub max_memberships_per_entity: usize,
    /// How long what is due on a banned instance is put off, in milliseconds.
    pub banned_retry_ms: i64,
    /// Bytes of the files behind the compiled models that are kept at once, for processes and for decisions each.
    pub max_cached_model_bytes: usize,
    /// How long and how many idempotency keys are kept.
    pub idempotency: IdempotencySettings,
    /// Limits of the work of commands.
    pub work: WorkLimits,
    /// Limits of process models.
    pub bpmn: bpmn::Limits,
    /// Limits of decision models.
    pub dmn: dmn::Limits,
    /// Where the engine notes the process instance at work, for others to look at; 0 is none. It never reads it.
    pub at_work: Arc<AtomicU64>,
    /// A panic to raise at an element of this ID. For tests.
    #[doc(hidden)]
    pub fault: Option<(FaultPoint, Name)>,
    /// Whether the engine stalls there instead of panicking.
    #[doc(hidden)]
    pub fault_is_stall: bool,
}

impl Options {
    /// Fails at a point that a test asks for.
    pub(crate) fn fault_point(&self, point: FaultPoint, element_id: &str) {
        if let Some((wanted, id)) = &self.fault {
            // Past the panic hook: a test that wants it need not see a backtrace of it.
            if *wanted == point && **id == *element_id {
                if self.fault_is_stall {
                    loop {
                        std::hint::spin_loop();
                    }
                }
                std::panic::resume_unwind(Box::new(format!("a fault of the test at '{element_id}'")));
            }
        }
    }

    /// Cuts a text for people to its limit.
    pub(crate) fn cut_message(&self, text: &str) -> Name {
        match text.char_indices().nth(self.max_error_message_chars) {
            Some((end, _)) => Name::from(&text[..end]),
            None => Name::from(text),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            partition_id: FIRST_PARTITION,
            partitions: PartitionSettings::default(),
            records: false,
            unwanted_records: Vec::new(),
            max_steps_per_command: 100,
            max_due_per_tick: 100,
            max_children_per_step: 32,
            max_rows_per_migration: 20_000,
            max_batch_scan_per_step: 64,
            max_ended_batch_operations: 100,
            max_ended_batch_items: 200_000,
            max_call_depth: 1000,
            max_delivery_bytes: 4 * 1024 * 1024,
            max_error_message_chars: 10_000,
            max_name_chars: 32_768,
            max_cluster_variable_name_chars: 256,
            max_cluster_variable_bytes: 8 * 1024,
            max_memberships_per_entity: 1000,
            banned_retry_ms: 60_000,
            max_cached_model_bytes: 64 * 1024 * 1024,
            idempotency: IdempotencySettings::default(),
            work: WorkLimits::default(),
            bpmn: bpmn::Limits::default(),
            dmn: dmn::Limits::default(),
            at_work: Arc::default(),
            fault: None,
            fault_is_stall: false,
        }
    }
}
