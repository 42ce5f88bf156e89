//! Rows of variables, and of the lists that grow value by value.

#![expect(missing_docs, reason = "fields are named by what they hold")]

use std::sync::Arc;

use minicbor::{Decode, Encode};
use protocol::{Json, Key};
use state::minicbor_value;

/// Values in one chunk.
pub(crate) const CHUNK: u32 = 64;

/// A variable of a scope.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Variable {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub value: Json,
    /// Set if that is a list to which values have been appended since: their first place in the collection of the
    /// scope.
    #[n(2)]
    pub rest_from: Option<u32>,
    /// Set if it is the output collection of a multi-instance body that runs: the number of its entries. Values take
    /// the places of entries by their index; the first place is [`Self::rest_from`]. A value of null is nulls only.
    #[n(3)]
    pub entries: Option<u32>,
}
minicbor_value!(Variable, weight = |variable| 64 + variable.value.as_bytes().len());

impl Variable {
    /// One with an ordinary value.
    pub fn new(key: Key, value: Json) -> Self {
        Self { key, value, rest_from: None, entries: None }
    }

    /// Whether all entries of an output collection that have no value yet are null.
    pub fn has_only_places(&self) -> bool {
        self.entries.is_some_and(|entries| entries > 0) && self.value == Json::null()
    }
}

/// A multi-instance body or an ad-hoc sub-process, which counts only what it collects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct Loop {
    /// Items of its collection; in an ad-hoc sub-process, places of its output collection.
    #[n(0)]
    pub size: u32,
    /// Instances decided on so far.
    #[n(1)]
    pub spawned: u32,
    #[n(2)]
    pub completed: u32,
    #[n(3)]
    pub terminated: u32,
    /// Whether no more instances are wanted: the completion condition was true.
    #[n(4)]
    pub is_done: bool,
    /// Whether outputs are being put together.
    #[n(5)]
    pub is_gathering: bool,
    /// Bytes of its outputs so far.
    #[n(6)]
    pub output_bytes: Option<u64>,
    /// Bytes of its items and outputs that count for the limit of its process instance.
    #[n(7)]
    pub counted_bytes: Option<u64>,
    /// Chunks of outputs that are put together.
    #[n(8)]
    pub gathered: Option<u32>,
}
minicbor_value!(Loop);

/// Some values of a list, each after the other as JSON with a comma in between.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Chunk {
    #[n(0)]
    pub json: Json,
    /// Where each value ends.
    #[n(1)]
    pub ends: Vec<u32>,
}
minicbor_value!(Chunk, weight = |chunk| 64 + chunk.json.as_bytes().len() + 4 * chunk.ends.len());

/// Output of one instance of a multi-instance body, or of one activation in an ad-hoc sub-process.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub struct LoopOutput(#[n(0)] pub Json);
minicbor_value!(LoopOutput, weight = |output| 32 + output.0.as_bytes().len());

/// Key of a variable: scope and name.
pub type VariableKey = (Key, Arc<str>);
