//! The first start of a cluster: which brokers have a vote, so that one that lost its data never votes as the old one.
//!
//! An empty directory becomes prepared when all other brokers were asked and none has a vote; a prepared one gets its
//! vote when all others are prepared, or one has its vote already. So all brokers must be there once. Later, an empty
//! directory beside brokers that have votes is one that lost its data: it could vote for a leader that misses what its
//! former self has acknowledged, so it becomes another replica, which the leader gives a number.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use replication::Group;
use serde::{Deserialize, Serialize};

use crate::identity::{Identity, IdentityError};
use crate::replica_number::ReplicaNumber;
use data_directory::Restored;
use data_directory::durable_file;

/// Format of the file.
const FORMAT: u32 = 1;
/// Interval at which the other brokers are asked.
pub const ASK_INTERVAL: Duration = Duration::from_millis(100);
/// Time-out of their answer.
pub const ASK_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval at which the log names the brokers that are missing.
pub const SAY_INTERVAL: Duration = Duration::from_secs(10);

/// Progress of a broker on its way to a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Empty,
    Prepared,
    Voter,
    /// Its data were lost or set aside. It begins no cluster and waits for a new number.
    Rejoining,
    /// Its data were given up. They are set aside when the leader has given it a new number.
    GivenUp,
}

impl Stage {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Empty, Self::Prepared, Self::Voter, Self::Rejoining, Self::GivenUp]
            .into_iter()
            .find(|stage| *stage as u8 == byte)
    }
}

/// The file with the progress.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ReplicaFile {
    format: u32,
    /// Number of this replica in its groups; given once.
    replica: u64,
    stage: Stage,
}

impl ReplicaFile {
    fn read(path: &Path) -> Result<Option<Self>, BootstrapError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(BootstrapError::Io { path: path.to_owned(), source }),
        };
        let damaged = |reason: String| BootstrapError::Damaged { path: path.to_owned(), reason };
        let file: Self = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if file.format != FORMAT {
            return Err(damaged(format!("it has format {}, this release reads {FORMAT}", file.format)));
        }
        Ok(Some(file))
    }

    fn write(self, path: &Path) -> Result<(), BootstrapError> {
        let mut text = serde_json::to_vec_pretty(&self).expect("numbers and a word are JSON");
        text.push(b'\n');
        durable_file::write(path, &text)
            .map_err(|source| BootstrapError::Io { path: path.to_owned(), source })
    }
}

/// The file in a data directory.
fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("replica.json")
}

/// Gives up the data of a replica: with its next start the broker comes back as another replica, which the others bring
/// up.
pub fn give_up(data_dir: &Path) -> Result<(), BootstrapError> {
    // Several may find out at once, and all write the same file.
    static GIVING_UP: Mutex<()> = Mutex::new(());
    let _alone = GIVING_UP.lock();
    let path = file(data_dir);
    let Some(known) = ReplicaFile::read(&path)? else { return Ok(()) };
    ReplicaFile { stage: Stage::GivenUp, ..known }.write(&path)
}

/// Gives up the data of a replica like [`give_up`]; logs a failure, since the next start finds out again.
pub fn give_up_or_say(data_dir: &Path) {
    if let Err(error) = give_up(data_dir) {
        tracing::error!(%error, "the replica cannot be given up");
    }
}

/// Whether the data of the replica were given up.
pub fn is_given_up(data_dir: &Path) -> Result<bool, BootstrapError> {
    Ok(ReplicaFile::read(&file(data_dir))?.is_some_and(|known| known.stage == Stage::GivenUp))
}

/// Sets aside data that were given up; the broker has another replica from now on.
pub fn begin_anew(data_dir: &Path, replica: ReplicaNumber) -> Result<(), BootstrapError> {
    let failed = |source| BootstrapError::Io { path: data_dir.to_owned(), source };
    let aside = data_directory::set_aside(data_dir).map_err(failed)?;
    std::fs::create_dir(data_directory::log_directory(data_dir)).map_err(failed)?;
    Identity::forget_place(data_dir)?;
    let joined = ReplicaFile { format: FORMAT, replica: replica.number(), stage: Stage::Voter };
    joined.write(&file(data_dir))?;
    tracing::warn!(
        path = %aside.display(),
        replica = joined.replica,
        "the former data of this broker are set aside; it is a new replica"
    );
    Ok(())
}

/// Forgets the replica: the next start is the first one.
pub fn forget(data_dir: &Path) -> io::Result<()> {
    match std::fs::remove_file(file(data_dir)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The reason why a broker does not take part in its cluster.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "names say what is held")]
pub enum BootstrapError {
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error("'{path}': {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("'{path}' does not tell the vote of this broker: {reason}")]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "the data directory is that of a broker that was alone: its log has one voter. Start it without cluster.brokers, or \
         begin the cluster with empty directories"
    )]
    Alone,
    #[error(
        "the data directory is that of one of several brokers: its log has other voters than this one. Start it with \
         cluster.brokers or cluster.join, as before, and with a majority of them"
    )]
    OneOfSeveral,
}

/// A broker that is alone must be the only voter of its log.
pub fn check_alone(group: &Group, replica: ReplicaNumber) -> Result<(), BootstrapError> {
    if group.is_sole_voter(replica.number()) { Ok(()) } else { Err(BootstrapError::OneOfSeveral) }
}

/// The vote of this broker.
#[derive(Debug)]
pub struct Vote {
    path: PathBuf,
    file: Mutex<ReplicaFile>,
    /// The backup that this replica begins with, as long as its log has not begun.
    pub(crate) restored: Option<Restored>,
}

impl Vote {
    /// Reads the vote of a data directory; `has_log` says whether it has a log.
    pub fn open(data_dir: &Path, broker: u32, has_log: bool) -> Result<Arc<Self>, BootstrapError> {
        let path = file(data_dir);
        let read = ReplicaFile::read(&path)?;
        if read.is_none() && has_log {
            return Err(BootstrapError::Alone);
        }
        let first = ReplicaFile {
            format: FORMAT,
            replica: ReplicaNumber::first(broker).number(),
            stage: Stage::Empty,
        };
        let failed = |source| BootstrapError::Io { path: data_dir.to_owned(), source };
        let restored = Restored::read(data_dir).map_err(failed)?;
        let vote = Self { path, file: Mutex::new(read.unwrap_or(first)), restored };
        if vote.stage() == Stage::Voter && !has_log {
            vote.advance(Stage::Rejoining)?;
        }
        Ok(Arc::new(vote))
    }

    /// This replica in its groups.
    pub fn replica(&self) -> ReplicaNumber {
        ReplicaNumber::of(self.file.lock().replica)
    }

    /// Progress of this broker.
    pub fn stage(&self) -> Stage {
        self.file.lock().stage
    }

    pub(crate) fn advance(&self, stage: Stage) -> Result<(), BootstrapError> {
        let before = *self.file.lock();
        self.write(ReplicaFile { stage, ..before })
    }

    /// Notes a number that the leader has given.
    pub(crate) fn join_as(&self, replica: ReplicaNumber) -> Result<(), BootstrapError> {
        assert!(replica > self.replica(), "a number is given once, but {replica:?} is no new one");
        assert_ne!(self.stage(), Stage::Voter, "a replica with a vote keeps its number");
        self.write(ReplicaFile { format: FORMAT, replica: replica.number(), stage: Stage::Voter })
    }

    fn write(&self, file: ReplicaFile) -> Result<(), BootstrapError> {
        file.write(&self.path)?;
        *self.file.lock() = file;
        Ok(())
    }

    /// Answers another broker; `asked` is the list of brokers that it has.
    pub fn answer(&self, brokers: &BTreeMap<u32, String>, asked: &[u8]) -> Result<Bytes, String> {
        let theirs: BTreeMap<u32, String> =
            serde_json::from_slice(asked).map_err(|error| error.to_string())?;
        if theirs != *brokers {
            return Err(format!(
                "cluster.brokers differ: {theirs:?} asks, this broker has {brokers:?}; they must be equal on all brokers"
            ));
        }
        let mut answer = vec![self.stage() as u8];
        if let Some(restored) = &self.restored {
            serde_json::to_writer(&mut answer, restored).expect("numbers are JSON");
        }
        Ok(answer.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_is_kept_and_never_given_to_data_of_another_kind() {
        let directory = tempfile::tempdir().unwrap();
        let open = |has_log| Vote::open(directory.path(), 2, has_log);
        assert!(matches!(open(true), Err(BootstrapError::Alone)));
        let vote = open(false).unwrap();
        assert_eq!((vote.stage(), vote.replica()), (Stage::Empty, ReplicaNumber::first(2)));
        for stage in [Stage::Prepared, Stage::Voter] {
            vote.advance(stage).unwrap();
            assert_eq!(open(true).unwrap().stage(), stage);
            assert_eq!(Stage::from_byte(stage as u8), Some(stage));
        }
        // A log that is gone, or was given up, makes another replica of it.
        assert_eq!(open(false).unwrap().stage(), Stage::Rejoining);
        let vote = open(true).unwrap();
        vote.join_as(vote.replica().next()).unwrap();
        give_up(directory.path()).unwrap();
        std::fs::create_dir(directory.path().join("log")).unwrap();
        assert!(is_given_up(directory.path()).unwrap());
        let third = vote.replica().next();
        begin_anew(directory.path(), third).unwrap();
        assert!(!is_given_up(directory.path()).unwrap());
        assert!(directory.path().join("damaged-1").join("log").exists());
        let vote = open(true).unwrap();
        assert_eq!((vote.stage(), vote.replica()), (Stage::Voter, third));
        std::fs::write(directory.path().join("replica.json"), "{\"format\":1").unwrap();
        let error = open(true).unwrap_err();
        assert!(matches!(error, BootstrapError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("replica.json"), "{error}");
    }

    #[test]
    fn brokers_with_another_list_are_told_so() {
        let directory = tempfile::tempdir().unwrap();
        let vote = Vote::open(directory.path(), 0, false).unwrap();
        let brokers = BTreeMap::from([(0, "a:1".to_owned()), (1, "b:1".to_owned())]);
        let asked = serde_json::to_vec(&brokers).unwrap();
        assert_eq!(&vote.answer(&brokers, &asked).unwrap()[..], [Stage::Empty as u8]);
        let other = serde_json::to_vec(&BTreeMap::from([(0, "a:1")])).unwrap();
        assert!(vote.answer(&brokers, &other).unwrap_err().contains("cluster.brokers differ"));
        assert!(vote.answer(&brokers, b"{").is_err());
    }
}
