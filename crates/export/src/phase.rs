//! Whether exporting is paused; kept over restarts, because an operator pauses for the time of a backup.

use std::path::{Path, PathBuf};

use crate::directory;

/// Whether records are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// They are.
    Exporting,
    /// They are kept.
    Paused,
    /// They are exported, but nothing counts as acknowledged: all are kept.
    SoftPaused,
}

impl Phase {
    /// The name that operators know.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exporting => "EXPORTING",
            Self::Paused => "PAUSED",
            Self::SoftPaused => "SOFT_PAUSED",
        }
    }
}

/// The file that keeps it. Absent means exporting.
#[derive(Debug)]
pub(crate) struct PhaseFile(PathBuf);

impl PhaseFile {
    pub fn new(directory: &Path) -> Self {
        Self(directory.join("phase"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Reads it; what is not understood pauses, which loses nothing.
    pub fn read(&self) -> std::io::Result<Phase> {
        match std::fs::read_to_string(&self.0) {
            Ok(text) => Ok(match text.trim() {
                "EXPORTING" => Phase::Exporting,
                "SOFT_PAUSED" => Phase::SoftPaused,
                _ => Phase::Paused,
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Phase::Exporting),
            Err(error) => Err(error),
        }
    }

    pub fn write(&self, phase: Phase) -> std::io::Result<()> {
        directory::write(&self.0, phase.as_str().as_bytes())
    }
}
