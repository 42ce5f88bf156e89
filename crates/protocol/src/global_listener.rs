//! Listeners of all user tasks, in whichever process.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{JobListenerEventType, Name};

/// See [`crate::Command::GlobalListener`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum GlobalListenerCommand {
    #[n(0)]
    Create(#[n(0)] GlobalListener),
    #[n(1)]
    Update(#[n(0)] GlobalListener),
    #[n(2)]
    Delete {
        #[n(0)]
        id: Name,
    },
    /// Makes these the ones that come from the configuration. The leader writes it when it starts.
    #[n(3)]
    Configure(#[n(0)] Vec<GlobalListener>),
}

/// A listener of all user tasks.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct GlobalListener {
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub job_type: Name,
    /// Retries of its jobs.
    #[n(2)]
    pub retries: i32,
    /// The moments it listens to; empty means all.
    #[n(3)]
    pub event_types: Vec<JobListenerEventType>,
    /// Whether it runs after the listeners of the model instead of before them.
    #[n(4)]
    pub after_non_global: bool,
    /// Those of higher priority run first.
    #[n(5)]
    pub priority: i32,
    /// Where it comes from.
    #[n(6)]
    pub source: GlobalListenerSource,
}

impl GlobalListener {
    /// Retries of its jobs if nothing is said of them.
    pub const DEFAULT_RETRIES: i32 = 3;
    /// Priority if nothing is said of it.
    pub const DEFAULT_PRIORITY: i32 = 50;
    /// The moments it may listen to, as requests and the configuration name them.
    pub const EVENTS: [(&'static str, JobListenerEventType); 5] = [
        ("creating", JobListenerEventType::Creating),
        ("assigning", JobListenerEventType::Assigning),
        ("updating", JobListenerEventType::Updating),
        ("completing", JobListenerEventType::Completing),
        ("canceling", JobListenerEventType::Canceling),
    ];
}

/// Where a listener of all user tasks comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum GlobalListenerSource {
    /// The configuration of the brokers.
    #[n(0)]
    Configuration,
    #[n(1)]
    Api,
}

impl GlobalListenerSource {
    /// The name in records and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "CONFIGURATION",
            Self::Api => "API",
        }
    }
}
