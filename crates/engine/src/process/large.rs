//! Limits of what processes store: of each value that an expression makes, of collections, and of all large
//! variables of a process instance, which are counted as they come and go.
//!
//! Limits are checked before anything is written: beyond them an element ends in an incident, a command is
//! refused.

use std::collections::BTreeMap;
use std::fmt::Display;

use protocol::{Command, Document, Json, Key, Name, Rejection};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::options::LARGE_BYTES;
use crate::core::step::AdHocElement;
use crate::definition::expression::DIALECT;
use crate::entity::scope::scope_range;
use crate::entity::{Compensation, ErrorType, Loop};

/// Variables that are set together without a count of those that the scope has. Counting them takes longer than
/// setting a few.
const FEW_VARIABLES: usize = 16;

/// Bytes of a value that count for the limit of its instance.
fn counted(value: &Json) -> u64 {
    let bytes = value.as_bytes().len();
    if bytes < LARGE_BYTES { 0 } else { bytes as u64 }
}

impl CommandContext<'_> {
    /// The JSON of a value that is to be stored, or an incident that names the limit. `what` is made of it.
    pub fn produce(
        &self,
        value: &feel::Value,
        what: &dyn Display,
        error_type: ErrorType,
    ) -> Result<Json, Failure> {
        let limits = &self.options.work;
        let left = self.meter.bytes_left();
        let most = limits.max_variable_bytes.min(left);
        if let Some(bytes) = value.to_json_in(DIALECT, most) {
            self.meter.note_bytes(bytes.len());
            let json = Json::from_written(bytes);
            self.meter.known().note(json.as_bytes(), value);
            return Ok(json);
        }
        // Charge fuel for discarded output.
        self.meter.note_work(most);
        let (limit, name) = if left < limits.max_variable_bytes {
            (limits.max_bytes_per_step, "limits.max_bytes_per_step")
        } else {
            (limits.max_variable_bytes, "limits.max_variable_bytes")
        };
        let whose = if name == "limits.max_bytes_per_step" { "the values of this step are" } else { "it is" };
        let message = format!("Expected to store {what}, but {whose} larger than {limit} bytes ({name})");
        Err(Failure::incident(error_type, message))
    }

    /// Checks the size of a value made of JSON that exists already, or returns an incident that names the limit.
    pub(super) fn check_produced(
        &self,
        value: &Json,
        what: &dyn Display,
        error_type: ErrorType,
    ) -> Result<(), Failure> {
        let limit = self.options.work.max_variable_bytes;
        self.meter.note_bytes(value.as_bytes().len());
        if value.as_bytes().len() <= limit {
            return Ok(());
        }
        let message = format!(
            "Expected to store {what}, but it is larger than {limit} bytes (limits.max_variable_bytes)"
        );
        Err(Failure::incident(error_type, message))
    }

    /// Whether a process instance has room for variables. `scope_of` says where one is to be.
    pub fn check_room(
        &self,
        process_instance_key: Key,
        variables: &Document,
        scope_of: impl Fn(&Self, &Name) -> Result<Key, StateError>,
        error_type: ErrorType,
    ) -> Result<(), Failure> {
        let scopes_of = |work: &Self, name: &Name| Ok(Some(scope_of(work, name)?));
        self.check_room_in(process_instance_key, variables, scopes_of, error_type)
    }

    /// Whether a process instance has room for variables of which each may go to several scopes.
    pub(super) fn check_room_in<S: IntoIterator<Item = Key>>(
        &self,
        process_instance_key: Key,
        variables: &Document,
        scopes_of: impl Fn(&Self, &Name) -> Result<S, StateError>,
        error_type: ErrorType,
    ) -> Result<(), Failure> {
        self.check_scopes(variables, &scopes_of, error_type)?;
        let mut largest: Option<(&Name, u64)> = None;
        let (mut added, mut replaced) = (0, 0);
        for (name, value) in variables.iter() {
            let bytes = counted(value);
            if bytes == 0 {
                continue;
            }
            for scope_key in scopes_of(self, name)? {
                let old = self.tables.variables.get(&(scope_key, name.0.clone()))?;
                added += bytes;
                replaced += old.map_or(0, |old| counted(&old.value));
            }
            if largest.is_none_or(|(_, most)| bytes > most) {
                largest = Some((name, bytes));
            }
        }
        let Some((name, _)) = largest else { return Ok(()) };
        let before = self.tables.variable_bytes.get(&process_instance_key)?.map_or(0, |bytes| *bytes);
        let limit = self.options.work.max_instance_variable_bytes;
        if (before + added).saturating_sub(replaced) <= limit {
            return Ok(());
        }
        let message = format!(
            "Expected to store variable '{name}', but the variables of the process instance would be larger than {limit} bytes (limits.max_instance_variable_bytes)"
        );
        Err(Failure::incident(error_type, message))
    }

    /// Whether scopes have room for the number of variables.
    fn check_scopes<S: IntoIterator<Item = Key>>(
        &self,
        variables: &Document,
        scopes_of: &impl Fn(&Self, &Name) -> Result<S, StateError>,
        error_type: ErrorType,
    ) -> Result<(), Failure> {
        let limit = self.options.work.max_scope_variables;
        if variables.len() <= FEW_VARIABLES {
            return Ok(());
        }
        let mut added: BTreeMap<Key, usize> = BTreeMap::new();
        for (name, _) in variables.iter() {
            for scope_key in scopes_of(self, name)? {
                if !self.tables.variables.contains(&(scope_key, name.0.clone()))? {
                    *added.entry(scope_key).or_default() += 1;
                }
            }
        }
        for (scope_key, added) in added {
            let before = self.tables.variables.keys(scope_range(scope_key), limit.saturating_add(1))?.len();
            if before + added > limit {
                let message = format!(
                    "Expected at most {limit} variables in a scope (limits.max_scope_variables), but scope '{scope_key}' would have more with {added} new ones"
                );
                return Err(Failure::incident(error_type, message));
            }
        }
        Ok(())
    }

    /// Whether an element has no more mappings than a scope may have variables.
    pub(super) fn check_mappings(&self, mappings: usize) -> Result<(), Failure> {
        let limit = self.options.work.max_scope_variables;
        if mappings <= limit {
            return Ok(());
        }
        let message = format!(
            "Expected at most {limit} mappings of an element (limits.max_scope_variables), but there are {mappings}"
        );
        Err(Failure::incident(ErrorType::IoMappingError, message))
    }

    /// Asserts at the write that there is room, as was checked before anything was written.
    pub(super) fn assert_room(
        &self,
        process_instance_key: Key,
        variables: &Document,
        scope_of: impl Fn(&Self, &Name) -> Result<Key, StateError>,
    ) {
        if cfg!(debug_assertions) {
            let found = self.check_room(process_instance_key, variables, scope_of, ErrorType::IoMappingError);
            assert!(!matches!(found, Err(Failure::Incident { .. })), "stored without room: {found:?}");
        }
    }

    /// Refuses a command that would store variables for which the process instance has no room.
    pub fn refuse_without_room(
        &self,
        process_instance_key: Key,
        variables: &Document,
        scope_of: impl Fn(&Self, &Name) -> Result<Key, StateError>,
    ) -> Result<(), Failure> {
        let kind = ErrorType::IoMappingError;
        match self.check_room(process_instance_key, variables, scope_of, kind) {
            Err(Failure::Incident { message, .. }) => Err(Rejection::too_large(message).into()),
            other => other,
        }
    }

    /// Refuses variables that complete an element if the process instance has no room for them.
    pub fn refuse_completion_without_room(
        &mut self,
        element_instance_key: Key,
        variables: &Document,
    ) -> Result<(), Failure> {
        let Some((at, _)) = self.at(element_instance_key)? else { return Ok(()) };
        // With output mappings they stay at the element; what the mappings make of them is another question.
        let stays = !at.element().outputs.is_empty();
        self.refuse_without_room(at.process_instance_key, variables, |work, name| {
            if stays { Ok(at.key) } else { work.tables.owning_scope(at.key, name) }
        })
    }

    /// Refuses variables of elements to activate in an ad-hoc sub-process if the process instance has no room for them.
    pub(super) fn refuse_elements_without_room(
        &self,
        process_instance_key: Key,
        elements: &[AdHocElement],
    ) -> Result<(), Failure> {
        for element in elements {
            self.refuse_large(&element.variables)?;
        }
        let values = elements.iter().flat_map(|element| element.variables.iter());
        let bytes = values.map(|(_, value)| counted(value)).sum();
        match self.check_room_for(process_instance_key, bytes, "the variables of the elements") {
            Err(Failure::Incident { message, .. }) if bytes > 0 => Err(Rejection::too_large(message).into()),
            Err(Failure::State(error)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Whether a process instance that is called has room for what it is given.
    pub(super) fn check_given(&self, variables: &Document) -> Result<(), Failure> {
        match self.check_total(variables) {
            Err(Failure::Rejected(rejection)) => {
                Err(Failure::incident(ErrorType::CalledElementError, rejection.reason))
            }
            other => other,
        }
    }

    /// Whether a process instance has room for so many bytes more that are no variable.
    pub(super) fn check_room_for(
        &self,
        process_instance_key: Key,
        bytes: u64,
        what: &str,
    ) -> Result<(), Failure> {
        let before = self.tables.variable_bytes.get(&process_instance_key)?.map_or(0, |bytes| *bytes);
        let limit = self.options.work.max_instance_variable_bytes;
        if before + bytes <= limit {
            return Ok(());
        }
        let message = format!(
            "Expected to store {what}, but the variables of the process instance would be larger than {limit} bytes (limits.max_instance_variable_bytes)"
        );
        Err(Failure::incident(ErrorType::ExtractValueError, message))
    }

    /// Whether a process instance has room for variables that go up from an element to where they exist.
    pub(super) fn check_room_above(
        &self,
        at: &ActiveElement,
        scope_key: Key,
        variables: &Document,
    ) -> Result<(), Failure> {
        let kind = ErrorType::IoMappingError;
        self.check_room(
            at.process_instance_key,
            variables,
            |work, name| work.tables.owning_scope(scope_key, name),
            kind,
        )
    }

    /// Whether a collection has room for one more value, which it then has.
    pub(super) fn check_collected(&mut self, key: Key, value: &Json, name: &str) -> Result<(), Failure> {
        let limit = self.options.work.max_collection_bytes;
        let before = self.tables.loops.get(&key)?.and_then(|state| state.output_bytes).unwrap_or_default();
        let after = before + value.as_bytes().len() as u64 + 1;
        if after > limit as u64 {
            let message = format!(
                "Expected to add to the output collection '{name}', but it would be larger than {limit} bytes (limits.max_collection_bytes)"
            );
            return Err(Failure::incident(ErrorType::ExtractValueError, message));
        }
        let Some(row) = self.tables.element_instances.get(&key)? else { return Ok(()) };
        let what = format!("a value of the output collection '{name}'");
        self.check_room_for(row.process_instance_key, value.as_bytes().len() as u64, &what)
    }

    /// Whether a process instance has room for the items of a body.
    pub(super) fn check_room_for_items(
        &self,
        process_instance_key: Key,
        bytes: usize,
    ) -> Result<(), Failure> {
        self.check_room_for(process_instance_key, bytes as u64, "the items of the input collection")
    }

    /// Counts the items of a body for its process instance.
    pub(super) fn count_items(&mut self, at: &ActiveElement, bytes: usize) -> Result<(), StateError> {
        let bytes = if bytes < LARGE_BYTES { 0 } else { bytes as u64 };
        self.tables.loops.update(&at.key, |state| state.counted_bytes = Some(bytes))?;
        self.change_variable_bytes(at.process_instance_key, 0, bytes)
    }

    /// Counts nothing of a body any more, which is about to go.
    pub(super) fn uncount_loop(&mut self, process_instance_key: Key, state: &Loop) -> Result<(), StateError> {
        self.change_variable_bytes(process_instance_key, state.counted_bytes.unwrap_or_default(), 0)
    }

    /// Counts a value that a collection has got.
    pub(super) fn count_collected(
        &mut self,
        key: Key,
        old: Option<&Json>,
        value: &Json,
    ) -> Result<(), StateError> {
        let bytes = |value: &Json| value.as_bytes().len() as u64 + 1;
        let (old, new) = (old.map_or(0, bytes), bytes(value));
        let mut uncounted = 0;
        self.tables.loops.update(&key, |state| {
            let before = state.output_bytes.unwrap_or_default();
            debug_assert!(before + new >= old, "{before} + {new} - {old} bytes of a collection");
            let after = (before + new).saturating_sub(old);
            state.output_bytes = Some(after);
            // Small ones count together, when they have become large.
            let large = LARGE_BYTES as u64;
            uncounted = (after / large * large).saturating_sub(before / large * large);
            state.counted_bytes = Some(state.counted_bytes.unwrap_or_default() + uncounted);
        })?;
        let Some(row) = self.tables.element_instances.get(&key)? else { return Ok(()) };
        self.change_variable_bytes(row.process_instance_key, 0, uncounted)
    }

    /// Counts a variable that is set, in place of another.
    pub(super) fn count_variable(
        &mut self,
        scope_key: Key,
        old: Option<&Json>,
        new: &Json,
    ) -> Result<(), StateError> {
        let (old, new) = (old.map_or(0, counted), counted(new));
        if old == 0 && new == 0 {
            return Ok(());
        }
        self.meter.note_work(new as usize);
        let Some(row) = self.tables.element_instances.get(&scope_key)? else { return Ok(()) };
        // Values older than the limits have never been counted.
        let old = if row.has_large_variables { old } else { 0 };
        if new > 0 && !row.has_large_variables {
            self.tables.element_instances.update(&scope_key, |row| row.has_large_variables = true)?;
        }
        self.change_variable_bytes(row.process_instance_key, old, new)
    }

    /// Counts the variables of a scope no more, which are about to go.
    pub(super) fn uncount_variables(
        &mut self,
        process_instance_key: Key,
        values: impl Iterator<Item = u64>,
    ) -> Result<(), StateError> {
        self.change_variable_bytes(process_instance_key, values.sum(), 0)
    }

    /// Counts the variables of a scope that has completed and can be compensated. Returns how much that is.
    pub fn count_snapshot(
        &mut self,
        process_instance_key: Key,
        variables: &Document,
    ) -> Result<u64, StateError> {
        let bytes = variables.iter().map(|(_, value)| counted(value)).sum();
        self.change_variable_bytes(process_instance_key, 0, bytes)?;
        Ok(bytes)
    }

    /// Counts them no more, since they are about to go.
    pub fn uncount_snapshot(&mut self, row: &Compensation) -> Result<(), StateError> {
        self.change_variable_bytes(row.process_instance_key, row.counted_bytes.unwrap_or_default(), 0)
    }

    /// Counted bytes of a stored variable.
    pub(super) fn counted_bytes(value: &Json) -> u64 {
        counted(value)
    }

    fn change_variable_bytes(
        &mut self,
        process_instance_key: Key,
        old: u64,
        new: u64,
    ) -> Result<(), StateError> {
        if old == new {
            return Ok(());
        }
        let before = self.tables.variable_bytes.get(&process_instance_key)?.map_or(0, |bytes| *bytes);
        debug_assert!(before + new >= old, "{before} + {new} - {old} bytes of {process_instance_key}");
        let after = (before + new).saturating_sub(old);
        if after == 0 {
            self.tables.variable_bytes.delete(&process_instance_key);
        } else {
            self.tables.variable_bytes.put(process_instance_key, after);
        }
        Ok(())
    }

    /// Refuses a command with too many entries, or with variables that are too large, each or for any process
    /// instance.
    pub fn check_variables_of(&self, command: &Command) -> Result<(), Failure> {
        command.check_entries(self.options.work.max_entries_per_command)?;
        let Some(variables) = command.facts().variables() else { return Ok(()) };
        self.refuse_large(variables)?;
        self.check_total(variables)
    }

    /// Refuses a command with a variable that is too large, or with more of them than any scope may have.
    pub(super) fn refuse_large(&self, variables: &Document) -> Result<(), Failure> {
        self.refuse_many(variables)?;
        let limit = self.options.work.max_variable_bytes;
        match variables.iter().find(|(_, value)| value.as_bytes().len() > limit) {
            Some((name, value)) => Err(Rejection::too_large(format!(
                "Expected variables of at most {limit} bytes each (limits.max_variable_bytes), but 'variables.{name}' has {}",
                value.as_bytes().len()
            ))
            .into()),
            None => Ok(()),
        }
    }

    fn refuse_many(&self, variables: &Document) -> Result<(), Failure> {
        let (limit, found) = (self.options.work.max_scope_variables, variables.len());
        if found <= limit {
            return Ok(());
        }
        Err(Rejection::invalid_argument(format!(
            "Expected at most {limit} variables in a scope (limits.max_scope_variables), but 'variables' has {found}"
        ))
        .into())
    }

    fn check_total(&self, variables: &Document) -> Result<(), Failure> {
        self.refuse_many(variables)?;
        let limit = self.options.work.max_instance_variable_bytes;
        let total: u64 = variables.iter().map(|(_, value)| counted(value)).sum();
        if total <= limit {
            return Ok(());
        }
        Err(Rejection::too_large(format!(
            "Expected variables of at most {limit} bytes together (limits.max_instance_variable_bytes), but 'variables' has {total}"
        ))
        .into())
    }
}
