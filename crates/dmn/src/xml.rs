//! The XML of a model: elements of DMN and the version tag of Camunda's extension. Everything else is skipped.

use std::ops::Deref;

use crate::limits::Limits;

pub(crate) use ::xml::{NodeId, decode};

/// The namespaces of DMN 1.1 to 1.5.
const DMN: [&str; 7] = [
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
    "http://www.omg.org/spec/DMN/20151101/dmn11.xsd",
    "http://www.omg.org/spec/DMN/20180521/MODEL/",
    "http://www.omg.org/spec/DMN/20191111/MODEL/",
    "https://www.omg.org/spec/DMN/20191111/MODEL/",
    "https://www.omg.org/spec/DMN/20211108/MODEL/",
    "https://www.omg.org/spec/DMN/20230324/MODEL/",
];
const ZEEBE: &str = "http://camunda.org/schema/zeebe/1.0";

/// A whole file; the root is the first element. The namespaces are not distinguished.
#[derive(Debug)]
pub(crate) struct Document<'x>(::xml::Document<'x, ()>);

impl<'x> Deref for Document<'x> {
    type Target = ::xml::Document<'x, ()>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'x> Document<'x> {
    /// Reads a whole file. The error names the reason and the position.
    pub(crate) fn read(text: &'x str, limits: &Limits) -> Result<Self, String> {
        let limits = ::xml::Limits { max_depth: limits.max_depth, max_elements: limits.max_xml_elements };
        ::xml::Document::read(text, limits, |namespace, name| is_kept(namespace, name).then_some(()))
            .map(Self)
    }

    pub(crate) fn name(&self, id: NodeId) -> &str {
        self.node(id).name
    }

    pub(crate) fn named<'d>(&'d self, id: NodeId, name: &'d str) -> impl Iterator<Item = NodeId> + 'd {
        self.children(id).filter(move |child| self.name(*child) == name)
    }

    pub(crate) fn child<'d>(&'d self, id: NodeId, name: &'d str) -> Option<NodeId> {
        self.named(id, name).next()
    }

    /// The content of the `text` element inside an element.
    pub(crate) fn inner_text(&self, id: NodeId) -> &str {
        self.child(id, "text").map_or("", |text| self.text(text))
    }
}

/// Whether the parser keeps an element.
fn is_kept(namespace: &str, name: &str) -> bool {
    (namespace == ZEEBE && name == "versionTag")
        || DMN.iter().any(|known| known.eq_ignore_ascii_case(namespace))
}
