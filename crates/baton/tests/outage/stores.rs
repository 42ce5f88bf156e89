//! The stores, and what happens to them.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http;
use crate::node::{Node, Product};
use crate::postgres;
use crate::proxy::{Mode, Proxy};
use crate::small_disk::SmallDisk;

/// How long a slow store takes for each transaction or bulk.
pub(crate) const SLOW: Duration = Duration::from_millis(200);
/// Between two transactions of somebody else, so that ours has its turn.
const TURN: Duration = Duration::from_millis(20);
/// Variables of this name are refused while a store refuses one record.
pub(crate) const POISON: &str = "poison";
/// So long is the value of that variable: more than OpenSearch takes into an index.
pub(crate) const POISON_BYTES: usize = 40_000;

/// Faults of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not there when the server starts.
    AwayFromTheStart,
    /// It is stopped, and started again after a while.
    Away,
    /// It is ended without a warning and started again at once.
    Restarted,
    /// Each transaction or bulk takes 200 ms.
    Slow,
    /// It takes connections and requests, and answers nothing.
    Hangs,
    /// It takes everything but one record.
    RefusesOne,
    /// Its disk is full.
    Full,
    /// It is away, and the server is killed.
    AwayAndKilled,
}

/// A store with a fault that begins and ends.
pub(crate) trait Store {
    /// For the table.
    const NAME: &'static str;
    /// Its faults, in this order.
    fn faults(&self) -> Vec<Fault>;
    /// How the server reaches it.
    fn settings(&self) -> Vec<String>;
    /// The fault begins. May block.
    async fn begin(&mut self, fault: Fault);
    /// The store is as it was when this returns. May block.
    async fn end(&mut self, fault: Fault);
}

/// A file, in a directory that may be missing or full.
pub(crate) struct Sqlite {
    directory: TempDir,
    disk: Option<SmallDisk>,
    lock: Option<Lock>,
}

/// Another process that writes to the file.
struct Lock {
    ends: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Lock {
    /// Holds the lock for this long, again and again; or all the time.
    fn hold(path: &Path, each: Option<Duration>) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let (ends_too, path) = (Arc::clone(&ends), path.to_owned());
        let (sender, held) = mpsc::sync_channel(1);
        let thread = std::thread::spawn(move || {
            let other = Connection::open(path).unwrap();
            other.busy_timeout(Duration::from_mins(1)).unwrap();
            while !ends_too.load(Ordering::Relaxed) {
                other.execute_batch("BEGIN IMMEDIATE").unwrap();
                let _ = sender.try_send(());
                match each {
                    Some(each) => std::thread::sleep(each),
                    None => {
                        while !ends_too.load(Ordering::Relaxed) {
                            std::thread::sleep(TURN);
                        }
                    }
                }
                other.execute_batch("COMMIT").unwrap();
                std::thread::sleep(TURN);
            }
        });
        held.recv().unwrap();
        Self { ends, thread }
    }

    fn release(self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

impl Sqlite {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), disk: None, lock: None }
    }

    fn place(&self) -> PathBuf {
        self.directory.path().join("place")
    }

    fn file(&self) -> PathBuf {
        self.place().join("store.sqlite")
    }

    fn execute(&self, sql: &str) {
        let other = Connection::open(self.file()).unwrap();
        other.busy_timeout(Duration::from_mins(1)).unwrap();
        other.execute_batch(sql).unwrap();
    }
}

impl Store for Sqlite {
    const NAME: &'static str = "SQLite";

    fn faults(&self) -> Vec<Fault> {
        let mut faults = vec![Fault::AwayFromTheStart, Fault::Slow, Fault::RefusesOne];
        faults.extend(SmallDisk::is_possible().then_some(Fault::Full));
        faults.push(Fault::AwayAndKilled);
        faults
    }

    fn settings(&self) -> Vec<String> {
        let path = self.file();
        vec![
            "secondary_storage.kind=sqlite".to_owned(),
            format!("secondary_storage.sqlite.path={}", path.display()),
        ]
    }

    async fn begin(&mut self, fault: Fault) {
        match fault {
            Fault::AwayFromTheStart => {}
            Fault::Slow => self.lock = Some(Lock::hold(&self.file(), Some(SLOW))),
            Fault::RefusesOne => self.execute(&format!(
                "CREATE TRIGGER refuse BEFORE INSERT ON variable WHEN new.name='{POISON}' \
                 BEGIN SELECT RAISE(ABORT,'not this one'); END"
            )),
            Fault::Full => self.disk.as_mut().unwrap().fill(),
            // A file cannot be away once it is open; it cannot be written either way.
            _ => self.lock = Some(Lock::hold(&self.file(), None)),
        }
    }

    async fn end(&mut self, fault: Fault) {
        match fault {
            Fault::AwayFromTheStart => {
                // The small disk comes with the directory.
                std::fs::create_dir(self.place()).unwrap();
                self.disk = SmallDisk::is_possible().then(|| SmallDisk::mount(&self.place()));
            }
            Fault::RefusesOne => self.execute("DROP TRIGGER refuse"),
            Fault::Full => self.disk.as_mut().unwrap().make_room(),
            _ => self.lock.take().unwrap().release(),
        }
    }
}

/// A server behind a proxy.
pub(crate) struct Postgres {
    programs: PathBuf,
    server: Option<postgres::Server>,
    proxy: Option<Proxy>,
    sockets: TempDir,
    tablespace: TempDir,
    disk: Option<SmallDisk>,
}

impl Postgres {
    /// `None` where there is none to start.
    pub(crate) fn new() -> Option<Self> {
        let programs = postgres::programs()?;
        Some(Self {
            programs,
            server: None,
            proxy: None,
            sockets: tempfile::tempdir().unwrap(),
            tablespace: tempfile::tempdir().unwrap(),
            disk: None,
        })
    }

    fn server(&self) -> &postgres::Server {
        self.server.as_ref().unwrap()
    }

    fn sql(&self, statement: &str) {
        // It need not be where the server is.
        let beside = self.programs.join("psql");
        let outcome = Command::new(if beside.is_file() { beside } else { PathBuf::from("psql") })
            .args(["-v", "ON_ERROR_STOP=1", "-q", "-c", statement])
            .arg(self.server().url())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(outcome.status.success(), "{statement}: {}", String::from_utf8_lossy(&outcome.stderr));
    }

    /// The tables go to a disk of their own.
    fn confine(&mut self) {
        if !SmallDisk::is_possible() {
            return;
        }
        self.disk = Some(SmallDisk::mount(self.tablespace.path()));
        if let Some((user, group)) = self.server().user() {
            chown(self.tablespace.path(), Some(user), Some(group)).unwrap();
        }
        self.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", self.tablespace.path().display()));
        self.sql("ALTER DATABASE postgres SET default_tablespace = small");
    }
}

impl Store for Postgres {
    const NAME: &'static str = "PostgreSQL";

    fn faults(&self) -> Vec<Fault> {
        let mut faults =
            vec![Fault::AwayFromTheStart, Fault::Restarted, Fault::Slow, Fault::Hangs, Fault::RefusesOne];
        faults.extend(SmallDisk::is_possible().then_some(Fault::Full));
        faults.extend([Fault::Away, Fault::AwayAndKilled]);
        faults
    }

    fn settings(&self) -> Vec<String> {
        let sockets = self.sockets.path().display();
        vec![
            "secondary_storage.kind=postgres".to_owned(),
            format!("secondary_storage.postgres.url=postgres:///postgres?user=baton&host={sockets}"),
            "secondary_storage.query_timeout=1s".to_owned(),
        ]
    }

    async fn begin(&mut self, fault: Fault) {
        let proxy = self.proxy.as_ref();
        match fault {
            Fault::AwayFromTheStart => {}
            Fault::Slow => proxy.unwrap().set(Mode::Delay(SLOW)),
            Fault::Hangs => proxy.unwrap().set(Mode::Hang),
            Fault::RefusesOne => self.sql(&format!(
                "ALTER TABLE baton.variable ADD CONSTRAINT refuse CHECK (name <> '{POISON}') NOT VALID"
            )),
            Fault::Full => self.disk.as_mut().unwrap().fill(),
            Fault::Away | Fault::AwayAndKilled | Fault::Restarted => self.server().crash(),
        }
    }

    async fn end(&mut self, fault: Fault) {
        match fault {
            Fault::AwayFromTheStart => {
                self.server = Some(postgres::Server::start(&self.programs));
                self.confine();
                let name = ".s.PGSQL.5432";
                let target = self.server().directory().join(name);
                self.proxy = Some(Proxy::unix(&self.sockets.path().join(name), target, b"COMMIT"));
            }
            Fault::Slow | Fault::Hangs => self.proxy.as_ref().unwrap().set(Mode::Pass),
            Fault::RefusesOne => self.sql("ALTER TABLE baton.variable DROP CONSTRAINT refuse"),
            Fault::Full => self.disk.as_mut().unwrap().make_room(),
            Fault::Away | Fault::AwayAndKilled | Fault::Restarted => self.server().resume(),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Before the disk below its tables goes.
        self.server = None;
    }
}

/// A node behind a proxy.
pub(crate) struct Opensearch {
    directory: TempDir,
    node: Option<Node>,
    proxy: Proxy,
    /// Where the proxy listens.
    address: String,
    port: u16,
}

impl Opensearch {
    /// `None` where there is none to start.
    pub(crate) async fn new() -> Option<Self> {
        if !Node::is_possible() {
            return None;
        }
        // The node is not there yet, but the proxy has to know where it will be.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (proxy, address) = Proxy::tcp(format!("127.0.0.1:{port}"), b"POST /_bulk").await;
        Some(Self { directory: tempfile::tempdir().unwrap(), node: None, proxy, address, port })
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) {
        let address = format!("127.0.0.1:{}", self.port);
        http::ask(&address, method, path, Some(body)).await.unwrap().good();
    }

    async fn set_searchable_length(&self, length: usize) {
        let field = json!({ "type": "keyword", "ignore_above": length });
        let mapping = json!({ "properties": { "value": field } });
        self.ask("PUT", "/baton-variable-1/_mapping", &mapping).await;
    }

    async fn block(&self, is_blocked: Option<bool>) {
        let block = json!({ "index.blocks.read_only_allow_delete": is_blocked });
        self.ask("PUT", "/baton-*/_settings", &block).await;
    }
}

impl Store for Opensearch {
    const NAME: &'static str = "OpenSearch";

    fn faults(&self) -> Vec<Fault> {
        vec![
            Fault::AwayFromTheStart,
            Fault::Restarted,
            Fault::Slow,
            Fault::Hangs,
            Fault::RefusesOne,
            Fault::Full,
            Fault::AwayAndKilled,
        ]
    }

    fn settings(&self) -> Vec<String> {
        vec![
            "secondary_storage.kind=opensearch".to_owned(),
            format!("secondary_storage.opensearch.urls=http://{}", self.address),
            "secondary_storage.opensearch.number_of_replicas=0".to_owned(),
            "secondary_storage.query_timeout=3s".to_owned(),
        ]
    }

    async fn begin(&mut self, fault: Fault) {
        match fault {
            Fault::AwayFromTheStart => {}
            Fault::Slow => self.proxy.set(Mode::Delay(SLOW)),
            Fault::Hangs => self.proxy.set(Mode::Hang),
            // Longer than what can be looked for; the server says that such a text is not to be.
            Fault::RefusesOne => self.set_searchable_length(2 * POISON_BYTES).await,
            // A node's own reaction to a full disk.
            Fault::Full => self.block(Some(true)).await,
            // Starting the node once more takes longest; who does not reach it cannot tell.
            Fault::Away | Fault::AwayAndKilled => self.proxy.set(Mode::Refuse),
            Fault::Restarted => self.node.as_mut().unwrap().kill(),
        }
    }

    async fn end(&mut self, fault: Fault) {
        match fault {
            Fault::AwayFromTheStart => {
                let node = Node::start_at(Product::Opensearch, self.directory.path(), self.port);
                self.node = Some(node.expect("there is one to start"));
            }
            Fault::RefusesOne => self.set_searchable_length(8191).await,
            Fault::Full => self.block(None).await,
            Fault::Restarted => self.node.as_mut().unwrap().resume(),
            Fault::Slow | Fault::Hangs | Fault::Away | Fault::AwayAndKilled => self.proxy.set(Mode::Pass),
        }
    }
}
