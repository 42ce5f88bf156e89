//! Clock and disk of a broker as they must not be: a library between the broker and the system, from `interpose.c`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tokio::process::Command;

/// Numbers of a page: half of them are orders, the others count.
const FAULTS: u64 = 8;
const NUMBER_BYTES: u64 = 8;

/// Disorders of a clock or a disk, in the order of `interpose.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disorder {
    ClockSeconds,
    SyncDelayMs,
    SyncsFail,
    DiskFull,
    ReadsFail,
}

/// The library, compiled.
pub(crate) struct Interposer(PathBuf);

impl Interposer {
    /// Whether programs of this system can be told to load it.
    pub(crate) const WORKS: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

    pub(crate) async fn compile(directory: &Path) -> Option<Self> {
        if !Self::WORKS {
            return None;
        }
        let library = directory.join("interpose.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/interpose.c");
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(command.status().await.unwrap().success(), "interpose.c cannot be compiled");
        Some(Self(library))
    }

    /// Has a command load it.
    pub(crate) fn load(&self, command: &mut Command, page: &Path, directory: &Path) {
        command.env("LD_PRELOAD", &self.0).env("FAULTS_PAGE", page).env("FAULTS_DIRECTORY", directory);
    }
}

/// The orders to one broker, which it reads at each call.
pub(crate) struct Page(File);

impl Page {
    pub(crate) fn create(path: &Path) -> Self {
        let page = File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap();
        page.set_len(2 * FAULTS * NUMBER_BYTES).unwrap();
        Self(page)
    }

    /// Zero mends it.
    pub(crate) fn order(&self, disorder: Disorder, value: i64) {
        self.0.write_all_at(&value.to_ne_bytes(), disorder as u64 * NUMBER_BYTES).unwrap();
    }

    /// How often it came to pass.
    pub(crate) fn count(&self, disorder: Disorder) -> i64 {
        let mut number = [0; NUMBER_BYTES as usize];
        self.0.read_exact_at(&mut number, (FAULTS + disorder as u64) * NUMBER_BYTES).unwrap();
        i64::from_ne_bytes(number)
    }
}
