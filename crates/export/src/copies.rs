//! A target of which each replica has a copy of its own, as replicas exchange it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, RwLock};
use protocol::PartitionId;

/// Positions of the last records, by partition.
type LastPositions = BTreeMap<PartitionId, u64>;
type Make = Box<dyn Fn(&Path) -> Result<LastPositions, String> + Send + Sync>;
type Fetch = Arc<dyn Fn(&LastPositions) -> Result<PathBuf, NoCopy> + Send + Sync>;

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
    /// Held while the content of another copy takes the place of this one's.
    replacing: Mutex<()>,
}

impl fmt::Debug for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Copies")
    }
}

impl Copies {
    /// `make` writes a new file with all that the copy of this replica has at one moment, and returns the positions
    /// up to which the file has everything.
    pub fn new(make: impl Fn(&Path) -> Result<LastPositions, String> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), fetch: RwLock::default(), replacing: Mutex::default() }
    }

    /// Writes a new file with all that this replica has. Returns the positions of its last records, or later ones.
    /// Blocks.
    pub fn make(&self, target: &Path) -> Result<LastPositions, String> {
        (self.make)(target)
    }

    /// Tells how a file of another replica is obtained that has everything up to positions, from now on.
    pub fn fetch_with(
        &self,
        fetch: impl Fn(&LastPositions) -> Result<PathBuf, NoCopy> + Send + Sync + 'static,
    ) {
        *self.fetch.write() = Some(Arc::new(fetch));
    }

    /// The turn of one exporter to have its copy replaced: it is that of all partitions.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.replacing.lock()
    }

    /// Obtains a file of another replica that has everything up to positions, which are not the file's own if no
    /// records have them. Blocks. The file is the caller's.
    pub fn fetch(&self, at_least: &LastPositions) -> Result<PathBuf, NoCopy> {
        let fetch = self.fetch.read().clone();
        let fetch = fetch.ok_or_else(|| NoCopy::now("there is no other replica"))?;
        fetch(at_least)
    }
}
