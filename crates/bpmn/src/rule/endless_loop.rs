//! Refuses loops that never wait.
//!
//! A token in a loop of elements that complete at once would run for ever. Such a loop is refused if it holds a task,
//! a call, a throw event or a start event; a loop of gateways alone is accepted. Elements are nodes of one graph over
//! all processes of the file: an element leads to the targets of its flows, a sub-process to its start, the last
//! element of a sub-process to what follows the sub-process, a call to the start of the called process. Every
//! strongly connected part of that graph with a cycle is a loop; they are found without recursion (Tarjan).

use std::collections::HashMap;

use crate::graph::{
    ElementIndex, ElementKind, ElementType, End, PROCESS, Process, StartEvent, Text, Throw, Trigger,
};
use crate::kind::ReadProcess;
use crate::problem::Report;
use crate::xml::Document;

/// Most elements of a loop that a finding names.
const MAX_NAMED: usize = 20;

pub(super) fn check(document: &Document<'_>, processes: &[ReadProcess], report: &mut Report) {
    let graph = Graph::new(processes);
    for mut component in graph.components() {
        let has_cycle = component.len() > 1 || graph.edges[component[0]].contains(&component[0]);
        if !has_cycle || !component.iter().any(|&node| graph.must_not_loop(node)) {
            continue;
        }
        component.sort_unstable();
        let path = graph.cycle(&component);
        let mut names: Vec<_> = path.iter().take(MAX_NAMED).map(|&node| &*graph.element(node).id).collect();
        names.push(if path.len() > MAX_NAMED { "…" } else { names[0] });
        let reason =
            format!("must not have an endless loop of elements that never wait: {}", names.join(" -> "));
        report.add(document, graph.nodes[path[0]].0.node, reason);
    }
}

/// Elements that complete at once, with their successors.
struct Graph<'a> {
    nodes: Vec<(&'a ReadProcess, ElementIndex)>,
    edges: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn new(processes: &'a [ReadProcess]) -> Self {
        let mut nodes = Vec::new();
        let mut first_of = Vec::new();
        let mut start_of: HashMap<&str, usize> = HashMap::new();
        for read in processes {
            let (first, process) = (nodes.len(), &read.process);
            first_of.push(first);
            nodes.extend((0..process.elements.len()).map(|index| (read, index as ElementIndex)));
            if let Some(start) = process.none_start(PROCESS) {
                start_of.insert(&process.id, first + start as usize);
            }
        }
        let mut edges = Vec::with_capacity(nodes.len());
        for (read, &first) in processes.iter().zip(&first_of) {
            for index in 0..read.process.elements.len() as ElementIndex {
                let straight = read.is_whole[index as usize] && is_straight(&read.process, index);
                edges.push(if straight { next(&read.process, index, first, &start_of) } else { Vec::new() });
            }
        }
        Self { nodes, edges }
    }

    fn element(&self, node: usize) -> &'a crate::graph::Element {
        let (read, index) = self.nodes[node];
        read.process.element(index)
    }

    /// Whether a loop through this element is refused.
    fn must_not_loop(&self, node: usize) -> bool {
        matches!(
            self.element(node).element_type,
            ElementType::ManualTask
                | ElementType::Task
                | ElementType::CallActivity
                | ElementType::IntermediateThrowEvent
                | ElementType::ScriptTask
                // Each round leaves a token behind.
                | ElementType::StartEvent
        )
    }

    /// Strongly connected components with at least one edge inside or more than one node.
    fn components(&self) -> Vec<Vec<usize>> {
        const UNSEEN: usize = usize::MAX;
        let count = self.nodes.len();
        let (mut order, mut low, mut on_stack) = (vec![UNSEEN; count], vec![0; count], vec![false; count]);
        let (mut stack, mut components, mut next_order) = (Vec::new(), Vec::new(), 0);
        // Node and the position of its next edge.
        let mut work: Vec<(usize, usize)> = Vec::new();
        for root in 0..count {
            if order[root] != UNSEEN {
                continue;
            }
            work.push((root, 0));
            while let Some(top) = work.last_mut() {
                let (node, edge) = *top;
                if edge == 0 {
                    (order[node], low[node], on_stack[node]) = (next_order, next_order, true);
                    next_order += 1;
                    stack.push(node);
                }
                if let Some(&target) = self.edges[node].get(edge) {
                    top.1 += 1;
                    if order[target] == UNSEEN {
                        work.push((target, 0));
                    } else if on_stack[target] {
                        low[node] = low[node].min(order[target]);
                    }
                    continue;
                }
                work.pop();
                if let Some((parent, _)) = work.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
                if low[node] == order[node] {
                    let from = stack.iter().rposition(|&held| held == node).unwrap_or_default();
                    let component = stack.split_off(from);
                    for &member in &component {
                        on_stack[member] = false;
                    }
                    components.push(component);
                }
            }
        }
        components
    }

    /// A shortest cycle inside a component through its first element that must not loop.
    fn cycle(&self, component: &[usize]) -> Vec<usize> {
        let start = component.iter().copied().find(|&node| self.must_not_loop(node)).unwrap_or(component[0]);
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for &target in &self.edges[node] {
                if component.binary_search(&target).is_err() || came_from.contains_key(&target) {
                    continue;
                }
                came_from.insert(target, node);
                if target == start {
                    let mut path = vec![node];
                    while path.last() != Some(&start) {
                        path.push(came_from[&path[path.len() - 1]]);
                    }
                    path.reverse();
                    return path;
                }
                queue.push_back(target);
            }
        }
        vec![start]
    }
}

/// Whether an element completes without waiting for anything.
fn is_straight(process: &Process, index: ElementIndex) -> bool {
    match &process.element(index).kind {
        ElementKind::PassThrough
        | ElementKind::SubProcess { .. }
        | ElementKind::StartEvent(StartEvent { trigger: Trigger::None, .. })
        | ElementKind::IntermediateThrow
        | ElementKind::Compensate { .. }
        | ElementKind::Throw(Throw::Link { .. })
        | ElementKind::LinkCatch { .. }
        | ElementKind::EndEvent(End::None)
        | ElementKind::Script { .. }
        | ElementKind::Call(_)
        | ElementKind::Exclusive { .. }
        | ElementKind::Inclusive { .. }
        | ElementKind::Complex { .. }
        | ElementKind::Parallel => true,
        ElementKind::Process
        | ElementKind::EventSubProcess { .. }
        | ElementKind::StartEvent(_)
        | ElementKind::IntermediateCatch(_)
        | ElementKind::Boundary(_)
        | ElementKind::EndEvent(_)
        // An escalation or a signal may end the scope of the loop.
        | ElementKind::Throw(_)
        | ElementKind::Job(_)
        | ElementKind::UserTask(_)
        | ElementKind::Receive(_)
        | ElementKind::Decision(_)
        | ElementKind::EventBased
        // Created from its activity after the check.
        | ElementKind::MultiInstance(_)
        | ElementKind::Loop(_)
        | ElementKind::AdHocInner
        // A job worker or a list of IDs selects the elements that run inside.
        | ElementKind::AdHoc(_) => false,
    }
}

/// Successors of an element that completes at once.
fn next(process: &Process, index: ElementIndex, first: usize, start_of: &HashMap<&str, usize>) -> Vec<usize> {
    let element = process.element(index);
    match &element.kind {
        ElementKind::Throw(Throw::Link { target, .. }) => return vec![first + *target as usize],
        ElementKind::SubProcess { start } => return vec![first + *start as usize],
        // Only calls within the file can be followed.
        ElementKind::Call(call) => {
            let Text::Static(called) = &call.process_id else { return Vec::new() };
            return start_of.get(&**called).copied().into_iter().collect();
        }
        _ => {}
    }
    let mut at = element;
    // The last element of a sub-process leads to what follows the sub-process.
    while at.outgoing.is_empty() && at.scope != PROCESS {
        at = process.element(at.scope);
    }
    at.outgoing.iter().map(|&flow| first + process.flow(flow).target as usize).collect()
}
