//! A node of OpenSearch or Elasticsearch for tests: the `Node.java` of a folder with what its `pom.xml` names,
//! started and stopped here.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Kind of the store of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    Opensearch,
    Elasticsearch,
}

impl Product {
    /// Its name on the command line and in results, and that of its folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opensearch => "opensearch",
            Self::Elasticsearch => "elasticsearch",
        }
    }

    fn folder(self) -> PathBuf {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/stores")).join(self.name())
    }

    /// Those that the command line names, all if none; and what else it says, a part of the names of tests.
    #[allow(dead_code, reason = "not every test takes all")]
    pub fn wanted() -> (Vec<Self>, String) {
        let all = [Self::Opensearch, Self::Elasticsearch];
        let (mut wanted, mut filter) = (Vec::new(), String::new());
        for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
            match all.iter().find(|product| product.name() == argument) {
                Some(product) => wanted.push(*product),
                None => filter = argument,
            }
        }
        (if wanted.is_empty() { all.to_vec() } else { wanted }, filter)
    }
}

/// A node at work.
pub struct Node {
    product: Product,
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

    /// Starts a node on any port; says why if it is not possible.
    #[allow(dead_code, reason = "not every test leaves the port to the node")]
    pub fn start(product: Product, directory: &Path) -> Result<Self, String> {
        Self::start_at(product, directory, 0)
    }

    /// Starts a node on a port.
    pub fn start_at(product: Product, directory: &Path, port: u16) -> Result<Self, String> {
        if !Self::is_possible() {
            return Err("there is no Maven or no JDK".to_owned());
        }
        let classpath = classpath(product)?;
        let mut node = Self { product, classpath, directory: directory.to_owned(), port, process: None };
        node.resume();
        Ok(node)
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
            .arg(self.product.folder().join("Node.java"))
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

/// Files that Maven fetches, asked once for each `pom.xml`.
fn classpath(product: Product) -> Result<String, String> {
    let pom = product.folder().join("pom.xml");
    let mut hasher = DefaultHasher::new();
    std::fs::read(&pom).expect("pom.xml can be read").hash(&mut hasher);
    let name = format!("{}-{:016x}.classpath", product.name(), hasher.finish());
    let known = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let is_whole = |text: &String| text.split(':').all(|path| Path::new(path).exists());
    if let Some(text) = std::fs::read_to_string(&known).ok().filter(is_whole) {
        return Ok(text);
    }
    let file = known.with_extension(std::process::id().to_string());
    let output = Command::new("mvn")
        .args(["--batch-mode", "--quiet", "dependency:build-classpath"])
        .arg(format!("-Dmdep.outputFile={}", file.display()))
        .arg("--file")
        .arg(&pom)
        .output()
        .expect("mvn can be started");
    if !output.status.success() {
        return Err(format!("Maven fetches nothing: {}", String::from_utf8_lossy(&output.stdout)));
    }
    std::fs::rename(&file, &known).expect("the classpath can be kept");
    Ok(std::fs::read_to_string(&known).expect("the classpath can be read"))
}
