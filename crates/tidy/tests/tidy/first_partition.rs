//! Places that name the first partition, though a broker may have others: each is one more to find when it does.

use crate::files;
use crate::ratchets::{is_test, product};

/// Places at the most. Each means partition 1 for its own sake: a default, or what it alone does, such as to give
/// definitions to others.
const PLACES_MAX: usize = 40;

/// Whether a line of code names the first partition; imports do not count.
fn names_it(line: &str) -> bool {
    let is_list = || line.chars().all(|c| c.is_ascii_alphanumeric() || "_:, {}".contains(c));
    let is_import = line.contains("use ") || (!line.contains(": ") && is_list());
    line.contains("FIRST_PARTITION") && !is_import
}

#[test]
fn few_places_name_the_first_partition() {
    let mut places = Vec::new();
    for (path, text) in files() {
        if !(path.starts_with("crates/") && path.ends_with(".rs")) || is_test(&path) {
            continue;
        }
        let found = product(&text).lines().enumerate().filter(|(_, line)| names_it(line));
        places.extend(found.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())));
    }
    assert!(!places.is_empty(), "the rule finds what it is for");
    assert!(places.len() <= PLACES_MAX, "{} places:\n{}", places.len(), places.join("\n"));
}

#[test]
fn imports_are_no_places() {
    for line in [
        "use protocol::{FIRST_PARTITION, Key};",
        "    Command, FIRST_PARTITION, Key,",
        "pub use key::FIRST_PARTITION;",
    ] {
        assert!(!names_it(line), "{line}");
    }
    for line in [
        "    number: FIRST_PARTITION,",
        "progress.wait(FIRST_PARTITION, shown)",
        "pub const FIRST_PARTITION: PartitionId = 1;",
    ] {
        assert!(names_it(line), "{line}");
    }
}
