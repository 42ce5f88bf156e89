//! The records that did not come here, since a snapshot took the place of the state. They are kept over restarts.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::directory;

/// Records that may be missing: those after a position, up to another one. Earlier ones are here until every replica
/// knows them to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Missing {
    pub after: u64,
    pub upto: u64,
}

impl Missing {
    /// Adds the positions that another snapshot leaves out: after `last`, which is here, up to `position`. Those up to
    /// `acknowledged` are not needed; nothing is kept if no exporter is enabled.
    #[must_use]
    pub fn and(self, last: u64, position: u64, acknowledged: u64) -> Self {
        let after = match acknowledged {
            u64::MAX => 0,
            _ if self.upto <= acknowledged => last,
            _ => self.after,
        };
        Self { after, upto: position.max(self.upto) }
    }

    /// Up to where the records after a position are here; `None`: they are missing.
    pub fn known_from(self, position: u64, upto: u64) -> Option<u64> {
        match self {
            _ if position >= self.upto => Some(upto),
            Self { after, .. } if position < after => Some(upto.min(after)),
            _ => None,
        }
    }
}

/// The file that keeps it. Absent means none.
#[derive(Debug)]
pub(crate) struct MissingFile(PathBuf);

impl MissingFile {
    pub fn new(directory: &Path) -> Self {
        Self(directory.join("missing"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// One number, of an earlier release, tells that all up to it may be missing.
    pub fn read(&self) -> io::Result<Missing> {
        let text = match std::fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Missing::default()),
            Err(error) => return Err(error),
        };
        let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
        match numbers.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?[..] {
            [upto] => Ok(Missing { after: 0, upto }),
            [after, upto] => Ok(Missing { after, upto }),
            _ => Err(io::Error::new(ErrorKind::InvalidData, "expected one or two positions")),
        }
    }

    pub fn write(&self, Missing { after, upto }: Missing) -> io::Result<()> {
        directory::write(&self.0, format!("{after} {upto}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_before_a_snapshot_are_here_as_long_as_they_are_kept() {
        let first = Missing::default().and(10, 20, 5);
        assert_eq!(first, Missing { after: 10, upto: 20 });
        assert_eq!(
            [5, 9, 10, 19, 20].map(|at| first.known_from(at, 30)),
            [Some(10), Some(10), None, None, Some(30)]
        );
        // The first hole is not fetched yet; later it is.
        assert_eq!(first.and(25, 40, 5), Missing { after: 10, upto: 40 });
        assert_eq!(first.and(25, 40, 20), Missing { after: 25, upto: 40 });
        assert_eq!(first.and(25, 40, u64::MAX), Missing { after: 0, upto: 40 }, "nobody takes them");
    }
}
