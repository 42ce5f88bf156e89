//! Values of columns.

use std::fmt;

use protocol::{Key, Name};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// Nothing.
    Null,
    /// A key, number, moment or flag.
    Integer(i64),
    /// Text, or JSON.
    Text(Name),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text.as_str()),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visited;

        impl Visitor<'_> for Visited {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("nothing, an integer or a text")
            }

            fn visit_unit<E: Error>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Integer(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
                i64::try_from(number).map(Value::Integer).map_err(E::custom)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::from(text))
            }
        }

        deserializer.deserialize_any(Visited)
    }
}

impl Value {
    /// The integer, if it is one.
    pub const fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&Name> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text that says nothing when it is empty.
    pub fn non_empty(text: &Name) -> Self {
        if text.is_empty() { Self::Null } else { Self::Text(text.clone()) }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<Key> for Value {
    fn from(key: Key) -> Self {
        Self::Integer(key.cast_signed())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(i64::from(number))
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Integer(i64::from(number))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }
}

impl From<Name> for Value {
    fn from(text: Name) -> Self {
        Self::Text(text)
    }
}

impl From<&Name> for Value {
    fn from(text: &Name) -> Self {
        Self::Text(text.clone())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Name::from(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Name::from(text))
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<&Option<Name>> for Value {
    fn from(text: &Option<Name>) -> Self {
        text.as_ref().into()
    }
}
