//! The contract of the REST API as static tables, made by the build script from `api/contract.json`.
//!
//! Routing, validation, multipart and the contract tests read these and nothing else. Knows no HTTP library.

mod pattern;

pub(crate) use pattern::Pattern;

/// Schema of a JSON value.
pub(crate) struct Schema {
    pub(crate) nullable: bool,
    pub(crate) kind: Kind,
}

/// The kinds of value.
pub(crate) enum Kind {
    Any,
    Boolean,
    /// Both bounds belong to it.
    Integer {
        min: i64,
        max: i64,
    },
    /// With decimals or without.
    Number,
    Text(Text),
    Enum(&'static [&'static str]),
    Array(Array),
    Object(Object),
    /// Alternatives of different JSON types.
    Choice(&'static [&'static Schema]),
}

/// A string; lengths in characters.
pub(crate) struct Text {
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Format,
}

/// Format of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    DateTime,
    /// The content of a file, in multipart forms.
    Binary,
}

pub(crate) struct Array {
    pub(crate) items: &'static Schema,
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) unique: bool,
}

/// An object, or several that exclude each other by their properties.
pub(crate) struct Object {
    pub(crate) properties: &'static [Property],
    /// One, or one for each alternative. Bits are positions in `properties`.
    pub(crate) alternatives: &'static [Alternative],
    pub(crate) discriminator: Option<Discriminator>,
    pub(crate) additional: Additional,
}

impl Object {
    /// Whether it is a free set of values, such as variables.
    pub(crate) const fn is_free(&self) -> bool {
        self.properties.is_empty() && matches!(self.additional, Additional::Any)
    }
}

pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) schema: &'static Schema,
}

/// Which properties belong together.
pub(crate) struct Alternative {
    pub(crate) allowed: u64,
    pub(crate) required: u64,
}

/// The property whose value names the alternative.
pub(crate) struct Discriminator {
    pub(crate) property: usize,
    pub(crate) values: &'static [(&'static str, usize)],
}

/// Additional properties of an object.
pub(crate) enum Additional {
    None,
    Any,
    Each(&'static Schema),
}

/// A request that the API knows.
pub(crate) struct OperationSpec {
    pub(crate) id: &'static str,
    pub(crate) method: &'static str,
    /// With the base and `{placeholders}`.
    pub(crate) path: &'static str,
    /// In the order of the path.
    pub(crate) path_parameters: &'static [Parameter],
    pub(crate) query_parameters: &'static [Parameter],
    pub(crate) body: Option<Body>,
    /// Status and the schema of the JSON answer; no schema: no body, another media type, or problem details.
    pub(crate) responses: &'static [(u16, Option<&'static Schema>)],
}

/// A parameter in the path or the query.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) schema: &'static Schema,
    pub(crate) required: bool,
}

pub(crate) struct Body {
    pub(crate) media: Media,
    pub(crate) schema: &'static Schema,
    pub(crate) required: bool,
}

/// Media types of request bodies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Multipart,
}

/// Methods of the contract, in the order of [`RouteNode::operations`].
pub(crate) const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// A node of the path tree.
pub(crate) struct RouteNode {
    pub(crate) literals: &'static [(&'static str, usize)],
    pub(crate) parameter: Option<usize>,
    pub(crate) operations: [Option<Operation>; METHODS.len()],
}

impl Operation {
    /// Its specification in the contract.
    pub(crate) const fn spec(self) -> &'static OperationSpec {
        &OPERATIONS[self as usize]
    }
}

#[allow(clippy::all, clippy::pedantic, missing_docs, dead_code)]
mod tables {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/contract.rs"));
}

pub(crate) use tables::{OPERATIONS, Operation, ROUTES};

/// Answers that releases have published.
#[cfg(test)]
pub(crate) mod published {
    use super::Schema;

    /// The answers of an operation: status, and the schema of JSON.
    pub(crate) struct Answers {
        pub(crate) operation: &'static str,
        pub(crate) responses: &'static [(u16, Option<&'static Schema>)],
    }

    #[allow(clippy::all, clippy::pedantic, dead_code)]
    pub(crate) mod release_8_9 {
        use super::super::*;
        use super::Answers;
        include!(concat!(env!("OUT_DIR"), "/answers-8.9.rs"));
    }

    #[allow(clippy::all, clippy::pedantic, dead_code)]
    pub(crate) mod release_8_10 {
        use super::super::*;
        use super::Answers;
        include!(concat!(env!("OUT_DIR"), "/answers-8.10.rs"));
    }
}
