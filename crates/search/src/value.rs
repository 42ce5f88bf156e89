//! Values of columns.

use protocol::{Key, Name};

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
