//! The XML of a file: elements of the BPMN and of the extension namespace. The diagram and foreign elements are
//! skipped.

use std::ops::Deref;

use crate::limits::Limits;

pub(crate) use ::xml::{NodeId, decode};

/// The namespace of BPMN.
pub(crate) const MODEL_NAMESPACE: &str = "http://www.omg.org/spec/BPMN/20100524/MODEL";

/// The namespaces that the parser reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// [`MODEL_NAMESPACE`]
    Bpmn,
    /// `http://camunda.org/schema/zeebe/1.0`
    Zeebe,
}

impl Space {
    fn of(namespace: &str) -> Option<Self> {
        match namespace {
            MODEL_NAMESPACE => Some(Self::Bpmn),
            "http://camunda.org/schema/zeebe/1.0" => Some(Self::Zeebe),
            _ => None,
        }
    }
}

/// The elements of a file in document order.
#[derive(Debug)]
pub(crate) struct Document<'x>(::xml::Document<'x, Space>);

impl<'x> Deref for Document<'x> {
    type Target = ::xml::Document<'x, Space>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'x> Document<'x> {
    /// Reads a whole file. The error names the reason and the position.
    pub(crate) fn read(text: &'x str, limits: &Limits) -> Result<Self, String> {
        let of_xml = ::xml::Limits { max_depth: limits.max_depth, max_elements: limits.max_xml_elements };
        let document = ::xml::Document::read(text, of_xml, |namespace, _| Space::of(namespace)).map(Self)?;
        document.check_lists(limits.max_list_entries)?;
        Ok(document)
    }

    /// Refuses a file with a list that is too long.
    fn check_lists(&self, most: usize) -> Result<(), String> {
        let lists = (0..self.len() as NodeId).filter(|&id| self.node(id).space == Space::Zeebe);
        for list in lists {
            let found = self.children(list).count();
            if found > most {
                let name = self.node(list).name;
                return Err(format!("'{name}' has {found} elements, but at most {most} are allowed in one"));
            }
        }
        Ok(())
    }

    /// Whether the root element has this name. Without nodes, its namespace is not one that the parser reads.
    pub(crate) fn has_root(&self, space: Space, name: &str) -> bool {
        !self.is_empty() && self.is(0, space, name)
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

    fn is(&self, id: NodeId, space: Space, name: &str) -> bool {
        let node = self.node(id);
        node.space == space && node.name == name
    }
}
