//! Which exporters are switched off; kept over restarts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::directory;

/// The file that keeps their IDs, one on a line. Absent means none.
#[derive(Debug)]
pub(crate) struct SwitchFile(PathBuf);

impl SwitchFile {
    pub fn new(directory: &Path) -> Self {
        Self(directory.join("disabled"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn read(&self) -> std::io::Result<BTreeSet<String>> {
        match std::fs::read_to_string(&self.0) {
            Ok(text) => Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            Err(error) => Err(error),
        }
    }

    pub fn write(&self, disabled: &BTreeSet<String>) -> std::io::Result<()> {
        let lines: String = disabled.iter().flat_map(|id| [id.as_str(), "\n"]).collect();
        directory::write(&self.0, lines.as_bytes())
    }
}
