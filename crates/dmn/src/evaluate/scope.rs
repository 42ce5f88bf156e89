//! The scope of an expression: its visible names.

use feel::{Value, Variables};
use std::sync::Arc;

/// Names of one level: requirements, parameters, or entries of a boxed context.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) entries: Vec<(Arc<str>, Value)>,
    pub(super) outer: Option<Arc<Frame>>,
}

impl Frame {
    /// All values here and further out.
    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        let frames = std::iter::successors(Some(self), |frame| frame.outer.as_deref());
        frames.flat_map(|frame| frame.entries.iter().map(|(_, value)| value))
    }
}

/// Frames, innermost first, and the variables of the caller where they are visible.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub(super) frame: Option<Arc<Frame>>,
    pub(super) outside: Option<&'a dyn Variables>,
    /// The value of the input column, while its entries are tested.
    pub(super) cell: Option<&'a Value>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(entries: Vec<(Arc<str>, Value)>, outside: Option<&'a dyn Variables>) -> Self {
        let frame = (!entries.is_empty()).then(|| Arc::new(Frame { entries, outer: None }));
        Self { frame, outside, cell: None }
    }

    /// The scope with one more level inside.
    pub(super) fn inside(&self, entries: Vec<(Arc<str>, Value)>) -> Self {
        let frame = Arc::new(Frame { entries, outer: self.frame.clone() });
        Self { frame: Some(frame), ..self.clone() }
    }

    /// Adds a name to the innermost level, in place unless a function has captured that level.
    pub(super) fn push(&mut self, name: Arc<str>, value: Value) {
        let frame = self.frame.get_or_insert_default();
        if let Some(frame) = Arc::get_mut(frame) {
            frame.entries.push((name, value));
            return;
        }
        let mut entries = frame.entries.clone();
        entries.push((name, value));
        *frame = Arc::new(Frame { entries, outer: frame.outer.clone() });
    }
}

impl Scope<'_> {
    fn find(&self, name: &str) -> Option<Value> {
        if let Some(cell) = self.cell
            && name == "cellInput"
        {
            return Some(cell.clone());
        }
        let mut frame = self.frame.as_deref();
        while let Some(level) = frame {
            if let Some((_, value)) = level.entries.iter().rev().find(|(own, _)| **own == *name) {
                return Some(value.clone());
            }
            frame = level.outer.as_deref();
        }
        self.outside?.get(name)
    }
}

impl Variables for Scope<'_> {
    /// An unknown name with dots is a path: a parameter may have the name of its bound value.
    fn get(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.find(name) {
            return Some(value);
        }
        let (first, rest) = name.split_once('.')?;
        rest.split('.').try_fold(self.find(first)?, |value, key| value.as_context()?.get(key))
    }

    fn is_captured(&self) -> bool {
        true
    }
}
