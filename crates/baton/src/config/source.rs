//! Where settings come from, and what is said when one is wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// How alike a name must be to be proposed, from 0 to 1.
const LIKENESS_MIN: f64 = 0.75;

/// The place where a setting was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A place in the file; line and column from 1.
    File { path: PathBuf, line: u64, column: u64 },
    /// An environment variable.
    Variable(String),
    /// A flag of the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line: 0, .. } => write!(f, "{}", path.display()),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// The text of a setting and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) origin: Origin,
}

/// Settings by their key, such as `state.flush_interval`. Later ones replace earlier ones.
pub(crate) type Entries = BTreeMap<String, Entry>;

/// Error of one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) origin: Option<Origin>,
    pub(crate) reason: String,
}

impl Problem {
    pub(crate) fn at(origin: Origin, reason: impl Into<String>) -> Self {
        Self { origin: Some(origin), reason: reason.into() }
    }
}

/// A configuration that cannot be used, with everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    pub(crate) problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Problem { origin, reason }) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            match origin {
                Some(origin) => write!(f, "{origin}: {reason}")?,
                None => f.write_str(reason)?,
            }
        }
        Ok(())
    }
}

/// `; did you mean 'x'?` for the known name that is most like `name`.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, known)| format!("; did you mean '{known}'?"))
}
