//! Values in the form in which records are exported.

use serde::{Serialize as _, Serializer};

use crate::{Json, Key};

/// A key that may be absent; exported as -1 then.
#[expect(clippy::ref_option, reason = "serde hands over a reference")]
pub(super) fn key_or_none<S: Serializer>(key: &Option<Key>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(key.map_or(-1, |key| key as i64))
}

pub(super) fn raw_json<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &serde_json::value::RawValue = serde_json::from_str(text).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}

/// A variable's value is exported as JSON text inside a string.
pub(super) fn json_as_text<S: Serializer>(value: &Json, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.as_str())
}
