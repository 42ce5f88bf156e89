//! A batch: one entry of the replicated log.

use minicbor::{Decode, Encode};

use crate::{Caller, Command, Key, Name};

/// Commands that are applied together, with everything they need from the world.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Batch {
    /// Behaviour to apply, at most [`crate::ENGINE_VERSION`].
    #[n(0)]
    pub engine_version: u16,
    /// The leader's clock, Unix milliseconds.
    #[n(1)]
    pub timestamp_ms: i64,
    /// The commands, applied in order.
    #[n(2)]
    pub commands: Vec<Command>,
    /// Demand for jobs at the time of the proposal.
    #[n(3)]
    pub demand: Vec<Demand>,
    /// The broker of a cluster that waits until this is applied there. A broker that is alone says nothing.
    #[n(4)]
    pub origin: Option<BatchOrigin>,
    /// The state of the leader at an earlier index, for others to compare. A broker that is alone says nothing.
    #[n(5)]
    pub digest: Option<BatchDigest>,
}

/// A short digest of the state after the entry at an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct BatchDigest {
    /// Log index of the entry.
    #[n(0)]
    pub index: u64,
    /// Hash of the counters of the state.
    #[n(1)]
    pub value: u64,
    /// The release that made it: another one may have other counters.
    #[n(2)]
    pub form: u64,
}

/// The sender of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct BatchOrigin {
    /// Number of the batch, which names the broker and its life.
    #[n(0)]
    pub number: u64,
    /// Term of the leader that the batch was sent to. Appended in another term, which a message that was long on
    /// its way may be, it has no effect: the broker has sent it again.
    #[n(1)]
    pub term: u64,
}

/// Jobs that a worker has room for.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Demand {
    /// Number of the subscriber that the leader delivers to.
    #[n(0)]
    pub subscriber_id: u64,
    /// Job type.
    #[n(1)]
    pub job_type: Name,
    /// Tenants whose jobs may be handed out.
    #[n(2)]
    pub tenant_ids: Vec<Name>,
    /// Name of the worker.
    #[n(3)]
    pub worker: Name,
    /// How long the worker may keep a job, in milliseconds.
    #[n(4)]
    pub timeout_ms: i64,
    /// How many jobs at the most.
    #[n(5)]
    pub max_jobs: u32,
    /// Names of the variables to hand out; empty means all.
    #[n(6)]
    pub fetch_variables: Vec<Name>,
    /// The caller, if known. Jobs that it may not work on are skipped.
    #[n(7)]
    pub caller: Option<Box<Caller>>,
    /// Keys of jobs that it still holds although their time was over, in order: they are passed over.
    #[n(8)]
    pub except: Option<Vec<Key>>,
    /// Whether each activation has a token, so that an answer to an earlier one is refused.
    #[cbor(n(9), default)]
    pub with_lease: bool,
}

/// Why bytes are not a batch.
#[derive(Debug, thiserror::Error)]
#[error("log entry is not a batch of commands: {0}")]
pub struct CodecError(#[from] minicbor::decode::Error);

impl Batch {
    /// The bytes that stand in the log.
    pub fn encode(&self) -> Vec<u8> {
        minicbor::to_vec(self).expect("encoding to memory does not fail")
    }

    /// Reads them back.
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        Ok(minicbor::decode(bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompleteJob, Document, ENGINE_VERSION};

    #[test]
    fn a_batch_round_trips_and_garbage_is_an_error() {
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: 1_700_000_000_000,
            commands: vec![
                Command::CompleteJob(CompleteJob::of(
                    7,
                    Document::parse(bytes::Bytes::from_static(b"{\"a\":1}")).unwrap(),
                )),
                Command::Tick,
            ],
            demand: vec![Demand {
                subscriber_id: 1,
                job_type: Name::from("t"),
                tenant_ids: vec![Name::default_tenant()],
                worker: Name::from("w"),
                timeout_ms: 1000,
                max_jobs: 3,
                fetch_variables: vec![],
                caller: None,
                except: Some(vec![7, 9]),
                with_lease: false,
            }],
            origin: None,
            digest: None,
        };
        assert_eq!(Batch::decode(&batch.encode()).unwrap(), batch);
        let with_digest =
            Batch { digest: Some(BatchDigest { index: 7, value: u64::MAX, form: 1 }), ..batch.clone() };
        assert_eq!(Batch::decode(&with_digest.encode()).unwrap(), with_digest);
        assert!(Batch::decode(b"nonsense").is_err());
    }

    /// It had no fields once, as `Tick` has none.
    #[test]
    fn logs_of_earlier_releases_go_on_as_they_did() {
        let mut bytes = minicbor::to_vec(Command::Tick).unwrap();
        let number = bytes.iter_mut().find(|byte| **byte == 14).expect("the number of a variant");
        *number = 15;
        let command: Command = minicbor::decode(&bytes).unwrap();
        assert_eq!(command, Command::Continue { max_records: None });
    }
}
