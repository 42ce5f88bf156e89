//! Rules of the house that no compiler knows. A failure says which file breaks which rule.
#![allow(clippy::unwrap_used, clippy::case_sensitive_file_extension_comparisons)]

mod cycles;
mod dependencies;
mod deploy;
mod documents;
mod engine;
mod first_partition;
mod metrics;
mod promql;
mod ratchets;
mod recipes;
mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders of built, installed or found files.
const NOT_OURS: [&str; 8] =
    [".git", "target", "node_modules", "__pycache__", ".venv", "artifacts", "data", ".pytest_cache"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text files of the repository by their path from its root.
fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            if NOT_OURS.iter().any(|other| name == *other) {
                continue;
            }
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                files.insert(path, text);
            }
        }
    }
    assert!(files.contains_key("Cargo.toml") && files.contains_key("crates/tidy/tests/tidy/main.rs"));
    files
}

fn assert_none(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}:\n  {}", findings.join("\n  "));
}
