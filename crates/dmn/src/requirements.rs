//! Interface of the crate: parse a file, list its elements, evaluate it.

#![expect(missing_docs, reason = "names say what is held")]

use crate::compile::{Compiler, Settings};
use crate::evaluate;
use crate::file::File;
use crate::limits::Limits;
use crate::model::{Model, Target};
use crate::outcome::{DecisionKind, Evaluation, Failure};
use crate::problem::Problems;
use crate::xml::{Document, decode};
use feel::{Budget, Environment, Value, Variables};
use std::borrow::Cow;
use std::sync::Arc;

/// Compiles a file that imports no other. All problems of the file are reported at once.
pub fn parse(xml: &[u8], limits: &Limits) -> Result<DecisionRequirements, Problems> {
    Parser::new(limits.clone()).parse(xml)
}

/// Compiles files with their imports.
#[derive(Debug, Clone, Default)]
pub struct Parser {
    limits: Limits,
    available: Vec<Arc<Model>>,
    tolerant: bool,
}

impl Parser {
    /// A parser within these limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Makes a model available to those that import its namespace.
    #[must_use]
    pub fn with_import(mut self, model: &DecisionRequirements) -> Self {
        self.available.push(model.model.clone());
        self
    }

    /// Accepts models with broken expressions or references, which fail at their evaluation. Files of other engines
    /// often have them.
    #[must_use]
    pub fn tolerant(mut self) -> Self {
        self.tolerant = true;
        self
    }

    pub fn parse(&self, xml: &[u8]) -> Result<DecisionRequirements, Problems> {
        self.compile(self.read(&self.decode(xml)?)?)
    }

    /// The text of a file that is not too large.
    pub fn decode<'x>(&self, xml: &'x [u8]) -> Result<Cow<'x, str>, Problems> {
        let (bytes, max_bytes) = (xml.len(), self.limits.max_bytes);
        if bytes > max_bytes {
            return Err(Problems::of_file(format!("the file has {bytes} bytes, more than {max_bytes}")));
        }
        decode(xml).map_err(Problems::of_file)
    }

    /// Reads the text of a file. It can be compiled once its imports are available.
    pub fn read<'x>(&self, text: &'x str) -> Result<File<'x>, Problems> {
        let document = Document::read(text, &self.limits).map_err(Problems::of_file)?;
        Ok(File { document })
    }

    /// Compiles a file that was read.
    pub fn compile(&self, file: File) -> Result<DecisionRequirements, Problems> {
        let settings = Settings { limits: &self.limits, available: &self.available, tolerant: self.tolerant };
        let model = Compiler::compile(file.document, settings)?;
        Ok(DecisionRequirements { model: Arc::new(model) })
    }
}

/// A compiled decision requirements graph. Cheap to clone.
#[derive(Debug, Clone)]
pub struct DecisionRequirements {
    model: Arc<Model>,
}

/// Description of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionInfo<'m> {
    pub id: &'m str,
    pub name: &'m str,
    /// The version tag of Camunda's extension.
    pub version_tag: Option<&'m str>,
    /// The kind of logic.
    pub kind: DecisionKind,
    /// The IDs of the decisions of this file that it requires, in the order of the file.
    pub required_decisions: Vec<&'m str>,
}

/// Description of input data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputInfo<'m> {
    pub id: &'m str,
    /// The name of the variable.
    pub name: &'m str,
}

/// Description of a decision service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceInfo<'m> {
    pub id: &'m str,
    pub name: &'m str,
    /// The names of its parameters in order.
    pub parameters: Vec<&'m str>,
    /// The names of its results.
    pub outputs: Vec<&'m str>,
}

impl DecisionRequirements {
    /// The ID of the file's `definitions`.
    pub fn id(&self) -> &str {
        &self.model.id
    }

    /// The name of the file's `definitions`.
    pub fn name(&self) -> &str {
        &self.model.name
    }

    /// The namespace by which others import the model.
    pub fn namespace(&self) -> &str {
        &self.model.namespace
    }

    /// The decisions in the order of the file.
    pub fn decisions(&self) -> impl Iterator<Item = DecisionInfo<'_>> {
        self.model.decisions.iter().map(|decision| DecisionInfo {
            id: &decision.id,
            name: &decision.name,
            version_tag: decision.version_tag.as_deref(),
            kind: decision.decision_kind(),
            required_decisions: decision
                .requirements
                .iter()
                .filter_map(|requirement| match (requirement.import, requirement.target) {
                    (None, Target::Decision(place)) => Some(&*self.model.decisions[place].id),
                    _ => None,
                })
                .collect(),
        })
    }

    /// The input data in the order of the file.
    pub fn inputs(&self) -> impl Iterator<Item = InputInfo<'_>> {
        self.model.inputs.iter().map(|input| InputInfo { id: &input.id, name: &input.name })
    }

    /// The decision services in the order of the file.
    pub fn services(&self) -> impl Iterator<Item = ServiceInfo<'_>> {
        self.model.services.iter().map(|service| ServiceInfo {
            id: &service.id,
            name: &service.name,
            parameters: service.input.iter().map(|input| self.model.name_of(*input)).collect(),
            outputs: service.output.iter().map(|output| self.model.name_of(*output)).collect(),
        })
    }

    /// Evaluates a decision and everything it requires.
    pub fn evaluate(
        &self,
        decision_id: &str,
        variables: &dyn Variables,
        environment: &Environment,
    ) -> Result<Evaluation, Box<Failure>> {
        let mut budget = Budget::new(environment);
        self.evaluate_within(decision_id, variables, environment, &mut budget)
    }

    /// Evaluates a decision and everything it requires, on the budget of a larger computation.
    pub fn evaluate_within(
        &self,
        decision_id: &str,
        variables: &dyn Variables,
        environment: &Environment,
        budget: &mut Budget,
    ) -> Result<Evaluation, Box<Failure>> {
        evaluate::decision(&self.model, decision_id, variables, environment, budget)
    }

    /// The result of [`Self::evaluate`] alone, at a lower cost: neither the result nor a failure has the matched
    /// rules and the values of the requirements.
    pub fn output(
        &self,
        decision_id: &str,
        variables: &dyn Variables,
        environment: &Environment,
    ) -> Result<Value, Box<Failure>> {
        self.output_within(decision_id, variables, environment, &mut Budget::new(environment))
    }

    /// The result of [`Self::evaluate_within`] alone, at a lower cost; see [`Self::output`].
    pub fn output_within(
        &self,
        decision_id: &str,
        variables: &dyn Variables,
        environment: &Environment,
        budget: &mut Budget,
    ) -> Result<Value, Box<Failure>> {
        evaluate::output(&self.model, decision_id, variables, environment, budget)
    }

    /// Evaluates a decision service; its parameters are read from the variables by their names.
    /// One output decision gives its value, several give a context.
    pub fn evaluate_service(
        &self,
        service_id: &str,
        variables: &dyn Variables,
        environment: &Environment,
    ) -> Result<Evaluation, Box<Failure>> {
        evaluate::service(&self.model, service_id, variables, environment)
    }

    /// Calls a business knowledge model with one value for each parameter.
    pub fn evaluate_knowledge(
        &self,
        knowledge_id: &str,
        arguments: &[Value],
        environment: &Environment,
    ) -> Result<Evaluation, Box<Failure>> {
        evaluate::knowledge(&self.model, knowledge_id, arguments, environment)
    }
}
