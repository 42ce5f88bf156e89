//! Which element of one model becomes which of another.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bpmn::Process;
use bpmn::graph::{Element, ElementIndex, ElementKind, FlowIndex, OutputCollection, PROCESS};
use protocol::{ElementMapping, Key, Name, Rejection};

/// A plan that fits both models.
pub(super) struct Mapping {
    pub source: Arc<Process>,
    pub target: Arc<Process>,
    /// By the index of the source.
    elements: Vec<Option<ElementIndex>>,
    flows: Vec<Option<FlowIndex>>,
}

impl Mapping {
    /// Reads the instructions. Each source may be named once, and both ends must exist.
    pub fn new(
        process_instance_key: Key,
        source: Arc<Process>,
        target: Arc<Process>,
        instructions: &[ElementMapping],
    ) -> Result<Self, Rejection> {
        let refuse = |problem: String| {
            Rejection::invalid_argument(format!(
                "Expected to migrate process instance '{process_instance_key}', but {problem}."
            ))
        };
        if let Some(ids) = duplicates(instructions) {
            return Err(refuse(format!("mapping instructions contain duplicate source element ids {ids}")));
        }
        let (mut source_flows, mut target_flows) = (FlowIds::new(&source), FlowIds::new(&target));
        let mut mapping = Self {
            elements: vec![None; source.elements.len()],
            flows: vec![None; source.flows.len()],
            source: Arc::clone(&source),
            target: Arc::clone(&target),
        };
        let (mut no_source, mut no_target, mut mixed) = (Vec::new(), Vec::new(), Vec::new());
        for instruction in instructions {
            let (from_id, to_id) =
                (instruction.source_element_id.as_str(), instruction.target_element_id.as_str());
            let from = find(&source, &mut source_flows, from_id);
            let to = find(&target, &mut target_flows, to_id);
            match (from, to) {
                (Some(Node::Element(from)), Some(Node::Element(to))) => mapping.map_element(from, to),
                (Some(Node::Flow(from)), Some(Node::Flow(to))) => mapping.flows[from as usize] = Some(to),
                (Some(_), Some(_)) => mixed.push(format!("'{from_id}' to '{to_id}'")),
                (from, to) => {
                    if from.is_none() {
                        no_source.push(format!("'{from_id}'"));
                    }
                    if to.is_none() {
                        no_target.push(format!("'{to_id}'"));
                    }
                }
            }
        }
        let mut problems = Vec::new();
        if !no_source.is_empty() {
            problems.push(format!(
                "mapping instructions contain non-existing source element ids {}: they must exist in the source process \
                 definition",
                no_source.join(", ")
            ));
        }
        if !no_target.is_empty() {
            problems.push(format!(
                "mapping instructions contain non-existing target element ids {}: they must exist in the target process \
                 definition",
                no_target.join(", ")
            ));
        }
        if !mixed.is_empty() {
            problems.push(format!(
                "mapping instructions map sequence flows to elements or elements to sequence flows: {}",
                mixed.join(", ")
            ));
        }
        if !problems.is_empty() {
            return Err(refuse(problems.join("; ")));
        }
        mapping.elements[PROCESS as usize] = Some(PROCESS);
        Ok(mapping)
    }

    fn map_element(&mut self, from: ElementIndex, to: ElementIndex) {
        self.elements[from as usize] = Some(to);
        // Elements in between migrate with their scope, as they have no ID or one that only the engine has made.
        let inner = match (&self.source.element(from).kind, &self.target.element(to).kind) {
            (ElementKind::MultiInstance(from), ElementKind::MultiInstance(to)) => (from.inner, to.inner),
            (ElementKind::Loop(from), ElementKind::Loop(to)) => (from.inner, to.inner),
            (ElementKind::AdHoc(from), ElementKind::AdHoc(to)) => (from.inner, to.inner),
            _ => return,
        };
        // At most twice: an ad-hoc sub-process may itself be inside of a body.
        if self.elements[inner.0 as usize].is_none() {
            self.map_element(inner.0, inner.1);
        }
    }

    /// Target of an element, if the plan maps it.
    pub fn element(&self, source: ElementIndex) -> Option<ElementIndex> {
        self.elements[source as usize]
    }

    /// Target of an element's ID, if the plan maps it.
    pub fn id(&self, source: &str) -> Option<Name> {
        let target = self.element(*self.source.by_id.get(source)?)?;
        Some(Name::from(&self.target.element(target).id))
    }

    /// The names of the collection of an ad-hoc sub-process before and after, if the name changes.
    pub fn collections(&self, source: ElementIndex) -> Option<(Option<Name>, Option<Name>)> {
        let target = self.element(source)?;
        let (before, after) = match (&self.source.element(source).kind, &self.target.element(target).kind) {
            (ElementKind::AdHoc(from), ElementKind::AdHoc(to)) => (&from.output, &to.output),
            (ElementKind::MultiInstance(from), ElementKind::MultiInstance(to)) => (&from.output, &to.output),
            _ => return None,
        };
        let name_of =
            |output: &Option<OutputCollection>| output.as_ref().map(|output| Name::from(&output.variable));
        let (before, after) = (name_of(before), name_of(after));
        (before != after).then_some((before, after))
    }

    /// Target of a sequence flow that was taken to a gateway. Without a mapping it keeps its ID.
    pub fn incoming(&self, source: FlowIndex, target: ElementIndex) -> Option<FlowIndex> {
        let incoming = &self.target.element(target).incoming;
        if let Some(flow) = self.flows[source as usize] {
            return incoming.contains(&flow).then_some(flow);
        }
        let id = &self.source.flow(source).id;
        incoming.iter().copied().find(|&flow| self.target.flow(flow).id == *id)
    }

    pub fn source_element(&self, index: ElementIndex) -> &Element {
        self.source.element(index)
    }

    pub fn target_element(&self, index: ElementIndex) -> &Element {
        self.target.element(index)
    }
}

enum Node {
    Element(ElementIndex),
    Flow(FlowIndex),
}

/// Sequence flows by ID, made when first asked for.
struct FlowIds<'a> {
    process: &'a Process,
    by_id: Option<HashMap<&'a str, FlowIndex>>,
}

impl<'a> FlowIds<'a> {
    fn new(process: &'a Process) -> Self {
        Self { process, by_id: None }
    }

    fn get(&mut self, id: &str) -> Option<FlowIndex> {
        let flows = &self.process.flows;
        let by_id =
            self.by_id.get_or_insert_with(|| (0..).zip(flows).map(|(at, flow)| (&*flow.id, at)).collect());
        by_id.get(id).copied()
    }
}

/// The process itself is mapped by the plan as a whole, so its ID is not an element of an instruction.
fn find(process: &Process, flows: &mut FlowIds, id: &str) -> Option<Node> {
    match process.by_id.get(id) {
        Some(&PROCESS) => None,
        Some(&element) => Some(Node::Element(element)),
        None => flows.get(id).map(Node::Flow),
    }
}

/// The source IDs that are there more than once.
fn duplicates(instructions: &[ElementMapping]) -> Option<String> {
    let (mut seen, mut twice) = (HashSet::new(), Vec::new());
    for instruction in instructions {
        let id = instruction.source_element_id.as_str();
        if !seen.insert(id) && !twice.contains(&id) {
            twice.push(id);
        }
    }
    let quoted: Vec<String> = twice.iter().map(|id| format!("'{id}'")).collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}
