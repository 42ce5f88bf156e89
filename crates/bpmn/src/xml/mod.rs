//! XML in, a flat list of the elements that matter out.
//!
//! Only elements of the BPMN and of the extension namespace are kept; the diagram and everything foreign is read over.
//! Nodes stand in document order and know where their subtree ends, so that nothing here or later needs recursion.
//! Document types are refused, so there are no entities to expand but the five of XML itself.

mod encoding;
mod reader;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use encoding::decode;

/// Position of a node in its [`Document`].
pub(crate) type NodeId = u32;

/// The namespaces that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// `http://www.omg.org/spec/BPMN/20100524/MODEL`
    Bpmn,
    /// `http://camunda.org/schema/zeebe/1.0`
    Zeebe,
}

/// An element.
#[derive(Debug)]
pub(crate) struct Node<'x> {
    pub(crate) space: Space,
    /// Local name.
    pub(crate) name: &'x str,
    pub(crate) parent: Option<NodeId>,
    /// The node after the last one of this subtree.
    end: NodeId,
    attributes: Range<u32>,
    text: Cow<'x, str>,
}

/// The elements of a file in document order.
#[derive(Debug, Default)]
pub(crate) struct Document<'x> {
    nodes: Vec<Node<'x>>,
    /// Unprefixed attributes of all nodes.
    attributes: Vec<(&'x str, Cow<'x, str>)>,
}

impl<'x> Document<'x> {
    pub(crate) fn node(&self, id: NodeId) -> &Node<'x> {
        &self.nodes[id as usize]
    }

    /// Whether the root element is this one. Without nodes, it is of no namespace that matters.
    pub(crate) fn has_root(&self, space: Space, name: &str) -> bool {
        !self.nodes.is_empty() && self.is(0, space, name)
    }

    /// The value of an unprefixed attribute.
    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let range = &self.node(id).attributes;
        self.attributes[range.start as usize..range.end as usize]
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.as_ref())
    }

    /// Character data directly inside a node, without surrounding blanks.
    pub(crate) fn text(&self, id: NodeId) -> &str {
        self.node(id).text.trim()
    }

    /// The children of a node in document order.
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.node(id).end;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.node(child).end;
            Some(child)
        })
    }

    /// The children with a name in the BPMN namespace.
    pub(crate) fn bpmn_children<'a>(
        &'a self,
        id: NodeId,
        name: &'a str,
    ) -> impl Iterator<Item = NodeId> + 'a {
        self.children(id).filter(move |&child| self.is(child, Space::Bpmn, name))
    }

    /// The children with a name in the extension namespace.
    pub(crate) fn zeebe_children<'a>(
        &'a self,
        id: NodeId,
        name: &'a str,
    ) -> impl Iterator<Item = NodeId> + 'a {
        self.children(id).filter(move |&child| self.is(child, Space::Zeebe, name))
    }

    /// All nodes below a node, in document order.
    pub(crate) fn descendants(&self, id: NodeId) -> Range<NodeId> {
        id + 1..self.node(id).end
    }

    fn is(&self, id: NodeId, space: Space, name: &str) -> bool {
        let node = self.node(id);
        node.space == space && node.name == name
    }
}
