//! Variables as scopes see them, with the lists that grow value by value.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use feel::{List, Value};
use protocol::{Document, Json, Key, Name};
use state::StateError;

use crate::core::slices::Slices;
use crate::entity::Variable;
use crate::entity::tables::Tables;
use crate::entity::variable::CHUNK;

/// Scopes above each other, at most; a guard, models nest far less.
const MAX_SCOPES: usize = 10_000;
/// Names that are compared one by one before a set of them is worth its making.
const MAX_COMPARISONS: usize = 1024;
/// Entries up to which an output collection that is still filled is among all the variables that a scope sees. An
/// expression that names it sees any.
pub(crate) const SHOWN_ENTRIES: u32 = 1000;
/// Bytes of the values of such a collection.
const SHOWN_BYTES: u64 = 1 << 20;

impl Tables {
    /// The value of a variable as a scope sees it, looking upward.
    pub(crate) fn visible_variable(&self, scope_key: Key, name: &str) -> Result<Option<Json>, StateError> {
        let found = self.find_variable(scope_key, name)?;
        found.map(|(scope_key, variable)| self.variable_value(scope_key, &variable)).transpose()
    }

    /// A variable as a scope sees it, with the scope that has it.
    fn find_variable(&self, scope_key: Key, name: &str) -> Result<Option<(Key, Arc<Variable>)>, StateError> {
        let name: Arc<str> = Arc::from(name);
        let mut scope_key = scope_key;
        for _ in 0..MAX_SCOPES {
            let Some(row) = self.element_instances.get(&scope_key)? else { return Ok(None) };
            if row.has_variables
                && let Some(variable) = self.variables.get(&(scope_key, Arc::clone(&name)))?
            {
                return Ok(Some((scope_key, variable)));
            }
            if row.scope_key == 0 {
                return Ok(None);
            }
            scope_key = row.scope_key;
        }
        Ok(None)
    }

    /// The value of a variable of exactly one scope.
    pub(crate) fn local_variable(&self, scope_key: Key, name: &str) -> Result<Option<Json>, StateError> {
        let variable = self.variables.get(&(scope_key, name.into()))?;
        variable.map(|variable| self.variable_value(scope_key, &variable)).transpose()
    }

    /// All variables of exactly one scope.
    pub(crate) fn local_variables(&self, scope_key: Key) -> Result<Vec<(Name, Json)>, StateError> {
        let mut found = Vec::new();
        self.each_local_variable(scope_key, |name, row| {
            found.push((name, self.variable_value(scope_key, row)?));
            Ok(())
        })?;
        Ok(found)
    }

    /// Key, name and value of all variables of exactly one scope.
    pub(crate) fn local_variable_rows(&self, scope_key: Key) -> Result<Vec<(Key, Name, Json)>, StateError> {
        let mut found = Vec::new();
        self.each_local_variable(scope_key, |name, row| {
            found.push((row.key, name, self.variable_value(scope_key, row)?));
            Ok(())
        })?;
        Ok(found)
    }

    /// Calls a function with each variable of exactly one scope.
    pub(crate) fn each_local_variable(
        &self,
        scope_key: Key,
        mut call: impl FnMut(Name, &Variable) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        let mut slices = Slices::of(scope_range(scope_key));
        while let Some(rows) = slices.rows(&self.variables)? {
            for ((_, name), row) in rows {
                call(Name(name), &row)?;
            }
        }
        Ok(())
    }

    /// Variables that a scope sees: all, or those named. Output collections that are still filled are among them up to
    /// [`SHOWN_ENTRIES`]: each instance in a body would get the whole list.
    pub(crate) fn visible_variables(&self, scope_key: Key, names: &[Name]) -> Result<Document, StateError> {
        if names.is_empty() {
            return self.all_visible_variables(scope_key, SHOWN_ENTRIES);
        }
        let mut document = Document::empty();
        for name in names {
            if document.get(name).is_none()
                && let Some((owner, variable)) = self.find_variable(scope_key, name)?
                && self.is_shown(owner, &variable, SHOWN_ENTRIES)?
            {
                document.push_new(name.clone(), self.variable_value(owner, &variable)?);
            }
        }
        Ok(document)
    }

    /// Whether a variable is among all those that a scope sees.
    fn is_shown(&self, owner: Key, variable: &Variable, most: u32) -> Result<bool, StateError> {
        let Some(entries) = variable.entries else { return Ok(true) };
        let outputs = self.loops.get(&owner)?.and_then(|state| state.output_bytes).unwrap_or_default();
        Ok(entries <= most && outputs <= SHOWN_BYTES)
    }

    /// All variables that a scope sees, but for longer output collections that are still filled. These hide others of
    /// their name all the same.
    pub(crate) fn all_visible_variables(&self, scope_key: Key, most: u32) -> Result<Document, StateError> {
        let mut document = Document::empty();
        let mut hidden: Vec<Name> = Vec::new();
        let mut scope_key = scope_key;
        let mut first = true;
        for _ in 0..MAX_SCOPES {
            let Some(row) = self.element_instances.get(&scope_key)? else { break };
            if row.has_variables {
                let rows = self.shown_variables(scope_key, most, &mut hidden)?;
                if first {
                    document = rows.into_iter().collect();
                    first = false;
                } else {
                    let many = document.len().saturating_mul(rows.len()) > MAX_COMPARISONS;
                    let known: HashSet<Name> = if many {
                        document.iter().map(|(name, _)| name.clone()).collect()
                    } else {
                        HashSet::new()
                    };
                    for (name, value) in rows {
                        let is_known =
                            if many { known.contains(&name) } else { document.get(&name).is_some() };
                        if !is_known {
                            document.push_new(name, value);
                        }
                    }
                }
            }
            if row.scope_key == 0 {
                break;
            }
            scope_key = row.scope_key;
        }
        Ok(document)
    }

    /// Name and value of the variables of a scope, but for those that an inner scope hides.
    fn shown_variables(
        &self,
        scope_key: Key,
        most: u32,
        hidden: &mut Vec<Name>,
    ) -> Result<Vec<(Name, Json)>, StateError> {
        let mut shown = Vec::new();
        self.each_local_variable(scope_key, |name, row| {
            if hidden.contains(&name) {
                return Ok(());
            }
            if self.is_shown(scope_key, row, most)? {
                shown.push((name, self.variable_value(scope_key, row)?));
            } else {
                hidden.push(name);
            }
            Ok(())
        })?;
        Ok(shown)
    }

    /// The scope from this one upward that has a variable, or the top.
    pub(crate) fn owning_scope(&self, scope_key: Key, name: &Name) -> Result<Key, StateError> {
        let mut scope_key = scope_key;
        for _ in 0..MAX_SCOPES {
            let Some(row) = self.element_instances.get(&scope_key)? else { break };
            if row.has_variables && self.variables.contains(&(scope_key, name.0.clone()))? {
                break;
            }
            if row.scope_key == 0 {
                break;
            }
            scope_key = row.scope_key;
        }
        Ok(scope_key)
    }

    pub(crate) fn variable_value(&self, scope_key: Key, variable: &Variable) -> Result<Json, StateError> {
        let Some(first) = variable.rest_from else { return Ok(variable.value.clone()) };
        if let Some(entries) = variable.entries {
            return self.filled_list(scope_key, first, entries, variable);
        }
        let end = self.loops.get(&scope_key)?.map_or(first, |state| state.size);
        if first == end {
            return Ok(variable.value.clone());
        }
        let mut list = ListText::of(items_of(&variable.value).unwrap_or_default());
        let chunks = (scope_key, first / CHUNK)..(scope_key, end / CHUNK);
        self.loop_chunks.visit(chunks, |_, chunk| {
            list.push(chunk.json.as_bytes());
            ControlFlow::Continue(())
        })?;
        self.loop_outputs.visit((scope_key, end - end % CHUNK)..(scope_key, end), |_, output| {
            list.push(output.0.as_bytes());
            ControlFlow::Continue(())
        })?;
        Ok(list.end())
    }

    /// The output collection of a body that runs: values stand at their places in what it was set to.
    fn filled_list(
        &self,
        body_key: Key,
        first: u32,
        entries: u32,
        variable: &Variable,
    ) -> Result<Json, StateError> {
        if entries == 0 {
            return Ok(variable.value.clone());
        }
        let mut list = ListText::of("");
        let mut place = 0;
        if variable.has_only_places() {
            let gathered = self.loops.get(&body_key)?.and_then(|state| state.gathered).unwrap_or_default();
            self.loop_chunks.visit((body_key, 0)..(body_key, gathered), |_, chunk| {
                list.push(chunk.json.as_bytes());
                ControlFlow::Continue(())
            })?;
            place = entries.min(gathered * CHUNK);
        }
        debug_assert!(place <= entries, "{place} of {entries} entries are put together");
        let base = Value::from_json_lazy(variable.value.as_bytes().clone());
        let mut items = base.as_list().and_then(List::json_items);
        let mut other = || items.as_mut().and_then(Iterator::next).unwrap_or(b"null");
        self.loop_outputs.visit(
            (body_key, first + place)..(body_key, first + entries),
            |(_, at), output| {
                while place < at - first {
                    list.push(other());
                    place += 1;
                }
                other();
                list.push(output.0.as_bytes());
                place += 1;
                ControlFlow::Continue(())
            },
        )?;
        for _ in place..entries {
            list.push(other());
        }
        Ok(list.end())
    }
}

/// The keys of the variables of a scope.
pub(crate) fn scope_range(scope_key: Key) -> std::ops::Range<(Key, Arc<str>)> {
    let empty: Arc<str> = Arc::default();
    (scope_key, Arc::clone(&empty))..(scope_key + 1, empty)
}

/// The text between the brackets of a list.
pub(crate) fn items_of(json: &Json) -> Option<&str> {
    let items = json.as_str().trim_ascii().strip_prefix('[')?.strip_suffix(']')?;
    Some(items.trim_ascii())
}

/// The text of a list that is being written.
pub(crate) struct ListText(Vec<u8>);

impl ListText {
    pub(crate) fn of(items: &str) -> Self {
        let mut text = Vec::with_capacity(items.len() + 64);
        text.push(b'[');
        text.extend_from_slice(items.as_bytes());
        Self(text)
    }

    /// Adds one value, or several with commas in between.
    pub(crate) fn push(&mut self, values: &[u8]) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.0.extend_from_slice(values);
    }

    pub(crate) fn end(mut self) -> Json {
        self.0.push(b']');
        Json::from_written(self.0)
    }
}
