//! Variables: scopes, propagation, input and output mappings.

use std::sync::Arc;

use bpmn::graph::{Element, ElementKind, PROCESS, Trigger};
use protocol::{Document, Intent, Json, Key, Name};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::entity::scope::scope_range;
use crate::entity::{ElementInstance, ErrorType, Phase, Variable};

/// Bytes of records that the deletion of a variable counts as.
const DELETED_BYTES: u64 = 512;

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
                if !self.is_same(&self.tables.variable_value(scope_key, &old)?, &value) {
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

    /// Whether two values are the same, however they are spelled.
    fn is_same(&self, one: &Json, other: &Json) -> bool {
        one == other || one.canonical() == other.canonical()
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
            let mut bytes = 0;
            self.tables.each_local_variable(scope_key, |_, row| {
                bytes += Self::counted_bytes(&row.value);
                Ok(())
            })?;
            self.uncount_variables(row.process_instance_key, std::iter::once(bytes))?;
        }
        let mut slices = Slices::of(scope_range(scope_key));
        while let Some(keys) = slices.keys(&self.tables.variables)? {
            // No records tell of it, and it is work all the same.
            self.meter.note_record(keys.len() as u64 * DELETED_BYTES);
            for key in keys {
                self.tables.variables.delete(&key);
            }
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
            if self.keeps_what_it_took(at)? {
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

    /// Whether an event without output mappings keeps a copy of what it took. One that has waited itself, and the start
    /// of an event sub-process, hand it to their scope only.
    fn keeps_what_it_took(&self, at: &ActiveElement) -> Result<bool, StateError> {
        let element = at.element();
        if !takes_variables(element) {
            return Ok(false);
        }
        Ok(match &element.kind {
            ElementKind::IntermediateCatch(_) if at.process.is_behind_event_gateway(at.index) => {
                // An operator may have activated it by hand: then it has waited.
                let row = self.tables.element_instances.get(&at.key)?;
                row.is_some_and(|row| row.phase != Phase::Activated)
            }
            ElementKind::Boundary(_) => true,
            ElementKind::StartEvent(_) => element.scope == PROCESS,
            _ => false,
        })
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
