//! The rooms of the engine: which one may name which others (a table in ARCHITECTURE.md), and how wide its context is.

use std::collections::{BTreeMap, BTreeSet};

use crate::{assert_none, files, read};

const SOURCES: &str = "crates/engine/src/";
const ENTRIES_MAX: usize = 12;
/// Methods of the context that any room may call. This number only falls.
const CONTEXT_METHODS: usize = 199;

/// The sources of the engine by their path below `src`.
fn sources() -> BTreeMap<String, String> {
    let below = |(path, text): (String, String)| Some((path.strip_prefix(SOURCES)?.to_owned(), text));
    files().into_iter().filter_map(below).collect()
}

fn room(path: &str) -> Option<&str> {
    path.split_once('/').map(|(room, _)| room)
}

/// The rooms that each room may name.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let text = read("ARCHITECTURE.md");
    let (_, table) = text.split_once("## The rooms of the engine").expect("the table of rooms");
    let (table, _) = table.split_once("\n## ").expect("a section after it");
    let row = |line: &str| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let room = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
        Some((room.to_owned(), cells.get(3)?.split(", ").map(str::to_owned).collect()))
    };
    table.lines().filter_map(row).collect()
}

#[test]
fn rooms_name_the_rooms_of_their_row() {
    let (allowed, sources) = (allowed(), sources());
    let rooms: BTreeSet<_> = sources.keys().filter_map(|path| room(path)).collect();
    assert_eq!(rooms, allowed.keys().map(String::as_str).collect(), "the table has a row for each room");
    let mut named = BTreeMap::<&str, BTreeSet<&str>>::new();
    let mut others = Vec::new();
    for (path, text) in &sources {
        let Some(own) = room(path) else { continue };
        for place in text.split("crate::").skip(1) {
            let other = place.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            if !rooms.contains(other) || other == own {
                continue;
            }
            named.entry(own).or_default().insert(other);
            if !allowed[own].contains(other) {
                others.push(format!("{path} names {other}"));
            }
        }
    }
    assert_none("a room names the rooms of its row in ARCHITECTURE.md", &others);
    let unused: Vec<_> = allowed
        .iter()
        .flat_map(|(room, allowed)| allowed.iter().map(move |other| (room, other)))
        .filter(|(room, other)| !named.get(room.as_str()).is_some_and(|named| named.contains(other.as_str())))
        .map(|(room, other)| format!("{room} does not name {other} any more"))
        .collect();
    assert_none("the table only has arrows that there are", &unused);
}

#[test]
fn the_engine_has_few_entries() {
    let entries: BTreeSet<_> =
        sources().keys().map(|path| path.split('/').next().unwrap_or_default().to_owned()).collect();
    assert!(entries.len() <= ENTRIES_MAX, "{entries:?}");
}

#[test]
fn the_context_does_not_widen() {
    let mut count = 0;
    for text in sources().values() {
        let mut is_context = false;
        for line in text.lines() {
            match line {
                _ if line.starts_with("impl CommandContext<")
                    || line.starts_with("impl<'a> CommandContext<") =>
                {
                    is_context = true
                }
                "}" => is_context = false,
                _ if is_context => {
                    let is_public = ["    pub fn ", "    pub(crate) fn ", "    pub const fn "];
                    count += usize::from(is_public.iter().any(|start| line.starts_with(start)));
                }
                _ => {}
            }
        }
    }
    assert_eq!(
        count, CONTEXT_METHODS,
        "the number of public methods of the context; lower CONTEXT_METHODS when it falls"
    );
}
