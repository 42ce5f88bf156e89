//! Decision tables.

use super::scope::Scope;
use super::{Run, Step, Stop};
use crate::model::{HitPolicy, Rule, Table};
use crate::outcome::{EvaluatedDecision, EvaluatedInput, EvaluatedOutput, FailedRule, MatchedRule};
use crate::types::passes;
use feel::{Value, WarningKind};

impl Run<'_> {
    pub(super) fn table(
        &mut self,
        table: &Table,
        scope: &Scope<'_>,
        mut record: Option<&mut EvaluatedDecision>,
    ) -> Step<Value> {
        let inputs = self.inputs(table, scope)?;
        if let Some(record) = record.as_deref_mut() {
            let evaluated = table.inputs.iter().zip(&inputs).map(|(column, value)| EvaluatedInput {
                id: column.id.clone(),
                name: column.label.clone(),
                value: value.clone(),
            });
            record.inputs = evaluated.collect();
        }
        let mut hits = Vec::new();
        for (index, rule) in table.rules.iter().enumerate() {
            self.spend(1)?;
            let matches = self.matches(rule, &inputs, scope).map_err(|stop| in_rule(stop, rule, index))?;
            if !matches {
                continue;
            }
            let outputs = self.results(table, rule, scope).map_err(|stop| in_rule(stop, rule, index))?;
            hits.push((index, outputs));
            // Camunda evaluates all rules for every hit policy, and fails if any rule fails.
            if table.hit_policy == HitPolicy::First && self.is_standard() {
                break;
            }
        }
        if let Some(record) = record {
            let count = if table.hit_policy == HitPolicy::First { 1 } else { hits.len() };
            let matched =
                hits.iter().take(count).map(|(index, outputs)| matched_rule(table, *index, outputs));
            record.matched_rules = matched.collect();
        }
        if hits.is_empty() {
            return self.default_output(table, scope);
        }
        // A hit takes a list and a context beside its outputs.
        let each = Value::context(table.outputs.iter().map(|column| (column.name.clone(), Value::Null)));
        self.hold(2 * each.own_bytes() * hits.len() as u64)?;
        let outputs = hits.into_iter().map(|(_, outputs)| outputs).collect();
        let value = self.apply_hit_policy(table, outputs)?;
        self.bounded(value)
    }

    fn inputs(&mut self, table: &Table, scope: &Scope<'_>) -> Step<Vec<Value>> {
        let mut values = Vec::with_capacity(table.inputs.len());
        for column in &table.inputs {
            let mut value = self.formula(&column.expression, None, scope)?;
            if self.is_standard() {
                value = self.check_type(value, &column.kind, || format!("input '{}'", column.label))?;
                let fuel = &mut self.shared.budget.fuel;
                let tests = column.allowed.as_ref().filter(|_| !value.is_null());
                let allowed = tests.is_none_or(|tests| passes(tests, &value, fuel));
                if !allowed {
                    let message = format!("the value of input '{}' is not an allowed value", column.label);
                    self.warn(WarningKind::InvalidType, message);
                }
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Whether all conditions of a rule hold; stops at the first that does not.
    fn matches(&mut self, rule: &Rule, inputs: &[Value], scope: &Scope<'_>) -> Step<bool> {
        for (condition, input) in rule.conditions.iter().zip(inputs) {
            let Some(condition) = condition else { continue };
            let scope = Scope { frame: scope.frame.clone(), outside: scope.outside, cell: Some(input) };
            // Unary tests evaluate to true, false, or null, even if their expressions fail.
            if self.formula(condition, Some(input), &scope)?.as_bool() != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn results(&mut self, table: &Table, rule: &Rule, scope: &Scope<'_>) -> Step<Vec<Value>> {
        let mut values = Vec::with_capacity(rule.results.len());
        for (column, result) in table.outputs.iter().zip(&rule.results) {
            let value = self.formula(result, None, scope);
            let mut value = self.soften(value)?;
            if self.is_standard() {
                value = self.check_type(value, &column.kind, || format!("output '{}'", column.shown))?;
            }
            values.push(value);
        }
        Ok(values)
    }

    /// The value where no rule matches.
    fn default_output(&mut self, table: &Table, scope: &Scope<'_>) -> Step<Value> {
        let mut entries = Vec::new();
        for column in &table.outputs {
            if let Some(default) = &column.default {
                entries.push((column.name.clone(), self.formula(default, None, scope)?));
            }
        }
        Ok(match entries.as_mut_slice() {
            [] => Value::Null,
            [(_, value)] => std::mem::take(value),
            _ => Value::context(entries),
        })
    }
}

fn in_rule(mut stop: Stop, rule: &Rule, index: usize) -> Stop {
    if stop.0.rule.is_none() {
        let index = index + 1;
        stop.0.reason = format!("{} (rule {index}, '{}')", stop.0.reason, rule.id);
        stop.0.rule = Some(FailedRule { id: rule.id.to_string(), index });
    }
    stop
}

fn matched_rule(table: &Table, index: usize, outputs: &[Value]) -> MatchedRule {
    let outputs = table.outputs.iter().zip(outputs).map(|(column, value)| EvaluatedOutput {
        id: column.id.clone(),
        name: column.shown.clone(),
        value: value.clone(),
    });
    MatchedRule { id: table.rules[index].id.clone(), index: index + 1, outputs: outputs.collect() }
}
