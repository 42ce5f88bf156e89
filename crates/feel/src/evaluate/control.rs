//! `if`, `for`, `some`, `every`.

use super::compare;
use super::cost::{ITEM_BYTES, too_large};
use super::evaluator::{Eval, Evaluator, Frame};
use crate::ast::{Iterator, NodeId, Source};
use crate::diagnostics::WarningKind;
use crate::number::{Number, Rounding};
use crate::program::Program;
use crate::temporal::Date;
use crate::value::{LIST_BYTES, List, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// The domain of an iterator.
#[derive(Clone)]
enum Items {
    List(List),
    /// From the first to the last, up or down.
    Numbers(i64, i64),
    Dates(i64, i64),
}

impl Items {
    fn len(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Numbers(first, last) | Self::Dates(first, last) => first.abs_diff(*last).saturating_add(1),
        }
    }

    fn get(&self, index: u64) -> Value {
        let step = |first: i64, last: i64| {
            if first <= last {
                first.saturating_add_unsigned(index)
            } else {
                first.saturating_sub_unsigned(index)
            }
        };
        match self {
            Self::List(list) => list.get(index as usize).cloned().unwrap_or_default(),
            Self::Numbers(first, last) => step(*first, *last).into(),
            Self::Dates(first, last) => Date::from_epoch_days(step(*first, *last)).into(),
        }
    }
}

/// Callback for one iteration with its names bound; false ends the loop.
type Turn<'t, 'a> = &'t mut dyn FnMut(&mut Evaluator<'a>) -> Eval<bool>;

impl<'a> Evaluator<'a> {
    pub(super) fn eval_if(
        &mut self,
        program: &Arc<Program>,
        branches: &[(NodeId, NodeId)],
        otherwise: NodeId,
    ) -> Eval<Value> {
        for (condition, result) in branches {
            match self.eval(program, *condition)? {
                Value::Bool(true) => return self.eval(program, *result),
                Value::Bool(false) => {}
                other => self.expect_boolean(&other),
            }
        }
        self.eval(program, otherwise)
    }

    pub(super) fn eval_for(
        &mut self,
        program: &Arc<Program>,
        iterators: &[Iterator],
        body: NodeId,
        partial: bool,
    ) -> Eval<Value> {
        let place = self.frames.len();
        if !partial {
            let Some(known) = self.sources(program, iterators)? else { return Ok(Value::Null) };
            let mut results = Vec::with_capacity(self.most_turns(&known));
            let complete = self.iterate_over(program, iterators, &known, &mut |evaluator| {
                evaluator.hold(ITEM_BYTES)?;
                results.push(evaluator.eval(program, body)?);
                Ok(true)
            });
            self.frames.truncate(place);
            return if complete? { self.end_list(results) } else { Ok(Value::Null) };
        }
        // The results so far are a list in the innermost frame but for the loop's names; it grows
        // in place as long as the body does not keep it.
        self.frames.push(Frame::Binding(Arc::from("partial"), Value::list(Vec::new())));
        let complete = self.iterate(program, iterators, &mut |evaluator| {
            let value = evaluator.eval(program, body)?;
            if let Some(Frame::Binding(_, Value::List(list))) = evaluator.frames.get_mut(place) {
                let shared = list.len();
                let is_copied = list.push(value);
                if !list.extent().is_within_bounds() {
                    return Err(too_large());
                }
                // A copy may have been made.
                evaluator.spend(shared / 64)?;
                evaluator.hold(if is_copied {
                    (shared + 1) * ITEM_BYTES + LIST_BYTES
                } else {
                    ITEM_BYTES
                })?;
            }
            Ok(true)
        });
        let results = self.frames.drain(place..).next();
        match (complete?, results) {
            (true, Some(Frame::Binding(_, list))) => self.check_extent(list),
            _ => Ok(Value::Null),
        }
    }

    pub(super) fn eval_quantified(
        &mut self,
        program: &Arc<Program>,
        every: bool,
        iterators: &[Iterator],
        condition: NodeId,
    ) -> Eval<Value> {
        let place = self.frames.len();
        let mut unknown = false;
        let mut decided = false;
        let complete = self.iterate(program, iterators, &mut |evaluator| {
            match evaluator.eval(program, condition)? {
                Value::Bool(value) => decided = value != every,
                other => {
                    unknown = true;
                    evaluator.expect_boolean(&other);
                }
            }
            Ok(!decided)
        });
        self.frames.truncate(place);
        Ok(match (complete?, decided, unknown) {
            (true, true, _) => Value::Bool(!every),
            (true, false, false) => Value::Bool(every),
            _ => Value::Null,
        })
    }

    /// Runs through the combinations of all iterators, the first outermost; false if one of them has no domain.
    fn iterate(&mut self, program: &Arc<Program>, iterators: &[Iterator], turn: Turn<'_, 'a>) -> Eval<bool> {
        let Some(known) = self.sources(program, iterators)? else { return Ok(false) };
        self.iterate_over(program, iterators, &known, turn)
    }

    /// The sources that read no name of the loop, which are computed once. `None` if one of them has no domain.
    fn sources(
        &mut self,
        program: &Arc<Program>,
        iterators: &[Iterator],
    ) -> Eval<Option<Vec<Option<Items>>>> {
        let mut known = Vec::with_capacity(iterators.len());
        for iterator in iterators {
            if iterator.dependent {
                known.push(None);
                continue;
            }
            let Some(items) = self.items(program, &iterator.source)? else { return Ok(None) };
            known.push(Some(items));
        }
        Ok(Some(known))
    }

    fn iterate_over(
        &mut self,
        program: &Arc<Program>,
        iterators: &[Iterator],
        known: &[Option<Items>],
        turn: Turn<'_, 'a>,
    ) -> Eval<bool> {
        let mut complete = true;
        self.iterate_from(program, iterators, known, &mut complete, turn)?;
        Ok(complete)
    }

    /// Most results of a loop of one iterator within the remaining budget: two steps and an item each. Their memory
    /// is reserved at once, since a growing list has twice the counted bytes.
    fn most_turns(&self, known: &[Option<Items>]) -> usize {
        let [Some(items)] = known else { return 0 };
        items.len().min(self.fuel / 2).min(self.bytes / ITEM_BYTES as u64) as usize
    }

    /// Recurses over the iterators, whose number is bounded. False ends all.
    fn iterate_from(
        &mut self,
        program: &Arc<Program>,
        iterators: &[Iterator],
        known: &[Option<Items>],
        complete: &mut bool,
        turn: Turn<'_, 'a>,
    ) -> Eval<bool> {
        let (Some((iterator, rest)), Some((items, known))) = (iterators.split_first(), known.split_first())
        else {
            return turn(self);
        };
        let items = match items {
            Some(items) => items.clone(),
            None => {
                if let Some(items) = self.items(program, &iterator.source)? {
                    items
                } else {
                    *complete = false;
                    return Ok(false);
                }
            }
        };
        let place = self.frames.len();
        for index in 0..items.len() {
            self.spend(1)?;
            match self.frames.get_mut(place) {
                Some(Frame::Binding(_, value)) => *value = items.get(index),
                _ => self.frames.push(Frame::Binding(iterator.name.clone(), items.get(index))),
            }
            if !self.iterate_from(program, rest, known, complete, turn)? {
                return Ok(false);
            }
        }
        self.frames.truncate(place);
        Ok(true)
    }

    fn items(&mut self, program: &Arc<Program>, source: &Source) -> Eval<Option<Items>> {
        match source {
            Source::Range(first, last) => {
                let first = self.eval(program, *first)?;
                let last = self.eval(program, *last)?;
                Ok(self.steps(&first, &last, [true, true]))
            }
            Source::Value(node) => match self.eval(program, *node)? {
                Value::List(list) => {
                    self.open_list(&list)?;
                    Ok(Some(Items::List(list)))
                }
                Value::Range(range)
                    if compare::order(&range.start, &range.end).is_some_and(Ordering::is_gt) =>
                {
                    self.warn(WarningKind::InvalidType, || "The range ends before it starts".to_owned());
                    Ok(None)
                }
                Value::Range(range) => {
                    Ok(self.steps(&range.start, &range.end, [range.start_included, range.end_included]))
                }
                other if self.is_standard() && !other.is_null() => {
                    Ok(Some(Items::List(List::new(vec![other]))))
                }
                other => {
                    self.warn(WarningKind::InvalidType, || {
                        format!("Expected list but found '{}'", other.to_message_text())
                    });
                    Ok(None)
                }
            },
        }
    }

    fn steps(&mut self, first: &Value, last: &Value, included: [bool; 2]) -> Option<Items> {
        let (mut from, mut to) = match (first, last) {
            (Value::Number(first), Value::Number(last)) => {
                let number = |number: &Number| number.round(0, Rounding::Down).and_then(Number::as_i64);
                let Some(ends) = number(first).zip(number(last)) else {
                    self.warn(WarningKind::InvalidType, || {
                        format!("Expected numbers of 64 bits but found '{first}' and '{last}'")
                    });
                    return None;
                };
                ends
            }
            (Value::Date(first), Value::Date(last)) => (first.epoch_days(), last.epoch_days()),
            _ => {
                self.warn(WarningKind::InvalidType, || {
                    let (first, last) = (first.to_message_text(), last.to_message_text());
                    format!("Expected numbers but found '{first}' and '{last}'")
                });
                return None;
            }
        };
        let up = from <= to;
        let excluded = included.iter().filter(|included| !**included).count() as u64;
        if from.abs_diff(to) < excluded {
            return Some(Items::List(List::new(Vec::new())));
        }
        if !included[0] {
            from = if up { from + 1 } else { from - 1 };
        }
        if !included[1] {
            to = if up { to - 1 } else { to + 1 };
        }
        Some(if matches!(first, Value::Date(_)) { Items::Dates(from, to) } else { Items::Numbers(from, to) })
    }
}
