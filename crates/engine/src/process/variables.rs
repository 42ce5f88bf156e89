//! Variables: scopes, propagation, input and output mappings.

use std::sync::Arc;

use bpmn::graph::{Element, ElementKind, Mapping, Text, Trigger};
use bytes::Bytes;
use protocol::{Document, HISTORY_VERSION, Intent, Json, Key, Name};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::variable::{MAX_VARIABLES, scope_range};
use crate::entity::{ElementInstance, ErrorType, Variable};

impl CommandContext<'_> {
    /// Sets a variable in exactly this scope.
    pub(super) fn set_local(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        name: &Name,
        value: Json,
    ) -> Result<(), StateError> {
        let Some(row) = self.tables.element_instances.get(&scope_key)? else { return Ok(()) };
        debug_assert_eq!(row.process_instance_key, process_instance_key, "instance of scope {scope_key}");
        let key = (scope_key, name.0.clone());
        if row.has_variables {
            if let Some(old) = self.tables.variables.get(&key)? {
                if self.tables.variable_value(scope_key, &old)? != value {
                    self.count_variable(scope_key, Some(&old.value), &value)?;
                    let variable = self.restart_collection(scope_key, &old, &value)?;
                    self.tables.variables.put(key, variable);
                    self.record_variable(
                        old.key,
                        Intent::Updated,
                        scope_key,
                        process_instance_key,
                        name,
                        &value,
                    )?;
                    self.touch(process_instance_key, scope_key, name, false)?;
                }
                return Ok(());
            }
        } else {
            self.tables.element_instances.update(&scope_key, |row| row.has_variables = true)?;
        }
        self.count_variable(scope_key, None, &value)?;
        let variable_key = self.next_key();
        self.record_variable(variable_key, Intent::Created, scope_key, process_instance_key, name, &value)?;
        self.tables.variables.insert(key, Variable::new(variable_key, value));
        self.touch(process_instance_key, scope_key, name, true)
    }

    /// Sets variables in exactly this scope. That there is room for them has been checked before anything was written.
    pub fn set_locals(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        variables: &Document,
    ) -> Result<(), StateError> {
        self.assert_room(process_instance_key, variables, |_, _| Ok(scope_key));
        for (name, value) in variables.iter() {
            self.set_local(scope_key, process_instance_key, name, value.clone())?;
        }
        Ok(())
    }

    /// Sets variables where they exist on the way up from a scope, else at the top. That there is room for them has
    /// been checked before anything was written.
    pub fn propagate(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        variables: &Document,
    ) -> Result<(), StateError> {
        self.assert_room(process_instance_key, variables, |work, name| {
            work.tables.owning_scope(scope_key, name)
        });
        for (name, value) in variables.iter() {
            let target = self.tables.owning_scope(scope_key, name)?;
            self.set_local(target, process_instance_key, name, value.clone())?;
        }
        Ok(())
    }

    /// Deletes the variables of a scope that ends.
    pub(super) fn delete_variables(
        &mut self,
        scope_key: Key,
        row: &ElementInstance,
    ) -> Result<(), StateError> {
        if row.has_large_variables {
            let rows = self.tables.variables.scan(scope_range(scope_key), MAX_VARIABLES)?;
            let values = rows.iter().map(|(_, row)| Self::counted_bytes(&row.value));
            self.uncount_variables(row.process_instance_key, values)?;
        }
        for key in self.tables.variables.keys(scope_range(scope_key), MAX_VARIABLES)? {
            self.tables.variables.delete(&key);
        }
        Ok(())
    }

    /// Applies the input mappings of an element: its targets become local variables.
    pub(super) fn apply_inputs(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        let mappings = &process.element(at.index).inputs;
        if mappings.is_empty() {
            return Ok(());
        }
        // Seen from outside, so that a second try after an incident does not read the targets of the first.
        // A compensation handler may have been given variables of the past, which nobody else sees.
        let is_inside = at.scope_key == 0 || at.element().is_for_compensation;
        let outside = if is_inside { at.key } else { at.scope_key };
        let mut given = self.loop_variables(at)?;
        if let Some(own) = self.ad_hoc_variables(at)? {
            let all = given.get_or_insert_default();
            own.iter().for_each(|(name, value)| all.set(name.clone(), value.clone()));
        }
        let targets = self.evaluate_mappings(outside, given.as_ref(), mappings, None)?;
        let kind = ErrorType::IoMappingError;
        self.check_room(at.process_instance_key, &targets, |_, _| Ok(at.key), kind)?;
        self.set_locals(at.key, at.process_instance_key, &targets)?;
        Ok(())
    }

    /// Hands what an element brought to its scope: through its output mappings, or all of it.
    pub(super) fn apply_outputs(&mut self, at: &ActiveElement, variables: &Document) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        let mappings = &process.element(at.index).outputs;
        if mappings.is_empty() {
            if self.version >= HISTORY_VERSION && takes_variables(at.element()) {
                return self.keep_and_propagate(at, variables);
            }
            self.check_room_above(at, at.key, variables)?;
            self.propagate(at.key, at.process_instance_key, variables)?;
            return Ok(());
        }
        self.check_room(at.process_instance_key, variables, |_, _| Ok(at.key), ErrorType::IoMappingError)?;
        self.set_locals(at.key, at.process_instance_key, variables)?;
        let parent = if at.scope_key == 0 { at.key } else { at.scope_key };
        let targets = self.evaluate_mappings(at.key, None, mappings, Some(parent))?;
        self.check_room_above(at, parent, &targets)?;
        self.propagate(parent, at.process_instance_key, &targets)?;
        Ok(())
    }

    /// Hands what an event took to its scope and keeps a copy at the event itself.
    fn keep_and_propagate(&mut self, at: &ActiveElement, variables: &Document) -> Result<(), Failure> {
        // Checked together: a second try after an incident must not find the copies and stop at them.
        let scopes_of = |work: &Self, name: &Name| {
            let owner = work.tables.owning_scope(at.key, name)?;
            Ok(std::iter::once(at.key).chain((owner != at.key).then_some(owner)))
        };
        self.check_room_in(at.process_instance_key, variables, scopes_of, ErrorType::IoMappingError)?;
        let names = variables.iter().map(|(name, _)| name);
        let owners: Vec<Key> =
            names.map(|name| self.tables.owning_scope(at.key, name)).collect::<Result<_, _>>()?;
        self.set_locals(at.key, at.process_instance_key, variables)?;
        for ((name, value), owner) in variables.iter().zip(owners) {
            self.set_local(owner, at.process_instance_key, name, value.clone())?;
        }
        Ok(())
    }

    /// Evaluates mappings in order; later ones see earlier targets. A nested target is merged into what earlier
    /// mappings made of it and, with `merge_into`, into the variable that this scope sees.
    fn evaluate_mappings(
        &mut self,
        scope_key: Key,
        given: Option<&Document>,
        mappings: &[Mapping],
        merge_into: Option<Key>,
    ) -> Result<Document, Failure> {
        let mut targets = Document::empty();
        for mapping in mappings {
            let value = match &mapping.source {
                None => Json::null(),
                Some(Text::Static(text)) => Json::string(text),
                Some(Text::Expression(expression)) => {
                    let scope = Scope { key: scope_key, extra: Some(&targets), below: given };
                    let value = self.evaluate(expression, &scope, ErrorType::IoMappingError)?;
                    self.produce(&value, &variable(mapping), ErrorType::IoMappingError)?
                }
            };
            let root = Name::from(&mapping.target[0]);
            let value = if mapping.target.len() == 1 {
                value
            } else {
                let base = match (targets.get(&root), merge_into) {
                    (Some(value), _) => Some(value.clone()),
                    (None, Some(target)) => self.tables.visible_variable(target, &root)?,
                    (None, None) => None,
                };
                let merged = merge_path(base, &mapping.target[1..], value);
                self.check_produced(&merged, &variable(mapping), ErrorType::IoMappingError)?;
                merged
            };
            targets.set(root, value);
        }
        Ok(targets)
    }
}

/// Whether an element is an event that takes the variables of a message or signal.
fn takes_variables(element: &Element) -> bool {
    let trigger = match &element.kind {
        ElementKind::IntermediateCatch(trigger) => trigger,
        ElementKind::Boundary(boundary) => &boundary.trigger,
        ElementKind::StartEvent(start) => &start.trigger,
        _ => return false,
    };
    matches!(trigger, Trigger::Message(_) | Trigger::Signal(_))
}

/// The target of a mapping, for people.
fn variable(mapping: &Mapping) -> String {
    format!("variable '{}'", mapping.target[0])
}

/// Puts a value at a path inside an object; what is not an object on the way is replaced by one.
fn merge_path(base: Option<Json>, path: &[Arc<str>], value: Json) -> Json {
    let parse = |json: Option<Json>| {
        json.and_then(|json| Document::parse(Bytes::clone(json.as_bytes())).ok()).unwrap_or_default()
    };
    let mut levels = vec![parse(base)];
    for name in &path[..path.len() - 1] {
        let inner = levels.last().and_then(|level| level.get(name)).cloned();
        levels.push(parse(inner));
    }
    let mut value = value;
    for name in path.iter().rev() {
        let mut level = levels.pop().unwrap_or_default();
        level.set(Name::from(name), value);
        value = Json::from_written(level.to_json().into_bytes());
    }
    value
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
