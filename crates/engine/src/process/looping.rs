//! Multi-instance bodies: their items, instances and outputs.
//!
//! A list may have 100,000 items, so nothing here handles all of them at once but the evaluation of the collection and
//! the making of the final list. The items are stored in chunks when the body is activated, the instances are made a
//! slice at a time, and at the end the outputs are put together chunk by chunk (`collection.rs`).

use std::ops::Range;

use bpmn::graph::{ElementKind, MultiInstance};
use feel::{Expression, List, Value};
use protocol::{Document, Intent, Json, Key, Name};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::definition::expression::{DIALECT, Scope, mismatch};
use crate::entity::variable::CHUNK;
use crate::entity::{ElementInstance, ErrorType, Loop, Phase};
use crate::process::collection::chunk_of;

/// Chunks of outputs that one step puts together.
const CHUNKS_PER_STEP: u32 = 4;
/// Local variable that holds the number of an instance.
pub(crate) const LOOP_COUNTER: &str = "loopCounter";

pub(crate) fn marker(body: &ActiveElement) -> Option<&MultiInstance> {
    match &body.element().kind {
        ElementKind::MultiInstance(marker) => Some(marker),
        _ => None,
    }
}

impl CommandContext<'_> {
    /// Whether the items of a body can be stored. Gives their bytes.
    pub(super) fn check_items(&self, items: &List) -> Result<usize, Failure> {
        let limit = self.options.work.max_collection_bytes;
        let bytes = match items.raw_bytes() {
            Some(bytes) if bytes <= limit => Some(bytes),
            Some(_) => None,
            None => Value::from(items.clone()).to_json_in(DIALECT, limit).map(|json| json.len()),
        };
        if let Some(bytes) = bytes {
            self.meter.note_bytes(bytes);
            return Ok(bytes);
        }
        let message = format!(
            "Expected to store the items of the input collection, but they are larger than {limit} bytes (limits.max_collection_bytes)"
        );
        Err(Failure::incident(ErrorType::ExtractValueError, message))
    }

    /// Stores the items of a body. Tells how many there are.
    pub(super) fn store_items(&mut self, body_key: Key, items: &List) -> u32 {
        match items.json_items() {
            Some(texts) => self.store_chunks(body_key, texts, |text, out| out.extend_from_slice(text)),
            None => self.store_chunks(body_key, items.iter(), |item, out| {
                out.extend(item.to_json_in(DIALECT, usize::MAX).unwrap_or_default());
            }),
        }
    }

    fn store_chunks<T>(
        &mut self,
        body_key: Key,
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) -> u32 {
        let (mut items, mut size) = (items.peekable(), 0);
        while items.peek().is_some() {
            let chunk = chunk_of(items.by_ref().take(CHUNK as usize), &mut write);
            let number = size / CHUNK;
            size += chunk.ends.len() as u32;
            self.tables.loop_chunks.insert((body_key, number), chunk);
        }
        size
    }

    fn item(&self, body_key: Key, index: u32) -> Result<Json, StateError> {
        let chunk = self.tables.loop_chunks.get(&(body_key, index / CHUNK))?;
        Ok(chunk.and_then(|chunk| chunk.value(index % CHUNK)).unwrap_or_else(Json::null))
    }

    /// Decides on the next instances of a body.
    pub(super) fn spawn_loop(&mut self, body_key: Key) -> Result<(), Failure> {
        let Some((body, row)) = self.at(body_key)? else { return Ok(()) };
        let Some(state) = self.tables.loops.get(&body_key)? else { return Ok(()) };
        let Some(marker) = marker(&body) else { return Ok(()) };
        if row.phase == Phase::Terminating || row.interrupted {
            // The others of the list were counted when the body was activated.
            let uncounted = if marker.is_sequential { 1 } else { state.size - state.spawned };
            return self.drop_from_loop(&body, &row, uncounted);
        }
        let slice = if marker.is_sequential { 1 } else { self.options.max_children_per_step as u32 };
        let end = state.size.min(state.spawned.saturating_add(slice));
        debug_assert!(state.spawned <= end, "{} of {} items have begun", state.spawned, state.size);
        for index in state.spawned..end {
            self.steps.push_back(Step::ActivateLoop { body_key, index });
        }
        self.tables.loops.update(&body_key, |state| state.spawned = end)?;
        if !marker.is_sequential {
            let left = state.size - state.spawned;
            self.record_batch(body_key, body.process_instance_key, Intent::Activated, u64::from(left))?;
        }
        if end < state.size && !marker.is_sequential {
            self.steps.push_back(Step::SpawnLoop { body_key });
        }
        Ok(())
    }

    /// Makes one instance inside a body.
    pub(super) fn activate_in_loop(&mut self, body_key: Key, index: u32) -> Result<(), Failure> {
        let Some((body, row)) = self.at(body_key)? else { return Ok(()) };
        if row.phase == Phase::Terminating || row.interrupted {
            return self.drop_from_loop(&body, &row, 1);
        }
        let (inner, marker) = match &body.element().kind {
            ElementKind::MultiInstance(marker) => (marker.inner, Some(marker)),
            ElementKind::Loop(standard) => (standard.inner, None),
            _ => return Ok(()),
        };
        let mut row = ElementInstance::new(inner, Phase::Activating, body_key, body.process_instance_key);
        row.loop_counter = index + 1;
        let Some(at) = self.place(row)? else { return Ok(()) };
        // Made here, so that a result of this name stays inside.
        if let Some(marker) = marker
            && let Some(output) = &marker.output
            && let Some(name) = output.element.as_path_root()
            && marker.input_element.as_deref() != Some(name)
        {
            self.set_local(at.key, at.process_instance_key, &Name::from(name), Json::null())?;
        }
        let given = self.give_item(&at);
        let counter = Json::from_valid((index + 1).to_string());
        self.set_local(at.key, at.process_instance_key, &Name::from(LOOP_COUNTER), counter)?;
        match given {
            Err(Failure::Incident { error_type, message }) => {
                let resume = Step::ResumeActivation { key: at.key, trigger: None };
                Ok(self.raise(&at, error_type, &message, None, Some(resume))?)
            }
            other => other.and_then(|()| self.proceed_activation(&at, None)),
        }
    }

    /// Gives an instance inside a body its item, if it has none yet, or an incident.
    pub(super) fn give_item(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        let ElementKind::MultiInstance(marker) = &at.process.element(at.element().scope).kind else {
            return Ok(());
        };
        let Some(name) = marker.input_element.as_ref().map(Name::from) else { return Ok(()) };
        let Some(row) = self.tables.element_instances.get(&at.key)? else { return Ok(()) };
        let Some(index) = row.loop_counter.checked_sub(1) else { return Ok(()) };
        if self.tables.variables.contains(&(at.key, name.0.clone()))? {
            return Ok(());
        }
        let item = [(name, self.item(at.scope_key, index)?)].into_iter().collect();
        self.check_room(at.process_instance_key, &item, |_, _| Ok(at.key), ErrorType::ExtractValueError)?;
        self.set_locals(at.key, at.process_instance_key, &item)?;
        Ok(())
    }

    /// Does without instances that were counted.
    fn drop_from_loop(
        &mut self,
        body: &ActiveElement,
        row: &ElementInstance,
        count: u32,
    ) -> Result<(), Failure> {
        if row.phase == Phase::Activated && row.active_children <= count {
            self.begin_gathering(body)?;
        }
        self.change_scope(body.key, -i64::from(count), 0)
    }

    /// The variables that an instance inside a body was given: its input mappings see them, as somebody may have
    /// corrected them meanwhile, but not what the mappings made of them at the first try.
    pub(super) fn loop_variables(&self, at: &ActiveElement) -> Result<Option<Document>, StateError> {
        let scope = at.process.element(at.element().scope);
        let marker = match &scope.kind {
            ElementKind::MultiInstance(marker) => Some(marker),
            ElementKind::Loop(_) => None,
            _ => return Ok(None),
        };
        let input = marker.and_then(|marker| marker.input_element.as_deref());
        let output = marker.and_then(|marker| marker.output.as_ref()?.element.as_path_root());
        let names = input.into_iter().chain([LOOP_COUNTER]).chain(output);
        let mut variables = Document::empty();
        for name in names {
            let is_overwritten = at.element().inputs.iter().any(|mapping| *mapping.target[0] == *name);
            let row = self.tables.element_instances.get(&at.key)?;
            let number = row.map_or(0, |row| row.loop_counter);
            let value = if !is_overwritten {
                self.tables.local_variable(at.key, name)?
            } else if name == LOOP_COUNTER {
                Some(Json::from_valid(number.to_string()))
            } else if input == Some(name) {
                Some(self.item(at.scope_key, number.saturating_sub(1))?)
            } else {
                Some(Json::null())
            };
            if let Some(value) = value {
                variables.set(Name::from(name), value);
            }
        }
        Ok(Some(variables))
    }

    /// Whether the completion condition of a body is true, now that a child completes.
    pub(super) fn is_loop_done(
        &self,
        marker: &MultiInstance,
        state: &Loop,
        child: &ActiveElement,
    ) -> Result<bool, Failure> {
        let Some(condition) = &marker.completion_condition else { return Ok(false) };
        let completed = state.completed + 1;
        let begun = if marker.is_sequential { state.spawned } else { state.size };
        debug_assert!(begun >= completed + state.terminated, "more items ended than began: {begun}");
        let active = begun.saturating_sub(completed).saturating_sub(state.terminated);
        let counts = [
            ("numberOfInstances", state.size),
            ("numberOfActiveInstances", active),
            ("numberOfCompletedInstances", completed),
            ("numberOfTerminatedInstances", state.terminated),
        ];
        let mut extra: Document = counts
            .into_iter()
            .map(|(name, count)| (Name::from(name), Json::from_valid(count.to_string())))
            .collect();
        if let Some(output) = &marker.output
            && condition.variables().contains(&output.variable)
            && self.output_list(child.scope_key, &output.variable)?.is_none()
        {
            extra.set(Name::from(&output.variable), self.outputs(child.scope_key, 0..state.size)?);
        }
        self.evaluate_condition(condition, &Scope { extra: Some(&extra), ..Scope::of(child.key) })
    }

    /// All instances of a body have ended. A long list holds its completion until it is put together.
    pub(super) fn begin_gathering(&mut self, body: &ActiveElement) -> Result<(), Failure> {
        let Some(state) = self.tables.loops.get(&body.key)? else { return Ok(()) };
        let Some(output) = marker(body).and_then(|marker| marker.output.as_ref()) else { return Ok(()) };
        let list = self.output_list(body.key, &output.variable)?;
        // Values that stand in what somebody has set are put together with it, at once.
        if state.is_gathering || list.is_some_and(|list| !list.has_only_places()) {
            return Ok(());
        }
        self.tables.loops.update(&body.key, |state| state.is_gathering = true)?;
        let chunks = state.size.div_ceil(CHUNK);
        if chunks <= CHUNKS_PER_STEP {
            return Ok(self.gather_outputs(body.key, 0..chunks, state.size)?);
        }
        self.steps.push_back(Step::GatherLoop { body_key: body.key, chunk: 0 });
        self.change_scope(body.key, 1, 0)
    }

    /// Puts outputs together, chunk by chunk; then the body can complete.
    pub(super) fn gather_loop(&mut self, body_key: Key, chunk: u32) -> Result<(), Failure> {
        let Some((_, row)) = self.at(body_key)? else { return Ok(()) };
        let Some(state) = self.tables.loops.get(&body_key)? else { return Ok(()) };
        if row.phase == Phase::Terminating {
            return self.change_scope(body_key, -1, 0);
        }
        let chunks = state.size.div_ceil(CHUNK);
        let end = chunks.min(chunk.saturating_add(CHUNKS_PER_STEP));
        self.gather_outputs(body_key, chunk..end, state.size)?;
        if end < chunks {
            self.steps.push_back(Step::GatherLoop { body_key, chunk: end });
            return Ok(());
        }
        self.change_scope(body_key, -1, 0)
    }

    fn gather_outputs(&mut self, body_key: Key, chunks: Range<u32>, size: u32) -> Result<(), StateError> {
        let end = chunks.end;
        self.gather_chunks(body_key, chunks, size)?;
        self.tables.loops.update(&body_key, |state| state.gathered = Some(end))?;
        Ok(())
    }

    /// A list, or an incident.
    pub(super) fn evaluate_list(
        &self,
        expression: &Expression,
        scope: &Scope,
        error_type: ErrorType,
    ) -> Result<List, Failure> {
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, error_type)?;
        value.as_list().cloned().ok_or_else(|| mismatch(expression, "'ARRAY'", &value, &warnings, error_type))
    }
}
