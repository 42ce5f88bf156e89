//! Boxed expressions other than tables.

use super::scope::Scope;
use super::{BOXED_LEVELS, Run, Step, Stop};
use crate::model::{Boxed, Entry, Formula, Logic};
use crate::outcome::EvaluatedDecision;
use crate::types::TypeRef;
use feel::{Function, List, Value};
use std::sync::Arc;

/// Entries of a boxed context or parameters of an invocation.
type Named = Vec<(Arc<str>, Value)>;

impl Run<'_> {
    /// The value of a boxed expression.
    pub(super) fn boxed(
        &mut self,
        boxed: &Boxed,
        scope: &Scope<'_>,
        record: Option<&mut EvaluatedDecision>,
    ) -> Step<Value> {
        let result = self.nested(BOXED_LEVELS, |run| run.logic(&boxed.logic, scope, record));
        let value = self.soften(result)?;
        if !self.is_standard() || boxed.kind == TypeRef::Any {
            return Ok(value);
        }
        self.check_type(value, &boxed.kind, || "an expression".to_owned())
    }

    fn logic(
        &mut self,
        logic: &Logic,
        scope: &Scope<'_>,
        record: Option<&mut EvaluatedDecision>,
    ) -> Step<Value> {
        match logic {
            Logic::Literal(formula) => self.formula(formula, None, scope),
            Logic::Table(table) => self.table(table, scope, record),
            Logic::Context(entries) => self.context(entries, scope),
            Logic::List(items) => {
                let items = items.iter().map(|item| self.boxed(item, scope, None));
                let items = items.collect::<Step<Vec<_>>>()?;
                self.bounded(Value::list(items))
            }
            Logic::Relation { columns, rows } => self.relation(columns, rows, scope),
            Logic::Invocation { callee, bindings } => self.invocation(callee, bindings, scope),
            Logic::Function(lambda) => {
                let function = self.boxed_function_value(lambda, scope);
                self.bounded(function)
            }
            Logic::Conditional { condition, then, otherwise } => {
                let chosen = match self.boxed(condition, scope, None)? {
                    Value::Bool(true) => then,
                    Value::Bool(false) | Value::Null => otherwise,
                    _ => return Err(Stop::new("the condition must be true or false")),
                };
                self.boxed(chosen, scope, None)
            }
            Logic::Filter { source, condition } => self.filter(source, condition, scope),
            Logic::For { variable, source, body } => self.iteration(variable, source, body, scope),
            Logic::Quantified { every, variable, source, condition } => {
                self.quantified(*every, variable, source, condition, scope)
            }
        }
    }

    /// The value of an expression of FEEL, or the outcome of unary tests for an input.
    pub(super) fn formula(
        &mut self,
        formula: &Formula,
        input: Option<&Value>,
        scope: &Scope<'_>,
    ) -> Step<Value> {
        match formula {
            Formula::Compiled(expression) => {
                let budget = &mut self.shared.budget;
                let outcome = expression.evaluate_within(input, scope, self.environment, budget);
                self.outcome(outcome)
            }
            Formula::Broken(reason) => Err(Stop::new(reason.clone())),
        }
    }

    /// Later entries see earlier ones; an entry without a name is the result.
    fn context(&mut self, entries: &[Entry], scope: &Scope<'_>) -> Step<Value> {
        let mut inner = scope.inside(Vec::new());
        let mut values: Named = Vec::with_capacity(entries.len());
        for entry in entries {
            let value = self.boxed(&entry.value, &inner, None)?;
            let value = if self.is_standard() {
                self.check_type(value, &entry.kind, || "an entry of a context".to_owned())?
            } else {
                value
            };
            let Some(name) = &entry.name else { return Ok(value) };
            self.spend(1 + values.len() as u64 / 8)?;
            inner.push(name.clone(), value.clone());
            values.push((name.clone(), value));
        }
        self.bounded(Value::context(values))
    }

    fn relation(
        &mut self,
        columns: &[(Arc<str>, TypeRef)],
        rows: &[Vec<Boxed>],
        scope: &Scope<'_>,
    ) -> Step<Value> {
        let mut items = Vec::with_capacity(rows.len());
        for row in rows {
            let mut entries: Named = Vec::with_capacity(row.len());
            for ((name, kind), cell) in columns.iter().zip(row) {
                let value = self.boxed(cell, scope, None)?;
                let value = if self.is_standard() {
                    self.check_type(value, kind, || format!("column '{name}'"))?
                } else {
                    value
                };
                entries.push((name.clone(), value));
            }
            let row = self.bounded(Value::context(entries))?;
            items.push(row);
        }
        self.bounded(Value::list(items))
    }

    fn invocation(
        &mut self,
        callee: &Formula,
        bindings: &[(Arc<str>, Option<Boxed>)],
        scope: &Scope<'_>,
    ) -> Step<Value> {
        let function = self.formula(callee, None, scope)?;
        let name = if let Formula::Compiled(expression) = callee { expression.text() } else { "" };
        let Some(function) = function.as_function() else {
            return Err(Stop::new(format!("no function found with name '{name}'")));
        };
        let arguments = self.arguments(function, bindings, scope)?;
        let own = self.model.knowledge.iter().position(|knowledge| *knowledge.name == *name);
        if let (Some(place), false) = (own, self.is_standard()) {
            // A failure in a model called directly ends the evaluation.
            let inner = Run {
                model: self.model,
                environment: self.environment,
                variables: scope,
                shared: &mut *self.shared,
            };
            let mut inner = inner;
            return inner.knowledge(place, &arguments);
        }
        let budget = &mut self.shared.budget;
        let outcome = function.invoke(&arguments, scope, self.environment, budget);
        self.outcome(outcome)
    }

    fn arguments(
        &mut self,
        function: &Function,
        bindings: &[(Arc<str>, Option<Boxed>)],
        scope: &Scope<'_>,
    ) -> Step<Vec<Value>> {
        let parameters = function.parameters();
        let mut arguments = vec![Value::Null; parameters.len()];
        for (name, boxed) in bindings {
            let value = match boxed {
                Some(boxed) => self.boxed(boxed, scope, None)?,
                None => Value::Null,
            };
            match parameters.iter().position(|parameter| parameter == name) {
                Some(place) => arguments[place] = value,
                None if self.is_standard() => {
                    return Err(Stop::new(format!("the function has no parameter '{name}'")));
                }
                None => {}
            }
        }
        if !self.is_standard() {
            let missing =
                parameters.iter().find(|parameter| bindings.iter().all(|(name, _)| name != *parameter));
            if let Some(name) = missing {
                return Err(Stop::new(format!("no parameter found with name '{name}'")));
            }
        }
        Ok(arguments)
    }

    /// The domain of an iterator: a list, the whole numbers of a range, or in the standard dialect a single value.
    fn items(&mut self, source: &Boxed, scope: &Scope<'_>) -> Step<Vec<Value>> {
        match self.boxed(source, scope, None)? {
            Value::List(list) => {
                self.spend(list.len() as u64)?;
                self.hold((list.len() * size_of::<Value>()) as u64)?;
                Ok(list.items().to_vec())
            }
            Value::Range(range) => {
                let (Some(start), Some(end)) = (range.start.as_i64(), range.end.as_i64()) else {
                    return Err(Stop::new("expected a range of whole numbers"));
                };
                let count = start.abs_diff(end).saturating_add(1);
                self.spend(count)?;
                self.hold(count.saturating_mul(2 * size_of::<Value>() as u64))?;
                let numbers: Vec<i64> =
                    if start <= end { (start..=end).collect() } else { (end..=start).rev().collect() };
                let last = numbers.len().saturating_sub(1);
                let within = numbers.into_iter().enumerate().filter(|(index, _)| {
                    (range.start_included || *index > 0) && (range.end_included || *index < last)
                });
                Ok(within.map(|(_, number)| number.into()).collect())
            }
            Value::Null => Err(Stop::new("expected a list but found 'null'")),
            value if self.is_standard() => Ok(vec![value]),
            value => {
                let found = value.to_short_text();
                Err(Stop::new(format!("expected a list but found '{found}'")))
            }
        }
    }

    fn filter(&mut self, source: &Boxed, condition: &Boxed, scope: &Scope<'_>) -> Step<Value> {
        let mut kept = Vec::new();
        for item in self.items(source, scope)? {
            let mut entries: Named = vec![(Arc::from("item"), item.clone())];
            if let Some(context) = item.as_context() {
                entries.extend(context.iter().cloned());
            }
            match self.boxed(condition, &scope.inside(entries), None)? {
                Value::Bool(true) => kept.push(item),
                Value::Bool(false) | Value::Null => {}
                _ => return Err(Stop::new("the condition of a filter must be true or false")),
            }
        }
        self.bounded(Value::list(kept))
    }

    fn iteration(
        &mut self,
        variable: &Arc<str>,
        source: &Boxed,
        body: &Boxed,
        scope: &Scope<'_>,
    ) -> Step<Value> {
        let partial: Arc<str> = Arc::from("partial");
        let mut results = Vec::new();
        for item in self.items(source, scope)? {
            // The results so far are copied for each turn.
            self.spend(results.len() as u64)?;
            let so_far = self.within_bounds(Value::list(results.clone()))?;
            let entries = vec![(partial.clone(), so_far.clone()), (variable.clone(), item)];
            let result = self.boxed(body, &scope.inside(entries), None)?;
            // A copy that the body does not keep is dropped before the next is made.
            if so_far.as_list().is_some_and(List::is_shared) {
                self.hold(so_far.own_bytes())?;
            }
            results.push(result);
        }
        self.bounded(Value::list(results))
    }

    fn quantified(
        &mut self,
        every: bool,
        variable: &Arc<str>,
        source: &Boxed,
        condition: &Boxed,
        scope: &Scope<'_>,
    ) -> Step<Value> {
        let mut unknown = false;
        for item in self.items(source, scope)? {
            let inner = scope.inside(vec![(variable.clone(), item)]);
            match self.boxed(condition, &inner, None)? {
                Value::Bool(value) if value != every => return Ok(Value::Bool(!every)),
                Value::Bool(_) => {}
                Value::Null => unknown = true,
                _ => return Err(Stop::new("the condition must be true or false")),
            }
        }
        Ok(if unknown { Value::Null } else { Value::Bool(every) })
    }
}
