//! Rules about who may use what.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::{assert_none, files, read, root};

/// Crates of clocks, randomness, sockets, files and threads: none of them may be below the engine.
const NOT_BELOW_THE_ENGINE: [&str; 14] = [
    "tokio",
    "mio",
    "socket2",
    "hyper",
    "axum",
    "tonic",
    "rand",
    "rand_core",
    "getrandom",
    "fastrand",
    "openraft",
    "raft-engine",
    "tracing",
    "metrics",
];

/// Which crates of the house each may use, as the table of the map says.
fn rooms() -> BTreeMap<String, BTreeSet<String>> {
    let map = read("ARCHITECTURE.md");
    let rows = map.lines().filter_map(|line| line.strip_prefix("| `crates/")?.strip_suffix(" |"));
    let rows = rows.map(|row| {
        let (name, may_use) = (row.split('`').next().unwrap(), row.rsplit(" | ").next().unwrap());
        (name.to_owned(), may_use.split(", ").map(ToOwned::to_owned).collect())
    });
    let mut rooms: BTreeMap<String, BTreeSet<String>> = rows.collect();
    assert!(rooms.len() > 20, "the map has a table of the crates: {rooms:?}");
    let all: BTreeSet<_> = rooms.keys().cloned().collect();
    for allowed in rooms.values_mut() {
        if allowed.contains("all") {
            allowed.clone_from(&all);
        }
        allowed.remove("–");
        assert!(allowed.is_subset(&all), "the map names crates that it has: {allowed:?}");
    }
    rooms
}

/// The names in a section of a manifest.
fn section<'a>(manifest: &'a str, section: &str) -> Vec<&'a str> {
    let header = format!("[{section}]");
    let mut lines = manifest.lines().skip_while(|line| *line != header).skip(1);
    let lines = lines.by_ref().take_while(|line| !line.starts_with('['));
    lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The packages that the web application asks for.
fn npm_packages() -> BTreeSet<String> {
    let manifest = read("crates/web/ui/package.json");
    let entry = |line: &str| {
        let (name, version) = line.trim().trim_end_matches(',').split_once(": ")?;
        let is_version = version.trim_matches('"').starts_with(|first: char| first.is_ascii_digit());
        is_version.then(|| name.trim_matches('"').to_owned())
    };
    let parts = manifest.split("ependencies\": {").skip(1).filter_map(|rest| rest.split('}').next());
    let names: BTreeSet<_> = parts.flat_map(str::lines).filter_map(entry).collect();
    assert!(names.contains("solid-js") && names.contains("vite"), "{names:?}");
    names
}

/// The manifests of the crates.
fn manifests() -> Vec<(String, String)> {
    let is_manifest = |path: &str| path.starts_with("crates/") && path.ends_with("/Cargo.toml");
    files().into_iter().filter(|(path, _)| is_manifest(path)).collect()
}

#[test]
fn the_engine_knows_no_clock_no_socket_and_no_randomness() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "-e",
            "normal",
            "-p",
            "engine",
            "--prefix",
            "none",
            "-f",
            "{p}",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let tree = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let below: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(below.contains("engine") && below.contains("state"), "{tree}");
    let found: Vec<_> =
        NOT_BELOW_THE_ENGINE.iter().filter(|name| below.contains(*name)).map(ToString::to_string).collect();
    assert_none("the engine is deterministic", &found);
}

#[test]
fn crates_stay_in_their_rooms() {
    let mut findings = Vec::new();
    let rooms = rooms();
    for (path, manifest) in manifests() {
        let name = path.split('/').nth(1).unwrap();
        let Some(allowed) = rooms.get(name) else {
            findings.push(format!("{path}: say in ARCHITECTURE.md what it may use"));
            continue;
        };
        for dependency in section(&manifest, "dependencies") {
            if rooms.contains_key(dependency) && !allowed.contains(dependency) {
                findings.push(format!("{name} must not use {dependency}"));
            }
        }
    }
    assert_none("who may use what stands in ARCHITECTURE.md", &findings);
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = read("Cargo.toml");
    let ours = rooms();
    let used: BTreeSet<String> = manifests()
        .iter()
        .flat_map(|(_, manifest)| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .flat_map(|part| section(manifest, part))
                .map(ToOwned::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let outside: BTreeSet<_> = section(&manifest, "workspace.dependencies")
        .into_iter()
        .filter(|name| !ours.contains_key(*name))
        .filter(|name| used.contains(*name))
        .collect();
    assert!(outside.contains("tokio"), "{outside:?}");
    let page = read("docs/dependencies.md");
    let first_cells =
        page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let explained: BTreeSet<_> = first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let missing: Vec<_> = outside.difference(&explained).map(ToString::to_string).collect();
    assert_none("docs/dependencies.md says why each dependency is here", &missing);
    let npm = npm_packages();
    let unexplained: Vec<_> = npm.iter().filter(|name| !explained.contains(name.as_str())).cloned().collect();
    assert_none(
        "docs/dependencies.md says why each npm package of the web application is here",
        &unexplained,
    );
    let known =
        section(&manifest, "workspace.dependencies").into_iter().chain(npm.iter().map(String::as_str));
    let known: BTreeSet<_> = known.collect();
    let gone: Vec<_> = explained.difference(&known).map(ToString::to_string).collect();
    assert_none("docs/dependencies.md names only what Cargo.toml and the web application have", &gone);
}
