//! The owner of a data directory: which broker of which cluster wrote it, and how often it was started.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use protocol::PartitionId;
use serde::{Deserialize, Serialize};

use data_directory::durable_file;

/// Format of the file.
const FORMAT: u32 = 1;
/// Lives of which a directory keeps the random numbers.
const LIVES_KEPT: usize = 256;

/// The owner of a data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    format: u32,
    /// Name of the cluster.
    pub cluster_id: String,
    /// Number of the broker in its cluster, from 0.
    pub broker: u32,
    /// Starts on this directory, the one under way included.
    pub life: u64,
    /// A random number of the directory, by which other brokers tell it from another with the same broker number.
    #[serde(default = "random_number")]
    pub directory: u64,
    /// Random numbers of the latest lives, by their counts, the one under way included. Counts alone would not tell an
    /// old copy of the directory, which goes on with one that was there before.
    #[serde(default)]
    pub lives: BTreeMap<u64, u64>,
    /// The directory of the log, as the file system knows it, when others have vouched for it last. In a copy it is
    /// another one.
    #[serde(default)]
    place: Option<String>,
    /// How many partitions the cluster has; a directory of before had one. Unknown until the first life begins.
    #[serde(default = "of_one")]
    partitions: Option<PartitionId>,
}

/// The partitions of a directory that does not tell.
#[expect(clippy::unnecessary_wraps, reason = "the field may be unknown")]
const fn of_one() -> Option<PartitionId> {
    Some(1)
}

/// The number of a directory in its file system, and when it was made, if that is known: numbers are used again. The
/// text has the same length for all.
fn place_of(directory: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(directory)?;
    let made = metadata.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    Ok(format!("{:016x}-{:032x}", metadata.ino(), made.map_or(0, |made| made.as_nanos())))
}

fn random_number() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

/// The reason why a broker does not start on a data directory.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "names say what is held")]
pub enum IdentityError {
    #[error("'{path}': {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "'{path}' does not tell the owner of the data ({reason}); if the data are this broker's, remove the file, and it is \
         made anew"
    )]
    Damaged { path: PathBuf, reason: String },
    #[error("'{path}' is of a later release (format {format})")]
    Later { path: PathBuf, format: u32 },
    #[error(
        "the data belong to cluster '{found}', but this broker is of cluster '{configured}' (cluster.id); '{path}' says so"
    )]
    OtherCluster { path: PathBuf, found: String, configured: String },
    #[error("the data belong to broker {found}, but this is broker {configured}; '{path}' says so")]
    OtherBroker { path: PathBuf, found: u32, configured: u32 },
    #[error(
        "cluster.partitions: expected {found}, the number of partitions of these data, but found {configured}; '{path}' says \
         so, and the number cannot be changed"
    )]
    OtherPartitions { path: PathBuf, found: PartitionId, configured: PartitionId },
}

/// The file in a data directory.
fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("broker.json")
}

impl Identity {
    /// The identity of the next life on a data directory. Changes nothing. A directory of an earlier release has none.
    pub fn next(data_dir: &Path, cluster_id: &str, broker: u32) -> Result<Self, IdentityError> {
        let path = file(data_dir);
        let (life, directory, mut lives, place, partitions) = match Self::read(&path)? {
            None => (0, random_number(), BTreeMap::new(), None, None),
            Some(known) if known.cluster_id != cluster_id => {
                let configured = cluster_id.to_owned();
                return Err(IdentityError::OtherCluster { path, found: known.cluster_id, configured });
            }
            Some(known) if known.broker != broker => {
                return Err(IdentityError::OtherBroker { path, found: known.broker, configured: broker });
            }
            Some(known) => (known.life, known.directory, known.lives, known.place, known.partitions),
        };
        let life = life + 1;
        lives.insert(life, random_number());
        while lives.len() > LIVES_KEPT {
            lives.pop_first();
        }
        let cluster_id = cluster_id.to_owned();
        Ok(Self { format: FORMAT, cluster_id, broker, life, directory, lives, place, partitions })
    }

    /// The identity of a cluster with so many partitions. An error: the data are those of another number of them.
    pub fn of_partitions(self, data_dir: &Path, configured: PartitionId) -> Result<Self, IdentityError> {
        match self.partitions {
            Some(found) if found != configured => {
                Err(IdentityError::OtherPartitions { path: file(data_dir), found, configured })
            }
            Some(_) | None => Ok(Self { partitions: Some(configured), ..self }),
        }
    }

    /// How many partitions the cluster has.
    pub fn partitions(&self) -> PartitionId {
        self.partitions.expect("the number is compared before the first life begins")
    }

    /// The random number of this life.
    pub fn random(&self) -> u64 {
        *self.lives.get(&self.life).expect("a life has its number from its begin on")
    }

    /// Whether the log is in another directory than the one that others have vouched for, as in a copy.
    pub fn is_copied(&self, log: &Path) -> io::Result<bool> {
        let now = place_of(log)?;
        Ok(self.place.as_ref().is_some_and(|place| *place != now))
    }

    /// Notes that others have vouched for the directory of the log.
    pub fn vouched(&self, data_dir: &Path, log: &Path) -> Result<(), IdentityError> {
        let place = place_of(log).map_err(|source| IdentityError::Io { path: log.to_owned(), source })?;
        if self.place.as_ref() == Some(&place) {
            return Ok(());
        }
        Self { place: Some(place), ..self.clone() }.begin(data_dir)
    }

    /// Notes that the log begins anew, in a directory that nobody has to vouch for.
    pub fn forget_place(data_dir: &Path) -> Result<(), IdentityError> {
        match Self::read(&file(data_dir))? {
            Some(known) if known.place.is_some() => Self { place: None, ..known }.begin(data_dir),
            _ => Ok(()),
        }
    }

    fn read(path: &Path) -> Result<Option<Self>, IdentityError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(IdentityError::Io { path: path.to_owned(), source }),
        };
        #[derive(Deserialize)]
        struct Form {
            format: u32,
        }
        let damaged = |error: serde_json::Error| IdentityError::Damaged {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let Form { format } = serde_json::from_slice(&bytes).map_err(damaged)?;
        if format > FORMAT {
            return Err(IdentityError::Later { path: path.to_owned(), format });
        }
        serde_json::from_slice(&bytes).map(Some).map_err(damaged)
    }

    /// Notes that this life has begun. Numbers of this life may be used from then on.
    pub fn begin(&self, data_dir: &Path) -> Result<(), IdentityError> {
        let path = file(data_dir);
        let mut text = serde_json::to_vec_pretty(self).expect("numbers and a text are JSON");
        text.push(b'\n');
        durable_file::write(&path, &text).map_err(|source| IdentityError::Io { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_is_a_new_life_and_others_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let next = |cluster: &str, broker| Identity::next(directory.path(), cluster, broker);
        for life in 1..4 {
            let identity = next("a", 2).unwrap();
            assert_eq!((identity.life, next("a", 2).unwrap().life), (life, life), "until it begins");
            identity.begin(directory.path()).unwrap();
            let after = next("a", 2).unwrap();
            assert_eq!(after.directory, identity.directory, "it stays");
            assert_eq!(after.lives.get(&life), Some(&identity.random()));
            assert_ne!(after.random(), identity.random());
        }
        let error = next("b", 2).unwrap_err();
        assert!(matches!(error, IdentityError::OtherCluster { .. }), "{error}");
        assert!(
            error.to_string().contains("cluster 'a'") && error.to_string().contains("cluster 'b'"),
            "{error}"
        );
        let error = next("a", 1).unwrap_err();
        assert!(matches!(error, IdentityError::OtherBroker { found: 2, configured: 1, .. }), "{error}");
        assert_eq!(next("a", 2).unwrap().life, 4, "nothing has changed");
    }

    #[test]
    fn the_number_of_partitions_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let of = |partitions| Identity::next(path, "a", 0).unwrap().of_partitions(path, partitions);
        of(3).unwrap().begin(path).unwrap();
        let error = of(2).unwrap_err();
        assert!(matches!(error, IdentityError::OtherPartitions { found: 3, configured: 2, .. }), "{error}");
        assert!(error.to_string().starts_with("cluster.partitions: expected 3"), "{error}");
        of(3).unwrap();
        // A directory of an earlier release has one partition.
        std::fs::write(file(path), r#"{"format":1,"cluster_id":"a","broker":0,"life":7,"directory":5}"#)
            .unwrap();
        of(1).unwrap();
        assert!(matches!(of(3).unwrap_err(), IdentityError::OtherPartitions { found: 1, .. }));
    }

    #[test]
    fn a_directory_keeps_a_bounded_number_of_lives() {
        let directory = tempfile::tempdir().unwrap();
        let path = file(directory.path());
        // One of an earlier release has none.
        std::fs::write(&path, r#"{"format":1,"cluster_id":"a","broker":2,"life":7,"directory":5}"#).unwrap();
        let next = || Identity::next(directory.path(), "a", 2).unwrap();
        assert_eq!(next().lives.keys().copied().collect::<Vec<_>>(), [8]);
        for _ in 0..LIVES_KEPT {
            next().begin(directory.path()).unwrap();
        }
        let last = next();
        assert_eq!((last.lives.len(), last.life), (LIVES_KEPT, 8 + LIVES_KEPT as u64));
        assert_eq!(last.lives.first_key_value().map(|(life, _)| *life), Some(9));
    }

    #[test]
    fn a_copy_of_the_log_is_another_directory() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = directory.path();
        let (log, copy) = (data_dir.join("log"), data_dir.join("copy"));
        std::fs::create_dir(&log).unwrap();
        let start = || {
            let identity = Identity::next(data_dir, "a", 2).unwrap();
            identity.begin(data_dir).unwrap();
            identity
        };
        assert!(!start().is_copied(&log).unwrap(), "nobody has vouched for any");
        start().vouched(data_dir, &log).unwrap();
        assert!(!start().is_copied(&log).unwrap());
        std::fs::create_dir(&copy).unwrap();
        std::fs::remove_dir(&log).unwrap();
        std::fs::rename(&copy, &log).unwrap();
        assert!(start().is_copied(&log).unwrap());
        Identity::forget_place(data_dir).unwrap();
        assert!(!start().is_copied(&log).unwrap());
    }

    #[test]
    fn a_file_that_says_nothing_is_an_error_that_names_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = file(directory.path());
        for content in ["", "{}", "{\"format\":1}", "nonsense"] {
            std::fs::write(&path, content).unwrap();
            let error = Identity::next(directory.path(), "a", 0).unwrap_err();
            assert!(matches!(error, IdentityError::Damaged { .. }), "{content}: {error}");
            assert!(error.to_string().contains("broker.json"), "{error}");
        }
        std::fs::write(&path, "{\"format\":2,\"cluster\":7}").unwrap();
        let error = Identity::next(directory.path(), "a", 0).unwrap_err();
        assert!(matches!(error, IdentityError::Later { format: 2, .. }), "{error}");
    }
}
