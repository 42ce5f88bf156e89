//! Compiles XML to a model. A request enters at [`Compiler::compile`]; problems are collected, so that a refusal
//! lists all of them. Knows nothing of evaluation.

mod boxed;
mod collect_names;
mod names;
mod requirements;
mod table;
mod types;

use crate::file::imports;
use crate::limits::Limits;
use crate::model::{Decision, Import, Input, Knowledge, Lambda, Model, Service, Target};
use crate::problem::{Problem, Problems, excerpt};
use crate::types::TypeRef;
use crate::xml::{Document, NodeId};
use names::Names;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Limits of a compilation, and the models that it may import.
pub(crate) struct Settings<'s> {
    pub(crate) limits: &'s Limits,
    pub(crate) available: &'s [Arc<Model>],
    pub(crate) tolerant: bool,
}

/// State of a compilation.
pub(crate) struct Compiler<'s> {
    document: Document<'s>,
    settings: Settings<'s>,
    problems: Vec<Problem>,
    /// The current element, for problems.
    element_id: Option<String>,
    namespace: String,
    imports: Vec<Import>,
    /// Elements of this model by their IDs.
    targets: BTreeMap<String, Target>,
    /// Business knowledge models of this model by their names.
    knowledge_names: BTreeMap<Arc<str>, usize>,
    /// Business knowledge models that the current element invokes by name.
    invoked: Vec<usize>,
    names: Names,
    types: Arc<crate::types::TypeTable>,
    cells: usize,
}

impl<'s> Compiler<'s> {
    pub(crate) fn compile(document: Document<'s>, settings: Settings<'s>) -> Result<Model, Problems> {
        if document.is_empty() || document.name(0) != "definitions" {
            return Err(Problems::of_file("the root element is not 'definitions' of DMN 1.1 to 1.5"));
        }
        let mut compiler = Self {
            document,
            settings,
            problems: Vec::new(),
            element_id: None,
            namespace: String::new(),
            imports: Vec::new(),
            targets: BTreeMap::new(),
            knowledge_names: BTreeMap::new(),
            invoked: Vec::new(),
            names: Names::default(),
            types: Arc::default(),
            cells: 0,
        };
        let model = compiler.definitions();
        if compiler.problems.is_empty() { Ok(model) } else { Err(Problems(compiler.problems)) }
    }

    fn definitions(&mut self) -> Model {
        self.namespace = self.attribute(0, "namespace").to_owned();
        self.element_id = self.document.attribute(0, "id").map(excerpt);
        self.check_ids();
        self.import_models();
        self.collect_names();
        self.types = Arc::new(self.item_definitions());
        self.find_targets();
        let mut model = Model {
            id: self.attribute(0, "id").to_owned(),
            name: self.attribute(0, "name").to_owned(),
            namespace: Arc::from(self.namespace.as_str()),
            decisions: Vec::new(),
            knowledge: Vec::new(),
            services: Vec::new(),
            inputs: Vec::new(),
            imports: Vec::new(),
            imported_models: self.imports.iter().map(|import| 1 + import.model.imported_models).sum(),
            types: self.types.clone(),
            max_evaluated_decisions: self.settings.limits.max_evaluated_decisions,
            names: self.names.all().to_vec(),
        };
        for node in self.document.children(0).collect::<Vec<_>>() {
            self.element_id = self.document.attribute(node, "id").map(excerpt);
            match self.document.name(node) {
                "decision" => model.decisions.push(self.decision(node)),
                "businessKnowledgeModel" => model.knowledge.push(self.knowledge(node)),
                "decisionService" => model.services.push(self.service(node)),
                "inputData" => model.inputs.push(self.input(node)),
                _ => {}
            }
        }
        self.element_id = None;
        let limit = self.settings.limits.max_imported_models;
        if model.imported_models > limit {
            self.problem(Some("import"), format!("more than {limit} models are imported"));
        }
        self.check_requirements(&model);
        model.imports = std::mem::take(&mut self.imports);
        model
    }

    /// The schema of DMN has names of XML as IDs.
    fn check_ids(&mut self) {
        if self.settings.tolerant {
            return;
        }
        // Elements that need an ID say so themselves.
        let is_wrong = |node: &NodeId| {
            let id = self.attribute(*node, "id");
            !id.trim().is_empty() && !::xml::is_name(id)
        };
        let wrong: Vec<_> = self.document.all().filter(is_wrong).collect();
        let element_id = self.element_id.take();
        for node in wrong {
            self.element_id = Some(excerpt(self.attribute(node, "id")));
            let element_type = self.document.name(node).to_owned();
            self.problem(
                Some(&element_type),
                "the attribute 'id' must be a letter or '_', then letters, digits, '_', '-' or '.'",
            );
        }
        self.element_id = element_id;
    }

    fn problem(&mut self, element_type: Option<&str>, reason: impl Into<String>) {
        if self.problems.len() < self.settings.limits.max_problems {
            let (element_id, element_type) = (self.element_id.clone(), element_type.map(str::to_owned));
            self.problems.push(Problem { element_id, element_type, reason: reason.into() });
        }
    }

    /// Reports a problem only where models must be complete.
    fn strict_problem(&mut self, element_type: Option<&str>, reason: impl Into<String>) {
        if !self.settings.tolerant {
            self.problem(element_type, reason);
        }
    }

    /// An attribute, empty if it is missing.
    fn attribute(&self, node: NodeId, name: &str) -> &str {
        self.document.attribute(node, name).unwrap_or_default()
    }

    /// The ID of an element; its name where models need not be complete.
    fn id_of(&self, node: NodeId) -> &str {
        match self.attribute(node, "id") {
            "" if self.settings.tolerant => self.attribute(node, "name"),
            id => id,
        }
    }

    /// A name as others refer to it: runs of white space count as one blank.
    fn name_of(&self, node: NodeId) -> Arc<str> {
        let words: Vec<&str> = self.attribute(node, "name").split_whitespace().collect();
        Arc::from(words.join(" "))
    }

    /// The type in the attribute `typeRef` of an element.
    fn kind(&self, node: NodeId) -> TypeRef {
        self.document.attribute(node, "typeRef").map(|name| self.types.resolve(name)).unwrap_or_default()
    }

    fn import_models(&mut self) {
        for node in imports(&self.document, 0).collect::<Vec<_>>() {
            let namespace = self.attribute(node, "namespace");
            let found = self.settings.available.iter().find(|model| &*model.namespace == namespace).cloned();
            if let Some(model) = found {
                self.imports.push(Import { name: self.name_of(node), model });
            } else {
                let reason = format!("no available model has the namespace '{}'", excerpt(namespace));
                self.strict_problem(Some("import"), reason);
            }
        }
    }

    /// Collects the IDs of everything that can be required, and reports duplicates.
    fn find_targets(&mut self) {
        let (mut decisions, mut knowledge, mut services, mut inputs) = (0, 0, 0, 0);
        let mut seen = BTreeSet::new();
        for node in self.document.children(0).collect::<Vec<_>>() {
            let (counter, target): (&mut usize, fn(usize) -> Target) = match self.document.name(node) {
                "decision" => (&mut decisions, Target::Decision),
                "businessKnowledgeModel" => (&mut knowledge, Target::Knowledge),
                "decisionService" => (&mut services, Target::Service),
                "inputData" => (&mut inputs, Target::Input),
                _ => continue,
            };
            let place = *counter;
            *counter += 1;
            let id = self.id_of(node).to_owned();
            let is_decision = matches!(target(0), Target::Decision(_));
            if matches!(target(0), Target::Knowledge(_)) {
                self.knowledge_names.entry(self.name_of(node)).or_insert(place);
            }
            self.element_id = Some(excerpt(&id));
            if id.is_empty() {
                if is_decision {
                    self.problem(Some("decision"), "the decision has no ID");
                }
            } else if id.chars().count() > self.settings.limits.max_id_chars {
                let reason =
                    format!("the ID is longer than {} characters", self.settings.limits.max_id_chars);
                self.problem(None, reason);
            } else if !seen.insert(id.clone()) {
                self.problem(None, "the ID is used more than once");
            } else {
                self.targets.insert(id, target(place));
            }
        }
        if decisions == 0 && !self.settings.tolerant {
            self.element_id = None;
            self.problem(None, "the file has no decision");
        }
    }

    fn decision(&mut self, node: NodeId) -> Decision {
        let variable = self.document.child(node, "variable");
        let logic = self.boxed_child(node);
        if logic.is_none() {
            self.strict_problem(Some("decision"), "the decision has no logic of a supported kind");
        }
        let extensions = self.document.child(node, "extensionElements");
        let tag = extensions.and_then(|extensions| self.document.child(extensions, "versionTag"));
        let version_tag = tag.map(|tag| self.attribute(tag, "value").to_owned());
        Decision {
            id: Arc::from(self.id_of(node)),
            name: self.name_of(node),
            variable: variable.map(|variable| self.name_of(variable)).filter(|name| !name.is_empty()),
            kind: variable.map(|variable| self.kind(variable)).unwrap_or_default(),
            requirements: self.requirements(node),
            logic,
            version_tag: version_tag.filter(|tag| !tag.is_empty()),
        }
    }

    fn knowledge(&mut self, node: NodeId) -> Knowledge {
        let variable = self.document.child(node, "variable");
        let lambda = self.document.child(node, "encapsulatedLogic").and_then(|logic| self.lambda(logic));
        Knowledge {
            id: self.id_of(node).to_owned(),
            name: self.name_of(node),
            requirements: self.requirements(node),
            kind: variable.map(|variable| self.kind(variable)).unwrap_or_default(),
            lambda: lambda.map(Arc::new),
        }
    }

    fn input(&mut self, node: NodeId) -> Input {
        let variable = self.document.child(node, "variable");
        let named = variable.map(|variable| self.name_of(variable)).filter(|name| !name.is_empty());
        Input {
            id: self.id_of(node).to_owned(),
            name: named.unwrap_or_else(|| self.name_of(node)),
            kind: variable.map(|variable| self.kind(variable)).unwrap_or_default(),
        }
    }

    fn service(&mut self, node: NodeId) -> Service {
        let variable = self.document.child(node, "variable");
        let mut input = self.references(node, "inputData");
        input.extend(self.references(node, "inputDecision"));
        Service {
            id: self.id_of(node).to_owned(),
            name: self.name_of(node),
            kind: variable.map(|variable| self.kind(variable)).unwrap_or_default(),
            output: self.references(node, "outputDecision"),
            input,
        }
    }

    /// Parameters and body of a function.
    fn lambda(&mut self, node: NodeId) -> Option<Lambda> {
        let kind = self.attribute(node, "kind");
        if !matches!(kind, "" | "FEEL" | "feel") {
            let reason = format!("functions of the kind '{}' are not supported", excerpt(kind));
            self.strict_problem(Some("functionDefinition"), reason);
            return None;
        }
        let parameters = self.document.named(node, "formalParameter").collect::<Vec<_>>();
        let parameters = parameters.iter().map(|node| (self.name_of(*node), self.kind(*node))).collect();
        Some(Lambda { parameters, body: self.boxed_child(node)? })
    }
}
