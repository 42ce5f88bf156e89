//! Parked records of exporters whose target is that of all brokers. They stand in the state, so that they outlive the
//! broker that parked them, and any broker lists them and has them tried again.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use engine::Engine;
use engine::entity::{PARKED_MAX, ParkedRecord};
use export::{ChangeError, ExportError, Hub, Parked, ParkedRecords, Replayed};
use parking_lot::Mutex;
use partition::Partition;
use planted::Bug;
use protocol::{Command, Name, ParkRecord};
use serde::{Deserialize, Serialize};
use state::StateError;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::cluster_exporting::blocking;
use crate::node::Node;
use cluster::RequestKind;

/// Time-out of a command. Then the exporter tries again.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
/// Time-out of retrying parked records, at the leader and for its answer.
const REPLAY_TIMEOUT: Duration = Duration::from_secs(30);
const REPLAY_ANSWER_TIMEOUT: Duration = Duration::from_secs(35);

/// The parked records in the state of a partition.
#[derive(Debug)]
pub(crate) struct ParkedInState {
    partition: Weak<Partition>,
    /// Apart from the partition, whose end must not be on the thread of an exporter.
    engine: Weak<Mutex<Engine>>,
    closing: CancellationToken,
    runtime: Handle,
}

impl ParkedInState {
    /// The parked records of a partition. `closing` is cancelled when others reach the broker no more.
    pub fn new(partition: &Arc<Partition>, closing: CancellationToken) -> Self {
        let engine = Arc::downgrade(partition.engine());
        Self { partition: Arc::downgrade(partition), engine, closing, runtime: Handle::current() }
    }

    fn read<T>(&self, read: impl FnOnce(&Engine) -> Result<T, StateError>) -> Result<T, ExportError> {
        let engine = self.engine.upgrade().ok_or_else(|| failed("the broker stops"))?;
        let found = read(&engine.lock());
        found.map_err(failed)
    }

    /// Runs a command. Blocks until it is done or refused.
    fn run(&self, command: Command) -> Result<(), ExportError> {
        let (partition, closing) = (Weak::clone(&self.partition), self.closing.clone());
        let run = self.runtime.spawn(async move {
            let partition = partition.upgrade().ok_or("the broker stops")?;
            // A group that has failed answers nothing more, and the next life waits for the end of this one.
            let run = closing.run_until_cancelled(timeout(COMMAND_TIMEOUT, partition.run_own(command)));
            let done = run.await.ok_or("the broker stops")?.map_err(|_| "no answer")?;
            done.map(drop).map_err(|error| error.to_string())
        });
        self.runtime.block_on(run).map_err(failed)?.map_err(failed)
    }
}

fn failed(reason: impl fmt::Display) -> ExportError {
    ExportError::Target(format!("the records that are parked for all brokers: {reason}"))
}

impl ParkedRecords for ParkedInState {
    fn positions(&self, exporter: &str) -> Result<BTreeSet<u64>, ExportError> {
        self.read(|engine| {
            if engine.parked().rows == 0 {
                return Ok(BTreeSet::new());
            }
            let keys = engine.tables().parked_records.keys(ParkedRecord::places(exporter), PARKED_MAX)?;
            Ok(keys.into_iter().map(|(_, position)| position).collect())
        })
    }

    fn count(&self, exporter: &str) -> u64 {
        self.positions(exporter).map_or(0, |positions| positions.len() as u64)
    }

    fn list(&self, exporter: &str) -> Result<Vec<Parked>, ExportError> {
        let rows = self
            .read(|engine| engine.tables().parked_records.scan(ParkedRecord::places(exporter), PARKED_MAX))?;
        let parked = rows.into_iter().map(|((_, position), row)| {
            let ParkedRecord { record, reason, parked_ms } = &*row;
            let record: protocol::Record = minicbor::decode(record).map_err(failed)?;
            assert_eq!(record.position, position, "a record is parked at its own position");
            let (exporter, reason) = (exporter.to_owned(), reason.to_string());
            Ok(Parked { exporter, reason, parked_ms: *parked_ms, record })
        });
        parked.collect()
    }

    fn park(&self, parked: Parked) -> Result<(), ExportError> {
        if planted::has(Bug::ForgottenParking) {
            return Ok(());
        }
        let record = minicbor::to_vec(&parked.record).expect("encoding to memory does not fail");
        self.run(Command::ParkRecord(Box::new(ParkRecord {
            exporter: Name::from(parked.exporter),
            position: parked.record.position,
            record,
            reason: Name::from(parked.reason),
            parked_ms: parked.parked_ms,
        })))
    }

    fn remove(&self, exporter: &str, positions: &BTreeSet<u64>) -> Result<(), ExportError> {
        let (exporter, positions) = (Name::from(exporter), positions.iter().copied().collect());
        self.run(Command::UnparkRecords { exporter, positions })
    }
}

/// The answer to a request to try parked records again.
#[derive(Debug, Serialize, Deserialize)]
enum ReplayAnswer {
    Done { replayed: u64, refused: u64, reason: Option<String> },
    Unknown,
    Disabled,
    Busy,
    Failed(String),
}

impl ReplayAnswer {
    fn of(done: Result<Replayed, ChangeError>) -> Self {
        match done {
            Ok(Replayed { replayed, refused, reason }) => Self::Done { replayed, refused, reason },
            Err(ChangeError::Unknown(_)) => Self::Unknown,
            Err(ChangeError::Disabled(_)) => Self::Disabled,
            Err(ChangeError::Busy(_)) => Self::Busy,
            Err(ChangeError::File(error)) => Self::Failed(error.to_string()),
        }
    }

    fn into_result(self, id: &str) -> Result<Replayed, ChangeError> {
        let id = || id.to_owned();
        Err(match self {
            Self::Done { replayed, refused, reason } => return Ok(Replayed { replayed, refused, reason }),
            Self::Unknown => ChangeError::Unknown(id()),
            Self::Disabled => ChangeError::Disabled(id()),
            Self::Busy => ChangeError::Busy(id()),
            Self::Failed(reason) => ChangeError::File(io::Error::other(reason)),
        })
    }
}

impl Node {
    /// Retries the parked records of an exporter. One with a target of all brokers does it where each partition is led.
    pub async fn replay_parked(&self, id: &str) -> Result<Replayed, ChangeError> {
        let mut whole: Option<Replayed> = None;
        for partition in self.all() {
            let Some(exports) = partition.exports() else { continue };
            let one = self.replay_of(partition, exports, id).await?;
            whole = Some(match whole {
                None => one,
                Some(whole) => Replayed {
                    replayed: whole.replayed + one.replayed,
                    refused: whole.refused + one.refused,
                    reason: whole.reason.or(one.reason),
                },
            });
        }
        whole.ok_or_else(|| ChangeError::Unknown(id.to_owned()))
    }

    async fn replay_of(
        &self,
        partition: &Partition,
        exports: &Arc<Hub>,
        id: &str,
    ) -> Result<Replayed, ChangeError> {
        let is_shared = exports.status().exporters.iter().any(|one| one.id == id && one.is_shared);
        let Some(cluster) = self.cluster.as_ref().filter(|_| is_shared && !partition.leads()) else {
            return replay_here(Arc::clone(exports), id).await;
        };
        let request = RequestKind::ReplayParked.of_partition(partition.number()).with(id.as_bytes());
        let answer = cluster.ask_leader(partition.group(), request, REPLAY_ANSWER_TIMEOUT).await;
        let answer = answer.map_err(|reason| ChangeError::File(io::Error::other(reason)))?;
        let answer: ReplayAnswer = serde_json::from_slice(&answer).map_err(io::Error::other)?;
        answer.into_result(id)
    }
}

async fn replay_here(exports: Arc<Hub>, id: &str) -> Result<Replayed, ChangeError> {
    let id = id.to_owned();
    blocking(move || exports.replay(&id, REPLAY_TIMEOUT)).await
}

/// Answers another broker that was asked to have parked records tried again.
pub(crate) async fn replay_for(partition: &Partition, request: Bytes) -> Result<Bytes, String> {
    let id = String::from_utf8(request.to_vec()).map_err(|error| error.to_string())?;
    if !partition.leads() {
        return Err("this broker does not lead".to_owned());
    }
    let exports = partition.exports().ok_or("this broker has no exporters")?;
    let done = ReplayAnswer::of(replay_here(Arc::clone(exports), &id).await);
    Ok(serde_json::to_vec(&done).expect("numbers and texts are JSON").into())
}
