//! Secrets that clients ask for by name: files of a directory, or variables of the environment.
//!
//! A file is read with each request, so that a secret which is exchanged counts at once. Its name is the name of the
//! secret, as orchestrators mount them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

/// The largest value.
const VALUE_BYTES_MAX: u64 = 64 * 1024;
/// Most names of a list.
const NAMES_MAX: usize = 10_000;
/// The longest name.
const NAME_CHARS_MAX: usize = 256;

/// Places of secrets. Clones share it.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Places>);

#[derive(Default)]
struct Places {
    directory: Option<PathBuf>,
    variables: BTreeMap<String, String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("directory", &self.0.directory).finish_non_exhaustive()
    }
}

/// Reasons why a secret has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("there is no secret with this name")]
    NotFound,
    #[error("the permission REVEAL for this SECRET is missing")]
    AccessDenied,
    #[error(
        "expected a name of letters, digits, '_', '-' or '.', not with '.' at first, at most {NAME_CHARS_MAX} characters"
    )]
    InvalidReference,
    #[error("expected a file that can be read, of UTF-8 text with at most {VALUE_BYTES_MAX} bytes")]
    Unreadable,
}

impl SecretError {
    /// Its name in the contract.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::NotFound => "NOT_FOUND",
            Self::AccessDenied => "ACCESS_DENIED",
            Self::InvalidReference => "INVALID_REFERENCE",
            Self::Unreadable => "UNREADABLE",
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=NAME_CHARS_MAX).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_part)
}

impl Secrets {
    /// Files of a directory, which come first, and variables whose names begin with a prefix. An empty prefix means no
    /// variables.
    pub fn new(
        directory: Option<PathBuf>,
        prefix: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let named = variables.into_iter().filter_map(|(variable, value)| {
            let name = variable.strip_prefix(prefix).filter(|name| !prefix.is_empty() && is_name(name))?;
            Some((name.to_owned(), value))
        });
        Self(Arc::new(Places { directory, variables: named.collect() }))
    }

    /// The names of all of them, in order.
    pub(crate) async fn list(&self) -> Result<Vec<String>, String> {
        let mut names: BTreeSet<String> = self.0.variables.keys().cloned().collect();
        if let Some(directory) = self.0.directory.clone() {
            names.extend(blocking(move || file_names(&directory)).await.map_err(|error| {
                tracing::warn!(%error, "the directory of secrets cannot be read");
                "the directory of secrets cannot be read".to_owned()
            })?);
        }
        Ok(names.into_iter().take(NAMES_MAX).collect())
    }

    /// Reads a secret, without the line break at its end.
    pub(crate) async fn read(&self, name: &str) -> Result<String, SecretError> {
        if !is_name(name) {
            return Err(SecretError::InvalidReference);
        }
        if let Some(path) = self.0.directory.as_ref().map(|directory| directory.join(name)) {
            match blocking(move || file_content(&path)).await {
                Ok(value) => return Ok(value),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::warn!(%error, name, "a secret cannot be read");
                    return Err(SecretError::Unreadable);
                }
            }
        }
        self.0.variables.get(name).cloned().ok_or(SecretError::NotFound)
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn file_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        // Mounted secrets are links to files.
        let is_file = std::fs::metadata(entry.path()).is_ok_and(|found| found.is_file());
        names.extend(entry.file_name().into_string().ok().filter(|name| is_file && is_name(name)));
        if names.len() == NAMES_MAX {
            break;
        }
    }
    Ok(names)
}

fn file_content(path: &Path) -> io::Result<String> {
    // Pipes and devices would wait for a writer, or never end. The open file is looked at: the name may lead elsewhere
    // in between.
    let no_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(no_waiting).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    // Some files have more than they say.
    if file.take(VALUE_BYTES_MAX + 1).read_to_string(&mut text)? as u64 > VALUE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {VALUE_BYTES_MAX} bytes")));
    }
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mkfifo(path: &Path) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_mounted_secret_may_be_exchanged() {
        // As Kubernetes mounts them: each name leads through a link to the directory of the latest.
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        let link = std::os::unix::fs::symlink::<&str, PathBuf>;
        for version in ["1", "2"] {
            std::fs::create_dir(place(&format!("..{version}"))).unwrap();
            std::fs::write(place(&format!("..{version}/token")), version).unwrap();
        }
        link("..1", place("..data")).unwrap();
        link("..data/token", place("token")).unwrap();
        let secrets = Secrets::new(Some(directory.path().to_owned()), "", []);
        assert_eq!(block_on(secrets.read("token")).as_deref(), Ok("1"));
        link("..2", place("..next")).unwrap();
        std::fs::rename(place("..next"), place("..data")).unwrap();
        assert_eq!(block_on(secrets.read("token")).as_deref(), Ok("2"));
        assert_eq!(block_on(secrets.list()).unwrap(), ["token"]);
    }

    #[test]
    fn secrets_are_files_and_variables() {
        let directory = tempfile::tempdir().unwrap();
        let write =
            |name: &str, content: &[u8]| std::fs::write(directory.path().join(name), content).unwrap();
        write("token", b"s3cret\r\n");
        write("both", b"of the file");
        write("..data", b"hidden");
        write("bytes", b"\xff");
        write("large", &vec![b'a'; VALUE_BYTES_MAX as usize + 1]);
        std::fs::create_dir(directory.path().join("folder")).unwrap();
        std::os::unix::fs::symlink("token", directory.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", directory.path().join("endless")).unwrap();
        mkfifo(&directory.path().join("pipe"));
        let variables =
            [("SECRET_both", "of the variable"), ("SECRET_key", "k"), ("OTHER", "o"), ("SECRET_", "")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = Secrets::new(Some(directory.path().to_owned()), "SECRET_", variables.clone());
        let listed = block_on(secrets.list()).unwrap();
        assert_eq!(listed, ["both", "bytes", "key", "large", "link", "token"]);
        let read = |name: &str| block_on(secrets.read(name));
        assert_eq!(read("token").as_deref(), Ok("s3cret"));
        assert_eq!(read("link").as_deref(), Ok("s3cret"));
        assert_eq!(read("both").as_deref(), Ok("of the file"));
        assert_eq!(read("key").as_deref(), Ok("k"));
        assert_eq!(read("OTHER"), Err(SecretError::NotFound));
        for unreadable in ["bytes", "large", "folder", "endless", "pipe"] {
            assert_eq!(read(unreadable), Err(SecretError::Unreadable), "{unreadable}");
        }
        for invalid in ["", "..data", "../token", "a/b", "ä", &"a".repeat(NAME_CHARS_MAX + 1)] {
            assert_eq!(read(invalid), Err(SecretError::InvalidReference), "{invalid}");
        }
        // An exchanged secret counts at once.
        write("token", b"other");
        assert_eq!(read("token").as_deref(), Ok("other"));

        let none = Secrets::new(None, "", variables);
        assert_eq!(block_on(none.list()), Ok(vec![]));
        assert_eq!(block_on(none.read("SECRET_key")), Err(SecretError::NotFound));
        let gone = Secrets::new(Some(directory.path().join("gone")), "", []);
        assert!(block_on(gone.list()).is_err());
    }
}
