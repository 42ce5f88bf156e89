//! Functions that models define: business knowledge models, decision services, boxed functions.

use super::scope::{Frame, Scope};
use super::{EvaluationState, Run, Step, Stop, address, with_types};
use crate::model::{Lambda, Model, Target};
use crate::types::{Base, TypeRef};
use feel::{Caller, Function, NativeFunction, Value};
use std::sync::Arc;

/// A function as a value of FEEL.
struct ModelFunction {
    model: Arc<Model>,
    code: Code,
}

enum Code {
    Knowledge(usize),
    Service(usize),
    Boxed(Arc<Lambda>, Option<Arc<Frame>>),
}

impl NativeFunction for ModelFunction {
    fn call(&self, arguments: &[Value], caller: Caller<'_>) -> Result<Value, String> {
        let mut shared = EvaluationState::new(*caller.budget, false);
        let typed = with_types(caller.environment, &self.model);
        let environment = typed.as_ref().unwrap_or(caller.environment);
        let variables = caller.variables;
        let mut run = Run { model: &self.model, environment, variables, shared: &mut shared };
        let result = match &self.code {
            Code::Knowledge(place) => run.knowledge(*place, arguments),
            Code::Service(place) => run.service(*place, arguments.iter().cloned().map(Some).collect(), true),
            Code::Boxed(lambda, frame) => run.boxed_function(lambda, frame.as_ref(), arguments),
        };
        let depth = caller.budget.depth;
        *caller.budget = shared.budget;
        caller.budget.depth = depth;
        result.map_err(|stop| stop.0.reason)
    }
}

impl Run<'_> {
    pub(super) fn knowledge_function(&self, place: usize) -> Value {
        let lambda = self.model.knowledge[place].lambda.as_deref();
        let parameters = lambda.map(names_of).unwrap_or_default();
        self.function(parameters, Code::Knowledge(place))
    }

    pub(super) fn service_function(&self, place: usize) -> Value {
        let inputs = &self.model.services[place].input;
        let parameters = inputs.iter().map(|input| Arc::from(self.model.name_of(*input))).collect();
        self.function(parameters, Code::Service(place))
    }

    /// A boxed function with the names of its lexical scope.
    pub(super) fn boxed_function_value(&self, lambda: &Arc<Lambda>, scope: &Scope<'_>) -> Value {
        self.function(names_of(lambda), Code::Boxed(lambda.clone(), scope.frame.clone()))
    }

    fn function(&self, parameters: Vec<Arc<str>>, code: Code) -> Value {
        let frame = if let Code::Boxed(_, frame) = &code { frame.clone() } else { None };
        let held = frame.iter().flat_map(|frame| frame.values());
        let native = Box::new(ModelFunction { model: self.model.clone(), code });
        Value::Function(Function::native_around(parameters, held, native))
    }

    /// Calls a business knowledge model. Its scope has its parameters and its requirements, in Camunda's dialect the
    /// scope of the caller, too.
    pub(super) fn knowledge(&mut self, place: usize, arguments: &[Value]) -> Step<Value> {
        let model = self.model;
        let knowledge = &model.knowledge[place];
        let Some(lambda) = &knowledge.lambda else { return Ok(Value::Null) };
        let mut entries = self.requirements(&knowledge.requirements)?;
        entries.extend(self.bind(lambda, arguments)?);
        let outside = (!self.is_standard()).then_some(self.variables);
        let value = self.boxed(&lambda.body, &Scope::new(entries, outside), None)?;
        let kind = Self::result_kind(model, &knowledge.kind);
        self.check_type(value, kind, || format!("business knowledge model '{}'", knowledge.name))
    }

    fn boxed_function(
        &mut self,
        lambda: &Lambda,
        frame: Option<&Arc<Frame>>,
        arguments: &[Value],
    ) -> Step<Value> {
        let entries = self.bind(lambda, arguments)?;
        let outside = (!self.is_standard()).then_some(self.variables);
        let scope = Scope { frame: frame.cloned(), outside, cell: None };
        self.boxed(&lambda.body, &scope.inside(entries), None)
    }

    /// Parameters and their values; a value of another type prevents the call.
    fn bind(&mut self, lambda: &Lambda, arguments: &[Value]) -> Step<Vec<(Arc<str>, Value)>> {
        let mut entries = Vec::with_capacity(lambda.parameters.len());
        for (index, (name, kind)) in lambda.parameters.iter().enumerate() {
            let value = arguments.get(index).cloned().unwrap_or_default();
            let given = !value.is_null();
            let value = self.check_type(value, kind, || format!("parameter '{name}'"))?;
            if given && value.is_null() {
                return Err(Stop::new(format!(
                    "the value of parameter '{name}' does not conform to its type"
                )));
            }
            entries.push((name.clone(), value));
        }
        Ok(entries)
    }

    /// The type of a result, also where the type is that of the function itself.
    fn result_kind<'k>(model: &'k Model, kind: &'k TypeRef) -> &'k TypeRef {
        let definition = match kind {
            TypeRef::Item(place) => model.types.definitions.get(*place),
            TypeRef::Imported(import, place) => {
                model.types.imports.get(*import).and_then(|(_, table)| table.definitions.get(*place))
            }
            _ => None,
        };
        match definition.map(|definition| &definition.base) {
            Some(Base::Function(_, output)) => output,
            _ => kind,
        }
    }

    /// Evaluates a decision service with values for its input decisions and input data. Its scope has nothing else.
    /// Called as a function, it refuses values of other types.
    pub(super) fn service(&mut self, place: usize, given: Vec<Option<Value>>, called: bool) -> Step<Value> {
        let model = self.model;
        let service = &model.services[place];
        let mut shared = EvaluationState::new(self.shared.budget, self.shared.trail.is_some());
        for (input, value) in service.input.iter().zip(given) {
            let owner = model.of(*input);
            let kind = match input.target {
                Target::Decision(place) => &owner.decisions[place].kind,
                Target::Input(place) => &owner.inputs[place].kind,
                _ => continue,
            };
            let value = value.unwrap_or_default();
            let was_null = value.is_null();
            let value = self.check_type(value, kind, || "an input of a decision service".to_owned())?;
            if called && value.is_null() && !was_null {
                return Err(Stop::new("an argument of a decision service does not conform to its type"));
            }
            shared.known.insert((address(owner), input.target), value);
        }
        let nothing: &dyn feel::Variables = &();
        let variables = if self.is_standard() { nothing } else { self.variables };
        let mut run = Run { model, environment: self.environment, variables, shared: &mut shared };
        let result = run.requirements(&service.output);
        self.shared.budget = shared.budget;
        self.shared.evaluated += shared.evaluated;
        self.keep(shared.warnings);
        if let (Some(trail), Some(inner)) = (self.shared.trail.as_mut(), shared.trail) {
            trail.extend(inner);
        }
        let mut outputs = result?;
        let value = match outputs.as_mut_slice() {
            [(_, value)] => std::mem::take(value),
            _ => self.bounded(Value::context(outputs))?,
        };
        let kind = Self::result_kind(model, &service.kind);
        self.check_type(value, kind, || format!("decision service '{}'", service.name))
    }
}

fn names_of(lambda: &Lambda) -> Vec<Arc<str>> {
    lambda.parameters.iter().map(|(name, _)| name.clone()).collect()
}
