//! Input and output mappings: evaluating their sources, and putting together their targets.
//!
//! A target such as `order.id` makes a part of the variable `order`. Until a mapping gives all of it, the sources of
//! later mappings see the parts that are made and, for the rest, the variable as the scope has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bpmn::graph::{Mapping, Text};
use bytes::Bytes;
use protocol::{Document, Json, Key, Name};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::expression::{Scope, seen_variable};
use crate::entity::ErrorType;

/// Targets of mappings, as far as they are evaluated.
struct Targets {
    /// The variables that they become.
    made: Document,
    /// The variables that sources see instead of those of the scope.
    seen: Document,
    /// By its name, a variable whose parts are still being made, although the scope has something else there that
    /// cannot have parts: what was made meanwhile.
    held: BTreeMap<Name, Vec<Part>>,
}

/// A value and its path below its variable.
struct Part {
    path: Vec<Arc<str>>,
    value: Json,
}

impl CommandContext<'_> {
    /// Evaluates mappings in order; later ones see earlier targets. A nested target is merged into what earlier
    /// mappings made of it and, with `merge_into`, into the variable that this scope sees.
    pub(super) fn evaluate_mappings(
        &mut self,
        scope_key: Key,
        given: Option<&Document>,
        mappings: &[Mapping],
        merge_into: Option<Key>,
    ) -> Result<Document, Failure> {
        self.check_mappings(mappings.len())?;
        let mut targets = Targets { made: Document::empty(), seen: Document::empty(), held: BTreeMap::new() };
        for (at, mapping) in mappings.iter().enumerate() {
            let value = match &mapping.source {
                None => Json::null(),
                Some(Text::Static(text)) => Json::string(text),
                Some(Text::Expression(expression)) => {
                    let scope = Scope { key: scope_key, extra: Some(&targets.seen), below: given };
                    let value = self.evaluate(expression, &scope, ErrorType::IoMappingError)?;
                    self.produce(&value, &variable(mapping), ErrorType::IoMappingError)?
                }
            };
            let root = Name::from(&mapping.target[0]);
            let path = &mapping.target[1..];
            if path.is_empty() {
                targets.held.remove(&root);
                targets.seen.set(root.clone(), value.clone());
                targets.made.set(root, value);
                continue;
            }
            if targets.seen.get(&root).is_none() {
                let scope = Scope { key: scope_key, extra: None, below: given };
                let seen = seen_variable(self, &scope, &root)?;
                targets.seen.set(root.clone(), seen.unwrap_or_else(Json::null));
            }
            let is_last = !mappings[at + 1..].iter().any(|later| later.target[0] == mapping.target[0]);
            targets.see_part(&root, path, &value, is_last);
            self.meter.note_work(targets.seen.get(&root).map_or(0, |seen| seen.as_bytes().len()));
            let base = match (targets.made.get(&root), merge_into) {
                (Some(value), _) => Some(value.clone()),
                (None, Some(target)) => self.tables.visible_variable(target, &root)?,
                (None, None) => None,
            };
            let merged = merge_path(base, path, value);
            self.check_produced(&merged, &variable(mapping), ErrorType::IoMappingError)?;
            targets.made.set(root, merged);
        }
        Ok(targets.made)
    }
}

impl Targets {
    /// A part of a variable has been made. Sources see it as soon as nothing of the scope is lost by that: a list or a
    /// text that stands in its place hides it until all mappings of the variable are evaluated.
    fn see_part(&mut self, root: &Name, path: &[Arc<str>], value: &Json, is_last: bool) {
        let seen = self.seen.get(root).cloned();
        if has_room(seen.as_ref(), path) {
            self.seen.set(root.clone(), merge_path(seen, path, value.clone()));
        } else {
            self.held
                .entry(root.clone())
                .or_default()
                .push(Part { path: path.to_vec(), value: value.clone() });
        }
        if is_last {
            for Part { path, value } in self.held.remove(root).unwrap_or_default() {
                let merged = merge_path(self.seen.get(root).cloned(), &path, value);
                self.seen.set(root.clone(), merged);
            }
        }
    }
}

/// Whether there is an object, or nothing, at each level of a path above its end.
fn has_room(base: Option<&Json>, path: &[Arc<str>]) -> bool {
    let mut level = base.cloned();
    for name in path {
        let Some(json) = level.filter(|json| *json != Json::null()) else { return true };
        if !json.as_str().trim_ascii_start().starts_with('{') {
            return false;
        }
        level = object(Some(json)).get(name).cloned();
    }
    true
}

/// The target of a mapping, for people.
fn variable(mapping: &Mapping) -> String {
    format!("variable '{}'", mapping.target[0])
}

/// Puts a value at a path inside an object; what is not an object on the way is replaced by one.
fn merge_path(base: Option<Json>, path: &[Arc<str>], value: Json) -> Json {
    let mut levels = vec![object(base)];
    for name in &path[..path.len() - 1] {
        let inner = levels.last().and_then(|level| level.get(name)).cloned();
        levels.push(object(inner));
    }
    let mut value = value;
    for name in path.iter().rev() {
        let mut level = levels.pop().unwrap_or_default();
        level.set(Name::from(name), value);
        value = Json::from_written(level.to_json().into_bytes());
    }
    value
}

/// The members of an object; none of what is not one.
fn object(json: Option<Json>) -> Document {
    json.and_then(|json| Document::parse_stored(Bytes::clone(json.as_bytes())).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().map(|name| Arc::from(*name)).collect()
    }

    #[test]
    fn a_path_is_merged_into_what_is_there() {
        let base = Json::from_valid(r#"{"a":{"b":1},"c":2}"#);
        let merged = merge_path(Some(base), &path(&["a", "d"]), Json::from_valid("3"));
        assert_eq!(merged.as_str(), r#"{"a":{"b":1,"d":3},"c":2}"#);
        let made = merge_path(Some(Json::from_valid("7")), &path(&["x", "y"]), Json::null());
        assert_eq!(made.as_str(), r#"{"x":{"y":null}}"#);
    }

    #[test]
    fn text_becomes_a_json_string() {
        assert_eq!(Json::string("a\"b\\\n\u{1}").as_str(), r#""a\"b\\\n\u0001""#);
    }
}
