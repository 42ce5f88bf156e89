//! Rules about the text of source files.

use crate::{assert_none, files};

/// The house asks for about 600 lines; beyond this a file must be split.
const LINES_MAX: usize = 900;

/// Written in two parts, so that this file does not contain them.
const FORBIDDEN: [(&str, &str); 7] = [
    ("todo", "!("),
    ("unimplemented", "!("),
    ("dbg", "!("),
    ("/work", "/"),
    ("/root", "/"),
    ("work", "place"),
    ("FIX", "ME"),
];

fn is_source(path: &str) -> bool {
    [".rs", ".py", ".java", ".js", ".md", ".proto", ".toml", ".yml", ".yaml", "Makefile", "run"]
        .iter()
        .any(|ending| path.ends_with(ending))
}

/// The lab writes it: its length is that of the experiments and their phases.
const OF_THE_LAB: &str = "docs/experiments.md";

#[test]
fn no_file_is_too_long() {
    let long: Vec<_> = files()
        .iter()
        .filter(|(path, _)| is_source(path) && !path.contains("/generated/") && *path != OF_THE_LAB)
        .filter(|(_, text)| text.lines().count() > LINES_MAX)
        .map(|(path, text)| format!("{path}: {} lines", text.lines().count()))
        .collect();
    assert_none(&format!("files have at most {LINES_MAX} lines"), &long);
}

#[test]
fn nothing_is_left_lying_about() {
    let mut findings = Vec::new();
    for (path, text) in files().iter().filter(|(path, _)| is_source(path)) {
        for (number, line) in text.lines().enumerate() {
            for (first, second) in FORBIDDEN {
                let word = format!("{first}{second}");
                if line.contains(&word) {
                    findings.push(format!("{path}:{}: {word}", number + 1));
                }
            }
        }
    }
    assert_none("no unfinished code, no paths of somebody's machine", &findings);
}

#[test]
fn no_test_is_ignored() {
    let ignored = format!("#[{}", "ignore");
    let found: Vec<_> = files()
        .iter()
        .filter(|(path, text)| {
            path.ends_with(".rs") && text.lines().any(|line| line.trim().starts_with(&ignored))
        })
        .map(|(path, _)| path.clone())
        .collect();
    assert_none("a test runs or is removed", &found);
}

#[test]
fn every_crate_has_the_lints_of_the_house() {
    let missing: Vec<_> = files()
        .iter()
        .filter(|(path, _)| path.starts_with("crates/") && path.ends_with("/Cargo.toml"))
        // A handler of a signal, and functions in the place of the C library's, cannot do without unsafe code; all else
        // of the lints stands there, too.
        .filter(|(path, _)| {
            !["crates/sampler/Cargo.toml", "crates/simulator/Cargo.toml"].contains(&path.as_str())
        })
        .filter(|(_, text)| !text.contains("[lints]\nworkspace = true"))
        .map(|(path, _)| path.clone())
        .collect();
    assert_none("each crate says `[lints] workspace = true`", &missing);
}
