//! The layout of one process: which elements and flows it has, in which scope, with which index.
//!
//! Indices follow document order; only IDs, nesting and references of sequence flows are read.

use std::collections::HashMap;

use crate::graph::{ElementIndex, ElementType, FlowIndex, PROCESS};
use crate::limits::Limits;
use crate::problem::{Report, excerpt};
use crate::xml::{Document, NodeId, Space};

/// Children of a scope that have no effect on execution.
const READ_OVER: [&str; 23] = [
    "artifact",
    "auditing",
    "completionCondition",
    "correlationSubscription",
    "dataInputAssociation",
    "dataObject",
    "dataObjectReference",
    "dataOutputAssociation",
    "dataStoreReference",
    "documentation",
    "extensionElements",
    "group",
    "incoming",
    "ioSpecification",
    "laneSet",
    "monitoring",
    "multiInstanceLoopCharacteristics",
    "outgoing",
    "property",
    "resourceRole",
    "standardLoopCharacteristics",
    "supportedInterfaceRef",
    "textAnnotation",
];

/// A process before its elements are read.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) elements: Vec<Draft>,
    pub(crate) flows: Vec<FlowDraft>,
    pub(crate) by_id: HashMap<&'a str, ElementIndex>,
    pub(crate) flow_by_id: HashMap<&'a str, FlowIndex>,
    /// Targets of the associations that begin at an element.
    pub(crate) associations: HashMap<&'a str, Vec<&'a str>>,
}

/// A flow node, or the process itself.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) node: NodeId,
    pub(crate) scope: ElementIndex,
    pub(crate) children: Vec<ElementIndex>,
    /// Its shape; `None` for the process and for unsupported elements.
    pub(crate) kind: Option<Shape>,
}

/// Properties of a kind of element that its neighbours ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) element_type: ElementType,
    /// Whether it contains other elements.
    pub(crate) is_scope: bool,
    /// Whether boundary events may be attached.
    pub(crate) is_activity: bool,
}

/// A sequence flow whose ends exist.
#[derive(Debug)]
pub(crate) struct FlowDraft {
    pub(crate) node: NodeId,
    pub(crate) source: ElementIndex,
    pub(crate) target: ElementIndex,
}

impl<'a> Outline<'a> {
    /// `None` if the process is too large; the reason is in the report. `shape` tells the shape of a node, or why it
    /// has none.
    pub(crate) fn read(
        document: &'a Document<'_>,
        process: NodeId,
        limits: &Limits,
        report: &mut Report,
        shape: impl Fn(&Document<'_>, NodeId) -> Result<Shape, String>,
    ) -> Option<Self> {
        let mut outline = Self {
            elements: vec![Draft { node: process, scope: PROCESS, children: Vec::new(), kind: None }],
            flows: Vec::new(),
            by_id: HashMap::new(),
            flow_by_id: HashMap::new(),
            associations: HashMap::new(),
        };
        let mut problem = |node: NodeId, reason: String| report.add(document, node, reason);
        if required_id(document, process).is_none() {
            problem(process, "an ID is required".to_owned());
        }
        // The scope that a node opens, if any.
        let mut scope_of: HashMap<NodeId, ElementIndex> = HashMap::from([(process, PROCESS)]);
        let mut flow_nodes = Vec::new();
        for id in document.descendants(process) {
            let node = document.node(id);
            let Some(&scope) = node.parent.and_then(|parent| scope_of.get(&parent)) else { continue };
            if node.space == Space::Bpmn && node.name == "association" {
                let end = |name| document.attribute(id, name);
                if let (Some(source), Some(target)) = (end("sourceRef"), end("targetRef")) {
                    outline.associations.entry(source).or_default().push(target);
                }
                continue;
            }
            if node.space != Space::Bpmn || READ_OVER.contains(&node.name) {
                continue;
            }
            if outline.elements.len() + flow_nodes.len() >= limits.max_flow_elements {
                problem(
                    process,
                    format!("the process has more than {} elements and flows", limits.max_flow_elements),
                );
                return None;
            }
            if node.name == "sequenceFlow" {
                flow_nodes.push((id, scope));
                continue;
            }
            let found = shape(document, id);
            if let Err(reason) = &found {
                problem(id, reason.clone());
            }
            let index = outline.elements.len() as ElementIndex;
            outline.elements.push(Draft { node: id, scope, children: Vec::new(), kind: found.ok() });
            outline.elements[scope as usize].children.push(index);
            if outline.elements[index as usize].kind.is_some_and(|kind| kind.is_scope) {
                scope_of.insert(id, index);
            }
            match required_id(document, id) {
                None => problem(id, "an ID is required".to_owned()),
                // A duplicate is already reported for the file.
                Some(element_id) => {
                    outline.by_id.entry(element_id).or_insert(index);
                }
            }
        }
        for (node, scope) in flow_nodes {
            outline.read_flow(document, node, scope, &mut problem);
        }
        Some(outline)
    }

    fn read_flow(
        &mut self,
        document: &'a Document<'_>,
        node: NodeId,
        scope: ElementIndex,
        problem: &mut impl FnMut(NodeId, String),
    ) {
        let id = required_id(document, node);
        if id.is_none() {
            problem(node, "an ID is required".to_owned());
        }
        let mut end_of = |attribute: &str| -> Option<ElementIndex> {
            let Some(reference) = document.attribute(node, attribute) else {
                problem(node, format!("{attribute} is required"));
                return None;
            };
            match self.by_id.get(reference) {
                None => {
                    let reference = excerpt(reference);
                    problem(
                        node,
                        format!(
                            "{attribute} refers to '{reference}', which is not an element of the process"
                        ),
                    );
                    None
                }
                Some(&index) if self.elements[index as usize].scope != scope => {
                    let reference = excerpt(reference);
                    problem(
                        node,
                        format!("{attribute} refers to '{reference}', which is in another sub-process"),
                    );
                    None
                }
                Some(&index) => Some(index),
            }
        };
        if let (Some(source), Some(target)) = (end_of("sourceRef"), end_of("targetRef")) {
            let index = self.flows.len() as FlowIndex;
            if let Some(id) = id {
                self.flow_by_id.entry(id).or_insert(index);
            }
            self.flows.push(FlowDraft { node, source, target });
        }
    }
}

fn required_id<'a>(document: &'a Document<'_>, node: NodeId) -> Option<&'a str> {
    document.attribute(node, "id").filter(|id| !id.trim().is_empty())
}
