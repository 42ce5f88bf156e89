//! Output collections: lists that grow value by value while a multi-instance body or an ad-hoc sub-process runs.
//!
//! A list is never rewritten for a value more. Each value has a row of its own, by its place; rows that are
//! complete are put together into chunks. A multi-instance body has a place for each instance and gives the list to
//! its scope at the end. That of an ad-hoc sub-process is a variable that everybody inside may read or set: its row
//! holds what it was last set to, what was appended since follows from its [`Variable::rest_from`] on, and whoever
//! reads it gets both as one list.

use std::ops::{ControlFlow, Range};

use feel::Value;
use protocol::{Intent, Json, Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::variable::{CHUNK, ListText, items_of};
use crate::entity::{Chunk, ErrorType, LoopOutput, Variable};

/// Rows that one step removes.
const ROWS_PER_STEP: usize = 256;
/// Rows that cost about as much as an ordinary step.
const ROWS_LIKE_A_STEP: usize = 16;
const _: () = assert!(ROWS_PER_STEP >= ROWS_LIKE_A_STEP && ROWS_PER_STEP.is_multiple_of(ROWS_LIKE_A_STEP));

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
        let rows = self.tables.loop_outputs.scan((key, places.start)..(key, places.end), usize::MAX)?;
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
            let rows = self.tables.loop_outputs.keys((key, start)..(key, end), usize::MAX)?;
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

    /// The same, for good: what is appended from now on belongs to another name.
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
    pub(super) fn forget_outputs(
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
