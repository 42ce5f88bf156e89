//! Compiled programs: nodes of a syntax tree, and the names of their variables.

use crate::ast::{Node, NodeId};
use std::sync::Arc;

pub(crate) struct Program {
    pub(crate) text: Box<str>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
    pub(crate) variables: Vec<Arc<str>>,
    /// Whether these are unary tests.
    pub(crate) unary: bool,
}

impl Program {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }
}
