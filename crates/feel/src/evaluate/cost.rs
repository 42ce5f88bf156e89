//! Fuel and memory of operations larger than a node: reading JSON, creating and traversing values, comparing
//! texts. A unit of fuel is about the same time in each of them, see `benches/fuel.rs`.

use super::evaluator::{Eval, Evaluator, Fatal};
use crate::value::{CONTEXT_BYTES, Context, LIST_BYTES, List, Value};
use bytes::Bytes;
use std::sync::Arc;

/// Bytes of a text or of raw JSON that are scanned for one step.
const BYTES_PER_STEP: usize = 16;
/// Bytes that are copied or compared for one step.
const COPIED_PER_STEP: usize = 32;
/// Steps for each item of a list that is read from JSON.
const ITEM_STEPS: usize = 3;
/// Bytes of a JSON object for one step when all its entries are read; entries are small, but each is allocated
/// separately.
const ENTRY_BYTES_PER_STEP: usize = 2;
/// Bytes of memory for each byte of a JSON object when all its entries are read: about the factor of a small entry.
const READ_ENTRY_BYTES: usize = 12;
/// Steps for each part of a value in a full traversal, parts that are still JSON included.
const DEEP_STEPS: usize = 4;

/// Steps for creating a list, without its items; they pay for its memory.
const LIST_STEPS: usize = 4;
/// Steps for creating a context, without its entries.
const CONTEXT_STEPS: usize = 8;

/// Bytes of memory of an item of a list, of an entry of a context, and of texts and functions without their content.
pub(super) const ITEM_BYTES: usize = size_of::<Value>();
const ENTRY_BYTES: usize = size_of::<(Arc<str>, Value)>();
const TEXT_BYTES: usize = 32;
pub(super) const FUNCTION_BYTES: usize = 192;

/// The error of an evaluation that builds a value beyond the bounds.
pub(super) fn too_large() -> Fatal {
    Fatal::new(crate::VALUE_EXCESS)
}

/// Bytes of memory of a new value, without its parts: a shared value takes none.
fn own_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) if Arc::strong_count(text) == 1 => TEXT_BYTES + text.len(),
        Value::Time(time) if Arc::strong_count(time) == 1 => TEXT_BYTES + size_of_val(&**time),
        Value::DateTime(time) if Arc::strong_count(time) == 1 => TEXT_BYTES + size_of_val(&**time),
        Value::Range(range) if Arc::strong_count(range) == 1 => TEXT_BYTES + size_of_val(&**range),
        _ => 0,
    }
}

/// Bytes of memory of an item that is read from this JSON.
fn read_bytes(json: &[u8]) -> usize {
    match json.first() {
        Some(b'[') => LIST_BYTES,
        Some(b'{') => CONTEXT_BYTES,
        Some(b'"') => TEXT_BYTES + json.len(),
        _ => 0,
    }
}

/// Steps of a function that reads the first level of a value or creates it.
pub(super) fn cost(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 8,
        Value::List(list) if list.unread().is_none() => list.len(),
        Value::Context(context) if context.unread().is_none() => context.len(),
        Value::Range(range) => range.extent().weight as usize,
        _ => 0,
    }
}

impl Evaluator<'_> {
    /// Takes the fuel of completed steps, perhaps more than is left. Then the next operation fails.
    pub(super) fn burn(&mut self, steps: usize) {
        self.fuel = self.fuel.saturating_sub(steps as u64);
    }

    /// Takes bytes of memory for a created value. They are never returned: values share their parts, so the time of
    /// their release is unknown. The bytes created bound the bytes held.
    pub(crate) fn hold(&mut self, bytes: usize) -> Eval<()> {
        if let Some(left) = self.bytes.checked_sub(bytes as u64) {
            self.bytes = left;
            Ok(())
        } else {
            self.bytes = 0;
            let limit = self.environment.limits.bytes;
            Err(Fatal::new(format!("the values of the evaluation take more than {limit} bytes")))
        }
    }

    /// Takes the bytes of a text or a temporal value that was made.
    pub(crate) fn hold_value(&mut self, value: Value) -> Eval<Value> {
        self.hold(own_bytes(&value))?;
        Ok(value)
    }

    /// Pays for a variable that was checked and copied.
    pub(super) fn pay_for_variable(&mut self, value: &Value) {
        let read = match value {
            Value::List(_) => LIST_BYTES,
            Value::Context(_) => CONTEXT_BYTES,
            value => own_bytes(value),
        };
        self.bytes = self.bytes.saturating_sub(read as u64);
        let bytes = match value {
            // Its escapes were decoded, too.
            Value::String(text) => 2 * text.len(),
            Value::List(list) => list.unread().map_or(0, Bytes::len),
            Value::Context(context) => context.unread().map_or(0, Bytes::len),
            _ => 0,
        };
        self.burn(bytes / BYTES_PER_STEP);
    }

    /// Takes the fuel for reading the items of a list, before the reading.
    pub(crate) fn open_list(&mut self, list: &List) -> Eval<()> {
        let Some(raw) = list.unread() else { return Ok(()) };
        self.spend(raw.len() / BYTES_PER_STEP)?;
        let (mut items, mut bytes) = (0, 0);
        for item in list.json_items().into_iter().flatten() {
            items += 1;
            bytes += ITEM_BYTES + read_bytes(item);
        }
        self.spend(ITEM_STEPS * items)?;
        self.hold(bytes)
    }

    /// Takes the fuel for reading all entries of a context, before the reading.
    pub(crate) fn open_context(&mut self, context: &Context) -> Eval<()> {
        let Some(raw) = context.unread() else { return Ok(()) };
        self.spend(raw.len() / ENTRY_BYTES_PER_STEP)?;
        self.hold(raw.len() * READ_ENTRY_BYTES)
    }

    /// Takes the fuel for looking up one entry of a context, before the reading.
    pub(crate) fn search_context(&mut self, context: &Context) -> Eval<()> {
        let Some(raw) = context.unread() else { return Ok(()) };
        let bytes = if context.reads_all_next() { ENTRY_BYTES_PER_STEP } else { BYTES_PER_STEP };
        self.spend(raw.len() / bytes)?;
        if context.reads_all_next() { self.hold(raw.len() * READ_ENTRY_BYTES) } else { Ok(()) }
    }

    pub(super) fn open(&mut self, value: &Value) -> Eval<()> {
        match value {
            Value::List(list) => self.open_list(list),
            Value::Context(context) => self.open_context(context),
            _ => Ok(()),
        }
    }

    /// Takes the fuel for a traversal of all parts of a value.
    pub(crate) fn walk(&mut self, value: &Value) -> Eval<()> {
        match value {
            Value::List(_) | Value::Context(_) | Value::Range(_) => {
                self.spend(DEEP_STEPS * value.extent().weight as usize)
            }
            _ => Ok(()),
        }
    }

    /// Pays for a comparison of two values.
    pub(super) fn pay_for_comparison(&mut self, left: &Value, right: &Value) -> Eval<()> {
        match (left, right) {
            (Value::String(left), Value::String(right)) => {
                self.spend(left.len().min(right.len()) / COPIED_PER_STEP)
            }
            (Value::List(_), Value::List(_)) | (Value::Context(_), Value::Context(_)) => {
                self.open(left)?;
                self.open(right)?;
                let weight = left.extent().weight.min(right.extent().weight);
                self.spend(DEEP_STEPS * weight as usize)
            }
            (Value::Range(_), _) | (_, Value::Range(_)) => {
                self.spend(left.extent().weight.min(right.extent().weight) as usize)
            }
            _ => Ok(()),
        }
    }

    /// A list, unless it would be too deep or too large.
    pub(crate) fn new_list(&mut self, items: Vec<Value>) -> Eval<Value> {
        self.hold(items.len() * ITEM_BYTES)?;
        self.end_list(items)
    }

    /// Takes the bytes of items that are gathered.
    pub(crate) fn hold_items(&mut self, items: usize) -> Eval<()> {
        self.hold(items * ITEM_BYTES)
    }

    /// Takes the bytes of a context that is made.
    pub(crate) fn hold_context(&mut self, entries: usize) -> Eval<()> {
        self.hold(CONTEXT_BYTES + entries * ENTRY_BYTES)
    }

    /// A list of items whose bytes are taken already.
    pub(crate) fn end_list(&mut self, items: Vec<Value>) -> Eval<Value> {
        self.spend(LIST_STEPS)?;
        self.hold(LIST_BYTES)?;
        let list = List::new(items);
        self.check_extent(list.into())
    }

    /// A context, unless it would be too deep or too large.
    pub(crate) fn new_context(&mut self, entries: Vec<(Arc<str>, Value)>) -> Eval<Value> {
        self.spend(CONTEXT_STEPS + entries.len())?;
        self.hold_context(entries.len())?;
        self.check_extent(Context::new(entries).into())
    }

    pub(crate) fn check_extent(&mut self, value: Value) -> Eval<Value> {
        if value.extent().is_within_bounds() { Ok(value) } else { Err(too_large()) }
    }
}
