//! Emulators of clouds: moto and Azurite, installed by pip and npm once, started and stopped here.

use parking_lot::Mutex;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Where the programs are, and lists of the packages that they need.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/stores/objects");

/// Two stores need the same packages.
static INSTALLING: Mutex<()> = Mutex::new(());

/// An emulator at work.
pub(crate) struct Emulator {
    process: Child,
    directory: tempfile::TempDir,
    port: u16,
}

impl Emulator {
    /// S3 (`s3`) or Google Cloud Storage (`gcs`); says why if it is not possible.
    pub(crate) fn moto(kind: &str) -> Result<Self, String> {
        let packages = installed(&["requirements.txt"], "python3", |place| {
            let python = place.join("venv/bin/python");
            run(Command::new("python3").args(["-m", "venv"]).arg(place.join("venv")))?;
            run(Command::new(python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
                .arg(Path::new(FOLDER).join("requirements.txt")))
        })?;
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(packages.join("venv/bin/python"));
        command.arg("-B").arg(Path::new(FOLDER).join("server.py")).arg(kind).arg(directory.path());
        Ok(Self::start(command, directory))
    }

    /// Azure Blob Storage.
    pub(crate) fn azurite() -> Result<Self, String> {
        let packages = installed(&["package.json", "package-lock.json"], "node", |place| {
            run(Command::new("npm")
                .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"])
                .current_dir(place))
        })?;
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("node");
        command.arg(Path::new(FOLDER).join("azurite.cjs")).arg(packages).current_dir(directory.path());
        Ok(Self::start(command, directory))
    }

    fn start(mut command: Command, directory: tempfile::TempDir) -> Self {
        let log = std::fs::File::create(directory.path().join("log")).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let port =
            output.lines().map_while(Result::ok).find_map(|line| line.strip_prefix("port ")?.parse().ok());
        let Some(port) = port else {
            let log = std::fs::read_to_string(directory.path().join("log"));
            panic!("the emulator did not start: {log:?}")
        };
        Self { process, directory, port }
    }

    /// Host and port.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The file that tells who may come in.
    pub(crate) fn account_file(&self) -> PathBuf {
        self.directory.path().join("account.json")
    }

    pub(crate) fn account(&self, name: &str) -> String {
        let account = std::fs::read(self.account_file()).unwrap();
        serde_json::from_slice::<Value>(&account).unwrap()[name].as_str().unwrap().to_owned()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A folder with packages, where they are installed once for each list of them.
fn installed(
    lists: &[&str],
    program: &str,
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let _alone = INSTALLING.lock();
    if Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return Err(format!("there is no {program}"));
    }
    let mut hasher = DefaultHasher::new();
    for list in lists {
        std::fs::read(Path::new(FOLDER).join(list)).unwrap().hash(&mut hasher);
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{program}-{:016x}", hasher.finish()));
    if place.join("installed").exists() {
        return Ok(place);
    }
    // A half-done installation is repeated.
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    for list in lists {
        std::fs::copy(Path::new(FOLDER).join(list), place.join(list)).unwrap();
    }
    install(&place)?;
    std::fs::write(place.join("installed"), "").unwrap();
    Ok(place)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{command:?} fails: {said}{wrong}"))
}
