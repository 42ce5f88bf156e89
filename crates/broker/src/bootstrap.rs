//! The first start of a cluster: which brokers have a vote, so that one that lost its data never votes as the old one.
//!
//! An empty directory becomes prepared when all other brokers were asked and none has a vote; a prepared one gets its
//! vote when all others are prepared, or one has its vote already. So all brokers must be there once. Later, an empty
//! directory beside brokers that have votes is one that lost its data: it could vote for a leader that misses what its
//! former self has acknowledged, and is refused.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, timeout};
use transport::Lane;

use crate::cluster::{BOOTSTRAP, Links};
use crate::durable_file;

/// The only form of the file until now.
const FORMAT: u32 = 1;
/// How often the other brokers are asked.
const ASK_INTERVAL: Duration = Duration::from_millis(100);
/// How long one of them may take to answer.
const ASK_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the log says who is missing.
const SAY_INTERVAL: Duration = Duration::from_secs(10);

/// How far a broker is on its way to a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Empty,
    Prepared,
    Voter,
}

impl Stage {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Empty, Self::Prepared, Self::Voter].into_iter().find(|stage| *stage as u8 == byte)
    }
}

/// The file that says how far.
#[derive(Debug, Serialize, Deserialize)]
struct ReplicaFile {
    format: u32,
    /// Number of this replica in its groups; given once.
    replica: u64,
    stage: Stage,
}

/// The reason why a broker does not take part in its cluster.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "names say what is held")]
pub enum BootstrapError {
    #[error("'{path}': {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("'{path}' does not tell the vote of this broker: {reason}")]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "the data directory is empty, but broker {other} has its vote in this cluster already: this broker has lost its \
         data, and would vote as if it had them. Bring the directory back from a copy of the disk; the cluster works \
         without this broker as long as a majority of the others does"
    )]
    Lost { other: u32 },
    #[error(
        "the data directory is that of a broker that was alone: its log has one voter. Start it without cluster.brokers, or \
         begin the cluster with empty directories"
    )]
    Alone,
}

/// The vote of this broker.
#[derive(Debug)]
pub(crate) struct Vote {
    path: PathBuf,
    replica: u64,
    stage: Mutex<Stage>,
}

impl Vote {
    /// Reads the vote of a data directory; `has_log` says whether it has a log.
    pub fn open(data_dir: &Path, broker: u32, has_log: bool) -> Result<Arc<Self>, BootstrapError> {
        let path = data_dir.join("replica.json");
        let read = match std::fs::read(&path) {
            Ok(bytes) => {
                let damaged = |reason: String| BootstrapError::Damaged { path: path.clone(), reason };
                let file: ReplicaFile =
                    serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
                if file.format != FORMAT {
                    return Err(damaged(format!(
                        "it has format {}, this release reads {FORMAT}",
                        file.format
                    )));
                }
                Some(file)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(source) => return Err(BootstrapError::Io { path, source }),
        };
        if read.is_none() && has_log {
            return Err(BootstrapError::Alone);
        }
        let (replica, stage) =
            read.map_or((u64::from(broker), Stage::Empty), |file| (file.replica, file.stage));
        Ok(Arc::new(Self { path, replica, stage: Mutex::new(stage) }))
    }

    /// Number of this replica in its groups.
    pub fn replica(&self) -> u64 {
        self.replica
    }

    pub fn stage(&self) -> Stage {
        *self.stage.lock()
    }

    fn advance(&self, stage: Stage) -> Result<(), BootstrapError> {
        let file = ReplicaFile { format: FORMAT, replica: self.replica, stage };
        let mut text = serde_json::to_vec_pretty(&file).expect("numbers and a word are JSON");
        text.push(b'\n');
        let failed = |source| BootstrapError::Io { path: self.path.clone(), source };
        durable_file::write(&self.path, &text).map_err(failed)?;
        let before = std::mem::replace(&mut *self.stage.lock(), stage);
        assert!(before < stage, "a vote goes from {before:?} to {stage:?}");
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
        Ok(Bytes::copy_from_slice(&[self.stage() as u8]))
    }

    /// Waits until this broker has its vote.
    pub async fn obtain(&self, links: &Links) -> Result<(), BootstrapError> {
        let mut said: Option<Instant> = None;
        while self.stage() < Stage::Voter {
            let answers = ask(links).await;
            let stages: BTreeMap<u32, Stage> =
                answers.iter().filter_map(|(broker, stage)| Some((*broker, *stage.as_ref().ok()?))).collect();
            let voter = stages.iter().find(|(_, stage)| **stage == Stage::Voter).map(|(broker, _)| *broker);
            let all = stages.len() == answers.len();
            match (self.stage(), voter) {
                (Stage::Empty, Some(other)) => return Err(BootstrapError::Lost { other }),
                (Stage::Empty, None) if all => self.advance(Stage::Prepared)?,
                (Stage::Prepared, Some(_)) => self.advance(Stage::Voter)?,
                (Stage::Prepared, None) if all && stages.values().all(|stage| *stage == Stage::Prepared) => {
                    self.advance(Stage::Voter)?;
                }
                _ => {
                    if said.is_none_or(|said| said.elapsed() >= SAY_INTERVAL) {
                        said = Some(Instant::now());
                        let missing: Vec<String> = answers
                            .into_iter()
                            .filter_map(|(broker, stage)| Some(format!("{broker}: {}", stage.err()?)))
                            .collect();
                        tracing::info!(?missing, "the cluster begins when all of its brokers are there");
                    }
                    sleep(ASK_INTERVAL).await;
                }
            }
        }
        Ok(())
    }
}

/// The stages of the others, or why they do not tell.
async fn ask(links: &Links) -> Vec<(u32, Result<Stage, String>)> {
    let brokers = serde_json::to_vec(links.brokers()).expect("numbers and texts are JSON");
    let mut message = BytesMut::with_capacity(1 + brokers.len());
    message.put_u8(BOOTSTRAP);
    message.put(&brokers[..]);
    let message = message.freeze();
    let asked = links.brokers().keys().filter_map(|broker| {
        let peer = links.peers.peer(u64::from(*broker))?;
        let message = message.clone();
        Some(async move {
            let answer = timeout(ASK_TIMEOUT, peer.call(Lane::Requests, message)).await;
            let stage = match answer {
                Ok(Ok(answer)) => answer
                    .first()
                    .and_then(|byte| Stage::from_byte(*byte))
                    .ok_or_else(|| "an answer of another form".to_owned()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("no answer".to_owned()),
            };
            (*broker, stage)
        })
    });
    futures::future::join_all(asked).await
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
        assert_eq!((vote.stage(), vote.replica()), (Stage::Empty, 2));
        for stage in [Stage::Prepared, Stage::Voter] {
            vote.advance(stage).unwrap();
            assert_eq!(open(true).unwrap().stage(), stage);
            assert_eq!(Stage::from_byte(stage as u8), Some(stage));
        }
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
