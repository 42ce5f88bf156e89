//! Names of the model. Names with spaces or symbols are known to the parser of expressions, which may use them as
//! they are.

use std::collections::{BTreeMap, BTreeSet};

/// Names that expressions may refer to.
#[derive(Default)]
pub(super) struct Names {
    /// Everything in this model, by name or ID.
    declared: BTreeSet<String>,
    /// Names with spaces or symbols, in imported models, too.
    all: Vec<String>,
    /// The names with spaces or symbols by their first word.
    by_word: BTreeMap<String, Vec<usize>>,
}

impl Names {
    pub(super) fn new(declared: BTreeSet<String>, names: BTreeSet<String>) -> Self {
        let mut by_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let all: Vec<String> = names.into_iter().collect();
        for (place, name) in all.iter().enumerate() {
            by_word.entry(first_word(name).to_owned()).or_default().push(place);
        }
        Self { declared, all, by_word }
    }

    /// Whether the model has an element with this name or, in a name with dots, with its first part.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or_default();
        self.declared.contains(name) || self.declared.contains(first)
    }

    pub(super) fn all(&self) -> &[String] {
        &self.all
    }

    /// The names that may occur in a text. Looked up by words, since both names and texts may be many.
    pub(super) fn within(&self, text: &str) -> Vec<&str> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut places: BTreeSet<usize> = BTreeSet::new();
        for word in text.split(|character: char| !is_word(character)) {
            places.extend(self.by_word.get(word).into_iter().flatten().copied());
        }
        let names = places.into_iter().map(|place| self.all[place].as_str());
        names.filter(|name| name.split_whitespace().all(|word| text.contains(word))).collect()
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphanumeric()
}

fn first_word(name: &str) -> &str {
    name.split(|character: char| !is_word(character)).next().unwrap_or_default()
}

/// Whether the parser must know the name: it starts like a FEEL name, but has other characters.
pub(super) fn is_special(name: &str) -> bool {
    let start = name.chars().next();
    start.is_some_and(|start| is_word(start) && !start.is_numeric()) && !name.chars().all(is_word)
}
