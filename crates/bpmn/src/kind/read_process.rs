//! A process that was read.

use crate::graph::{ElementIndex, ElementKind, Process};
use crate::xml::NodeId;

/// A process with the set of its elements that have no finding.
#[derive(Debug)]
pub(crate) struct ReadProcess {
    pub(crate) process: Process,
    pub(crate) node: NodeId,
    pub(crate) is_whole: Vec<bool>,
    /// Multi-instance activities; they become two elements after all checks.
    pub(crate) loops: Vec<(ElementIndex, ElementKind)>,
}
