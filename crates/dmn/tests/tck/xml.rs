//! A small tree of XML elements.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

/// An element with its attributes, which are known by their local names.
#[derive(Default)]
pub struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    /// The root element of a file.
    pub fn read(text: &str) -> Self {
        let mut reader = Reader::from_str(text);
        let mut open = vec![Self::default()];
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Start(start) => open.push(Self::start(&start)),
                Event::Empty(start) => open.last_mut().expect("a parent").children.push(Self::start(&start)),
                Event::End(_) => {
                    let element = open.pop().expect("an open element");
                    open.last_mut().expect("a parent").children.push(element);
                }
                Event::Text(text) => open.last_mut().expect("a parent").text.push_str(&text.xml10_content()),
                Event::CData(text) => open.last_mut().expect("a parent").text.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let text = &mut open.last_mut().expect("a parent").text;
                    match reference.resolve_char_ref().expect("a character") {
                        Some(character) => text.push(character),
                        None => {
                            text.push_str(resolve_xml_entity(&reference.xml10_content()).expect("an entity"));
                        }
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        open.pop().and_then(|mut root| root.children.pop()).expect("a root element")
    }

    fn start(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.expect("an attribute");
            let key = attribute.key.local_name().into_inner().to_owned();
            let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).expect("a value");
            (key, value.into_owned())
        });
        Self {
            name: start.local_name().into_inner().to_owned(),
            attributes: attributes.collect(),
            ..Self::default()
        }
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find_map(|(key, value)| (key == name).then_some(value.as_str()))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn named<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    pub fn child<'e>(&'e self, name: &'e str) -> Option<&'e Self> {
        self.named(name).next()
    }
}
