//! Rules that the repository does not keep everywhere yet. The exceptions stand in `exceptions.txt` with their size;
//! the list only shrinks: a new or larger finding fails, and so does an exception that is larger than its finding.
//! `TIDY_SHRINK=1 cargo test -p tidy` writes the smaller list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::cycles::files_in_cycles;
use crate::{files, read, root};

const EXCEPTIONS: &str = "crates/tidy/tests/tidy/exceptions.txt";

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 600;
const COMMENT_COLUMNS_MAX: usize = 120;
const CRATES_OF_A_TYPE_NAME_MAX: usize = 3;

/// Enums that say what is asked for or what has happened. A match that decides something by them names all of them. The
/// intents of one kind of record have enums whose names end with that of all.
const WITHOUT_DEFAULT: [&str; 10] = [
    "BatchAction",
    "Command",
    "IdentityCommand",
    "IdentityQuery",
    "Intent",
    "Operation",
    "Query",
    "RecordValue",
    "Step",
    "UserTaskOperation",
];

/// The size of each finding by `(rule, place)`.
type Findings = BTreeMap<(String, String), usize>;

fn exceptions() -> Findings {
    let line = |line: &str| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or_else(|| panic!("{EXCEPTIONS}: {line}")).to_owned();
        ((field(), field()), field().parse().unwrap_or_else(|error| panic!("{EXCEPTIONS}: {line}: {error}")))
    };
    read(EXCEPTIONS).lines().map(line).collect()
}

fn sources() -> BTreeMap<String, String> {
    let mut files = files();
    files.retain(|path, _| path.ends_with(".rs") && !path.contains("/generated/"));
    files
}

pub fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/benches/") || path.ends_with("tests.rs")
}

/// The code of a file before its tests.
pub fn product(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}

/// The functions of formatted code that are longer than the limit, with their lines.
fn long_functions(text: &str) -> Vec<(String, usize)> {
    let mut long = Vec::new();
    let mut open: Option<(usize, String, usize)> = None;
    for (number, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some(name) = function_name(line.trim_start())
            && open.as_ref().is_none_or(|(of_open, ..)| indent <= *of_open)
        {
            open = Some((indent, name.to_owned(), number));
        }
        if let Some((of_open, name, start)) =
            open.take_if(|(of_open, ..)| line.trim_end() == format!("{:1$}}}", "", *of_open))
        {
            debug_assert_eq!(of_open, indent);
            let lines = number - start + 1;
            if lines > FUNCTION_LINES_MAX {
                long.push((name, lines));
            }
        }
    }
    long
}

fn function_name(line: &str) -> Option<&str> {
    let mut rest = line;
    if let Some(behind) = rest.strip_prefix("pub") {
        rest = match behind.strip_prefix('(') {
            Some(scope) => scope.split_once(") ")?.1,
            None => behind.strip_prefix(' ')?,
        };
    }
    for word in ["const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    name.split(['(', '<']).next()
}

/// The name of a type that a line defines.
fn type_name(line: &str) -> Option<&str> {
    let mut rest = line;
    if let Some(behind) = rest.strip_prefix("pub") {
        rest = match behind.strip_prefix('(') {
            Some(scope) => scope.split_once(") ")?.1,
            None => behind.strip_prefix(' ')?,
        };
    }
    let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| rest.strip_prefix(word))?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// The prose of a line: a comment's text, or a line of a document outside its fences.
fn prose<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    if path.ends_with(".md") {
        return Some(line.trim_start_matches(['#', '-', '*', '>', '|', ' ']));
    }
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim_start())
}

/// Sentences that hide their noun behind a pronoun.
fn hidden_nouns(text: &str) -> usize {
    let words = ["What", "Who", "Whoever", "Whatever", "Whose", "Nobody", "Somebody"];
    let starts = |sentence: &str| {
        let word = sentence.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        words.contains(&word)
    };
    let first = usize::from(starts(text));
    first
        + [". ", ": ", "; ", "| "]
            .iter()
            .flat_map(|end| text.split(end).skip(1))
            .filter(|s| starts(s))
            .count()
}

/// Whether a doc comment says on hover only that its item is like one beside it.
fn leans_on_neighbour(line: &str) -> bool {
    let line = line.trim_start();
    ["/// ", "//! "]
        .iter()
        .any(|start| line.strip_prefix(start).is_some_and(|text| text.starts_with("The same")))
}

/// How many matches over the named enums have a default, in formatted code. One that asserts is none.
fn defaults(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_default = |line: &str| {
        let Some((pattern, body)) = line.trim_start().split_once(" =>") else { return false };
        let is_name = pattern.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let asserts = ["unreachable!(", "debug_assert!(false", "panic!("];
        is_name && !asserts.iter().any(|assert| body.trim_start_matches([' ', '{']).starts_with(assert))
    };
    let names_enum = |line: &str| {
        let pattern = line.split(" =>").next().unwrap_or_default();
        WITHOUT_DEFAULT.iter().any(|name| {
            pattern.match_indices(&format!("{name}::")).any(|(at, _)| {
                *name == "Intent" || !pattern[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        })
    };
    let of_match = |at: usize| {
        let of_arm = indent(lines[at]);
        let is_inside = |line: &&&str| line.is_empty() || indent(line) >= of_arm;
        let before = lines[..at].iter().rev().take_while(is_inside);
        before.filter(|line| indent(line) == of_arm).any(|line| names_enum(line))
    };
    (0..lines.len()).filter(|at| is_default(lines[*at]) && of_match(*at)).count()
}

/// How many scans of tables name no bound.
fn unbounded_scans(text: &str) -> usize {
    let scans = [".scan(", ".keys("];
    text.lines()
        .filter(|line| line.contains("usize::MAX") && scans.iter().any(|scan| line.contains(scan)))
        .count()
}

fn findings() -> Findings {
    let mut found = Findings::new();
    let mut add = |rule: &str, place: &str, size: usize| {
        if size > 0 {
            *found.entry((rule.to_owned(), place.to_owned())).or_default() += size;
        }
    };
    let mut crates_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let sources = sources();
    for (path, text) in &sources {
        for (name, lines) in long_functions(text) {
            add("function lines", &format!("{path} {name}"), lines);
        }
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            add("file lines", path, lines);
        }
        let is_wide =
            |line: &&str| line.trim_start().starts_with("//") && line.chars().count() > COMMENT_COLUMNS_MAX;
        add("wide comments", path, text.lines().filter(is_wide).count());
        add("empty first sentences", path, text.lines().filter(|line| leans_on_neighbour(line)).count());
        if !is_test(path) {
            let product = product(text);
            add("matches with a default", path, defaults(product));
            add("scans without a bound", path, unbounded_scans(product));
        }
        if is_test(path) {
            add("sleeps in tests", path, text.matches("sleep(").count());
        } else if let Some((name, _)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/')) {
            for name_of_type in text.lines().filter_map(|line| type_name(line.trim_start())) {
                crates_of.entry(name_of_type).or_default().insert(name);
            }
        }
    }
    for (name, crates) in crates_of {
        if crates.len() > CRATES_OF_A_TYPE_NAME_MAX {
            add("crates of a type name", name, crates.len());
        }
    }
    for (name, files) in files_in_cycles(&sources) {
        add("files in import cycles", &name, files.len());
    }
    for (path, text) in
        files().iter().filter(|(path, _)| path.ends_with(".md") || sources.contains_key(*path))
    {
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= path.ends_with(".md") && line.trim_start().starts_with("```");
            if !is_code && let Some(text) = prose(path, line) {
                add("hidden nouns", path, hidden_nouns(text));
            }
        }
    }
    found
}

#[test]
fn the_exceptions_only_shrink() {
    let found = findings();
    let listed = exceptions();
    let mut grown = Vec::new();
    for ((rule, place), size) in &found {
        let allowed = listed.get(&(rule.clone(), place.clone())).copied();
        if allowed.is_none_or(|allowed| *size > allowed) {
            grown.push(format!("{rule}: {place}: {size}, allowed {}", allowed.unwrap_or(0)));
        }
    }
    crate::assert_none(
        &format!(
            "functions have at most {FUNCTION_LINES_MAX} lines, files {FILE_LINES_MAX}, comments {COMMENT_COLUMNS_MAX} columns, \
             type names {CRATES_OF_A_TYPE_NAME_MAX} crates; files do not import each other; tests do not sleep; \
             sentences name their noun first, doc comments do not begin with \"The same\"; \
             matches over commands, steps, records and the like have no default; \
             scans name their bound"
        ),
        &grown,
    );
    if std::env::var_os("TIDY_SHRINK").is_some() {
        let mut lines = String::new();
        for ((rule, place), size) in &found {
            writeln!(lines, "{rule}\t{place}\t{size}").unwrap();
        }
        std::fs::write(root().join(EXCEPTIONS), lines).unwrap();
        return;
    }
    let shrunk: Vec<_> = listed
        .iter()
        .filter(|(exception, size)| found.get(*exception).is_none_or(|found| found < *size))
        .map(|((rule, place), size)| format!("{rule}: {place}: {size} listed"))
        .collect();
    crate::assert_none("the list is as small as the findings (TIDY_SHRINK=1 writes it)", &shrunk);
}

#[test]
fn modules_are_declared_where_the_formatter_sees_them() {
    let by_macro = format!("mod {}", '$');
    let found: Vec<_> = sources()
        .iter()
        .flat_map(|(path, text)| text.lines().map(move |line| (path, line)))
        .filter(|(_, line)| line.contains(&by_macro) && line.trim_end().ends_with(";)*"))
        .map(|(path, line)| format!("{path}: {}", line.trim()))
        .collect();
    crate::assert_none("no macro declares the module of a file", &found);
}

#[test]
fn locks_are_those_without_poison() {
    let std_locks = ["Mutex", "RwLock", "Condvar"].map(|name| format!("sync::{name}"));
    let found: Vec<_> = sources()
        .iter()
        .filter(|(_, text)| {
            text.contains(&format!("Poison{}", "Error"))
                || std_locks.iter().any(|lock| text.contains(&format!("std::{lock}")))
        })
        .map(|(path, _)| path.clone())
        .collect();
    crate::assert_none("locks are parking_lot's", &found);
}

#[test]
fn findings_are_found() {
    let body = "    let x = 1;\n".repeat(FUNCTION_LINES_MAX - 1);
    let text = format!("pub(crate) async fn long<T>() {{\n{body}}}\n\nfn short() {{\n}}\n");
    assert_eq!(long_functions(&text), [("long".to_owned(), FUNCTION_LINES_MAX + 1)]);
    assert_eq!(hidden_nouns("What it is. Whoever asks; Nobody knows. A what is fine"), 3);
    assert_eq!(type_name("pub(super) struct Work<'a> {"), Some("Work"));
    assert_eq!(prose("a.rs", "    /// What"), Some("What"));
    let same = |mark: &str| format!("    {mark} The same, later.");
    assert!(leans_on_neighbour(&same("///")) && leans_on_neighbour(&same("//!")));
    assert!(!leans_on_neighbour(&same("//")));
    let arms = |default: &str| {
        format!(
            "    match &it {{\n        Command::Tick | Command::Clock(_) => {{\n            1\n        }}\n        {default}\n    }}\n"
        )
    };
    assert_eq!(defaults(&arms("_ => 2,")), 1);
    assert_eq!(defaults(&arms("other => other.bytes(),")), 1);
    assert_eq!(defaults(&arms("other => unreachable!(\"{other:?}\"),")), 0);
    assert_eq!(defaults(&arms("Command::Purge { .. } => 2,")), 0);
    assert_eq!(defaults(&arms("_ => 2,").replace("Command::", "LabCommand::")), 0);
    assert_eq!(defaults(&arms("_ => 2,").replace("Command::", "JobIntent::")), 1);
    assert_eq!(unbounded_scans("let rows = self.tables.jobs.scan(.., usize::MAX)?;"), 1);
    assert_eq!(unbounded_scans("let rows = self.tables.jobs.scan(.., JOBS_MAX)?;"), 0);
}
