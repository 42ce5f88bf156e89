//! Reachability of joins: from which elements a token can still arrive, for each incoming flow.
//!
//! Only scopes with an inclusive or complex join have rows; all other processes pay nothing. A row of bits belongs to
//! one incoming flow of a join: the elements of the scope from which a token can get to that flow without passing the
//! join itself. An activity leads to its boundary events, too.

use crate::graph::{Element, ElementIndex, ElementKind, Flow, FlowIndex, Process, Throw};
use crate::reach::{BITS, Reach, is_set};

impl Reach {
    pub(crate) fn of(elements: &[Element], flows: &[Flow]) -> Self {
        let mut reach = Self::default();
        for element in elements {
            let joins = || element.children.iter().copied().filter(|&child| joins_at(elements, child));
            if !joins().any(|join| waits_for_reachable(&elements[join as usize].kind)) {
                continue;
            }
            for join in joins() {
                if waits_for_reachable(&elements[join as usize].kind) {
                    reach.joins.push(join);
                }
                for &flow in &elements[join as usize].incoming {
                    reach.rows.insert(flow, sources(elements, flows, join, flow));
                }
            }
        }
        reach
    }

    /// Finds the scopes of the joins, after the scopes of loops and ad-hoc sub-processes are created.
    pub(crate) fn find_scopes(&mut self, elements: &[Element]) {
        self.scopes = self.joins.iter().map(|&join| elements[join as usize].scope).collect();
    }
}

impl Process {
    /// Whether a token at an element can get to an incoming flow of a join without passing the join. Always false
    /// where the scope has no such join.
    pub fn can_reach(&self, from: ElementIndex, flow: FlowIndex) -> bool {
        self.reach.rows.get(&flow).is_some_and(|row| is_set(row, from))
    }

    /// Whether a join directly in this scope waits for tokens that can still reach it.
    pub fn asks_who_lives(&self, scope: ElementIndex) -> bool {
        self.reach.scopes.contains(&scope)
    }
}

/// Whether a join waits for the tokens that can still reach it, instead of for all flows.
fn waits_for_reachable(kind: &ElementKind) -> bool {
    matches!(kind, ElementKind::Inclusive { .. } | ElementKind::Complex { .. })
}

fn joins_at(elements: &[Element], index: ElementIndex) -> bool {
    let element = &elements[index as usize];
    element.incoming.len() > 1
        && (matches!(element.kind, ElementKind::Parallel) || waits_for_reachable(&element.kind))
}

/// The elements that lead to a flow, found backwards. The join itself may be one, but is not passed.
fn sources(elements: &[Element], flows: &[Flow], join: ElementIndex, flow: FlowIndex) -> Box<[u64]> {
    let mut found = vec![0; elements.len().div_ceil(BITS)].into_boxed_slice();
    let mut open = vec![flows[flow as usize].source];
    while let Some(index) = open.pop() {
        if is_set(&found, index) {
            continue;
        }
        found[index as usize / BITS] |= 1 << (index as usize % BITS);
        if index == join {
            continue;
        }
        let element = &elements[index as usize];
        open.extend(element.incoming.iter().map(|&flow| flows[flow as usize].source));
        match &element.kind {
            ElementKind::Boundary(boundary) => open.push(boundary.attached_to),
            ElementKind::LinkCatch { .. } => {
                let children = &elements[element.scope as usize].children;
                let leads_here = |child: &ElementIndex| matches!(elements[*child as usize].kind, ElementKind::Throw(Throw::Link { target, .. }) if target == index);
                open.extend(children.iter().copied().filter(leads_here));
            }
            _ => {}
        }
    }
    found
}
