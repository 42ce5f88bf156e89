//! The rooms of the engine: which one may name which others (a table in ARCHITECTURE.md), how wide its context is, and
//! how many files call one another in a circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::{assert_none, files, read};

const SOURCES: &str = "crates/engine/src/";
const ENTRIES_MAX: usize = 13;
/// Methods of the context that any room may call. The number only falls, except for calls that are new: the end of a
/// suspension, business IDs that come later, priorities of jobs, records of compensation events, agents.
const CONTEXT_METHODS: usize = 142;
/// Files of the largest cycle of calls among methods of the context. This number only falls.
const CALL_CYCLE: usize = 24;

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
    let is_open = |line: &&str| {
        ["    pub fn ", "    pub(crate) fn ", "    pub const fn "].iter().any(|start| line.starts_with(start))
    };
    let count: usize = sources().values().map(|text| context_lines(text).filter(is_open).count()).sum();
    assert_eq!(
        count, CONTEXT_METHODS,
        "the number of public methods of the context; lower CONTEXT_METHODS when it falls"
    );
}

/// The lines of the context's implementations in a source.
fn context_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_context = false;
    text.lines().filter(move |line| {
        is_context = (is_context || is_context_head(line)) && *line != "}";
        is_context
    })
}

fn is_context_head(line: &str) -> bool {
    line.starts_with("impl CommandContext<") || line.starts_with("impl<'a> CommandContext<")
}

/// The name of the method that a line of an implementation begins.
fn method_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix("    ").filter(|line| !line.starts_with(' '))?;
    let (head, rest) = line.split_once("fn ")?;
    let is_head = head.is_empty() || head.starts_with("pub") || head == "const ";
    is_head.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
}

/// The names of the methods that a source calls on the context.
fn calls_of(text: &str) -> BTreeSet<&str> {
    let receivers = ["self", "work"];
    let name = |rest: &str| rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    text.match_indices('.')
        .filter(|(at, _)| receivers.iter().any(|receiver| text[..*at].trim_end().ends_with(receiver)))
        .filter_map(|(at, _)| {
            let rest = &text[at + 1..];
            let end = name(rest)?;
            rest[end..].starts_with('(').then_some(&rest[..end])
        })
        .collect()
}

#[test]
fn the_cycle_of_calls_does_not_widen() {
    let sources = sources();
    let mut owners = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (path, text) in &sources {
        for name in context_lines(text).filter_map(method_of) {
            owners.entry(name).or_default().insert(path);
        }
    }
    let called = |path: &str| -> BTreeSet<&str> {
        let of_one = |name| owners.get(name).filter(|paths| paths.len() == 1).and_then(|paths| paths.first());
        calls_of(&sources[path])
            .into_iter()
            .filter_map(of_one)
            .copied()
            .filter(|other| *other != path)
            .collect()
    };
    let calls: BTreeMap<&str, BTreeSet<&str>> =
        sources.keys().map(|path| (path.as_str(), called(path))).collect();
    let reached = |path: &str| -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = calls[path].iter().copied().collect();
        while let Some(other) = next.pop() {
            if seen.insert(other) {
                next.extend(&calls[other]);
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = calls.keys().map(|path| (*path, reached(path))).collect();
    let cycle_of = |path: &str| -> Vec<&str> {
        reached[path].iter().copied().filter(|other| reached[other].contains(path)).collect()
    };
    let largest = calls.keys().map(|path| cycle_of(path)).max_by_key(Vec::len).unwrap_or_default();
    assert_eq!(largest.len(), CALL_CYCLE, "files of the largest cycle of calls: {largest:#?}");
}
