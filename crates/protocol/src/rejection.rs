//! Rejections: why a command changed nothing.

use minicbor::{Decode, Encode};
use std::fmt;

/// The kinds of rejection, named as in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum RejectionType {
    /// The command itself is wrong.
    #[n(0)]
    InvalidArgument,
    /// The subject of the command does not exist.
    #[n(1)]
    NotFound,
    /// The entity to create exists already.
    #[n(2)]
    AlreadyExists,
    /// The state of the subject does not allow the command.
    #[n(3)]
    InvalidState,
    /// The engine failed; the instance is banned.
    #[n(4)]
    ProcessingError,
    /// Its variables are larger than a limit allows.
    #[n(5)]
    ExceededBatchRecordSize,
    /// The command is forbidden, to all or to its caller.
    #[n(6)]
    Forbidden,
    /// Its idempotency key is that of another command.
    #[n(7)]
    IdempotencyKeyReused,
    /// The room that it needs is used up for now.
    #[n(8)]
    ResourceExhausted,
}

impl RejectionType {
    /// All kinds, each at its own number.
    pub const ALL: [Self; 9] = [
        Self::InvalidArgument,
        Self::NotFound,
        Self::AlreadyExists,
        Self::InvalidState,
        Self::ProcessingError,
        Self::ExceededBatchRecordSize,
        Self::Forbidden,
        Self::IdempotencyKeyReused,
        Self::ResourceExhausted,
    ];

    /// The name in records and in the titles of problem details.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::InvalidState => "INVALID_STATE",
            Self::ProcessingError => "PROCESSING_ERROR",
            Self::ExceededBatchRecordSize => "EXCEEDED_BATCH_RECORD_SIZE",
            Self::Forbidden => "FORBIDDEN",
            Self::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
        }
    }
}

impl fmt::Display for RejectionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rejected command: nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Encode, Decode)]
#[error("{kind}: {reason}")]
pub struct Rejection {
    /// The kind.
    #[n(0)]
    pub kind: RejectionType,
    /// The reason, for people.
    #[n(1)]
    pub reason: String,
}

impl Rejection {
    /// A rejection with a reason.
    pub fn new(kind: RejectionType, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    /// [`RejectionType::ExceededBatchRecordSize`].
    pub fn too_large(reason: impl Into<String>) -> Self {
        Self::new(RejectionType::ExceededBatchRecordSize, reason)
    }

    /// [`RejectionType::NotFound`].
    pub fn not_found(reason: impl Into<String>) -> Self {
        Self::new(RejectionType::NotFound, reason)
    }

    /// [`RejectionType::AlreadyExists`].
    pub fn already_exists(reason: impl Into<String>) -> Self {
        Self::new(RejectionType::AlreadyExists, reason)
    }

    /// [`RejectionType::InvalidState`].
    pub fn invalid_state(reason: impl Into<String>) -> Self {
        Self::new(RejectionType::InvalidState, reason)
    }

    /// [`RejectionType::InvalidArgument`].
    pub fn invalid_argument(reason: impl Into<String>) -> Self {
        Self::new(RejectionType::InvalidArgument, reason)
    }
}
