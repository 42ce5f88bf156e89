//! The owner of a data directory: which broker of which cluster wrote it, and how often it was started.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::durable_file;

/// The only form of the file until now.
const FORMAT: u32 = 1;

/// The owner of a data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    format: u32,
    pub cluster_id: String,
    /// Number of the broker in its cluster, from 0.
    pub broker: u32,
    /// Starts on this directory, the one under way included.
    pub life: u64,
    /// A random number of the directory, by which other brokers tell it from another with the same broker number.
    #[serde(default = "random_number")]
    pub directory: u64,
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
}

/// The file in a data directory.
fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("broker.json")
}

impl Identity {
    /// The identity of the next life on a data directory. Changes nothing. A directory of an earlier release has none.
    pub fn next(data_dir: &Path, cluster_id: &str, broker: u32) -> Result<Self, IdentityError> {
        let path = file(data_dir);
        let (life, directory) = match Self::read(&path)? {
            None => (0, random_number()),
            Some(known) if known.cluster_id != cluster_id => {
                let configured = cluster_id.to_owned();
                return Err(IdentityError::OtherCluster { path, found: known.cluster_id, configured });
            }
            Some(known) if known.broker != broker => {
                return Err(IdentityError::OtherBroker { path, found: known.broker, configured: broker });
            }
            Some(known) => (known.life, known.directory),
        };
        Ok(Self { format: FORMAT, cluster_id: cluster_id.to_owned(), broker, life: life + 1, directory })
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
            assert_eq!(next("a", 2).unwrap().directory, identity.directory, "it stays");
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
