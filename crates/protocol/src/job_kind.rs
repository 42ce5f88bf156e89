//! Kinds of jobs.

/// Purposes of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, minicbor::Encode, minicbor::Decode)]
#[cbor(index_only)]
pub enum JobKind {
    /// The work of an element.
    #[n(0)]
    BpmnElement,
    /// An execution listener.
    #[n(1)]
    ExecutionListener,
    /// A user task listener.
    #[n(2)]
    TaskListener,
    /// An ad-hoc sub-process.
    #[n(3)]
    AdHocSubProcess,
}

impl JobKind {
    /// The name in records and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BpmnElement => "BPMN_ELEMENT",
            Self::ExecutionListener => "EXECUTION_LISTENER",
            Self::TaskListener => "TASK_LISTENER",
            Self::AdHocSubProcess => "AD_HOC_SUB_PROCESS",
        }
    }
}

/// The moment a listener job stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, minicbor::Encode, minicbor::Decode)]
#[cbor(index_only)]
pub enum JobListenerEventType {
    /// Not a listener.
    #[n(0)]
    Unspecified,
    /// Before the work of an element.
    #[n(1)]
    Start,
    /// After the work of an element.
    #[n(2)]
    End,
    /// Before a user task is there.
    #[n(3)]
    Creating,
    /// Before a user task has another assignee.
    #[n(4)]
    Assigning,
    /// Before a user task is changed.
    #[n(5)]
    Updating,
    /// Before a user task is completed.
    #[n(6)]
    Completing,
    /// Before a user task is canceled.
    #[n(7)]
    Canceling,
    /// Before a multi-instance activity reads its list.
    #[n(8)]
    BeforeAll,
    /// Before a process instance is terminated.
    #[n(9)]
    Cancel,
}

impl JobListenerEventType {
    /// The name in records and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "UNSPECIFIED",
            Self::Start => "START",
            Self::End => "END",
            Self::Creating => "CREATING",
            Self::Assigning => "ASSIGNING",
            Self::Updating => "UPDATING",
            Self::Completing => "COMPLETING",
            Self::Canceling => "CANCELING",
            Self::BeforeAll => "BEFORE_ALL",
            Self::Cancel => "CANCEL",
        }
    }
}
