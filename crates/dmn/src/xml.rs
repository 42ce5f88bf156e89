//! The XML of a model as a flat list of elements. Only elements of DMN and the version tag of
//! Camunda's extension are kept. There are no document types and no entities of their own.

use crate::limits::Limits;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::reader::NsReader;
use std::borrow::Cow;

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

/// The place of an element in its document.
pub(crate) type NodeId = usize;

struct Node {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<NodeId>,
}

/// A whole file; the root is the first element.
#[derive(Default)]
pub(crate) struct Document {
    nodes: Vec<Node>,
}

impl Document {
    /// Reads a whole file. The error says what is wrong and where.
    pub(crate) fn read(text: &str, limits: &Limits) -> Result<Self, String> {
        if text.len() > limits.max_bytes {
            return Err(format!("the file has {} bytes, more than {}", text.len(), limits.max_bytes));
        }
        let mut reader = NsReader::from_str(text);
        let mut builder =
            Builder { document: Self::default(), open: Vec::new(), seen: 0, foreign: 0, limits };
        loop {
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(malformed(text, reader.error_position(), &error.to_string())),
            };
            let outcome = match event {
                Event::Start(start) => is_kept(&reader, &start).and_then(|kept| builder.start(kept, &start)),
                Event::Empty(start) => is_kept(&reader, &start)
                    .and_then(|kept| builder.start(kept, &start))
                    .map(|()| builder.end()),
                Event::End(_) => {
                    builder.end();
                    Ok(())
                }
                Event::Text(text) => builder.text(&text.xml10_content()),
                Event::CData(text) => builder.text(&text.xml10_content()),
                Event::GeneralRef(reference) => resolve(&reference).and_then(|text| builder.text(&text)),
                Event::DocType(_) => Err("a document type declaration is not allowed".to_owned()),
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => Ok(()),
                Event::Eof => break,
            };
            outcome.map_err(|reason| malformed(text, reader.buffer_position(), &reason))?;
        }
        if builder.open.len() + builder.foreign > 0 {
            return Err(malformed(text, text.len() as u64, "an element is not closed"));
        }
        Ok(builder.document)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn name(&self, id: NodeId) -> &str {
        &self.nodes[id].name
    }

    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.nodes[id].attributes.iter().find_map(|(key, value)| (key == name).then_some(value.as_str()))
    }

    /// The text directly inside an element, without space around it.
    pub(crate) fn text(&self, id: NodeId) -> &str {
        self.nodes[id].text.trim()
    }

    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.nodes[id].children.iter().copied()
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

struct Builder<'l> {
    document: Document,
    /// Kept elements that are not closed yet.
    open: Vec<NodeId>,
    /// XML elements seen.
    seen: usize,
    /// Depth inside a foreign element; zero outside.
    foreign: usize,
    limits: &'l Limits,
}

impl Builder<'_> {
    fn start(&mut self, kept: bool, start: &BytesStart<'_>) -> Result<(), String> {
        if self.open.is_empty() && self.foreign == 0 && self.seen > 0 {
            return Err("there is more than one root element".to_owned());
        }
        self.seen += 1;
        if self.seen > self.limits.max_xml_elements {
            return Err(format!("there are more than {} XML elements", self.limits.max_xml_elements));
        }
        if self.open.len() + self.foreign >= self.limits.max_depth {
            return Err(format!("elements are nested deeper than {}", self.limits.max_depth));
        }
        if !kept || self.foreign > 0 {
            self.foreign += 1;
            return Ok(());
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let key = attribute.key.into_inner();
            if key == "xmlns" || key.contains(':') {
                continue;
            }
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
            attributes.push((key.to_owned(), value.into_owned()));
        }
        let id = self.document.nodes.len();
        if let Some(parent) = self.open.last() {
            self.document.nodes[*parent].children.push(id);
        }
        self.document.nodes.push(Node {
            name: start.local_name().into_inner().to_owned(),
            attributes,
            text: String::new(),
            children: Vec::new(),
        });
        self.open.push(id);
        Ok(())
    }

    fn end(&mut self) {
        if self.foreign > 0 {
            self.foreign -= 1;
        } else {
            self.open.pop();
        }
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if self.foreign > 0 {
            return Ok(());
        }
        match self.open.last() {
            Some(id) => self.document.nodes[*id].text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err("there is text outside the root element".to_owned()),
        }
        Ok(())
    }
}

/// Whether an element is one that matters.
fn is_kept(reader: &NsReader<&[u8]>, start: &BytesStart<'_>) -> Result<bool, String> {
    match reader.resolver().resolve_element(start.name()).0 {
        ResolveResult::Bound(Namespace(space)) => {
            let is_tag = space == ZEEBE && start.local_name().into_inner() == "versionTag";
            Ok(is_tag || DMN.iter().any(|known| known.eq_ignore_ascii_case(space)))
        }
        ResolveResult::Unbound => Ok(false),
        ResolveResult::Unknown(prefix) => Err(format!("the namespace prefix '{prefix}' is not declared")),
    }
}

/// A character reference or one of the five entities of XML.
fn resolve(reference: &BytesRef<'_>) -> Result<Cow<'static, str>, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(Cow::Owned(character.to_string()));
    }
    let name = reference.xml10_content();
    resolve_xml_entity(&name).map(Cow::Borrowed).ok_or_else(|| format!("the entity '{name}' is not declared"))
}

fn malformed(text: &str, position: u64, reason: &str) -> String {
    let before = &text[..text.floor_char_boundary((position as usize).min(text.len()))];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("malformed XML at line {line}, column {column}: {reason}")
}
