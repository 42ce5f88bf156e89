//! Fields of records whose exported form is not the usual one of their type.

use base64::display::Base64Display;
use base64::prelude::BASE64_STANDARD;
use serde::{Serialize, Serializer};

use crate::{Json, Key, Name};

/// The kind of a member where none came or went.
const NO_MEMBER: &str = "UNSPECIFIED";

/// Each item of a list is exported as JSON text inside a string.
pub(super) fn items_as_texts<S: Serializer>(list: &Json, serializer: S) -> Result<S::Ok, S::Error> {
    let items: Vec<&serde_json::value::RawValue> =
        serde_json::from_str(list.as_str()).map_err(serde::ser::Error::custom)?;
    serializer.collect_seq(items.iter().map(|item| item.get()))
}

/// A file is exported as base64.
pub(super) fn base64<S: Serializer>(text: &Name, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Base64Display::new(text.as_bytes(), &BASE64_STANDARD))
}

/// The kind of a member, which consumers want to be one of an enumeration.
pub(super) fn member_type<S: Serializer>(kind: &Name, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if kind.is_empty() { NO_MEMBER } else { kind })
}

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
    serializer.serialize_str(&value.canonical())
}
