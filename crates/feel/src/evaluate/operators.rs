//! Arithmetic, comparison, and logic.

use super::compare;
use super::evaluator::{Eval, Evaluator, Fatal};
use crate::ast::{Comparison, NodeId, Operator};
use crate::diagnostics::WarningKind;
use crate::number::{Number, Rounding};
use crate::program::Program;
use crate::temporal::{Date, NANOS_PER_SECOND, SECONDS_PER_DAY, duration_from_nanos};
use crate::value::Value;
use jiff::SignedDuration;
use std::cmp::Ordering;
use std::sync::Arc;

/// Longest text that an evaluation may build, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Fuel of a power.
const POWER_STEPS: usize = 10;

const NANOS_PER_DAY: i128 = SECONDS_PER_DAY as i128 * NANOS_PER_SECOND as i128;

impl Evaluator<'_> {
    pub(super) fn arithmetic(&mut self, operator: Operator, left: Value, right: Value) -> Eval<Value> {
        if let (Value::Number(left), Value::Number(right)) = (&left, &right) {
            let result = match operator {
                Operator::Add => left.plus(*right),
                Operator::Subtract => left.minus(*right),
                Operator::Multiply => left.times(*right),
                Operator::Divide => left.divided_by(*right),
                Operator::Power => {
                    self.spend(POWER_STEPS)?;
                    left.power(*right)
                }
            };
            if let Some(number) = result {
                return Ok(Value::Number(number));
            }
        } else if let (Operator::Add, Value::String(left), Value::String(right)) = (operator, &left, &right) {
            return self.concatenate(left, right);
        } else {
            let result = match operator {
                Operator::Add => add(&left, &right).or_else(|| add(&right, &left)),
                Operator::Subtract => subtract(&left, &right),
                Operator::Multiply => {
                    let whole = if self.is_standard() {
                        Some
                    } else {
                        |factor: Number| factor.round(0, Rounding::Down)
                    };
                    multiply(&left, &right, whole).or_else(|| multiply(&right, &left, whole))
                }
                Operator::Divide => divide(&left, &right, self.is_standard()),
                Operator::Power => None,
            };
            if let Some(value) = result {
                return self.hold_value(value);
            }
        }
        Ok(self.null(WarningKind::InvalidType, || {
            let (left, right) = (left.to_message_text(), right.to_message_text());
            match operator {
                Operator::Add => format!("Can't add '{right}' to '{left}'"),
                Operator::Subtract => format!("Can't subtract '{right}' from '{left}'"),
                Operator::Multiply => format!("Can't multiply '{left}' by '{right}'"),
                Operator::Divide => format!("Can't divide '{left}' by '{right}'"),
                Operator::Power => format!("Can't calculate '{left}' to the power of '{right}'"),
            }
        }))
    }

    /// Refuses a text that is too long.
    pub(crate) fn check_text_bytes(&self, bytes: usize) -> Eval<()> {
        if bytes <= TEXT_BYTES_MAX {
            return Ok(());
        }
        Err(Fatal::new(format!("a text is longer than {TEXT_BYTES_MAX} bytes")))
    }

    pub(super) fn check_text(&self, value: &Value) -> Eval<()> {
        value.as_str().map_or(Ok(()), |text| self.check_text_bytes(text.len()))
    }

    fn concatenate(&mut self, left: &str, right: &str) -> Eval<Value> {
        let length = left.len() + right.len();
        self.check_text_bytes(length)?;
        self.spend(length / 8)?;
        let mut text = String::with_capacity(length);
        text.push_str(left);
        text.push_str(right);
        self.hold_value(text.into())
    }

    pub(super) fn eval_negate(&mut self, program: &Arc<Program>, operand: NodeId) -> Eval<Value> {
        let operand = self.eval(program, operand)?;
        match operand {
            Value::Number(number) => return Ok(number.negated().into()),
            Value::Duration(duration) if self.is_standard() => {
                return Ok(duration.checked_neg().map_or(Value::Null, Value::Duration));
            }
            Value::Period(months) if self.is_standard() => {
                return Ok(months.checked_neg().map_or(Value::Null, Value::Period));
            }
            _ => {}
        }
        Ok(self.null(WarningKind::InvalidType, || {
            format!("Expected number but found '{}'", operand.to_message_text())
        }))
    }

    pub(super) fn eval_compare(
        &mut self,
        program: &Arc<Program>,
        comparison: Comparison,
        left: NodeId,
        right: NodeId,
    ) -> Eval<Value> {
        let left = self.eval(program, left)?;
        let right = self.eval(program, right)?;
        if let (Value::Number(left), Value::Number(right)) = (&left, &right) {
            return Ok(Value::Bool(holds(comparison, left.cmp(right))));
        }
        self.compare(comparison, &left, &right)
    }

    pub(super) fn compare(&mut self, comparison: Comparison, left: &Value, right: &Value) -> Eval<Value> {
        let result = match comparison {
            Comparison::Equal => self.equals(left, right)?,
            Comparison::NotEqual => self.equals(left, right)?.map(|equal| !equal),
            _ => {
                self.pay_for_comparison(left, right)?;
                compare::order(left, right).map(|order| holds(comparison, order))
            }
        };
        if let Some(result) = result {
            return Ok(Value::Bool(result));
        }
        if let (Value::List(_), Value::List(_)) = (left, right)
            && !self.is_standard()
        {
            return Err(Fatal::new(format!(
                "Can't compare '{}' with '{}'",
                left.to_message_text(),
                right.to_message_text()
            )));
        }
        Ok(self.not_comparable(left, right))
    }

    /// Equality that takes fuel for the size of its operands.
    pub(crate) fn equals(&mut self, left: &Value, right: &Value) -> Eval<Option<bool>> {
        self.pay_for_comparison(left, right)?;
        Ok(compare::Equality { dialect: self.environment.dialect }.holds(left, right))
    }

    pub(super) fn not_comparable(&mut self, left: &Value, right: &Value) -> Value {
        self.null(WarningKind::NotComparable, || {
            format!("Can't compare '{}' with '{}'", left.to_message_text(), right.to_message_text())
        })
    }

    pub(super) fn eval_between(&mut self, program: &Arc<Program>, nodes: [NodeId; 3]) -> Eval<Value> {
        let value = self.eval(program, nodes[0])?;
        let low = self.eval(program, nodes[1])?;
        let high = self.eval(program, nodes[2])?;
        self.pay_for_comparison(&value, &low)?;
        self.pay_for_comparison(&value, &high)?;
        let above = compare::order(&value, &low).map(Ordering::is_ge);
        let below = compare::order(&value, &high).map(Ordering::is_le);
        Ok(match (above, below) {
            (Some(above), Some(below)) => Value::Bool(above && below),
            (Some(false), None) | (None, Some(false)) => Value::Bool(false),
            _ => self.outside_types(&value, &low, &high),
        })
    }

    pub(super) fn outside_types(&mut self, value: &Value, low: &Value, high: &Value) -> Value {
        self.null(WarningKind::NotComparable, || {
            let texts = [value, low, high].map(Value::to_message_text);
            format!("Can't compare '{}' with '{}' and '{}'", texts[0], texts[1], texts[2])
        })
    }

    pub(super) fn eval_logic(
        &mut self,
        program: &Arc<Program>,
        conjunction: bool,
        operands: &[NodeId],
    ) -> Eval<Value> {
        let mut unknown = false;
        for operand in operands {
            match self.eval(program, *operand)? {
                // The deciding value: false for `and`, true for `or`.
                Value::Bool(value) if value != conjunction => return Ok(Value::Bool(value)),
                Value::Bool(_) => {}
                other => {
                    unknown = true;
                    self.expect_boolean(&other);
                }
            }
        }
        Ok(if unknown { Value::Null } else { Value::Bool(conjunction) })
    }

    /// Warns that there is a value where a boolean belongs; null gives no warning.
    pub(super) fn expect_boolean(&mut self, found: &Value) {
        if !found.is_null() {
            self.warn(WarningKind::InvalidType, || {
                format!("Expected boolean but found '{}'", found.to_message_text())
            });
        }
    }
}

pub(super) fn holds(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// Sums other than of numbers and texts, for one order of the operands.
fn add(left: &Value, right: &Value) -> Option<Value> {
    Some(match (left, right) {
        (Value::Duration(left), Value::Duration(right)) => left.checked_add(*right)?.into(),
        (Value::Period(left), Value::Period(right)) => Value::Period(left.checked_add(*right)?),
        (Value::Date(date), Value::Duration(duration)) => plus_duration(*date, *duration)?.into(),
        (Value::Date(date), Value::Period(months)) => date.plus_months(*months)?.into(),
        (Value::Time(time), Value::Duration(duration)) => time.plus_nanos(duration.as_nanos()).into(),
        (Value::DateTime(value), Value::Duration(duration)) => value.plus_nanos(duration.as_nanos())?.into(),
        (Value::DateTime(value), Value::Period(months)) => value.plus_months(*months)?.into(),
        _ => return None,
    })
}

fn subtract(left: &Value, right: &Value) -> Option<Value> {
    let nanos = match (left, right) {
        (Value::Date(left), Value::Date(right)) => {
            i128::from(left.epoch_days() - right.epoch_days()) * NANOS_PER_DAY
        }
        (Value::Time(left), Value::Time(right)) => {
            left.compare(right)?;
            left.utc_nanos() - right.utc_nanos()
        }
        (Value::DateTime(left), Value::DateTime(right)) => {
            left.compare(right)?;
            left.epoch_nanos() - right.epoch_nanos()
        }
        (Value::DateTime(left), Value::Date(right)) => {
            left.offset_seconds()?;
            left.epoch_nanos() - i128::from(right.epoch_days()) * NANOS_PER_DAY
        }
        (Value::Date(left), Value::DateTime(right)) => {
            right.offset_seconds()?;
            i128::from(left.epoch_days()) * NANOS_PER_DAY - right.epoch_nanos()
        }
        (_, Value::Duration(duration)) => return add(left, &duration.checked_neg()?.into()),
        (_, Value::Period(months)) => return add(left, &Value::Period(months.checked_neg()?)),
        _ => return None,
    };
    duration_from_nanos(nanos).map(Value::Duration)
}

/// From the midnight of the date, then only the date of the result.
fn plus_duration(date: Date, duration: SignedDuration) -> Option<Date> {
    let days = duration.as_nanos().div_euclid(NANOS_PER_DAY);
    Date::from_epoch_days(date.epoch_days().checked_add(i64::try_from(days).ok()?)?)
}

/// A duration times a number. Camunda cuts the number to an integer first.
fn multiply(duration: &Value, factor: &Value, whole: fn(Number) -> Option<Number>) -> Option<Value> {
    let factor = whole(factor.as_number()?)?;
    scale(duration, |amount| amount.times(factor))
}

fn divide(left: &Value, right: &Value, exact: bool) -> Option<Value> {
    let (dividend, divisor) = match (left, right) {
        (_, Value::Number(divisor)) => return scale(left, |amount| amount.divided_by(*divisor)),
        (Value::Period(left), Value::Period(right)) => (Number::from(*left), Number::from(*right)),
        (Value::Duration(left), Value::Duration(right)) => {
            (Number::from_parts(left.as_nanos(), 0)?, Number::from_parts(right.as_nanos(), 0)?)
        }
        _ => return None,
    };
    let quotient = dividend.divided_by(divisor)?;
    Some(if exact { quotient.into() } else { quotient.round(0, Rounding::Down)?.into() })
}

/// Computes on the amount of a duration: months, or nanoseconds. Fractions are cut off.
fn scale(duration: &Value, compute: impl FnOnce(Number) -> Option<Number>) -> Option<Value> {
    let whole = |amount: Number| compute(amount)?.round(0, Rounding::Down);
    match duration {
        Value::Period(months) => whole((*months).into())?.as_i64().map(Value::Period),
        Value::Duration(duration) => {
            let nanos = whole(Number::from_parts(duration.as_nanos(), 0)?)?;
            let nanos: i128 = nanos.to_string().parse().ok()?;
            duration_from_nanos(nanos).map(Value::Duration)
        }
        _ => None,
    }
}

impl From<SignedDuration> for Value {
    fn from(duration: SignedDuration) -> Self {
        Self::Duration(duration)
    }
}
