//! The properties of a validated body, read in place.

use std::borrow::Cow;

use bytes::Bytes;
use protocol::{Document, DocumentError, Key, Name};
use serde_json::{Map, Value};
use smallvec::SmallVec;

use super::contract::{Body, Kind, Media, Schema};
use super::problem::Failure;

/// A property of the root, with its value as it stands in the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'static str,
    pub(crate) raw: &'a str,
}

/// Validated properties. Values have the types of the contract, so reading one cannot fail, free ones excepted.
pub(crate) struct Fields<'a> {
    schema: Option<&'static Schema>,
    list: SmallVec<[Field<'a>; 16]>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(schema: &'static Schema) -> Self {
        Self { schema: Some(schema), list: SmallVec::new() }
    }

    /// None yet of a body that the contract expects so.
    pub(crate) fn of(body: &Body) -> Self {
        match body.media {
            Media::Json => Self::new(body.schema),
            Media::Multipart => Self::none(),
        }
    }

    /// Those of a request that has no JSON.
    pub(crate) fn none() -> Self {
        Self { schema: None, list: SmallVec::new() }
    }

    pub(super) fn push(&mut self, field: Field<'a>) {
        self.list.push(field);
    }

    /// The JSON of a property; `null` is the same as absent.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a str> {
        debug_assert!(self.is_declared(name), "the contract has no property {name} here");
        let field = self.list.iter().find(|field| field.name == name)?;
        (field.raw != "null").then_some(field.raw)
    }

    /// A property as JSON; null if it is absent or the contract has none of this name here.
    pub(crate) fn value(&self, name: &str) -> Value {
        let raw = if self.is_declared(name) { self.raw(name) } else { None };
        raw.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or(Value::Null)
    }

    /// An object, empty if absent.
    pub(crate) fn object(&self, name: &str) -> Map<String, Value> {
        match self.value(name) {
            Value::Object(object) => object,
            _ => Map::new(),
        }
    }

    /// Whether the contract has a property here.
    pub(crate) fn is_declared(&self, name: &str) -> bool {
        match self.schema.map(|schema| &schema.kind) {
            Some(Kind::Object(object)) => object.properties.iter().any(|p| p.name == name),
            _ => false,
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(name)?;
        let inner = &raw[1..raw.len() - 1];
        Some(if inner.contains('\\') {
            Cow::Owned(serde_json::from_str(raw).expect("validated as a string"))
        } else {
            Cow::Borrowed(inner)
        })
    }

    /// A string, empty if absent.
    pub(crate) fn name(&self, name: &str) -> Option<Name> {
        self.text(name).map(|text| Name::from(&*text))
    }

    pub(crate) fn name_or_empty(&self, name: &str) -> Name {
        self.text(name).map_or_else(Name::default, |text| Name::from(&*text))
    }

    /// The tenant; the default one if absent.
    pub(crate) fn tenant(&self) -> Name {
        self.text("tenantId").map_or_else(Name::default_tenant, |text| Name::from(&*text))
    }

    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        self.raw(name).map(|raw| raw.parse().expect("validated as an integer"))
    }

    /// A 32-bit integer.
    pub(crate) fn int32(&self, name: &str) -> Option<i32> {
        self.raw(name).map(|raw| raw.parse().expect("validated as a 32-bit integer"))
    }

    /// A boolean, false if absent.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    /// The reference that records of the command repeat.
    pub(crate) fn operation_reference(&self) -> Option<u64> {
        self.integer("operationReference").map(i64::cast_unsigned)
    }

    pub(crate) fn key(&self, name: &str) -> Result<Option<Key>, Failure> {
        self.text(name).map(|text| parse_key(name, &text)).transpose()
    }

    /// A list of strings, empty if absent.
    pub(crate) fn names(&self, name: &str) -> Vec<Name> {
        match self.raw(name) {
            None | Some("[]") => Vec::new(),
            Some(raw) => serde_json::from_str(raw).expect("validated as a list of strings"),
        }
    }

    /// A property as a type. Free objects inside it are read when they are.
    pub(crate) fn parsed<T: serde::Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, Failure> {
        let parsed = self.raw(name).map(serde_json::from_str).transpose();
        parsed.map_err(|error| Failure::invalid(format!("{name}: {error}")))
    }

    /// A list of objects, empty if absent.
    pub(crate) fn list<T: serde::Deserialize<'a>>(&self, name: &str) -> Result<Vec<T>, Failure> {
        Ok(self.parsed(name)?.unwrap_or_default())
    }

    /// A free object as variables. Large ones share the memory of `body`, the buffer that was validated.
    pub(crate) fn document(&self, name: &str, body: &Bytes) -> Result<Document, Failure> {
        let Some(raw) = self.raw(name) else { return Ok(Document::empty()) };
        Document::parse(body.slice_ref(raw.as_bytes())).map_err(|error| {
            Failure::invalid(match error {
                DocumentError::Syntax(reason) => {
                    format!("request body is not valid JSON: {reason} of {name}")
                }
                other => format!("{name}: {other}"),
            })
        })
    }
}

/// A key that matches the pattern of the contract. Keys are positive; a negative one is of nothing.
pub(crate) fn parse_key(name: &str, text: &str) -> Result<Key, Failure> {
    match text.parse::<i64>() {
        Ok(key) if key >= 0 => Ok(key.cast_unsigned()),
        Ok(key) => Err(Failure::not_found(format!("no resource has the {name} {key}"))),
        Err(_) => Err(Failure::invalid(format!("{name}: a key has at most 64 bits"))),
    }
}
