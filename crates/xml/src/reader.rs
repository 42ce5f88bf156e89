//! Builds a [`Document`] from the events of the XML parser.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::reader::NsReader;

use super::{Document, Limits, Node, NodeId};

impl<'x, S> Document<'x, S> {
    /// Reads a whole file. The error says what is wrong and where.
    ///
    /// `space_of` is asked with the namespace and the local name of an element; what it knows is kept, everything else
    /// is read over with all that is inside.
    pub fn read(
        text: &'x str,
        limits: Limits,
        space_of: impl Fn(&str, &str) -> Option<S>,
    ) -> Result<Self, String> {
        let mut reader = NsReader::from_str(text);
        let document = Self { nodes: Vec::new(), attributes: Vec::new() };
        let mut builder = Builder { document, open: Vec::new(), seen: 0, foreign: 0, limits };
        loop {
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(malformed(text, reader.error_position(), &error.to_string())),
            };
            let end = reader.buffer_position();
            let outcome = match event {
                Event::Start(start) => resolve_space(&reader, &start, &space_of)
                    .and_then(|space| builder.start(space, &start, content(text, end, 1, &start))),
                Event::Empty(start) => resolve_space(&reader, &start, &space_of)
                    .and_then(|space| builder.start(space, &start, content(text, end, 2, &start)))
                    .map(|()| builder.end()),
                Event::End(_) => {
                    builder.end();
                    Ok(())
                }
                Event::Text(text) => builder.text(text.xml10_content()),
                Event::CData(text) => builder.text(text.xml10_content()),
                Event::GeneralRef(reference) => resolve(&reference).and_then(|text| builder.text(text)),
                Event::DocType(_) => Err("a document type declaration is not allowed".to_owned()),
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => Ok(()),
                Event::Eof => break,
            };
            outcome.map_err(|reason| malformed(text, end, &reason))?;
        }
        if builder.open.len() + builder.foreign > 0 {
            return Err(malformed(text, text.len() as u64, "an element is not closed"));
        }
        Ok(builder.document)
    }
}

struct Builder<'x, S> {
    document: Document<'x, S>,
    /// Kept elements that are not closed yet.
    open: Vec<NodeId>,
    seen: usize,
    /// Depth inside a foreign element; zero outside.
    foreign: usize,
    limits: Limits,
}

impl<'x, S> Builder<'x, S> {
    fn start(
        &mut self,
        space: Option<S>,
        start: &BytesStart<'_>,
        content: Option<&'x str>,
    ) -> Result<(), String> {
        if self.open.is_empty() && self.foreign == 0 && self.seen > 0 {
            return Err("there is more than one root element".to_owned());
        }
        self.seen += 1;
        if self.seen > self.limits.max_elements {
            return Err(format!("there are more than {} XML elements", self.limits.max_elements));
        }
        if self.open.len() + self.foreign >= self.limits.max_depth {
            return Err(format!("elements are nested deeper than {}", self.limits.max_depth));
        }
        let Some(space) = space.filter(|_| self.foreign == 0) else {
            self.foreign += 1;
            return Ok(());
        };
        let content = content.ok_or_else(|| "a start tag has no text".to_owned())?;
        let id = self.document.nodes.len() as NodeId;
        let name_bytes = start.name().into_inner().len();
        let name = content.get(..name_bytes).unwrap_or_default();
        let first = self.document.attributes.len() as u32;
        for attribute in Attributes::new(content, name_bytes) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let key = attribute.key.into_inner();
            if key == "xmlns" || key.contains(':') {
                continue;
            }
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
            self.document.attributes.push((key, value));
        }
        self.document.nodes.push(Node {
            space,
            name: name.rsplit_once(':').map_or(name, |(_, local)| local),
            parent: self.open.last().copied(),
            end: id + 1,
            attributes: first..self.document.attributes.len() as u32,
            text: Cow::Borrowed(""),
        });
        self.open.push(id);
        Ok(())
    }

    fn end(&mut self) {
        if self.foreign > 0 {
            self.foreign -= 1;
        } else if let Some(id) = self.open.pop() {
            let end = self.document.nodes.len() as NodeId;
            self.document.nodes[id as usize].end = end;
        }
    }

    fn text(&mut self, text: Cow<'x, str>) -> Result<(), String> {
        let blank = text.trim().is_empty();
        if self.foreign > 0 {
            return Ok(());
        }
        let Some(&id) = self.open.last() else {
            return if blank { Ok(()) } else { Err("there is text outside the root element".to_owned()) };
        };
        let held = &mut self.document.nodes[id as usize].text;
        if !held.is_empty() {
            held.to_mut().push_str(&text);
        } else if !blank {
            *held = text;
        }
        Ok(())
    }
}

/// The namespace of an element, if it is one that matters.
fn resolve_space<S>(
    reader: &NsReader<&[u8]>,
    start: &BytesStart<'_>,
    space_of: impl Fn(&str, &str) -> Option<S>,
) -> Result<Option<S>, String> {
    match reader.resolver().resolve_element(start.name()) {
        (ResolveResult::Bound(Namespace(namespace)), name) => Ok(space_of(namespace, name.into_inner())),
        (ResolveResult::Unbound, _) => Ok(None),
        (ResolveResult::Unknown(prefix), _) => {
            Err(format!("the namespace prefix '{prefix}' is not declared"))
        }
    }
}

/// The text between the angle brackets of a tag that ends at a position, borrowed from the file.
fn content<'x>(text: &'x str, end: u64, closing_bytes: usize, start: &BytesStart<'_>) -> Option<&'x str> {
    let end = (end as usize).checked_sub(closing_bytes)?;
    let content = text.get(end.checked_sub(start.len())?..end)?;
    debug_assert_eq!(content, &**start);
    Some(content)
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
    let mut position = (position as usize).min(text.len());
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    let before = &text[..position];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("malformed XML at line {line}, column {column}: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "<d xmlns='one'>";

    fn read(text: &str) -> Result<Document<'_, u8>, String> {
        Document::read(text, Limits { max_depth: 8, max_elements: 20 }, |namespace, name| match namespace {
            "one" => Some(1),
            "two" if name != "not" => Some(2),
            _ => None,
        })
    }

    #[test]
    fn keeps_what_matters() {
        let text = "<?xml version='1.0'?><!-- c --><b:d xmlns:b='one' xmlns:x='two' xmlns:o='o'>
               <b:a id='1 &amp; &#x31;' o:id='2' x:id='3'>one &lt;<![CDATA[ & ]]>two<o:skip><b:in/></o:skip></b:a>
               <x:t v=\"line&#10;two\nthree\"/><skip/><x:not/>
             </b:d>";
        let document = read(text).unwrap();
        let shape: Vec<_> = document.nodes.iter().map(|node| (node.space, node.name, node.parent)).collect();
        assert_eq!(shape, [(1, "d", None), (1, "a", Some(0)), (2, "t", Some(0))]);
        assert_eq!(document.children(0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(document.attribute(1, "id"), Some("1 & 1"));
        assert_eq!(document.attribute(2, "v"), Some("line\ntwo three"));
        assert_eq!(document.text(1), "one < & two");
        assert_eq!(document.text(0), "");
    }

    #[test]
    fn refuses_what_is_malformed() {
        for (text, reason) in [
            ("<a:d/>".to_owned(), "line 1, column 7: the namespace prefix 'a' is not declared"),
            (format!("{ROOT}\n<a></d>"), "line 2, column 4: "),
            (format!("{ROOT}\n<a>"), "line 2, column 4: an element is not closed"),
            (format!("{ROOT}<o xmlns=''>"), "an element is not closed"),
            (format!("{ROOT}</d><d/>"), "more than one root element"),
            (format!("{ROOT}</d>x"), "text outside the root element"),
            (format!("x{ROOT}</d>"), "text outside the root element"),
            (
                format!("<!DOCTYPE d [<!ENTITY a 'aa'>]>{ROOT}&a;</d>"),
                "document type declaration is not allowed",
            ),
            (format!("{ROOT}&a;</d>"), "the entity 'a' is not declared"),
            (format!("{ROOT}&#0;</d>"), ""),
            (format!("{ROOT}<a b='&a;'/></d>"), "malformed"),
            (format!("{ROOT}<a b='1' b='2'/></d>"), "malformed"),
            (format!("{ROOT}<a b=1/></d>"), "malformed"),
            (format!("{ROOT}<a b='1/></d>"), "malformed"),
            (format!("{ROOT}{}", "<a>".repeat(8)), "elements are nested deeper than 8"),
            (format!("{ROOT}{}", "<o xmlns=''>".repeat(8)), "elements are nested deeper than 8"),
            (format!("{ROOT}{}</d>", "<a/>".repeat(20)), "there are more than 20 XML elements"),
            (format!("{ROOT}<"), "malformed"),
            (format!("{ROOT}<!-- "), "malformed"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(reason) && error.starts_with("malformed XML at line"), "{text}: {error}");
        }
    }
}
