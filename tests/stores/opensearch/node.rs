//! An OpenSearch node for tests: `Node.java` with what `pom.xml` names, started and stopped here.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/stores/opensearch");

/// A node at work.
pub struct Node {
    classpath: String,
    directory: PathBuf,
    port: u16,
    process: Option<Child>,
}

impl Node {
    /// Whether there are Maven and a JDK.
    pub fn is_possible() -> bool {
        ["java", "mvn"].iter().all(|program| {
            Command::new(program).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        })
    }

    /// Starts a node on any port; `None` if it is not possible.
    #[allow(dead_code, reason = "not every test leaves the port to the node")]
    pub fn start(directory: &Path) -> Option<Self> {
        Self::start_at(directory, 0)
    }

    /// Starts a node on a port.
    pub fn start_at(directory: &Path, port: u16) -> Option<Self> {
        if !Self::is_possible() {
            return None;
        }
        let mut node = Self { classpath: classpath(), directory: directory.to_owned(), port, process: None };
        node.resume();
        Some(node)
    }

    #[allow(dead_code, reason = "who has chosen the port knows it")]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts it again, on the port that it had.
    pub fn resume(&mut self) {
        let process = Command::new("java")
            .args([
                "-Xms512m",
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                &self.classpath,
            ])
            .arg(Path::new(FOLDER).join("Node.java"))
            .arg(&self.directory)
            .arg(self.port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = process.expect("java can be started");
        let mut line = String::new();
        let answer = process.stdout.take().expect("its output is piped");
        BufReader::new(answer).read_line(&mut line).expect("its output can be read");
        let port = line.trim().strip_prefix("port ").and_then(|port| port.parse().ok());
        self.process = Some(process);
        self.port = port.unwrap_or_else(|| {
            let log = std::fs::read_to_string(self.directory.join("node.log")).unwrap_or_default();
            panic!("the node did not start: {line}\n{log}")
        });
    }

    /// Ends it without a warning.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("the node runs");
            process.wait().expect("the node ends");
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What Maven fetches, asked once for each `pom.xml`.
fn classpath() -> String {
    let pom = Path::new(FOLDER).join("pom.xml");
    let mut hasher = DefaultHasher::new();
    std::fs::read(&pom).expect("pom.xml can be read").hash(&mut hasher);
    let known =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("opensearch-{:016x}.classpath", hasher.finish()));
    let is_whole = |text: &String| text.split(':').all(|path| Path::new(path).exists());
    if let Some(text) = std::fs::read_to_string(&known).ok().filter(is_whole) {
        return text;
    }
    let file = known.with_extension(std::process::id().to_string());
    let output = Command::new("mvn")
        .args(["--batch-mode", "--quiet", "dependency:build-classpath"])
        .arg(format!("-Dmdep.outputFile={}", file.display()))
        .arg("--file")
        .arg(&pom)
        .output()
        .expect("mvn can be started");
    assert!(output.status.success(), "mvn: {}", String::from_utf8_lossy(&output.stdout));
    std::fs::rename(&file, &known).expect("the classpath can be kept");
    std::fs::read_to_string(&known).expect("the classpath can be read")
}
