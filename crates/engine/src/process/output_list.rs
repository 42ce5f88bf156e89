//! The output collection of a multi-instance body as a variable, from the beginning of the body on.
//!
//! The row of the variable says how many entries the list has; values stand in rows of their own (`collection.rs`) and
//! take their places in the list when somebody reads it. So an instance that completes writes one row, however long
//! the list is. Somebody may set the variable meanwhile: values that come later take their places in what it was set
//! to. When the body completes, the list becomes an ordinary value.

use std::sync::Arc;

use protocol::{Document, HISTORY_VERSION, Intent, Json, Key, Name};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::{ErrorType, Variable};

/// Entries of a list up to which each value that comes is recorded, as an update of the whole list. The records of a
/// longer one would together be far larger than it: it is recorded at its beginning and at its end.
const RECORDED_ENTRIES: u32 = 100;
/// Bytes of such a list, at most.
const RECORDED_BYTES: u64 = 64 << 10;

impl CommandContext<'_> {
    /// Makes the list of a body that begins: nulls only.
    pub(super) fn begin_output_list(
        &mut self,
        body: &ActiveElement,
        name: &Name,
        size: u32,
    ) -> Result<(), StateError> {
        if size == 0 {
            let empty = Json::from_valid("[]");
            return self.set_local(body.key, body.process_instance_key, name, empty);
        }
        let list = Variable { rest_from: Some(0), entries: Some(size), ..Variable::new(0, Json::null()) };
        self.put_output_list(body, name, list)
    }

    fn put_output_list(
        &mut self,
        body: &ActiveElement,
        name: &Name,
        mut list: Variable,
    ) -> Result<(), StateError> {
        let row = (body.key, name.0.clone());
        let old = self.tables.variables.get(&row)?;
        list.key = old.as_ref().map_or_else(|| self.next_key(), |old| old.key);
        self.count_variable(body.key, old.as_ref().map(|old| &old.value), &list.value)?;
        self.tables.element_instances.update(&body.key, |row| row.has_variables = true)?;
        let shown = self.tables.variable_value(body.key, &list)?;
        let intent = if old.is_some() { Intent::Updated } else { Intent::Created };
        self.record_variable(list.key, intent, body.key, body.process_instance_key, name, &shown)?;
        self.tables.variables.put(row, list);
        self.touch(body.process_instance_key, body.key, name, old.is_none())
    }

    /// The row of the list of a body that runs. Bodies of earlier engine versions have none.
    pub(super) fn output_list(&self, body_key: Key, name: &str) -> Result<Option<Arc<Variable>>, StateError> {
        let row = self.tables.variables.get(&(body_key, name.into()))?;
        Ok(row.filter(|row| row.entries.is_some()))
    }

    /// Why a value has no place in a list, if that is so: somebody has set it to something else.
    pub(super) fn check_output_place(&self, body_key: Key, name: &str, place: u32) -> Result<(), Failure> {
        let Some(entries) = self.output_list(body_key, name)?.and_then(|list| list.entries) else {
            return Ok(());
        };
        if place < entries {
            return Ok(());
        }
        self.check_collection(body_key, name)?;
        let message = format!(
            "Expected to put a value at place {} of the output collection '{name}', but its size is {entries}. \
             Another element has set the variable.",
            place + 1
        );
        Err(Failure::incident(ErrorType::ExtractValueError, message))
    }

    /// Puts the value of an instance at its place, which is there.
    pub(super) fn collect_output(
        &mut self,
        body: &ActiveElement,
        name: &Name,
        place: u32,
        value: &Json,
    ) -> Result<(), StateError> {
        let list = self.output_list(body.key, name)?;
        let place = place + list.as_ref().and_then(|list| list.rest_from).unwrap_or_default();
        // It may be tried again after an incident.
        let old = self.tables.loop_outputs.get(&(body.key, place))?;
        self.put_output(body.key, place, value);
        self.count_collected(body.key, old.as_ref().map(|old| &old.0), value)?;
        let Some(list) = list else { return Ok(()) };
        let is_same = match &old {
            Some(old) => old.0 == *value,
            None => list.has_only_places() && *value == Json::null(),
        };
        if is_same {
            return Ok(());
        }
        if self.is_recorded(body.key, &list)? {
            let shown = self.tables.variable_value(body.key, &list)?;
            self.record_variable(
                list.key,
                Intent::Updated,
                body.key,
                body.process_instance_key,
                name,
                &shown,
            )?;
        }
        self.touch(body.process_instance_key, body.key, name, false)
    }

    /// Whether a list is so short that each of its changes is recorded.
    fn is_recorded(&self, body_key: Key, list: &Variable) -> Result<bool, StateError> {
        let outputs = self.tables.loops.get(&body_key)?.and_then(|state| state.output_bytes);
        let bytes = outputs.unwrap_or_default() + list.value.as_bytes().len() as u64;
        Ok(list.entries.is_some_and(|entries| entries <= RECORDED_ENTRIES) && bytes <= RECORDED_BYTES)
    }

    /// Hands the list of a body that completes to the scope around it.
    pub(super) fn hand_over_output_list(
        &mut self,
        body: &ActiveElement,
        name: &Name,
        list: &Variable,
    ) -> Result<(), Failure> {
        let value = self.tables.variable_value(body.key, list)?;
        let document: Document = [(name.clone(), value.clone())].into_iter().collect();
        let scopes_of =
            |work: &Self, name: &Name| Ok([body.key, work.tables.owning_scope(body.scope_key, name)?]);
        let kind = ErrorType::ExtractValueError;
        self.check_room_in(body.process_instance_key, &document, scopes_of, kind)?;
        self.close_output_list(body, name, list, value)?;
        Ok(self.propagate(body.scope_key, body.process_instance_key, &document)?)
    }

    /// Makes an ordinary value of a list.
    fn close_output_list(
        &mut self,
        body: &ActiveElement,
        name: &Name,
        list: &Variable,
        value: Json,
    ) -> Result<(), StateError> {
        self.count_variable(body.key, Some(&list.value), &value)?;
        if !self.is_recorded(body.key, list)? {
            self.record_variable(
                list.key,
                Intent::Updated,
                body.key,
                body.process_instance_key,
                name,
                &value,
            )?;
        }
        self.tables.variables.put((body.key, name.0.clone()), Variable::new(list.key, value));
        Ok(())
    }

    /// The list is set to something else: where values that come from now on stand, and how many places they have.
    pub(super) fn restart_output_list(
        &mut self,
        body_key: Key,
        list: &Variable,
        value: &Json,
    ) -> Result<Variable, StateError> {
        let first = list.rest_from.unwrap_or_default();
        let size = self.tables.loops.get(&body_key)?.map_or(0, |state| state.size);
        let none = (body_key, 0)..(body_key, 0);
        let mut next = first;
        if self.forget_outputs((body_key, first)..(body_key, first + size), none.clone())? {
            // The remainder is removed with the body, unless places run out.
            let room = first.checked_add(size).filter(|next| next.checked_add(size).is_some());
            if room.is_none() {
                while self.forget_outputs((body_key, 0)..(body_key + 1, 0), none.clone())? {}
            }
            next = room.unwrap_or_default();
        }
        let entries = feel::Value::from_json_lazy(value.as_bytes().clone())
            .as_list()
            .map_or(0, |list| list.json_items().map_or(list.len(), Iterator::count));
        let entries = u32::try_from(entries).unwrap_or(u32::MAX).min(u32::MAX - next);
        Ok(Variable {
            rest_from: Some(next),
            entries: Some(entries),
            ..Variable::new(list.key, value.clone())
        })
    }

    /// The list of a body goes on under the name that the model has for it after a migration.
    pub(super) fn rename_output_list(
        &mut self,
        body: &ActiveElement,
        before: Option<Name>,
        after: Option<Name>,
    ) -> Result<(), StateError> {
        let size = self.tables.loops.get(&body.key)?.map_or(0, |state| state.size);
        if self.version < HISTORY_VERSION || size == 0 {
            return Ok(());
        }
        let Some(before) = before else {
            return after.map_or(Ok(()), |name| self.begin_output_list(body, &name, size));
        };
        let Some(list) = self.output_list(body.key, &before)? else { return Ok(()) };
        let value = self.tables.variable_value(body.key, &list)?;
        self.close_output_list(body, &before, &list, value)?;
        match after {
            Some(name) => self.put_output_list(body, &name, (*list).clone()),
            None => Ok(()),
        }
    }
}
