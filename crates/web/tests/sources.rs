//! The committed build is compared with the sources, without Node.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

fn sources(folder: &Path, root: &Path, found: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if ["node_modules", "tests", "bench", "src/api/generated"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            sources(&path, root, found);
        } else {
            found.insert(name, path);
        }
    }
}

/// The list that `ui/scripts/build.mjs` writes: the hash of each file, in the order of paths.
fn hashes() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let mut found = BTreeMap::new();
    sources(&root, &root, &mut found);
    assert!(found.contains_key("package-lock.json") && found.contains_key("index.html"), "{found:?}");
    let mut text = String::new();
    for (name, path) in found {
        let digest = Sha256::digest(std::fs::read(path).unwrap());
        let digest: String = digest.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        });
        writeln!(text, "{digest}  {name}").unwrap();
    }
    text
}

#[test]
fn dist_is_built_of_these_sources() {
    let told =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/sources.txt")).unwrap();
    let told: Vec<_> = told.lines().collect();
    let sources = hashes();
    let changed: Vec<_> = sources.lines().filter(|line| !told.contains(line)).collect();
    assert!(changed.is_empty(), "dist/ is older than these sources; run `make web`: {changed:#?}");
    assert_eq!(
        told.len(),
        sources.lines().count(),
        "dist/ has been built of files that are gone; run `make web`"
    );
}
