//! Output collections: lists that grow value by value while a multi-instance body or an ad-hoc sub-process runs.
//!
//! A list is never rewritten for a value more. Each value has a row of its own, by its place; rows that are
//! complete are put together into chunks. The list is a variable that everybody inside may read or set: its row holds
//! what it was last set to, and a reader gets that and the values as one list. In an ad-hoc sub-process values
//! are appended, from [`Variable::rest_from`] on. A multi-instance body has [`Variable::entries`] from its beginning,
//! whose places values take; when it completes, the list becomes an ordinary value, there and in the scope around it.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use feel::Value;
use protocol::{Document, Intent, Json, Key, Name};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::scope::{ListText, items_of};
use crate::entity::variable::CHUNK;
use crate::entity::{Chunk, ErrorType, LoopOutput, Variable};

/// Rows that one step removes.
const ROWS_PER_STEP: usize = 256;
/// Rows that cost about as much as an ordinary step.
const ROWS_LIKE_A_STEP: usize = 16;
const _: () = assert!(ROWS_PER_STEP >= ROWS_LIKE_A_STEP && ROWS_PER_STEP.is_multiple_of(ROWS_LIKE_A_STEP));

/// Entries of a list up to which each value that comes is recorded, as an update of the whole list. The records of a
/// longer one would together be far larger than it: it is recorded at its beginning and at its end.
const RECORDED_ENTRIES: u32 = 100;
/// Bytes of such a list, at most.
const RECORDED_BYTES: u64 = 64 << 10;

/// A list with one value more.
pub(crate) fn with_value(list: &Json, value: &Json) -> Json {
    let mut text = ListText::of(items_of(list).unwrap_or_default());
    text.push(value.as_bytes());
    text.end()
}

impl CommandContext<'_> {
    /// Stores a value at its place in a collection.
    pub(super) fn put_output(&mut self, key: Key, place: u32, value: &Json) {
        // A copy, so that it does not keep more alive than itself.
        let value = Json::from_valid(bytes::Bytes::copy_from_slice(value.as_bytes()));
        self.tables.loop_outputs.put((key, place), LoopOutput(value));
    }

    /// The outputs at some places while instances still run. As long as the list, so only for who asks.
    pub(super) fn outputs(&self, key: Key, places: Range<u32>) -> Result<Json, StateError> {
        let chunk = self.output_chunk(key, places)?;
        let mut list = ListText::of("");
        list.push(chunk.json.as_bytes());
        Ok(list.end())
    }

    fn output_chunk(&self, key: Key, places: Range<u32>) -> Result<Chunk, StateError> {
        let rows = self.tables.loop_outputs.scan((key, places.start)..(key, places.end), places.len())?;
        let mut rows = rows.into_iter().peekable();
        Ok(chunk_of(places, |place, out| match rows.next_if(|((_, at), _)| *at == place) {
            Some((_, output)) => out.extend_from_slice(output.0.as_bytes()),
            None => out.extend_from_slice(b"null"),
        }))
    }

    /// Puts the rows of some chunks together.
    pub(super) fn gather_chunks(
        &mut self,
        key: Key,
        numbers: Range<u32>,
        size: u32,
    ) -> Result<(), StateError> {
        for number in numbers {
            let (start, end) = (number * CHUNK, size.min((number + 1) * CHUNK));
            let outputs = self.output_chunk(key, start..end)?;
            self.tables.loop_chunks.put((key, number), outputs);
            let rows = self.tables.loop_outputs.keys((key, start)..(key, end), CHUNK as usize)?;
            self.extra_steps += rows.len() / ROWS_LIKE_A_STEP;
            for row in rows {
                self.tables.loop_outputs.delete(&row);
            }
        }
        Ok(())
    }

    /// The list of outputs, when all of it is put together.
    pub(super) fn gathered_outputs(&self, key: Key) -> Result<Json, StateError> {
        let mut list = ListText::of("");
        self.tables.loop_chunks.visit((key, 0)..(key + 1, 0), |_, chunk| {
            list.push(chunk.json.as_bytes());
            ControlFlow::Continue(())
        })?;
        Ok(list.end())
    }

    /// Appends a value to the collection of an ad-hoc sub-process, which is a list.
    pub(super) fn append(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        name: &Name,
        value: &Json,
    ) -> Result<(), StateError> {
        let row = (scope_key, name.0.clone());
        let Some(place) = self.tables.loops.get(&scope_key)?.map(|state| state.size) else { return Ok(()) };
        if self.tables.variables.get(&row)?.is_some_and(|variable| variable.rest_from.is_none()) {
            self.tables.variables.update(&row, |variable| variable.rest_from = Some(place))?;
        }
        self.put_output(scope_key, place, value);
        let size = place + 1;
        self.tables.loops.update(&scope_key, |state| state.size = size)?;
        if size.is_multiple_of(CHUNK) {
            self.gather_chunks(scope_key, place / CHUNK..size / CHUNK, size)?;
        }
        self.touch(process_instance_key, scope_key, name, false)
    }

    /// Why nothing can be appended to a variable, if that is so.
    pub(super) fn check_collection(&self, scope_key: Key, name: &str) -> Result<(), Failure> {
        let variable = self.tables.variables.get(&(scope_key, name.into()))?;
        let value = variable.map_or_else(Json::null, |variable| variable.value.clone());
        if items_of(&value).is_some() {
            return Ok(());
        }
        let kind = Value::from_json(value.as_bytes().clone()).map_or("NULL", |value| value.type_name());
        let message =
            format!("The output collection '{name}' has the wrong type. Expected ARRAY but was {kind}.");
        Err(Failure::incident(ErrorType::ExtractValueError, message))
    }

    /// A variable is set to something else: its row, which says where the values of a collection from now on begin.
    pub(super) fn restart_collection(
        &mut self,
        scope_key: Key,
        variable: &Variable,
        value: &Json,
    ) -> Result<Variable, StateError> {
        if variable.entries.is_some() {
            return self.restart_output_list(scope_key, variable, value);
        }
        let rest_from = self.restart_appending(scope_key, variable)?;
        Ok(Variable { rest_from, ..Variable::new(variable.key, value.clone()) })
    }

    fn restart_appending(&mut self, scope_key: Key, variable: &Variable) -> Result<Option<u32>, StateError> {
        let (Some(first), Some(state)) = (variable.rest_from, self.tables.loops.get(&scope_key)?) else {
            return Ok(None);
        };
        if first == state.size {
            return Ok(Some(first));
        }
        let next = state.size.next_multiple_of(CHUNK);
        self.tables.loops.update(&scope_key, |state| state.size = next)?;
        // The remainder is removed with the scope.
        self.forget_outputs((scope_key, 0)..(scope_key, next), (scope_key, 0)..(scope_key, next / CHUNK))?;
        Ok(Some(next))
    }

    /// Makes one value of a collection to which nothing is appended any more.
    pub(super) fn close_collection(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        name: &Name,
    ) -> Result<Option<Json>, StateError> {
        let row = (scope_key, name.0.clone());
        let Some(variable) = self.tables.variables.get(&row)? else { return Ok(None) };
        let value = self.tables.variable_value(scope_key, &variable)?;
        if value != variable.value {
            self.count_variable(scope_key, Some(&variable.value), &value)?;
            let restarted = self.restart_collection(scope_key, &variable, &value)?;
            self.tables.variables.put(row, restarted);
            self.record_variable(
                variable.key,
                Intent::Updated,
                scope_key,
                process_instance_key,
                name,
                &value,
            )?;
        }
        Ok(Some(value))
    }

    /// Closes a collection for good: values appended from now on belong to another name.
    pub(super) fn detach_collection(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        name: &Name,
    ) -> Result<Option<Json>, StateError> {
        let list = self.close_collection(scope_key, process_instance_key, name)?;
        self.tables.variables.update(&(scope_key, name.0.clone()), |variable| variable.rest_from = None)?;
        Ok(list)
    }

    /// Removes rows and chunks, as many as fit into a step. Whether there may be more.
    fn forget_outputs(
        &mut self,
        outputs: Range<(Key, u32)>,
        chunks: Range<(Key, u32)>,
    ) -> Result<bool, StateError> {
        let outputs = self.tables.loop_outputs.keys(outputs, ROWS_PER_STEP)?;
        let chunks = self.tables.loop_chunks.keys(chunks, ROWS_PER_STEP - outputs.len())?;
        let rows = outputs.len() + chunks.len();
        self.extra_steps += rows / ROWS_LIKE_A_STEP;
        for row in outputs {
            self.tables.loop_outputs.delete(&row);
        }
        for row in chunks {
            self.tables.loop_chunks.delete(&row);
        }
        Ok(rows == ROWS_PER_STEP)
    }

    /// Forgets a body that has ended, with its items and outputs.
    pub(super) fn end_loop(&mut self, process_instance_key: Key, key: Key) -> Result<(), Failure> {
        if let Some(state) = self.tables.loops.get(&key)? {
            self.uncount_loop(process_instance_key, &state)?;
            self.tables.loops.delete(&key);
            if state.size > 0 {
                return self.forget_loop(key);
            }
        }
        Ok(())
    }

    /// Removes the rows of a body that has ended.
    pub(super) fn forget_loop(&mut self, body_key: Key) -> Result<(), Failure> {
        let all = (body_key, 0)..(body_key + 1, 0);
        if self.forget_outputs(all.clone(), all)? {
            self.steps.push_back(Step::ForgetLoop { body_key });
        }
        Ok(())
    }
}

/// Lists of multi-instance bodies that run.
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

    /// The row of the list of a body that runs.
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
        debug_assert!(
            list.as_ref().and_then(|list| list.entries).is_none_or(|entries| place < entries),
            "place {place} of '{name}' was checked"
        );
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
        let entries = Value::from_json_lazy(value.as_bytes().clone())
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
        if size == 0 {
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

impl Chunk {
    /// A copy of one value, so that it does not keep the others alive.
    pub fn value(&self, at: u32) -> Option<Json> {
        let at = at as usize;
        let end = *self.ends.get(at)? as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize + 1 };
        let value = self.json.as_bytes().get(start..end)?;
        Some(Json::from_valid(bytes::Bytes::copy_from_slice(value)))
    }
}

/// A chunk of values that are written one by one.
pub(crate) fn chunk_of<T>(
    values: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) -> Chunk {
    let (mut json, mut ends) = (Vec::new(), Vec::new());
    for value in values {
        if !ends.is_empty() {
            json.push(b',');
        }
        write(value, &mut json);
        ends.push(json.len() as u32);
    }
    Chunk { json: Json::from_written(json), ends }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_chunk_are_found_by_their_place() {
        let texts = ["1", r#""a,b""#, "null", "[2,3]"];
        let chunk = chunk_of(texts, |text, out| out.extend_from_slice(text.as_bytes()));
        assert_eq!(chunk.json.as_str(), r#"1,"a,b",null,[2,3]"#);
        for (at, text) in (0..).zip(texts) {
            assert_eq!(chunk.value(at).map(|value| value.as_str().to_owned()).as_deref(), Some(text));
        }
        assert_eq!(chunk.value(4), None);
    }

    #[test]
    fn a_value_is_added_to_whatever_is_a_list() {
        let with_two = |list: &'static str| {
            with_value(&Json::from_valid(list), &Json::from_valid("2")).as_str().to_owned()
        };
        assert_eq!(with_two("[]"), "[2]");
        assert_eq!(with_two("[ ]"), "[2]");
        assert_eq!(with_two(" [ [1], \"]\" ] "), "[[1], \"]\",2]");
        assert_eq!(items_of(&Json::from_valid("\"[]\"")), None);
        assert_eq!(items_of(&Json::from_valid("{}")), None);
    }
}
