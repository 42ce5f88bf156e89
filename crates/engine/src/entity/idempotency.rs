//! Rows of commands with idempotency keys.

use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};
use protocol::{Rejection, Response};
use state::{StateError, minicbor_value};

use crate::core::effects::Outcome;
use crate::identity::access::RequiredPermissions;

/// A command that was performed under an idempotency key.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct KeyedCommand {
    /// Hash of the request.
    #[n(0)]
    pub fingerprint: [u64; 2],
    /// Expiry on the clock of the log, Unix milliseconds.
    #[n(1)]
    pub expires_ms: i64,
    /// Answer; `None` while the command is under way.
    #[n(2)]
    pub answer: Option<KeptAnswer>,
    /// Numbers of the requests that wait for the answer; none once it is there.
    #[n(3)]
    pub waiting: Vec<u64>,
    /// Permissions that the command required, which are checked before its answer is given again.
    #[n(4)]
    pub needs: Option<KeptNeeds>,
    /// Hash of the principal whose place it takes, if known.
    #[n(5)]
    pub principal: Option<[u64; 2]>,
}
minicbor_value!(KeyedCommand, weight = |row| 96 + row.kept_bytes() as usize);

impl KeyedCommand {
    /// Bytes of the answer and of the permissions.
    pub fn kept_bytes(&self) -> u64 {
        let needs = self.needs.as_ref().map_or(0, |needs| needs.0.len() as u64);
        needs + self.answer.as_ref().map_or(0, KeptAnswer::bytes)
    }
}

/// A request that waits for the answer to a command with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct KeyedRequest {
    /// Hash of the key.
    #[n(0)]
    pub key: [u64; 2],
}
minicbor_value!(KeyedRequest);

/// Permissions that a command required, encoded.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub struct KeptNeeds(#[n(0)] ByteVec);

impl KeptNeeds {
    pub(crate) fn of(required: &RequiredPermissions) -> Self {
        Self(minicbor::to_vec(required).expect("encoding to memory does not fail").into())
    }

    pub(crate) fn required(&self) -> Result<RequiredPermissions, StateError> {
        minicbor::decode(&self.0).map_err(|error| StateError::Decode(error.to_string()))
    }
}

/// An answer, encoded.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub struct KeptAnswer(#[n(0)] ByteVec);

#[derive(Encode, Decode)]
enum Kept {
    #[n(0)]
    Accepted(#[n(0)] Response),
    #[n(1)]
    Rejected(#[n(0)] Rejection),
}

impl KeptAnswer {
    pub fn of(outcome: &Outcome) -> Self {
        let answer = match outcome {
            Ok(response) => Kept::Accepted(response.clone()),
            Err(rejection) => Kept::Rejected(rejection.clone()),
        };
        Self(minicbor::to_vec(answer).expect("encoding to memory does not fail").into())
    }

    pub fn outcome(&self) -> Result<Outcome, StateError> {
        let answer = minicbor::decode(&self.0).map_err(|error| StateError::Decode(error.to_string()))?;
        Ok(match answer {
            Kept::Accepted(response) => Ok(response),
            Kept::Rejected(rejection) => Err(rejection),
        })
    }

    pub fn bytes(&self) -> u64 {
        self.0.len() as u64
    }
}
