//! `list[condition]` and `list[index]`.

use super::evaluator::{Eval, Evaluator, Frame};
use crate::ast::{FilterKind, NodeId};
use crate::diagnostics::WarningKind;
use crate::number::Number;
use crate::program::Program;
use crate::value::{List, Value};
use std::sync::Arc;

impl Evaluator<'_> {
    pub(super) fn filter(
        &mut self,
        program: &Arc<Program>,
        value: Value,
        condition: NodeId,
        kind: FilterKind,
    ) -> Eval<Value> {
        let Value::List(list) = value else {
            if self.is_standard() && !value.is_null() {
                // A value stands for the list that holds only it (DMN 1.5 §10.3.2.5).
                let list = List::new(vec![value]);
                return self.filter_list(program, &list, condition, kind);
            }
            return Ok(self.null(WarningKind::InvalidType, || {
                format!("Expected list but found '{}'", value.to_message_text())
            }));
        };
        self.filter_list(program, &list, condition, kind)
    }

    fn filter_list(
        &mut self,
        program: &Arc<Program>,
        list: &List,
        condition: NodeId,
        kind: FilterKind,
    ) -> Eval<Value> {
        self.open_list(list)?;
        if kind != FilterKind::Condition {
            let warnings = self.warnings.len();
            let index = self.eval(program, condition)?;
            if let Value::Number(index) = index {
                return Ok(item_at(list, index));
            }
            // Inside an item the name may have another value, and warns again if it has none.
            self.warnings.truncate(warnings);
        }
        let place = self.frames.len();
        let mut kept = Vec::new();
        self.spend(list.len())?;
        for (position, item) in list.iter().enumerate() {
            self.frames.push(Frame::Item(item.clone()));
            let result = self.eval(program, condition);
            self.frames.truncate(place);
            match result? {
                Value::Bool(true) => kept.push(item.clone()),
                Value::Number(index) if position == 0 => return Ok(item_at(list, index)),
                _ => {}
            }
        }
        self.new_list(kept)
    }
}

/// The item at an index from 1, or from -1 backwards.
fn item_at(list: &List, index: Number) -> Value {
    let Some(index) = index.as_i64() else { return Value::Null };
    let place = match index {
        0 => return Value::Null,
        1.. => usize::try_from(index - 1).ok(),
        _ => list.len().checked_sub(index.unsigned_abs() as usize),
    };
    place.and_then(|place| list.get(place)).cloned().unwrap_or_default()
}
