//! A target of which each replica has a copy of its own, as replicas exchange it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;

type Make = Box<dyn Fn(&Path) -> Result<u64, String> + Send + Sync>;
type Fetch = Arc<dyn Fn(u64) -> Result<PathBuf, NoCopy> + Send + Sync>;

/// Why no file of another replica was obtained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoCopy {
    /// The words of each of the others, for people.
    pub reason: String,
    /// Whether all others say that they never will have what is needed. Else it is worth while to ask again.
    pub is_final: bool,
}

impl NoCopy {
    /// It may be another time.
    pub fn now(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_final: false }
    }
}

/// The copy of this replica, and the way to those of others.
pub struct Copies {
    make: Make,
    /// Of the present life of the broker.
    fetch: RwLock<Option<Fetch>>,
}

impl fmt::Debug for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Copies")
    }
}

impl Copies {
    /// `make` writes a new file with all that the copy of this replica has at one moment, and returns the position
    /// up to which the file has everything.
    pub fn new(make: impl Fn(&Path) -> Result<u64, String> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), fetch: RwLock::default() }
    }

    /// Writes a new file with all that this replica has. Returns the position of its last record, or a later one.
    /// Blocks.
    pub fn make(&self, target: &Path) -> Result<u64, String> {
        (self.make)(target)
    }

    /// Tells how a file of another replica is obtained that has everything up to a position, from now on.
    pub fn fetch_with(&self, fetch: impl Fn(u64) -> Result<PathBuf, NoCopy> + Send + Sync + 'static) {
        *self.fetch.write() = Some(Arc::new(fetch));
    }

    /// Obtains a file of another replica that has everything up to a position, which is not the file's own if no
    /// record has it. Blocks. The file is the caller's.
    pub fn fetch(&self, at_least: u64) -> Result<PathBuf, NoCopy> {
        let fetch = self.fetch.read().clone();
        let fetch = fetch.ok_or_else(|| NoCopy::now("there is no other replica"))?;
        fetch(at_least)
    }
}
