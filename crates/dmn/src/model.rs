//! The compiled form of a model. Built once by `compile`, shared by all evaluations, never changed.

use crate::outcome::DecisionKind;
use crate::types::{TypeRef, TypeTable};
use feel::{Expression, Value};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) namespace: Arc<str>,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) knowledge: Vec<Knowledge>,
    pub(crate) services: Vec<Service>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) imports: Vec<Import>,
    /// Models that it imports, each counted as often as it is imported.
    pub(crate) imported_models: usize,
    pub(crate) types: Arc<TypeTable>,
    pub(crate) max_evaluated_decisions: usize,
    /// Names with spaces or symbols, for models that import this one.
    pub(crate) names: Vec<String>,
}

/// A model that another one uses under a name.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) name: Arc<str>,
    pub(crate) model: Arc<Model>,
}

#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) id: String,
    pub(crate) name: Arc<str>,
    pub(crate) kind: TypeRef,
}

#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) id: Arc<str>,
    pub(crate) name: Arc<str>,
    /// Name of the result for other elements: that of the variable.
    pub(crate) variable: Option<Arc<str>>,
    pub(crate) kind: TypeRef,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) logic: Option<Boxed>,
    pub(crate) version_tag: Option<String>,
}

/// A business knowledge model.
#[derive(Debug)]
pub(crate) struct Knowledge {
    pub(crate) id: String,
    pub(crate) name: Arc<str>,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) kind: TypeRef,
    pub(crate) lambda: Option<Arc<Lambda>>,
}

#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) id: String,
    pub(crate) name: Arc<str>,
    pub(crate) kind: TypeRef,
    pub(crate) output: Vec<Requirement>,
    /// Input data, then input decisions: in this order they are parameters.
    pub(crate) input: Vec<Requirement>,
}

/// Requirements of an element, in this model or in an imported one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Requirement {
    pub(crate) import: Option<usize>,
    pub(crate) target: Target,
}

/// An element by its place in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Input(usize),
    Decision(usize),
    Knowledge(usize),
    Service(usize),
}

/// A function: parameters and a body.
#[derive(Debug)]
pub(crate) struct Lambda {
    pub(crate) parameters: Vec<(Arc<str>, TypeRef)>,
    pub(crate) body: Boxed,
}

/// A boxed expression (DMN 1.5 §10.2).
#[derive(Debug)]
pub(crate) struct Boxed {
    pub(crate) kind: TypeRef,
    pub(crate) logic: Logic,
}

/// The kinds of boxed expressions.
#[derive(Debug)]
pub(crate) enum Logic {
    Literal(Formula),
    Table(Box<Table>),
    Context(Vec<Entry>),
    List(Vec<Boxed>),
    Relation { columns: Vec<(Arc<str>, TypeRef)>, rows: Vec<Vec<Boxed>> },
    Invocation { callee: Formula, bindings: Vec<(Arc<str>, Option<Boxed>)> },
    Function(Arc<Lambda>),
    Conditional { condition: Box<Boxed>, then: Box<Boxed>, otherwise: Box<Boxed> },
    Filter { source: Box<Boxed>, condition: Box<Boxed> },
    For { variable: Arc<str>, source: Box<Boxed>, body: Box<Boxed> },
    Quantified { every: bool, variable: Arc<str>, source: Box<Boxed>, condition: Box<Boxed> },
}

/// One entry of a boxed context; the one without a name is the result.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) kind: TypeRef,
    pub(crate) value: Boxed,
}

/// A text in FEEL.
#[derive(Debug)]
pub(crate) enum Formula {
    Compiled(Expression),
    /// The reason why the text is not FEEL; only where broken expressions are accepted.
    Broken(String),
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) hit_policy: HitPolicy,
    pub(crate) inputs: Vec<InputColumn>,
    pub(crate) outputs: Vec<OutputColumn>,
    pub(crate) rules: Vec<Rule>,
}

/// Hit policy: combination of the results of matching rules (DMN 1.5 §8.2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HitPolicy {
    Unique,
    First,
    Any,
    Priority,
    RuleOrder,
    OutputOrder,
    Collect,
    Sum,
    Min,
    Max,
    Count,
}

/// A column of conditions.
#[derive(Debug)]
pub(crate) struct InputColumn {
    pub(crate) id: Arc<str>,
    pub(crate) label: Arc<str>,
    pub(crate) expression: Formula,
    pub(crate) kind: TypeRef,
    pub(crate) allowed: Option<Expression>,
}

/// A column of results.
#[derive(Debug)]
pub(crate) struct OutputColumn {
    pub(crate) id: Arc<str>,
    pub(crate) name: Arc<str>,
    /// The label, or the name, as an outcome has it.
    pub(crate) shown: Arc<str>,
    pub(crate) kind: TypeRef,
    /// Values in the order of their priority, best first.
    pub(crate) priorities: Vec<Value>,
    pub(crate) default: Option<Formula>,
}

#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: Arc<str>,
    /// One for each input column; none if any value matches.
    pub(crate) conditions: Vec<Option<Formula>>,
    pub(crate) results: Vec<Formula>,
}

impl Model {
    /// The element with an ID.
    pub(crate) fn find(&self, id: &str) -> Option<Target> {
        let decisions = self.decisions.iter().map(|decision| &*decision.id);
        let knowledge = self.knowledge.iter().map(|knowledge| knowledge.id.as_str());
        let services = self.services.iter().map(|service| service.id.as_str());
        let inputs = self.inputs.iter().map(|input| input.id.as_str());
        None.or_else(|| {
            decisions.enumerate().find(|(_, own)| *own == id).map(|(place, _)| Target::Decision(place))
        })
        .or_else(|| {
            knowledge.enumerate().find(|(_, own)| *own == id).map(|(place, _)| Target::Knowledge(place))
        })
        .or_else(|| services.enumerate().find(|(_, own)| *own == id).map(|(place, _)| Target::Service(place)))
        .or_else(|| inputs.enumerate().find(|(_, own)| *own == id).map(|(place, _)| Target::Input(place)))
    }

    /// The names of everything that can be required.
    pub(crate) fn element_names(&self) -> impl Iterator<Item = &str> {
        let decisions = self.decisions.iter().flat_map(|decision| [&decision.id, decision.result_name(true)]);
        let knowledge = self.knowledge.iter().map(|knowledge| &knowledge.name);
        let services = self.services.iter().map(|service| &service.name);
        let inputs = self.inputs.iter().map(|input| &input.name);
        decisions.chain(knowledge).chain(services).chain(inputs).map(|name| &**name)
    }

    /// The model that a requirement is about.
    pub(crate) fn of(self: &Arc<Self>, requirement: Requirement) -> &Arc<Self> {
        requirement.import.map_or(self, |import| &self.imports[import].model)
    }

    /// Name of a required element in expressions.
    pub(crate) fn name_of(self: &Arc<Self>, requirement: Requirement) -> &str {
        let model = self.of(requirement);
        match requirement.target {
            Target::Input(place) => &model.inputs[place].name,
            Target::Decision(place) => model.decisions[place].result_name(true),
            Target::Knowledge(place) => &model.knowledge[place].name,
            Target::Service(place) => &model.services[place].name,
        }
    }
}

impl Decision {
    /// Name of the result for other elements. Without a variable the standard takes the name, Camunda the ID.
    pub(crate) fn result_name(&self, standard: bool) -> &Arc<str> {
        match &self.variable {
            Some(name) => name,
            None if standard || self.id.is_empty() => &self.name,
            None => &self.id,
        }
    }

    /// The kind of logic.
    pub(crate) fn decision_kind(&self) -> DecisionKind {
        match self.logic.as_ref().map(|boxed| &boxed.logic) {
            Some(Logic::Table(_)) => DecisionKind::DecisionTable,
            Some(Logic::Literal(_)) => DecisionKind::LiteralExpression,
            Some(Logic::Context(_)) => DecisionKind::Context,
            Some(Logic::Invocation { .. }) => DecisionKind::Invocation,
            Some(Logic::List(_)) => DecisionKind::List,
            Some(Logic::Relation { .. }) => DecisionKind::Relation,
            _ => DecisionKind::Unknown,
        }
    }
}
