//! Rows of commands with idempotency keys.

use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};
use protocol::{Rejection, Response};
use state::{StateError, minicbor_value};

use crate::core::effects::Outcome;

/// A command that was done.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct KeyedCommand {
    /// Hash of the request.
    #[n(0)]
    pub fingerprint: [u64; 2],
    /// End of its time on the clock of the log, Unix milliseconds.
    #[n(1)]
    pub expires_ms: i64,
    /// `None` while it is under way.
    #[n(2)]
    pub answer: Option<KeptAnswer>,
    /// Numbers of the requests that wait for the answer; none once it is there.
    #[n(3)]
    pub waiting: Vec<u64>,
}
minicbor_value!(KeyedCommand, weight = |row| 96 + row.answer.as_ref().map_or(0, |answer| answer.0.len()));

/// A request that waits for the answer to a command with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct KeyedRequest {
    /// Hash of the key.
    #[n(0)]
    pub key: [u64; 2],
}
minicbor_value!(KeyedRequest);

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
