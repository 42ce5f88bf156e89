//! The check of a process.

use crate::graph::{ElementIndex, FlowIndex, Process};
use crate::outline::Outline;
use crate::problem::Report;
use crate::xml::Document;

/// A process under check; its elements are read.
pub(crate) struct Check<'a, 'x> {
    pub(crate) document: &'a Document<'x>,
    pub(crate) outline: &'a Outline<'a>,
    pub(crate) process: &'a Process,
    pub(crate) report: &'a mut Report,
}

impl Check<'_, '_> {
    /// Reports a finding about an element.
    pub(crate) fn problem(&mut self, index: ElementIndex, reason: impl Into<String>) {
        let node = self.outline.elements[index as usize].node;
        self.report.add(self.document, node, reason);
    }

    /// Reports a finding about a sequence flow.
    pub(crate) fn flow_problem(&mut self, index: FlowIndex, reason: impl Into<String>) {
        let node = self.outline.flows[index as usize].node;
        self.report.add(self.document, node, reason);
    }
}
