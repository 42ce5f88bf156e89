//! A PostgreSQL of our own, in a directory that vanishes, reached through a socket in it.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Where the programs of PostgreSQL are, if they are here: `POSTGRES_BIN`, the path, or where distributions put them.
pub fn programs() -> Option<PathBuf> {
    let named = std::env::var_os("POSTGRES_BIN").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = named.into_iter().chain(std::env::split_paths(&path)).collect();
    for versions in std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        places.push(versions.path().join("bin"));
    }
    places.into_iter().find(|place| ["initdb", "pg_ctl"].iter().all(|program| place.join(program).is_file()))
}

/// A server that runs as long as this lives.
pub struct Server {
    directory: TempDir,
    programs: PathBuf,
    /// User and group that run it in place of root, as which it refuses to run.
    user: Option<(u32, u32)>,
    /// More than every server has.
    options: String,
}

impl Server {
    pub fn start(programs: &Path) -> Self {
        Self::start_with(programs, &[], "")
    }

    /// One like this, with files in its directory and options.
    pub fn another(&self, files: &[(&str, &str)], options: &str) -> Self {
        Self::start_with(&self.programs, files, options)
    }

    fn start_with(programs: &Path, files: &[(&str, &str)], options: &str) -> Self {
        let directory = tempfile::Builder::new().prefix("pg").tempdir().unwrap();
        let is_root = directory.path().metadata().unwrap().uid() == 0;
        let user = is_root
            .then(|| other_user().expect("PostgreSQL does not run as root, and there is no other user"));
        if let Some((user, group)) = user {
            chown(directory.path(), Some(user), Some(group)).unwrap();
        }
        let server = Self { directory, programs: programs.to_owned(), user, options: options.to_owned() };
        // In the order of a language, which is not the order of bytes that everything else has; older releases
        // cannot, then the order of bytes must do.
        let base = ["-D", "data", "-U", "baton", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
        let icu = ["--locale-provider=icu", "--icu-locale=en"];
        if !server.run("initdb", &[&base[..], &icu[..]].concat()) {
            let _ = std::fs::remove_dir_all(server.directory.path().join("data"));
            assert!(server.run("initdb", &base), "initdb fails");
        }
        for (name, content) in files {
            let path = server.directory.path().join("data").join(name);
            std::fs::write(&path, content).unwrap();
            // A private key that others can read is none to it.
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = server.user {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        server.resume();
        server
    }

    /// Starts it again after a crash.
    pub fn resume(&self) {
        let directory = self.directory.path().display();
        let options = format!(
            "-c listen_addresses='' -c unix_socket_directories='{directory}' -c max_connections=50 {}",
            self.options
        );
        assert!(
            self.run("pg_ctl", &["-D", "data", "-w", "-l", "log", "-o", &options, "start"]),
            "it does not start"
        );
    }

    /// Ends it at once, with whatever is under way.
    pub fn crash(&self) {
        assert!(self.run("pg_ctl", &["-D", "data", "-w", "-m", "immediate", "stop"]), "it does not end");
    }

    /// Where its socket is.
    #[allow(dead_code, reason = "not every test puts something in between")]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Whom its files belong to, if not us.
    #[allow(dead_code, reason = "not every test makes files for it")]
    pub fn user(&self) -> Option<(u32, u32)> {
        self.user
    }

    pub fn url(&self) -> String {
        format!("postgres:///postgres?user=baton&host={}", self.directory.path().display())
    }

    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.directory.path()).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command.status().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.run("pg_ctl", &["-D", "data", "-w", "-m", "immediate", "stop"]);
    }
}

fn other_user() -> Option<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|name| {
        let fields = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields[0] == *name)?;
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    })
}
