//! Recipes of `docs/development/adding.md`, held against the tree: a recipe names all sources that mention its example.

use std::collections::{BTreeMap, BTreeSet};

use crate::{assert_none, files, read};

const RECIPES: &str = "docs/development/adding.md";

/// One section of the document.
#[derive(Debug, Default)]
struct Recipe {
    title: String,
    /// Words by which a source mentions the example.
    identifiers: Vec<String>,
    /// Beginnings of the paths that are looked through.
    places: Vec<String>,
    /// Paths of numbered items, and of the list "No steps".
    listed: BTreeSet<String>,
    /// Each path of the list "Forgotten steps" with a text that its file must have.
    evidence: Vec<(String, String)>,
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Items of lists and other paragraphs, each on one line.
fn paragraphs(section: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in section.lines() {
        let is_item = line.starts_with("- ") || line.starts_with(|first: char| first.is_ascii_digit());
        let is_field = ["Identifiers: ", "Below: "].iter().any(|field| line.starts_with(field));
        match paragraphs.last_mut() {
            Some(last) if goes_on && !is_item && !is_field && !line.is_empty() => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ if !line.is_empty() => paragraphs.push(line.to_owned()),
            _ => {}
        }
        goes_on = !line.is_empty();
    }
    paragraphs
}

fn recipe(section: &str) -> Recipe {
    let (title, body) = section.split_once('\n').unwrap();
    let mut recipe = Recipe { title: title.to_owned(), ..Recipe::default() };
    let mut is_evidence = false;
    for text in paragraphs(body) {
        let mut names = quoted(&text).map(ToOwned::to_owned);
        if text.starts_with("Identifiers: ") {
            recipe.identifiers.extend(names);
        } else if text.starts_with("Below: ") {
            recipe.places.extend(names);
        } else if text.starts_with("Forgotten steps ") {
            is_evidence = true;
        } else if text.starts_with("- `") && is_evidence {
            // Behind a semicolon stands prose.
            let mut names = quoted(text.split(';').next().unwrap()).map(ToOwned::to_owned);
            let path = names.next().unwrap();
            let tests: Vec<_> = names.map(|name| (path.clone(), name)).collect();
            assert!(!tests.is_empty(), "{title}: {path} names no test");
            recipe.evidence.extend(tests);
        } else if text.starts_with("- `") || text.starts_with(|first: char| first.is_ascii_digit()) {
            recipe.listed.extend(names.next());
        }
    }
    recipe
}

fn recipes(document: &str) -> Vec<Recipe> {
    document.split("\n## ").skip(1).map(recipe).collect()
}

/// Whether a text has a word that is not a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_inner) && !text[at + word.len()..].starts_with(is_inner))
}

/// Tests have a list of their own, built files are no sources, and release notes tell of what was.
fn is_source(path: &str) -> bool {
    let others = ["/tests/", "/benches/", "/dist/", "docs/release-notes/", RECIPES];
    !others.iter().any(|other| path.contains(other)) && !path.ends_with("tests.rs")
}

/// Differences between a recipe and the tree.
fn differences(recipe: &Recipe, files: &BTreeMap<String, String>) -> Vec<String> {
    let mentions = |text: &str| recipe.identifiers.iter().any(|word| has_word(text, word));
    let mut found = Vec::new();
    let in_place = |path: &str| recipe.places.iter().any(|place| path.starts_with(place.as_str()));
    for (path, text) in files.iter().filter(|(path, _)| in_place(path) && is_source(path)) {
        if mentions(text) && !recipe.listed.contains(path) {
            found.push(format!("{}: {path} mentions the example and is not listed", recipe.title));
        }
    }
    for path in &recipe.listed {
        match files.get(path) {
            None => found.push(format!("{}: {path} is not there", recipe.title)),
            Some(text) if !mentions(text) => {
                found.push(format!("{}: {path} does not mention the example", recipe.title));
            }
            Some(_) => {}
        }
    }
    for (path, text) in &recipe.evidence {
        if !files.get(path).is_some_and(|file| file.contains(text)) {
            found.push(format!("{}: {path} has no `{text}`", recipe.title));
        }
    }
    found
}

#[test]
fn recipes_name_the_sources_of_their_examples() {
    let (document, mut files) = (read(RECIPES), files());
    // The build of the web application writes them.
    files.retain(|path, _| !path.contains("/ui/src/api/generated/"));
    let recipes = recipes(&document);
    assert!(recipes.len() >= 5, "{recipes:?}");
    for recipe in &recipes {
        assert!(!recipe.identifiers.is_empty() && !recipe.places.is_empty(), "{recipe:?}");
        assert!(recipe.listed.len() > 5 && !recipe.evidence.is_empty(), "{recipe:?}");
    }
    let found: Vec<_> = recipes.iter().flat_map(|recipe| differences(recipe, &files)).collect();
    assert_none(&format!("recipes of {RECIPES} are true"), &found);
}

#[test]
fn differences_are_found() {
    let document = "# Adding\n\n## A thing\n\nIdentifiers: `thing`\nBelow: `src/`\n\n1. `src/a.rs`: the thing, which\n   \
                    `src/no.rs` knows.\n2. `src/b.rs`: too.\n\nForgotten steps are told by:\n\n- `tests/a.rs`: `all_things`.\n";
    let recipes = recipes(document);
    let tree = |files: [(&str, &str); 4]| files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
    let told = |files| differences(&recipes[0], &tree(files));
    let rest = [("src/b.rs", "(thing)"), ("tests/a.rs", "fn all_things() {}")];
    assert_eq!(told([("src/a.rs", "a thing"), ("src/c.rs", "things"), rest[0], rest[1]]), [""; 0]);
    let left_out = told([("src/a.rs", "a thing"), ("src/c.rs", "thing"), rest[0], rest[1]]);
    assert_eq!(left_out, ["A thing: src/c.rs mentions the example and is not listed"]);
    let stale = told([("src/a.rs", "nothing"), ("src/c.rs", ""), rest[0], ("tests/a.rs", "")]);
    let wanted =
        ["A thing: src/a.rs does not mention the example", "A thing: tests/a.rs has no `all_things`"];
    assert_eq!(stale, wanted);
}
