//! XML files in, a flat list of the elements that matter out.
//!
//! [`decode`] turns bytes into text, [`Document::read`] text into nodes. The reader names the relevant namespaces
//! and how it calls them; everything else is read over. Nodes stand in document order and know where their subtree
//! ends, so that nothing here or later needs recursion. Document types are refused, so there are no entities to expand
//! but the five of XML itself.
//!
//! This crate knows neither BPMN nor DMN.

mod encoding;
mod name;
mod reader;

use std::borrow::Cow;
use std::ops::Range;

pub use encoding::decode;
pub use name::is_name;

/// Position of a node in its [`Document`].
pub type NodeId = u32;

/// How large a document may be. The size of the file is for its owner to check before decoding it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Nesting depth of elements.
    pub max_depth: usize,
    /// Elements, those that do not matter included.
    pub max_elements: usize,
}

/// An element. `S` names the namespaces that matter.
#[derive(Debug)]
pub struct Node<'x, S> {
    /// Its namespace.
    pub space: S,
    /// Local name.
    pub name: &'x str,
    /// The element around it.
    pub parent: Option<NodeId>,
    /// The node after the last one of this subtree.
    end: NodeId,
    attributes: Range<u32>,
    text: Cow<'x, str>,
}

/// The elements of a file in document order; the root, if it matters, is the first.
#[derive(Debug)]
pub struct Document<'x, S> {
    nodes: Vec<Node<'x, S>>,
    /// Unprefixed attributes of all nodes.
    attributes: Vec<(&'x str, Cow<'x, str>)>,
}

impl<'x, S> Document<'x, S> {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes: the root element is of no namespace that matters.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node. IDs come from this document.
    pub fn node(&self, id: NodeId) -> &Node<'x, S> {
        &self.nodes[id as usize]
    }

    /// The value of an unprefixed attribute.
    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let range = &self.node(id).attributes;
        self.attributes[range.start as usize..range.end as usize]
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.as_ref())
    }

    /// Character data directly inside a node, without surrounding blanks.
    pub fn text(&self, id: NodeId) -> &str {
        self.node(id).text.trim()
    }

    /// The children of a node in document order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.node(id).end;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.node(child).end;
            Some(child)
        })
    }

    /// All nodes, in document order.
    pub fn all(&self) -> Range<NodeId> {
        0..self.nodes.len() as NodeId
    }

    /// All nodes below a node, in document order.
    pub fn descendants(&self, id: NodeId) -> Range<NodeId> {
        id + 1..self.node(id).end
    }
}
